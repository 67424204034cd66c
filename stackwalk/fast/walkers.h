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
 * Returns the number of IPs, at least 1. Signal-safe (with SXS_WALKER_UNWIND only as far as
 * libunwind is). */
SXS_SIGSAFE size_t sxs_walkers_walk(enum sxs_sample_walker walker, ucontext_t *uc,
                                    const struct sxs_walk_limits *limits, uintptr_t *ips,
                                    enum sxs_sample_end *end);

/**
 * sxs_walkers_prepare - set up libunwind if @walker needs it. Call before the first walk. Not
 * signal-safe. */
void sxs_walkers_prepare(enum sxs_sample_walker walker);

/**
 * sxs_walkers_hold_off, sxs_walkers_go_on - must enclose work that must not run while a walker
 * may hold the loader's lock (SXS_WALKER_UNWIND takes that lock).
 * sxs_walkers_hold_off() waits until the walks in progress have ended, at most 100 ms. Walks
 * that begin later fail, and are counted as failed. Calls may nest. Not signal-safe. */
void sxs_walkers_hold_off(void);
void sxs_walkers_go_on(void);

#endif
