/* SPDX-License-Identifier: MIT */
#include "symbols/tier_sessions.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "signals/library/runtime_calls.h"
#include "symbols/compiled.h"
#include "symbols/early.h"

#define DELAY_NS     UINT64_C(1000000000)
/* How long to wait for compilations in progress: a failed one is never reported as finished. */
#define PATIENCE_NS  UINT64_C(10000000000)
#define MAX_EXPECTED 64

/* Guards all that follows; only compiled.lock (compiled.c) is taken inside. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
SXS_SESSION_KEEPS(lock);

static struct {
    int      running;
    uint64_t inside; /* the bit of the runtime that the thread has called; 0: none */
    size_t   n;
    struct expected {
        struct sxs_sub *sub;
        /* CLOCK_MONOTONIC: when to start the session; later, until when to wait for
         * compilations. */
        uint64_t due_ns;
        int      started;     /* the session runs; compilations are waited for */
        int      busy;        /* the thread in sxs_tier_sessions_run() works on it */
        unsigned n_under_way; /* compilations in progress */
    } all[MAX_EXPECTED];
} sessions;
SXS_SESSION_RESETS(sessions);

/* A runtime may never return from the call that starts its session, if the runtime itself hangs.
 * Then the profiler's session ends without the thread that made the call. When the call returns
 * after all, the thread finds another number here than when it began, and touches nothing more. */
static unsigned epoch;
static uint64_t hanging; /* bit N: a thread that was left behind is inside of runtime N */
SXS_SESSION_KEEPS(epoch);
SXS_SESSION_KEEPS(hanging);

static uint64_t bit_of(const struct sxs_runtime *rt)
{
    return UINT64_C(1) << (sxs_runtime_number(rt) & 63);
}

static struct expected *find_locked(const struct sxs_runtime *rt)
{
    for (size_t i = 0; i < sessions.n; i++)
        if (sessions.all[i].sub->rt == rt)
            return &sessions.all[i];
    return NULL;
}

void sxs_tier_sessions_expect(struct sxs_sub *sub)
{
    int      attached = sxs_runtime_is_attached(sub->rt), hangs;
    uint64_t due_ns = sxs_now_ns(CLOCK_MONOTONIC) + (attached ? 0 : DELAY_NS);
    sxs_compiled_expect(sub->rt, !attached);
    pthread_mutex_lock(&lock);
    hangs = (hanging & bit_of(sub->rt)) != 0;
    if (!hangs && sessions.n < MAX_EXPECTED)
        sessions.all[sessions.n++] = (struct expected){.sub = sub, .due_ns = due_ns};
    pthread_mutex_unlock(&lock);
    if (hangs)
        sxs_compiled_incomplete(sub->rt);
}

int sxs_tier_sessions_is_expected(const struct sxs_runtime *rt)
{
    const struct expected *at;
    int                    is;
    pthread_mutex_lock(&lock);
    at = find_locked(rt);
    is = at && !at->started;
    pthread_mutex_unlock(&lock);
    return is;
}

void sxs_tier_sessions_compiling(const struct sxs_runtime *rt, int began)
{
    struct expected *at;
    pthread_mutex_lock(&lock);
    at = find_locked(rt);
    if (at && began)
        at->n_under_way++;
    else if (at && at->n_under_way)
        at->n_under_way--;
    pthread_mutex_unlock(&lock);
}

void sxs_tier_sessions_forget(const struct sxs_runtime *rt)
{
    struct expected *at;
    pthread_mutex_lock(&lock);
    at = find_locked(rt);
    if (at)
        *at = sessions.all[--sessions.n];
    pthread_mutex_unlock(&lock);
    sxs_early_end(rt);
}

int sxs_tier_sessions_end(struct sxs_runtime *rt, uint64_t limit_ns)
{
    const struct timespec  pause = {0, 1000000};
    uint64_t               until = sxs_now_ns(CLOCK_MONOTONIC) + limit_ns;
    const struct expected *at;
    int                    busy;
    for (;;) {
        pthread_mutex_lock(&lock);
        at = find_locked(rt);
        busy = at && at->busy;
        pthread_mutex_unlock(&lock);
        if (!busy || sxs_now_ns(CLOCK_MONOTONIC) >= until)
            break;
        nanosleep(&pause, NULL);
    }
    sxs_tier_sessions_forget(rt);
    if (busy)
        return -ETIMEDOUT;
    sxs_compiled_end_session(rt);
    return 0;
}

void sxs_tier_sessions_leave_behind(void)
{
    pthread_mutex_lock(&lock);
    epoch++;
    hanging |= sessions.inside;
    sessions.n = 0;
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    due = !sessions.running && find_due_locked();
    sessions.running |= due;
    pthread_mutex_unlock(&lock);
    return due;
}

void sxs_tier_sessions_failed(void)
{
    pthread_mutex_lock(&lock);
    sessions.running = 0;
    pthread_mutex_unlock(&lock);
}

/* Copies the next entry that is due to @out and takes a reference to its runtime. Returns 0, and
 * ends the thread's work, when none is due, or the thread was left behind. */
static int take_due(struct expected *out, unsigned of_epoch)
{
    struct expected *at = NULL;
    pthread_mutex_lock(&lock);
    if (epoch == of_epoch) {
        at = find_due_locked();
        sessions.running = at != NULL;
    }
    if (at) {
        at->busy = 1;
        *out = *at;
        sxs_runtime_ref(out->sub->rt);
        sessions.inside = bit_of(out->sub->rt);
    }
    pthread_mutex_unlock(&lock);
    return at != NULL;
}

/* The thread has come back from the runtime. Returns 0 with the lock held, or -1 without it when the
 * thread was left behind meanwhile. */
static int come_back(const struct sxs_runtime *rt, unsigned of_epoch)
{
    pthread_mutex_lock(&lock);
    if (epoch == of_epoch) {
        sessions.inside = 0;
        return 0;
    }
    hanging &= ~bit_of(rt);
    pthread_mutex_unlock(&lock);
    return -1;
}

static void note_started_locked(const struct sxs_runtime *rt)
{
    struct expected *at = find_locked(rt);
    if (!at) /* the runtime has ended meanwhile */
        return;
    at->busy = 0;
    at->started = 1;
    at->due_ns = sxs_now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
}

static void start_session(struct sxs_runtime *rt, unsigned of_epoch)
{
    EVENTPIPE_SESSION id = 0;
    HRESULT           hr = sxs_compiled_session(rt, &id);
    if (come_back(rt, of_epoch) != 0) {
        if (SUCCEEDED(hr))
            sxs_compiled_session_stop(rt, id);
        return;
    }
    sxs_compiled_started(rt, hr, id);
    note_started_locked(rt);
    pthread_mutex_unlock(&lock);
    if (FAILED(hr) && sxs_runtime_is_live(rt))
        sxs_note("runtime %u does not tell what it compiles (%s): tiers are not known",
                 sxs_runtime_number(rt), sxs_hresult_name(hr));
}

/* Stops requesting JITCompilationFinished from the runtime. */
static void end_early(struct sxs_sub *sub, unsigned of_epoch)
{
    struct sxs_runtime *rt = sub->rt;
    if (sub->low & SXS_TIER_SESSIONS_LOW)
        sxs_sub_set_mask(sub, sub->low & ~SXS_TIER_SESSIONS_LOW, sub->high);
    if (come_back(rt, of_epoch) != 0)
        return;
    pthread_mutex_unlock(&lock);
    sxs_tier_sessions_forget(rt);
}

void sxs_tier_sessions_run(void)
{
    struct expected session;
    unsigned        of_epoch;
    pthread_mutex_lock(&lock);
    of_epoch = epoch;
    pthread_mutex_unlock(&lock);
    sxs_runtime_calls_begin();
    while (take_due(&session, of_epoch)) {
        struct sxs_runtime *rt = session.sub->rt;
        if (session.started)
            end_early(session.sub, of_epoch);
        else
            start_session(rt, of_epoch);
        sxs_runtime_unref(rt);
    }
    sxs_runtime_calls_end();
}
