/* SPDX-License-Identifier: MIT */
#include "manager/force_gc.h"

#include <pthread.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/thread.h"
#include "signals/library/runtime_calls.h"
#include "sxs_info.h"

/* A call of sxs_gc_thread_call(), on the stack of its thread. */
struct gc_thread_call {
    void (*work)(void *arg);
    void                  *arg;
    struct gc_thread_call *next;
    int                    done;
};

static struct {
    pthread_mutex_t        lock;    /* guards the members; no runtime is called while it is held */
    pthread_cond_t         changed; /* a request is done */
    struct gc_thread_call *first;
    int                    running; /* the thread takes requests */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
SXS_FORK_RESETS(all.lock);

/* Returns the next request, or NULL: then the thread ends. */
static struct gc_thread_call *take_request(void)
{
    struct gc_thread_call *r;
    pthread_mutex_lock(&all.lock);
    r = all.first;
    if (r)
        all.first = r->next;
    else
        all.running = 0;
    pthread_mutex_unlock(&all.lock);
    return r;
}

static void serve_requests(void)
{
    struct gc_thread_call *r;
    sxs_runtime_calls_begin();
    while ((r = take_request()) != NULL) {
        r->work(r->arg);
        pthread_mutex_lock(&all.lock);
        r->done = 1;
        pthread_cond_broadcast(&all.changed);
        pthread_mutex_unlock(&all.lock);
    }
}

static const struct sxs_thread service = {"sxsprof gc", serve_requests};

/* In a child, the thread is gone, and so are those that wait. */
static void child_goes_on(void)
{
    all.first = NULL;
    all.running = 0;
    all.changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

static void append_locked(struct gc_thread_call *r)
{
    struct gc_thread_call **end = &all.first;
    while (*end)
        end = &(*end)->next;
    *end = r;
}

int sxs_gc_thread_call(void (*work)(void *arg), void *arg)
{
    static struct sxs_fork_part part = {.child = child_goes_on};
    struct gc_thread_call       r = {.work = work, .arg = arg};
    sxs_fork_register(&part);
    pthread_mutex_lock(&all.lock);
    if (!all.running && sxs_thread_start(&service) != 0) {
        sxs_error("no collection is forced, because no thread can be started");
        pthread_mutex_unlock(&all.lock);
        return -1;
    }
    all.running = 1;
    append_locked(&r);
    while (!r.done)
        pthread_cond_wait(&all.changed, &all.lock);
    pthread_mutex_unlock(&all.lock);
    return 0;
}

struct forced_collection {
    struct sxs_runtime *rt;
    HRESULT             result;
};

static void collect(void *arg)
{
    struct forced_collection *c = arg;
    c->result = sxs_info_ForceGC(c->rt);
}

HRESULT sxs_force_gc(struct sxs_runtime *rt)
{
    struct forced_collection c = {.rt = rt, .result = E_OUTOFMEMORY};
    if (!sxs_runtime_is_live(rt))
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    sxs_gc_thread_call(collect, &c);
    return c.result;
}
