/* SPDX-License-Identifier: MIT */
#include "symbols/tier_sessions.h"

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "symbols/compiled.h"
#include "symbols/early.h"

#define DELAY_NS     UINT64_C(1000000000)
/* How long to wait for compilations in progress: a failed one is never reported as finished. */
#define PATIENCE_NS  UINT64_C(10000000000)
#define MAX_EXPECTED 64

static struct {
    pthread_mutex_t lock; /* guards all members; a leaf lock: no other is taken inside */
    int             running;
    size_t          n;
    struct expected {
        struct sxs_sub *sub;
        /* CLOCK_MONOTONIC: when to start the session; later, until when to wait for
         * compilations. */
        uint64_t due_ns;
        int      started;     /* the session runs; compilations are waited for */
        int      busy;        /* the thread in sxs_tier_sessions_run() works on it */
        unsigned n_under_way; /* compilations in progress */
    } all[MAX_EXPECTED];
} sessions = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(sessions.lock);
SXS_SESSION_RESETS(sessions);

static struct expected *find_locked(const struct sxs_runtime *rt)
{
    for (size_t i = 0; i < sessions.n; i++)
        if (sessions.all[i].sub->rt == rt)
            return &sessions.all[i];
    return NULL;
}

void sxs_tier_sessions_expect(struct sxs_sub *sub)
{
    int      attached = sxs_runtime_is_attached(sub->rt);
    uint64_t due_ns = sxs_now_ns(CLOCK_MONOTONIC) + (attached ? 0 : DELAY_NS);
    sxs_compiled_expect(sub->rt, !attached);
    pthread_mutex_lock(&sessions.lock);
    if (sessions.n < MAX_EXPECTED)
        sessions.all[sessions.n++] = (struct expected){.sub = sub, .due_ns = due_ns};
    pthread_mutex_unlock(&sessions.lock);
}

int sxs_tier_sessions_is_expected(const struct sxs_runtime *rt)
{
    const struct expected *at;
    int                    is;
    pthread_mutex_lock(&sessions.lock);
    at = find_locked(rt);
    is = at && !at->started;
    pthread_mutex_unlock(&sessions.lock);
    return is;
}

void sxs_tier_sessions_compiling(const struct sxs_runtime *rt, int began)
{
    struct expected *at;
    pthread_mutex_lock(&sessions.lock);
    at = find_locked(rt);
    if (at && began)
        at->n_under_way++;
    else if (at && at->n_under_way)
        at->n_under_way--;
    pthread_mutex_unlock(&sessions.lock);
}

void sxs_tier_sessions_forget(const struct sxs_runtime *rt)
{
    struct expected *at;
    pthread_mutex_lock(&sessions.lock);
    at = find_locked(rt);
    if (at)
        *at = sessions.all[--sessions.n];
    pthread_mutex_unlock(&sessions.lock);
    sxs_early_end(rt);
}

void sxs_tier_sessions_end(struct sxs_runtime *rt)
{
    const struct timespec pause = {0, 1000000};
    const struct expected *at;
    int                    busy;
    for (;;) {
        pthread_mutex_lock(&sessions.lock);
        at = find_locked(rt);
        busy = at && at->busy;
        pthread_mutex_unlock(&sessions.lock);
        if (!busy)
            break;
        nanosleep(&pause, NULL);
    }
    sxs_tier_sessions_forget(rt);
    sxs_compiled_end_session(rt);
}

static struct expected *find_due_locked(void)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < sessions.n; i++) {
        struct expected *at = &sessions.all[i];
        if (!at->busy && (now >= at->due_ns || (at->started && !at->n_under_way)))
            return at;
    }
    return NULL;
}

int sxs_tier_sessions_due(void)
{
    int due;
    pthread_mutex_lock(&sessions.lock);
    due = !sessions.running && find_due_locked();
    sessions.running |= due;
    pthread_mutex_unlock(&sessions.lock);
    return due;
}

void sxs_tier_sessions_failed(void)
{
    pthread_mutex_lock(&sessions.lock);
    sessions.running = 0;
    pthread_mutex_unlock(&sessions.lock);
}

/* Copies the next entry that is due to @out and takes a reference to its runtime. Returns 0, and
 * ends the thread's work, when none is due. */
static int take_due(struct expected *out)
{
    struct expected *at;
    pthread_mutex_lock(&sessions.lock);
    at = find_due_locked();
    if (at) {
        at->busy = 1;
        *out = *at;
        sxs_runtime_ref(out->sub->rt);
    } else {
        sessions.running = 0;
    }
    pthread_mutex_unlock(&sessions.lock);
    return at != NULL;
}

/* Notes that the session of @rt was started. Does nothing if the runtime has ended meanwhile. */
static void note_started(const struct sxs_runtime *rt)
{
    struct expected *at;
    pthread_mutex_lock(&sessions.lock);
    at = find_locked(rt);
    if (at) {
        at->busy = 0;
        at->started = 1;
        at->due_ns = sxs_now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    }
    pthread_mutex_unlock(&sessions.lock);
}

/* Stops requesting JITCompilationFinished from the runtime. */
static void end_early(struct sxs_sub *sub)
{
    if (sub->low & SXS_TIER_SESSIONS_LOW)
        sxs_sub_set_mask(sub, sub->low & ~SXS_TIER_SESSIONS_LOW, sub->high);
    sxs_tier_sessions_forget(sub->rt);
}

void sxs_tier_sessions_run(void)
{
    struct expected session;
    sxs_thread_calls_runtimes();
    while (take_due(&session)) {
        struct sxs_runtime *rt = session.sub->rt;
        if (session.started) {
            end_early(session.sub);
        } else {
            sxs_compiled_start(rt);
            note_started(rt);
        }
        sxs_runtime_unref(rt);
    }
}
