/* SPDX-License-Identifier: MIT */
/**
 * timed_wait.h - waits for condition variables and locks with a time limit.
 *
 * The limits are measured with CLOCK_MONOTONIC. pthread_cond_timedwait() on a condition variable with a
 * static initializer, pthread_mutex_timedlock() and sem_timedwait() use the time of day instead: when
 * the clock is set, such a wait ends at once, or lasts for hours.
 * After a wait has reached its limit, the other thread may still use the shared data.
 */
#ifndef SXS_BASE_TIMED_WAIT_H
#define SXS_BASE_TIMED_WAIT_H

#include <errno.h>
#include <pthread.h>

#include "base/clock.h"

/**
 * sxs_cond_wait_until - wait for @cond, of whatever clock its attributes say.
 * @until_ns: CLOCK_MONOTONIC.
 * Returns 0 or ETIMEDOUT, as pthread_cond_timedwait() does. Any thread; not signal-safe.
 */
static inline int sxs_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
                                      uint64_t until_ns)
{
    struct timespec until = sxs_timespec_of(until_ns);
    return pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &until);
}

/**
 * sxs_mutex_lock_within - take @lock, or give up when that has taken longer than @limit_ns.
 * Returns 0 with the lock, or ETIMEDOUT. Any thread; not signal-safe.
 */
static inline int sxs_mutex_lock_within(pthread_mutex_t *lock, uint64_t limit_ns)
{
    const struct timespec pause = {0, 1000000};
    uint64_t              began = sxs_now_ns(CLOCK_MONOTONIC);
    /* Not pthread_mutex_clocklock(): ThreadSanitizer does not know it. */
    while (pthread_mutex_trylock(lock) != 0) {
        if (sxs_now_ns(CLOCK_MONOTONIC) - began >= limit_ns)
            return ETIMEDOUT;
        nanosleep(&pause, NULL);
    }
    return 0;
}

#endif
