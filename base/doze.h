/* SPDX-License-Identifier: MIT */
/**
 * doze.h - a service thread sleeps the longer the less there is to do, until somebody needs it.
 *
 * One thread dozes; any thread may rouse it, also before it falls asleep: it then stays awake.
 */
#ifndef SXS_DOZE_H
#define SXS_DOZE_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define SXS_DOZE_SHORT_NS 10000000L /* between two rounds while something happens */
#define SXS_DOZE_LONG_NS  80000000L /* while nothing does */

/** Zeroed before use. */
struct sxs_doze {
    _Atomic uint32_t word; /* 0: awake, 1: asleep, 2: roused */
    long             ns;   /* the last sleep's; of the thread that dozes */
};

/**
 * sxs_doze - sleep until roused or for a while: short when @busy, else twice as long as the last.
 * Errors of the system call end the sleep early, no more.
 */
static inline void sxs_doze(struct sxs_doze *d, int busy)
{
    uint32_t awake = 0;
    d->ns = busy || !d->ns ? SXS_DOZE_SHORT_NS : 2 * d->ns;
    if (d->ns > SXS_DOZE_LONG_NS)
        d->ns = SXS_DOZE_LONG_NS;
    if (atomic_compare_exchange_strong(&d->word, &awake, 1)) {
        struct timespec most = {0, d->ns};
        syscall(SYS_futex, &d->word, FUTEX_WAIT_PRIVATE, 1, &most, NULL, 0);
    }
    atomic_store(&d->word, 0);
}

/** sxs_rouse - end the sleep. A load when it has been roused already, a system call when it sleeps.
 *  Never blocks; any thread; async-signal-safe but for errno. */
static inline void sxs_rouse(struct sxs_doze *d)
{
    if (atomic_load_explicit(&d->word, memory_order_relaxed) != 2 &&
        atomic_exchange(&d->word, 2) == 1)
        syscall(SYS_futex, &d->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
