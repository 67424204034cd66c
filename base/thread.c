/* SPDX-License-Identifier: MIT */
#include "base/thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"

/* Bytes. The default of pthread_create() is the host's RLIMIT_STACK. That may be 8 MiB, which count
 * against RLIMIT_AS and, if the system does not overcommit, against its memory; or it may be too
 * little. Runtimes give their own threads 1.5 MiB too. */
#define STACK_SIZE ((size_t)1536 << 10)

static _Atomic uint32_t own_tids[16]; /* kernel IDs of running threads of the library; 0: free */
static _Atomic uint64_t ended_cpu_ns; /* CPU time of those that have ended */

/* Enters the calling thread into own_tids. Returns its entry, or NULL when all are in use. */
static _Atomic uint32_t *note_me(void)
{
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    for (size_t i = 0; i < ARRAY_LEN(own_tids); i++) {
        uint32_t none = 0;
        if (atomic_compare_exchange_strong(&own_tids[i], &none, tid))
            return &own_tids[i];
    }
    return NULL;
}

static void *run_thread(void *arg)
{
    const struct sxs_thread *thread = arg;
    _Atomic uint32_t        *noted = note_me();
    pthread_setname_np(pthread_self(), thread->name);
    thread->body();
    if (noted) {
        atomic_store(noted, 0);
        atomic_fetch_add(&ended_cpu_ns, sxs_now_ns(CLOCK_THREAD_CPUTIME_ID));
    }
    return NULL;
}

uint64_t sxs_thread_own_cpu_ns(void)
{
    uint64_t sum = atomic_load(&ended_cpu_ns);
    for (size_t i = 0; i < ARRAY_LEN(own_tids); i++) {
        uint32_t tid = atomic_load(&own_tids[i]);
        if (tid)
            sum += sxs_cpu_ns_of(tid);
    }
    return sum;
}

SXS_SIGSAFE int sxs_thread_is_own(uint32_t tid)
{
    for (size_t i = 0; i < ARRAY_LEN(own_tids); i++)
        if (atomic_load_explicit(&own_tids[i], memory_order_relaxed) == tid)
            return 1;
    return 0;
}

static int start_thread(const struct sxs_thread *thread, int detach_state, pthread_t *id)
{
    pthread_attr_t attr;
    sigset_t       all, saved;
    int            err;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    pthread_attr_setdetachstate(&attr, detach_state);
    pthread_sigmask(SIG_SETMASK, &all, &saved); /* the new thread inherits the mask */
    err = pthread_create(id, &attr, run_thread, (void *)(uintptr_t)thread);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    pthread_attr_destroy(&attr);
    return err;
}

int sxs_thread_start(const struct sxs_thread *thread)
{
    pthread_t id;
    return start_thread(thread, PTHREAD_CREATE_DETACHED, &id);
}

/* ---- threads that end when they are asked to ------------------------------------------------- */

#define JOIN_PAUSE_NS 500000L /* between two looks whether a thread has ended */

#define SHALL_END 1u
#define WAKE_UP   2u

int sxs_worker_start(struct sxs_worker *w, const struct sxs_thread *thread)
{
    int err;
    sxs_worker_end(w);
    atomic_store(&w->asked, 0);
    err = start_thread(thread, PTHREAD_CREATE_JOINABLE, &w->id);
    w->is_started = err == 0;
    return err;
}

int sxs_worker_is_asked(const struct sxs_worker *w)
{
    return (atomic_load_explicit(&w->asked, memory_order_acquire) & SHALL_END) != 0;
}

int sxs_worker_pause(struct sxs_worker *w, uint64_t ns)
{
    struct timespec limit = sxs_timespec_of(ns);
    uint32_t        now = atomic_load(&w->asked);
    if (now == 0)
        syscall(SYS_futex, &w->asked, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0);
    atomic_fetch_and(&w->asked, SHALL_END); /* the wake-ups so far are served */
    return sxs_worker_is_asked(w);
}

SXS_SIGSAFE static void ask_worker(struct sxs_worker *w, uint32_t what)
{
    atomic_fetch_or(&w->asked, what);
    syscall(SYS_futex, &w->asked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void sxs_worker_ask(struct sxs_worker *w)
{
    ask_worker(w, SHALL_END);
}

SXS_SIGSAFE void sxs_worker_wake(struct sxs_worker *w)
{
    ask_worker(w, WAKE_UP);
}

void sxs_worker_end(struct sxs_worker *w)
{
    if (!w->is_started)
        return;
    sxs_worker_ask(w);
    pthread_join(w->id, NULL);
    w->is_started = 0;
}

int sxs_worker_end_within(struct sxs_worker *w, uint64_t limit_ns)
{
    const struct timespec pause = {0, JOIN_PAUSE_NS};
    uint64_t              until = sxs_now_ns(CLOCK_MONOTONIC) + limit_ns;
    if (!w->is_started)
        return 0;
    sxs_worker_ask(w);
    /* Not pthread_clockjoin_np(), which neither the thread sanitizer nor musl knows. */
    while (pthread_tryjoin_np(w->id, NULL) != 0) {
        if (sxs_now_ns(CLOCK_MONOTONIC) >= until)
            return -ETIMEDOUT;
        nanosleep(&pause, NULL);
    }
    w->is_started = 0;
    return 0;
}

void sxs_worker_leave_behind(struct sxs_worker *w)
{
    if (!w->is_started)
        return;
    pthread_detach(w->id);
    w->is_started = 0;
}
