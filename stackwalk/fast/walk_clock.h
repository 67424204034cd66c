/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/walk_clock.h - the time limit of a walk in a signal handler, in cycles of the time
 * stamp counter.
 *
 * The counter also advances while the thread waits for a processor, which takes milliseconds on a
 * busy machine and is no time of the walk. So the time between two checks counts as at most a
 * quarter of the limit.
 */
#ifndef SXS_WALK_CLOCK_H
#define SXS_WALK_CLOCK_H

#include <stdint.h>
#include <x86intrin.h>

#include "base/base.h"

struct sxs_walk_clock {
    uint64_t last;  /* __rdtsc() of the last check */
    uint64_t left;  /* cycles */
    uint64_t limit; /* cycles; 0: no limit */
};

/** sxs_walk_clock_start - begin a walk that may take @limit cycles; 0: no limit. Async-signal-safe. */
SXS_SIGSAFE static inline void sxs_walk_clock_start(struct sxs_walk_clock *clock, uint64_t limit)
{
    *clock = (struct sxs_walk_clock){.left = limit, .limit = limit, .last = limit ? __rdtsc() : 0};
}

/** sxs_walk_clock_is_over - Returns 1 if the walk has reached its limit, else 0. Async-signal-safe. */
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
