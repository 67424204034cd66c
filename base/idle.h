/* SPDX-License-Identifier: MIT */
/**
 * idle.h - timed wait of a service thread between two rounds of work, with early wake-up.
 *
 * The wait grows while there is nothing to do. One thread waits; any thread may wake it. A wake-up
 * that comes before the wait begins is kept: the next sxs_idle_wait() returns at once.
 */
#ifndef SXS_BASE_IDLE_H
#define SXS_BASE_IDLE_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define SXS_IDLE_SHORT_NS 10000000L /* the wait while there is work to do */
#define SXS_IDLE_LONG_NS  80000000L /* the longest wait while there is none */

/** The state of one waiting thread. Must be zeroed before use. */
struct sxs_idle {
    _Atomic uint32_t word; /* futex word. 0: awake, 1: waiting, 2: woken */
    long             ns;   /* limit of the last wait; used by the waiting thread only */
};

/**
 * sxs_idle_wait - wait until sxs_idle_wake() is called or the time limit has passed. The limit is
 * SXS_IDLE_SHORT_NS if @busy, else twice the last limit, at most SXS_IDLE_LONG_NS. An error of the
 * system call only ends the wait early.
 */
static inline void sxs_idle_wait(struct sxs_idle *d, int busy)
{
    uint32_t awake = 0;
    d->ns = busy || !d->ns ? SXS_IDLE_SHORT_NS : 2 * d->ns;
    if (d->ns > SXS_IDLE_LONG_NS)
        d->ns = SXS_IDLE_LONG_NS;
    if (atomic_compare_exchange_strong(&d->word, &awake, 1)) {
        struct timespec timeout = {0, d->ns};
        syscall(SYS_futex, &d->word, FUTEX_WAIT_PRIVATE, 1, &timeout, NULL, 0);
    }
    atomic_store(&d->word, 0);
}

/** sxs_idle_wake - wake the waiting thread, or make its next wait return at once. Costs one load if
 *  the thread has been woken already, and a system call only if it is waiting.
 *  Never blocks. Any thread. Async-signal-safe, except that it may change errno. */
static inline void sxs_idle_wake(struct sxs_idle *d)
{
    if (atomic_load_explicit(&d->word, memory_order_relaxed) != 2 &&
        atomic_exchange(&d->word, 2) == 1)
        syscall(SYS_futex, &d->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
