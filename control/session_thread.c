/* SPDX-License-Identifier: MIT */
#include "control/session_thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/thread.h"
#include "manager/sessions.h"
#include "signals/library/runtime_calls.h"

#define NS_PER_MS 1000000u
#define WATCH_NS  (200 * NS_PER_MS)

static struct {
    pthread_mutex_t  lock; /* guards the fields up to `is_over` */
    struct sxs_job  *first, *last;
    uint64_t         due_ns; /* CLOCK_MONOTONIC; 0: no session has a time limit */
    unsigned         number; /* of the session that has it */
    int              detach;
    int (*is_over)(void);        /* asked before `due_ns`; NULL: nothing */
    _Atomic uint32_t changes;    /* futex word: incremented after each change of the fields above */
    _Atomic int      runs;       /* 1: the thread was started */
    unsigned         generation; /* sxs_fork_generation() then */
    void (*done)(void);
    uint64_t (*_Atomic also)(void);        /* NULL: nothing */
    int (*_Atomic ended)(unsigned number); /* likewise */
    /* Sessions `first_same` to `last_same` are one for time limits and connections. 0: none are. */
    _Atomic unsigned first_same, last_same;
    _Atomic unsigned n_changes; /* odd while a session goes on as another one */
} thread = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(thread.lock);

static void tell_thread(void)
{
    atomic_fetch_add(&thread.changes, 1);
    syscall(SYS_futex, &thread.changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Waits until `changes` is not @seen, at most @ns nanoseconds; 0: for ever. */
static void wait_for_change(uint32_t seen, uint64_t ns)
{
    struct timespec limit = sxs_timespec_of(ns);
    syscall(SYS_futex, &thread.changes, FUTEX_WAIT_PRIVATE, seen, ns ? &limit : NULL, NULL, 0);
}

static struct sxs_job *take_job(void)
{
    struct sxs_job *job;
    pthread_mutex_lock(&thread.lock);
    job = thread.first;
    if (job) {
        thread.first = job->next;
        if (!thread.first)
            thread.last = NULL;
    }
    pthread_mutex_unlock(&thread.lock);
    return job;
}

static int tell_end(unsigned number)
{
    int (*ended)(unsigned) = atomic_load(&thread.ended);
    return ended && ended(number);
}

void sxs_session_thread_end(unsigned number, int detach)
{
    struct sxs_session_state state;
    char                     why[SXS_SESSION_WHY] = "";
    int                      err;
    sxs_session_get_state(&state);
    if (number && state.phase == SXS_SESSION_NONE && tell_end(number) && detach)
        number = 0; /* there was no session to end just then */
    if (number
            ? state.phase == SXS_SESSION_NONE || !sxs_session_thread_is_same(state.number, number)
            : state.phase != SXS_SESSION_NONE)
        return;
    err = detach ? sxs_runtimes_detach(SXS_DETACH_TIMEOUT_MS, why) : sxs_session_end(why);
    if (err && number)
        sxs_warn("session %u does not end as its request says: %s", number, why);
    else if (err)
        sxs_warn("the runtimes do not let the profiler go: %s", why);
    if (number)
        tell_end(number);
}

/* The shorter of two times, of which 0 means for ever. */
static uint64_t sooner(uint64_t a, uint64_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* Brings the time limit forward if what is watched says so. Returns the nanoseconds until it is asked
 * again; 0: nothing is watched. */
static uint64_t watch(void)
{
    pthread_mutex_lock(&thread.lock);
    uint64_t due_ns = thread.due_ns;
    int (*is_over)(void) = due_ns ? thread.is_over : NULL;
    pthread_mutex_unlock(&thread.lock);
    if (!is_over)
        return 0;
    if (!is_over())
        return WATCH_NS;
    pthread_mutex_lock(&thread.lock);
    if (thread.is_over && thread.due_ns == due_ns)
        thread.due_ns = 1;
    pthread_mutex_unlock(&thread.lock);
    return 0;
}

/* Ends the session whose time limit is over. Returns the nanoseconds until then, or until it is to be called
 * again; 0: there is none, or it was ended now. */
static uint64_t end_due_session(void)
{
    uint64_t again = watch(), left = 0, now = sxs_now_ns(CLOCK_MONOTONIC);
    unsigned number;
    int      detach, is_due = 0;
    pthread_mutex_lock(&thread.lock);
    detach = thread.detach;
    number = thread.number;
    if (thread.due_ns > now) {
        left = thread.due_ns - now;
    } else if (thread.due_ns) {
        is_due = 1;
        thread.due_ns = 0;
    }
    pthread_mutex_unlock(&thread.lock);
    if (is_due) {
        sxs_runtime_calls_begin();
        sxs_session_thread_end(number, detach);
        sxs_runtime_calls_end();
        thread.done();
    }
    return left ? sooner(left, again) : 0;
}

/* Calls the function of sxs_session_thread_also(). */
static uint64_t take_turn(void)
{
    uint64_t (*also)(void) = atomic_load(&thread.also);
    unsigned n_changes = atomic_load(&thread.n_changes);
    uint64_t next = also ? also() : 0;
    if (atomic_load(&thread.n_changes) != n_changes)
        thread.done(); /* the session of a connection may have ended */
    return next;
}

static void run_thread(void)
{
    for (;;) {
        uint32_t        seen = atomic_load(&thread.changes);
        uint64_t        left = sooner(end_due_session(), take_turn());
        struct sxs_job *job = take_job();
        if (job) {
            sxs_runtime_calls_begin();
            job->run(job);
            sxs_runtime_calls_end();
            atomic_store(&job->done, 1);
            thread.done();
        } else {
            wait_for_change(seen, left);
        }
    }
}

int sxs_session_thread_start(void (*done)(void))
{
    static const struct sxs_thread description = {"sxsprof session", run_thread};
    int                            err;
    thread.done = done;
    thread.generation = sxs_fork_generation();
    err = sxs_thread_start(&description);
    atomic_store(&thread.runs, !err);
    return err;
}

/* Tells whether the thread runs in this process. */
static int is_running(void)
{
    return atomic_load(&thread.runs) && thread.generation == sxs_fork_generation();
}

int sxs_session_thread_runs(void)
{
    return is_running();
}

void sxs_session_thread_also(uint64_t (*turn)(void), int (*ended)(unsigned number))
{
    atomic_store(&thread.ended, ended);
    atomic_store(&thread.also, turn);
    tell_thread();
}

void sxs_session_thread_wake(void)
{
    tell_thread();
}

void sxs_session_thread_goes_on(unsigned before, unsigned after)
{
    if (before != atomic_load(&thread.last_same)) {
        atomic_store(&thread.last_same, 0);
        atomic_store(&thread.first_same, before);
    }
    atomic_store(&thread.last_same, after);
}

/* The first session of those that went on as @number. */
static unsigned first_of(unsigned number)
{
    unsigned first = atomic_load(&thread.first_same);
    return first && number >= first && number <= atomic_load(&thread.last_same) ? first : number;
}

int sxs_session_thread_is_same(unsigned a, unsigned b)
{
    return first_of(a) == first_of(b);
}

void sxs_session_thread_change(void)
{
    atomic_fetch_add(&thread.n_changes, 1);
}

unsigned sxs_session_thread_n_changes(void)
{
    return atomic_load(&thread.n_changes);
}

void sxs_session_thread_submit(struct sxs_job *job)
{
    job->next = NULL;
    atomic_store(&job->done, 0);
    pthread_mutex_lock(&thread.lock);
    if (thread.last)
        thread.last->next = job;
    else
        thread.first = job;
    thread.last = job;
    pthread_mutex_unlock(&thread.lock);
    tell_thread();
}

int sxs_session_thread_limit(unsigned number, uint64_t ms, int detach)
{
    if (!is_running())
        return -ENOTSUP;
    pthread_mutex_lock(&thread.lock);
    thread.due_ns = ms ? sxs_now_ns(CLOCK_MONOTONIC) + ms * NS_PER_MS : 0;
    thread.number = number;
    thread.detach = detach;
    thread.is_over = NULL;
    pthread_mutex_unlock(&thread.lock);
    tell_thread();
    return 0;
}

void sxs_session_thread_watch(int (*is_over)(void))
{
    pthread_mutex_lock(&thread.lock);
    thread.is_over = is_over;
    pthread_mutex_unlock(&thread.lock);
    tell_thread();
}

uint64_t sxs_session_thread_left_ms(unsigned number)
{
    uint64_t left = 0, now = sxs_now_ns(CLOCK_MONOTONIC);
    if (!is_running())
        return 0;
    pthread_mutex_lock(&thread.lock);
    if (thread.due_ns && sxs_session_thread_is_same(thread.number, number))
        left = thread.due_ns > now + NS_PER_MS ? (thread.due_ns - now) / NS_PER_MS : 1;
    pthread_mutex_unlock(&thread.lock);
    return left;
}
