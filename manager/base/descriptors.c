/* SPDX-License-Identifier: MIT */
#include "manager/base/descriptors.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "manager/base/base.h"
#include "manager/base/fork.h"
#include "manager/base/thread.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define UNSHARE_TABLE 2u /* CLOSE_RANGE_UNSHARE */

static struct {
    pthread_mutex_t lock;    /* one caller at a time; guards what follows */
    int             started; /* 0: not yet, 1: the thread runs, -1: there is none */
    int (*work)(void *arg);
    void            *arg;
    int              result;
    _Atomic uint32_t asked, answered; /* calls; futex words */
    _Atomic int      forked;
    _Atomic pid_t    pid; /* of the process that called first; 0: none yet */
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(service.lock);

static SXS_TLS int has_own_table; /* on the service thread, when the kernel gave it one */
static SXS_TLS int is_in_work;    /* a call from within work runs at once */

static void wait_while(_Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load(word) == value)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void count_up(_Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* The kernel copies no descriptor into the new table: not for a moment does the library hold a file,
 * pipe or socket of the host open. */
static void serve(void)
{
    is_in_work = 1;
    has_own_table = syscall(SYS_close_range, 0u, ~0u, UNSHARE_TABLE) == 0;
    for (uint32_t n = 0;; n++) {
        wait_while(&service.asked, n);
        service.result = service.work(service.arg);
        count_up(&service.answered);
    }
}

static const struct sxs_thread thread = {"sxsprof files", serve};

static void child_forked(void)
{
    atomic_store(&service.forked, 1);
}

/* Without the thread: nobody may see SIGXFSZ, and nobody may cancel the host's thread in here. */
static int call_here(int (*work)(void *), void *arg)
{
    static const struct timespec no_time;
    sigset_t                     xfsz, saved, pending;
    int                          cancel, result;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &xfsz, &saved);
    sigpending(&pending);
    is_in_work = 1;
    result = work(arg);
    is_in_work = 0;
    if (!sigismember(&pending, SIGXFSZ))
        sigtimedwait(&xfsz, NULL, &no_time);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    pthread_setcancelstate(cancel, NULL);
    return result;
}

/* A child must not even look at the lock, which another thread may have held. One made by a bare clone()
 * runs no fork handlers: its number tells. */
static int is_forked(void)
{
    pid_t none = 0, me = getpid();
    return atomic_load(&service.forked) ||
           (!atomic_compare_exchange_strong(&service.pid, &none, me) && none != me);
}

int sxs_descriptors_call(int (*work)(void *arg), void *arg)
{
    int saved = errno, result;
    if (is_in_work)
        return work(arg);
    if (is_forked())
        return -ECHILD;
    pthread_mutex_lock(&service.lock);
    if (!service.started) {
        static struct sxs_fork_part part = {.child = child_forked};
        sxs_fork_register(&part);
        service.started = sxs_thread_start(&thread) == 0 ? 1 : -1;
    }
    if (service.started == 1) {
        uint32_t before = atomic_load(&service.answered);
        service.work = work;
        service.arg = arg;
        count_up(&service.asked);
        wait_while(&service.answered, before);
        result = service.result;
    } else {
        result = call_here(work, arg);
    }
    pthread_mutex_unlock(&service.lock);
    errno = saved;
    return result;
}

int sxs_descriptors_are_own(void)
{
    return has_own_table;
}
