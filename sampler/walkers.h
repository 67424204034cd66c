/* SPDX-License-Identifier: MIT */
/** walkers.h - the walkers a sample can be taken with, behind one call. */
#ifndef SXS_SAMPLER_WALKERS_H
#define SXS_SAMPLER_WALKERS_H

#include <ucontext.h>

#include "manager/base/base.h"
#include "record/samples.h"
#include "sampler/walk_fast.h"

/**
 * sxs_walkers_walk - the stack that @uc interrupted.
 * @ips: room for @limits->max; the first is the interrupted IP. @end: why there are no more.
 * Returns how many, at least 1. Signal-safe ("unwind" as far as libunwind is).
 */
SXS_SIGSAFE size_t sxs_walkers_walk(enum sxs_sample_walker walker, ucontext_t *uc,
                                    const struct sxs_walk_limits *limits, uintptr_t *ips,
                                    enum sxs_sample_end *end);

#endif
