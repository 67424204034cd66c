/* SPDX-License-Identifier: MIT */
/**
 * walk_clock.h - how long a walk in a signal handler may take, in cycles of the time stamp counter.
 *
 * The counter goes on while the thread waits for a processor, which is milliseconds on a busy machine: the walk has not
 * taken that time. So what passes between two looks at the clock counts as a quarter of the limit at most.
 */
#ifndef SXS_WALK_CLOCK_H
#define SXS_WALK_CLOCK_H

#include <stdint.h>
#include <x86intrin.h>

#include "manager/base/base.h"

struct sxs_walk_clock {
    uint64_t last;  /* __rdtsc() of the last look */
    uint64_t left;  /* cycles */
    uint64_t limit; /* cycles; 0: none */
};

/** sxs_walk_clock_start - @limit: cycles that the walk may take, 0 for any number. Async-signal-safe. */
SXS_SIGSAFE static inline void sxs_walk_clock_start(struct sxs_walk_clock *clock, uint64_t limit)
{
    *clock = (struct sxs_walk_clock){.left = limit, .limit = limit, .last = limit ? __rdtsc() : 0};
}

/** sxs_walk_clock_is_over - 1 when the walk has taken longer than it may, else 0. Async-signal-safe. */
SXS_SIGSAFE static inline int sxs_walk_clock_is_over(struct sxs_walk_clock *clock)
{
    uint64_t now, passed, most = clock->limit / 4 + 1;
    if (!clock->limit)
        return 0;
    now = __rdtsc();
    passed = now - clock->last < most ? now - clock->last : most;
    clock->last = now;
    if (passed >= clock->left)
        return 1;
    clock->left -= passed;
    return 0;
}

#endif
