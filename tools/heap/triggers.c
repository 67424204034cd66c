/* SPDX-License-Identifier: MIT */
#include "tools/heap/triggers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "base/timed_wait.h"
#include "session/write/session_write.h"
#include "tools/heap/snapshot.h"

#define LONGEST_NS UINT64_C(3600000000000) /* the thread looks for work at least so often */
#define PATIENCE_NS UINT64_C(300000000000) /* how long the end of a program waits for its snapshot */

/* The end of a program that waits for its snapshot, on the stack of its thread. */
struct exiting {
    struct sxs_runtime *rt;
    struct exiting     *next;
    int                 done;
};

static struct {
    pthread_mutex_t         lock; /* guards state, first and served */
    pthread_cond_t          changed;
    int                     state; /* 0: not started, 1: started, -1: failed */
    struct sxs_heap_options options;
    struct exiting         *first;
    int                     ending; /* 1: the session ends: programs that end do not wait */
    struct exiting         *served; /* whose snapshot is taken now; NULL: none, or it waits no longer */
    struct sxs_worker       worker;
    _Atomic unsigned        n_signals;
    _Atomic int             started; /* a runtime runs managed code, and was not looked at yet */
    _Atomic int             forked;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
SXS_FORK_RESETS(all.lock);
SXS_SESSION_RESETS(all);

const struct sxs_heap_options *sxs_heap_options_used(void)
{
    return &all.options;
}

/* ---- the signal ------------------------------------------------------------------------------ */

SXS_SIGSAFE static void on_heap_signal(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    (void)number, (void)info, (void)context;
    if (!atomic_load(&all.forked)) {
        atomic_fetch_add(&all.n_signals, 1);
        sxs_worker_wake(&all.worker);
    }
    errno = saved;
}

/* Installs the handler, unless the signal is used already. It stays when a session has ended, because a
 * signal that comes late would end the process. */
static void install_signal(void)
{
    struct sigaction old,
        action = {.sa_sigaction = on_heap_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    int number = all.options.signal;
    if (!number)
        return;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && (old.sa_flags & SA_SIGINFO) &&
        old.sa_sigaction == on_heap_signal)
        return; /* by an earlier session */
    if (sigaction(number, NULL, &old) != 0 || (old.sa_flags & SA_SIGINFO) ||
        (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN)) {
        sxs_warn("tool heap: signal %d is in use; it takes no snapshots (choose one by "
                 "heap:signal=NAME)",
                 number);
        return;
    }
    sigaction(number, &action, NULL);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static int take_signal(void)
{
    unsigned n = atomic_load(&all.n_signals);
    while (n && !atomic_compare_exchange_weak(&all.n_signals, &n, n - 1))
        continue;
    return n != 0;
}

static void serve_exiting(void)
{
    struct exiting *e;
    pthread_mutex_lock(&all.lock);
    while ((e = all.first) != NULL) {
        struct sxs_runtime *rt = e->rt;
        all.first = e->next;
        all.served = e;
        pthread_mutex_unlock(&all.lock);
        sxs_heap_take(&all.options, SXS_HEAP_AT_EXIT, rt);
        pthread_mutex_lock(&all.lock);
        if (all.served)
            all.served->done = 1;
        all.served = NULL;
        pthread_cond_broadcast(&all.changed);
    }
    pthread_mutex_unlock(&all.lock);
}

static void serve_triggers(void)
{
    uint64_t every = (uint64_t)all.options.every_s * 1000000000u;
    uint64_t due = sxs_now_ns(CLOCK_MONOTONIC) + every;
    int      now_taken = 0;
    while (!atomic_load(&all.forked)) {
        uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
        if (sxs_worker_pause(&all.worker, !every ? LONGEST_NS : now < due ? due - now : 0))
            break;
        serve_exiting();
        if (atomic_exchange(&all.started, 0)) {
            sxs_heap_relax();
            if (all.options.now && !now_taken)
                sxs_heap_take(&all.options, SXS_HEAP_NOW, NULL);
            now_taken = 1;
        }
        while (take_signal())
            sxs_heap_take(&all.options, SXS_HEAP_ON_SIGNAL, NULL);
        if (every && sxs_now_ns(CLOCK_MONOTONIC) >= due)
            sxs_heap_take(&all.options, SXS_HEAP_ON_INTERVAL, NULL);
        while (every && sxs_now_ns(CLOCK_MONOTONIC) >= due)
            due += every;
    }
}

static const struct sxs_thread service = {"sxsprof heap", serve_triggers};

static void child_goes_on(void)
{
    atomic_store(&all.forked, 1);
}

static int start_locked(const char *text)
{
    static struct sxs_fork_part part = {.child = child_goes_on};
    SXS_SESSION_KEEPS(part);
    char                        why[SXS_TOOL_WHY];
    int                         err;
    if (sxs_heap_options_parse(text, &all.options, why, sizeof(why)) != 0) {
        sxs_error("tool heap: %s", why);
        return -1;
    }
    if (!sxs_session_folder("heap"))
        return -1;
    err = sxs_worker_start(&all.worker, &service);
    if (err) {
        sxs_error("tool heap cannot start: %s", strerror(err));
        return -1;
    }
    sxs_fork_register(&part);
    install_signal();
    return 1;
}

int sxs_heap_triggers_start(const char *text)
{
    int state;
    pthread_mutex_lock(&all.lock);
    if (!all.state)
        all.state = start_locked(text);
    state = all.state;
    pthread_mutex_unlock(&all.lock);
    return state == 1 ? 0 : -1;
}

void sxs_heap_started(void)
{
    if ((all.options.now || all.options.frames || all.options.at_exit) &&
        !atomic_exchange(&all.started, 1))
        sxs_worker_wake(&all.worker);
}

void sxs_heap_triggers_stop(void)
{
    pthread_mutex_lock(&all.lock);
    all.ending = 1;
    pthread_cond_broadcast(&all.changed);
    pthread_mutex_unlock(&all.lock);
}

void sxs_heap_triggers_end(void)
{
    sxs_worker_end(&all.worker);
}

void sxs_heap_exiting(struct sxs_runtime *rt)
{
    struct exiting  e = {.rt = rt}, **end = &all.first;
    uint64_t        until = sxs_now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    int             err = 0;
    if (!all.options.at_exit || atomic_load(&all.forked))
        return;
    pthread_mutex_lock(&all.lock);
    while (*end)
        end = &(*end)->next;
    *end = &e;
    sxs_worker_wake(&all.worker);
    while (!e.done && !(all.ending && all.served != &e) && err != ETIMEDOUT)
        err = sxs_cond_wait_until(&all.changed, &all.lock, until);
    for (end = &all.first; *end; end = &(*end)->next) /* not yet begun: withdraw */
        if (*end == &e) {
            *end = e.next;
            break;
        }
    if (all.served == &e)
        all.served = NULL;
    pthread_mutex_unlock(&all.lock);
}
