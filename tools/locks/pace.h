/* SPDX-License-Identifier: MIT */
/**
 * tools/locks/pace.h - limits how many things are recorded in a second, without a bias: if there
 * are more, each is recorded with the same probability 1/n, and stands for n.
 */
#ifndef SXS_TOOLS_LOCKS_PACE_H
#define SXS_TOOLS_LOCKS_PACE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/base.h"

/** Zeroed and initialized by sxs_pace_init(). Any thread; no lock. */
struct sxs_pace {
    unsigned         max;    /* in one window of time */
    _Atomic uint64_t window; /* number of the current one */
    _Atomic uint32_t count;  /* things in it, recorded or not */
    _Atomic uint32_t every;  /* n of the current window, from the count of the one before */
    _Atomic uint64_t random; /* state of sxs_random_shared() */
};

/** sxs_pace_init - @a_second: the most that are recorded in a second, on average. */
void sxs_pace_init(struct sxs_pace *pace, unsigned a_second);

/** sxs_pace_take - decide on one thing. Returns for how many it stands, or 0 when it is not
 *  recorded. */
SXS_SIGSAFE double sxs_pace_take(struct sxs_pace *pace);

/** sxs_pace_take_at - the same at @now_ns (CLOCK_MONOTONIC). For tests. */
SXS_SIGSAFE double sxs_pace_take_at(struct sxs_pace *pace, uint64_t now_ns);

#endif
