/* SPDX-License-Identifier: MIT */
/** scratch.h - room for the frames of one walk, outside the stack that is walked. */
#ifndef SXS_SAMPLER_SCRATCH_H
#define SXS_SAMPLER_SCRATCH_H

#include <stdatomic.h>
#include <stdint.h>

#include "manager/base/base.h"
#include "record/samples.h"

struct sxs_scratch {
    _Atomic int taken; /* private */
    uintptr_t   ips[SXS_MAX_STACK];
};

/**
 * sxs_scratch_take - room for the walk of thread @tid, the caller's alone until it gives it back.
 * Returns NULL when all rooms are in use. Any thread; async-signal-safe.
 */
SXS_SIGSAFE struct sxs_scratch *sxs_scratch_take(uint32_t tid);

/** Gives back what take() returned. Any thread; async-signal-safe. */
SXS_SIGSAFE void sxs_scratch_give_back(struct sxs_scratch *s);

#endif
