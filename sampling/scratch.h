/* SPDX-License-Identifier: MIT */
/** sampling/scratch.h - buffers for the frames of one walk, outside the stack that is walked. */
#ifndef SXS_SAMPLING_SCRATCH_H
#define SXS_SAMPLING_SCRATCH_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/base.h"
#include "session/format/samples.h"

struct sxs_scratch {
    _Atomic int taken; /* private */
    uintptr_t   ips[SXS_MAX_STACK];
};

/**
 * sxs_scratch_take - take a buffer for the walk of thread @tid. No other walk uses it until
 * sxs_scratch_give_back(). Returns NULL if all buffers are in use. Any thread; async-signal-safe.
 */
SXS_SIGSAFE struct sxs_scratch *sxs_scratch_take(uint32_t tid);

/** Give back a buffer that sxs_scratch_take() returned. Any thread; async-signal-safe. */
SXS_SIGSAFE void sxs_scratch_give_back(struct sxs_scratch *s);

#endif
