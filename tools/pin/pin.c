/* SPDX-License-Identifier: MIT */
/* tools/pin/pin.c - pins exceptions while runtimes search for their handlers, so that a
 * collection does not move them.
 *
 * If a profiler monitors exceptions, runtimes of some versions (column has_filter_race of
 * runtime_facts/facts.h) report each exception filter (ExceptionSearchFilterEnter) after they have
 * read the exception's address and before they call the filter with that address. During the callback a
 * collection may move the exception; then the filter is called with an address of something else
 * (docs/internals/hosts.md). So each exception is pinned from ExceptionThrown until the catch block that
 * handles it has ended.
 *
 * A thread may have several exceptions at once: one may be thrown in a filter, or in a catch
 * block. The latest PINS exceptions are kept. An exception that a runtime catches in native
 * code, or that is replaced by another, has no catch block. Its pin is released with that of an
 * earlier exception, or when there are PINS newer ones, or when the thread ends. */
#include "tools/tools.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/session_state.h"

#define PINS 8u

struct pin {
    struct sxs_runtime *rt; /* one reference */
    ObjectHandleID      handle;
    ObjectID            object;
    int                 caught; /* 1: its catch block has begun */
};

/* Pins, oldest first. */
struct pins {
    unsigned   n;
    struct pin all[PINS];
};

/* The pins of one thread. Only that thread adds some; another one removes those of a runtime that lets
 * the library go. */
struct thread_pins {
    pthread_mutex_t     lock; /* guards `now`; no runtime is called while it is held */
    struct pins         now;
    struct thread_pins *next, *before; /* in `threads` */
    unsigned            fork_generation;
};

static struct {
    pthread_mutex_t     lock; /* guards the list; the lock of an element is taken inside */
    struct thread_pins *first;
} threads = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(threads.lock);
SXS_SESSION_KEEPS(threads);

static SXS_TLS struct thread_pins *own;
static pthread_key_t               key;
static pthread_once_t              once = PTHREAD_ONCE_INIT;
SXS_SESSION_KEEPS(key);
SXS_SESSION_KEEPS(once);

static void release_pins(struct pins *pins)
{
    while (pins->n > 0) {
        const struct pin *p = &pins->all[--pins->n];
        /* Fails if the runtime has ended; its handles have ended with it. */
        sxs_info_DestroyHandle(p->rt, p->handle);
        sxs_runtime_unref(p->rt);
    }
}

/* Move the pins from @at on to @out. */
static void take_from_locked(struct pins *pins, unsigned at, struct pins *out)
{
    while (pins->n > at)
        out->all[out->n++] = pins->all[--pins->n];
}

static void list_thread(struct thread_pins *t)
{
    pthread_mutex_lock(&threads.lock);
    t->next = threads.first;
    if (t->next)
        t->next->before = t;
    threads.first = t;
    pthread_mutex_unlock(&threads.lock);
}

static void unlist_thread(struct thread_pins *t)
{
    pthread_mutex_lock(&threads.lock);
    if (t->next)
        t->next->before = t->before;
    if (t->before)
        t->before->next = t->next;
    else
        threads.first = t->next;
    pthread_mutex_unlock(&threads.lock);
}

static void thread_ended(void *arg)
{
    struct thread_pins *t = arg;
    own = NULL;
    if (t->fork_generation != sxs_fork_generation())
        return; /* a forked child: the list and the runtimes are the parent's */
    unlist_thread(t);
    release_pins(&t->now);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ended);
}

static struct thread_pins *pins_of_thread(void)
{
    pthread_once(&once, make_key);
    if (!own) {
        struct thread_pins *t = calloc(1, sizeof(*t));
        if (!t || pthread_setspecific(key, t) != 0) {
            free(t);
            return NULL;
        }
        pthread_mutex_init(&t->lock, NULL);
        t->fork_generation = sxs_fork_generation();
        list_thread(t);
        own = t;
    }
    return own;
}

/* Returns the index of a pinned object, or n. Its address is unique, because it does not move. */
static unsigned find_pin(const struct pins *pins, sxs_object object)
{
    unsigned at = pins->n;
    while (at > 0 && !(pins->all[at - 1].rt == object.rt && pins->all[at - 1].object == object.id))
        at--;
    return at > 0 ? at - 1 : pins->n;
}

static int is_pinned(struct thread_pins *t, sxs_object object)
{
    int is;
    pthread_mutex_lock(&t->lock);
    is = find_pin(&t->now, object) < t->now.n;
    pthread_mutex_unlock(&t->lock);
    return is;
}

static HRESULT on_thrown(struct sxs_sub *sub, sxs_object exception)
{
    struct thread_pins *t = exception.id ? pins_of_thread() : NULL;
    struct pins         old = {.n = 0};
    ObjectHandleID      handle;
    if (!t || is_pinned(t, exception) || /* rethrown */
        FAILED(sxs_info_CreateHandle(sub->rt, exception, COR_PRF_HANDLE_TYPE_PINNED, &handle)))
        return S_OK;
    pthread_mutex_lock(&t->lock);
    if (t->now.n == PINS) {
        old.all[old.n++] = t->now.all[0];
        memmove(t->now.all, t->now.all + 1, (PINS - 1) * sizeof(t->now.all[0]));
        t->now.n--;
    }
    t->now.all[t->now.n++] = (struct pin){sxs_runtime_ref(sub->rt), handle, exception.id, 0};
    pthread_mutex_unlock(&t->lock);
    release_pins(&old);
    return S_OK;
}

/* The exceptions thrown after this one have been handled. This one stays pinned, because its
 * catch block may rethrow it. */
static HRESULT catcher_enter(struct sxs_sub *sub, sxs_function fn, sxs_object exception)
{
    struct pins old = {.n = 0};
    unsigned    at;
    (void)sub;
    (void)fn;
    if (!own)
        return S_OK;
    pthread_mutex_lock(&own->lock);
    at = find_pin(&own->now, exception);
    if (at < own->now.n) {
        take_from_locked(&own->now, at + 1, &old);
        own->now.all[at].caught = 1;
    }
    pthread_mutex_unlock(&own->lock);
    release_pins(&old);
    return S_OK;
}

static HRESULT catcher_leave(struct sxs_sub *sub)
{
    struct pins old = {.n = 0};
    if (!own)
        return S_OK;
    pthread_mutex_lock(&own->lock);
    for (unsigned i = own->now.n; i > 0; i--)
        if (own->now.all[i - 1].caught && own->now.all[i - 1].rt == sub->rt) {
            take_from_locked(&own->now, i - 1, &old);
            break;
        }
    pthread_mutex_unlock(&own->lock);
    release_pins(&old);
    return S_OK;
}

/* Take the pins of @rt out of @t. */
static void take_of_locked(struct thread_pins *t, const struct sxs_runtime *rt, struct pins *out)
{
    unsigned n = 0;
    for (unsigned i = 0; i < t->now.n; i++) {
        if (t->now.all[i].rt == rt)
            out->all[out->n++] = t->now.all[i];
        else
            t->now.all[n++] = t->now.all[i];
    }
    t->now.n = n;
}

/* Takes the pins of one thread after another, because the runtime is not called under a lock. Returns
 * 0 when no thread has any. */
static int take_some(const struct sxs_runtime *rt, struct pins *out)
{
    pthread_mutex_lock(&threads.lock);
    for (struct thread_pins *t = threads.first; t && !out->n; t = t->next) {
        pthread_mutex_lock(&t->lock);
        take_of_locked(t, rt, out);
        pthread_mutex_unlock(&t->lock);
    }
    pthread_mutex_unlock(&threads.lock);
    return out->n != 0;
}

/* A runtime from which the library is detached runs on, and an object that stays pinned would never be moved
 * again. A runtime that has ended is not freed while a thread has pins of it. */
static void release_runtime(struct sxs_sub *sub)
{
    struct pins some = {.n = 0};
    while (sxs_runtime_is_live(sub->rt) && take_some(sub->rt, &some))
        release_pins(&some);
}

static const struct sxs_events events = {
    .ExceptionThrown = on_thrown,
    .ExceptionCatcherEnter = catcher_enter,
    .ExceptionCatcherLeave = catcher_leave,
};

static HRESULT start_tool(struct sxs_sub *sub, const char *options)
{
    (void)options;
    sub->low =
        sxs_runtime_facts(sub->rt)->has_filter_race ? (uint32_t)COR_PRF_MONITOR_EXCEPTIONS : 0;
    return S_OK;
}

const struct sxs_tool sxs_pin_tool = {
    .name = "pin", .always = 1, .on = &events, .start = start_tool, .release = release_runtime};
