/* SPDX-License-Identifier: MIT */
#include "base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fork.h"
#include "base/thread.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define UNSHARE_TABLE 2u /* CLOSE_RANGE_UNSHARE */

static struct {
    pthread_mutex_t lock;    /* held during a whole call, so that callers take turns; guards the
                              * fields up to `answered` */
    int             started; /* 0: not yet, 1: the thread runs, -1: it could not be started */
    int (*work)(void *arg);
    void            *arg;
    int              result;
    _Atomic uint32_t asked, answered; /* numbers of calls begun and completed; futex words */
    _Atomic int      forked; /* 1: this process is a forked child */
    _Atomic pid_t    pid;    /* process ID of the process that called first; 0: no call yet */
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(service.lock);

static SXS_TLS int has_own_table; /* 1: this is the service thread, and it has its own table */
static SXS_TLS int is_in_work; /* 1: this thread runs work; a call from within work runs at once */

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

/* The thread sanitizer knows a descriptor by its number, not by its table, and would take one of this thread's for
 * one of the host's. So this thread's numbers begin beyond those that the hosts of tests use. */
static void keep_numbers_apart(void)
{
#ifdef __SANITIZE_THREAD__
    enum { FIRST = 200 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 2 * FIRST)
        return;
    long null = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC); /* 0 */
    for (int n = 1; n < FIRST; n++)
        syscall(SYS_dup3, null, n, O_CLOEXEC); /* not dup3(), which the sanitizer sees */
#endif
}

/* The body of the service thread. The kernel copies no descriptor into the new table, so the
 * library never holds a file, pipe or socket of the host open, not even for a moment. */
static void run_service(void)
{
    is_in_work = 1;
    has_own_table = syscall(SYS_close_range, 0u, ~0u, UNSHARE_TABLE) == 0;
    if (has_own_table)
        keep_numbers_apart();
    for (uint32_t n = 0;; n++) {
        wait_while(&service.asked, n);
        service.result = service.work(service.arg);
        count_up(&service.answered);
    }
}

static const struct sxs_thread thread = {"sxsprof files", run_service};

static void child_forked(void)
{
    atomic_store(&service.forked, 1);
}

/* Runs @work on the calling thread, for the case that the service thread could not be started.
 * Keeps SIGXFSZ from being delivered, and keeps other threads from cancelling this one during
 * @work. */
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

/* Tells whether this process is a forked child. A child must not touch the lock, because a thread
 * of the parent may have held it during the fork. A child that was made by a bare clone() runs no
 * fork handlers, so its process ID is compared too. */
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
