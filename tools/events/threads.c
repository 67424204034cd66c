/* SPDX-License-Identifier: MIT */
#include "tools/events/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/events_file/events_file.h"
#include "tools/events_file/message.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/session_state.h"

/* A living thread of a runtime. Its record is written when the thread starts, and gets its duration
 * when the thread ends. */
struct living {
    struct living         *next;
    unsigned runtime; /* its number, because the address of a runtime object may be reused */
    uint64_t               id;     /* ThreadID */
    uint64_t               since_ns;
    uint32_t               tid;    /* 0: the thread has a name, but has not started */
    struct sxs_event_span *record;
    char                   name[SXS_MESSAGE_MAX + 1];
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

static void record_name(struct sxs_runtime *rt, uint32_t tid, const char *name)
{
    sxs_events_span(rt, SXS_KIND_THREAD_NAME, sxs_now_ns(CLOCK_MONOTONIC), 0, tid, name, 0, 0, 0);
}

/* The runtime calls this on the new thread itself. */
HRESULT sxs_events_thread_created(struct sxs_sub *sub, sxs_thread thread)
{
    pthread_mutex_lock(&threads.lock);
    struct living *v = make_locked(sxs_runtime_number(sub->rt), thread.id);
    if (v) {
        v->since_ns = sxs_now_ns(CLOCK_MONOTONIC);
        v->tid = (uint32_t)syscall(SYS_gettid);
        v->record = sxs_events_span(sub->rt, SXS_KIND_THREAD, v->since_ns, 0, v->tid, "", 0, 0, 0);
        if (v->name[0])
            record_name(sub->rt, v->tid, v->name);
    }
    pthread_mutex_unlock(&threads.lock);
    return S_OK;
}

HRESULT sxs_events_thread_assigned(struct sxs_sub *sub, sxs_thread thread, DWORD tid)
{
    pthread_mutex_lock(&threads.lock);
    struct living *v = *find_locked(sxs_runtime_number(sub->rt), thread.id);
    if (v) {
        v->tid = (uint32_t)syscall(SYS_gettid);
        if (v->record && !sxs_events_forked())
            v->record->tid = v->tid;
    }
    pthread_mutex_unlock(&threads.lock);
    (void)tid;
    return S_OK;
}

HRESULT sxs_events_thread_named(struct sxs_sub *sub, sxs_thread thread, ULONG n, WCHAR *name)
{
    char text[SXS_MESSAGE_MAX + 1];
    int  cut;
    if (!name)
        n = 0;
    while (n && !name[n - 1])
        n--;
    sxs_message_utf8(name, n, text, sizeof(text), &cut);
    pthread_mutex_lock(&threads.lock);
    struct living *v = make_locked(sxs_runtime_number(sub->rt), thread.id);
    if (v) {
        memcpy(v->name, text, sizeof(text));
        if (v->tid)
            record_name(sub->rt, v->tid, text);
    }
    pthread_mutex_unlock(&threads.lock);
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
