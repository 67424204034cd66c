/* SPDX-License-Identifier: MIT */
/** walkers.h - the walkers a sample can be taken with, behind one call. */
#ifndef SXS_SAMPLER_WALKERS_H
#define SXS_SAMPLER_WALKERS_H

#include <ucontext.h>

#include "base/base.h"
#include "session/format/samples.h"
#include "stackwalk/fast/walk_fast.h"

/**
 * sxs_walkers_walk - the stack that @uc interrupted.
 * @ips: room for @limits->max; the first is the interrupted IP. @end: why there are no more.
 * Returns how many, at least 1. Signal-safe ("unwind" as far as libunwind is).
 */
SXS_SIGSAFE size_t sxs_walkers_walk(enum sxs_sample_walker walker, ucontext_t *uc,
                                    const struct sxs_walk_limits *limits, uintptr_t *ips,
                                    enum sxs_sample_end *end);

/** Before the first walk: sets up libunwind if @walker needs it. Not signal-safe. */
void sxs_walkers_prepare(enum sxs_sample_walker walker);

/**
 * sxs_walkers_hold_off, _go_on - around what must not happen while a walker may hold the loader's lock
 * (the walker `unwind` does). Waits until walks under way have ended, 100 ms at most; walks that begin
 * meanwhile fail, and are counted as that. Nest. Not signal-safe.
 */
void sxs_walkers_hold_off(void);
void sxs_walkers_go_on(void);

#endif
