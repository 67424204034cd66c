/* SPDX-License-Identifier: MIT */
#include "tools/events/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/session_state.h"
#include "thread_names/thread_names.h"
#include "tools/events_file/events_file.h"

/* A living thread of a runtime. Its record is written when the thread starts, and gets its duration
 * when the thread ends. */
struct living {
    struct living         *next;
    unsigned runtime; /* its number, because the address of a runtime object may be reused */
    uint64_t               id;     /* ThreadID */
    uint64_t               since_ns;
    struct sxs_event_span *record;
};

static struct {
    pthread_mutex_t lock; /* guards the list; a leaf lock, and no runtime is called inside */
    struct living  *first;
} threads = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(threads.lock);
SXS_SESSION_RESETS(threads); /* empty: sxs_events_threads_end() */

/* Returns the link to the thread's entry, or to the end of the list. */
static struct living **find_locked(unsigned runtime, uint64_t id)
{
    struct living **at = &threads.first;
    while (*at && ((*at)->runtime != runtime || (*at)->id != id))
        at = &(*at)->next;
    return at;
}

/* Returns the entry of a thread; makes it if there is none. NULL when there is no memory. */
static struct living *make_locked(unsigned runtime, uint64_t id)
{
    struct living *v = *find_locked(runtime, id);
    if (v || !(v = calloc(1, sizeof(*v))))
        return v;
    v->runtime = runtime;
    v->id = id;
    v->next = threads.first;
    threads.first = v;
    return v;
}

/* Records the name that the pool has of a thread, if it has started. @even_none: record also that it
 * has none. */
static void record_name(struct sxs_runtime *rt, uint64_t id, int even_none)
{
    char     name[SXS_THREAD_NAME_MAX + 1];
    uint32_t tid = sxs_thread_names_get(sxs_runtime_number(rt), id, name, sizeof(name));
    if (tid && (name[0] || even_none))
        sxs_events_span(rt, SXS_KIND_THREAD_NAME, sxs_now_ns(CLOCK_MONOTONIC), 0, tid, name, 0, 0,
                        0);
}

/* The runtime calls this on the new thread itself. */
HRESULT sxs_events_thread_created(struct sxs_sub *sub, sxs_thread thread)
{
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    pthread_mutex_lock(&threads.lock);
    struct living *v = make_locked(sxs_runtime_number(sub->rt), thread.id);
    if (v) {
        v->since_ns = sxs_now_ns(CLOCK_MONOTONIC);
        v->record = sxs_events_span(sub->rt, SXS_KIND_THREAD, v->since_ns, 0, tid, "", 0, 0, 0);
    }
    pthread_mutex_unlock(&threads.lock);
    record_name(sub->rt, thread.id, 0);
    return S_OK;
}

HRESULT sxs_events_thread_assigned(struct sxs_sub *sub, sxs_thread thread, DWORD tid)
{
    pthread_mutex_lock(&threads.lock);
    struct living *v = *find_locked(sxs_runtime_number(sub->rt), thread.id);
    if (v && v->record && !sxs_events_forked())
        v->record->tid = (uint32_t)syscall(SYS_gettid);
    pthread_mutex_unlock(&threads.lock);
    (void)tid;
    return S_OK;
}

HRESULT sxs_events_thread_named(struct sxs_sub *sub, sxs_thread thread, ULONG n, WCHAR *name)
{
    (void)n;
    (void)name;
    record_name(sub->rt, thread.id, 1);
    return S_OK;
}

HRESULT sxs_events_thread_destroyed(struct sxs_sub *sub, sxs_thread thread)
{
    pthread_mutex_lock(&threads.lock);
    struct living **at = find_locked(sxs_runtime_number(sub->rt), thread.id), *v = *at;
    if (v)
        *at = v->next;
    pthread_mutex_unlock(&threads.lock);
    if (v && v->record && !sxs_events_forked())
        v->record->duration_ns = sxs_now_ns(CLOCK_MONOTONIC) - v->since_ns;
    free(v);
    return S_OK;
}

void sxs_events_threads_end(unsigned runtime)
{
    struct living **at = &threads.first, *v;
    pthread_mutex_lock(&threads.lock);
    while ((v = *at) != NULL) {
        if (v->runtime != runtime) {
            at = &v->next;
            continue;
        }
        *at = v->next;
        free(v);
    }
    pthread_mutex_unlock(&threads.lock);
}
