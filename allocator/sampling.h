/* SPDX-License-Identifier: MIT */
/** sampling.h - random intervals between the bytes that are taken, and what a sample stands for. */
#ifndef SXS_ALLOCATOR_SAMPLING_H
#define SXS_ALLOCATOR_SAMPLING_H

#include <stdint.h>

#include "base/base.h"

/**
 * sxs_sampling_draw - draw the number of bytes before the next one that is taken.
 * The result has an exponential distribution with the mean @interval, rounded down.
 * @random: state of the generator, 0 at first. Used by one thread.
 * Signal-safe. */
SXS_SIGSAFE uint64_t sxs_sampling_draw(uint64_t *random, uint64_t interval);

/** sxs_sampling_weight - return 1/p, where p is the probability that one of @bytes bytes is taken.
 *  @bytes, @interval: > 0. Pure; signal-safe. */
SXS_SIGSAFE double sxs_sampling_weight(uint64_t bytes, uint64_t interval);

/** sxs_sampling_below - return a random number below @limit, > 0. @random: as above. */
SXS_SIGSAFE uint64_t sxs_sampling_below(uint64_t *random, uint64_t limit);

#endif
