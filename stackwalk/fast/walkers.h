/* SPDX-License-Identifier: MIT */
/** stackwalk/fast/walkers.h - calls the walker that was chosen for samples. */
#ifndef SXS_STACKWALK_FAST_WALKERS_H
#define SXS_STACKWALK_FAST_WALKERS_H

#include <ucontext.h>

#include "base/base.h"
#include "session/format/samples.h"
#include "stackwalk/fast/walk_fast.h"

/**
 * sxs_walkers_walk - walk the stack that @uc interrupted.
 * @ips: room for limits->max elements; receives the interrupted IP first.
 * @end: receives the reason why there are no more frames.
 * Returns the number of IPs, at least 1. Signal-safe. */
SXS_SIGSAFE size_t sxs_walkers_walk(enum sxs_sample_walker walker, const ucontext_t *uc,
                                    const struct sxs_walk_limits *limits, uintptr_t *ips,
                                    enum sxs_sample_end *end);

/**
 * sxs_walkers_prepare - load libunwind if @walker needs it. Call before the first walk.
 * Returns 0, or -1 if libunwind cannot be loaded; then its walks have one frame. Not
 * signal-safe. */
int sxs_walkers_prepare(enum sxs_sample_walker walker);

#endif
