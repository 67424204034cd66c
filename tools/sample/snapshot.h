/* SPDX-License-Identifier: MIT */
/**
 * snapshot.h - the walker "snapshot": every runtime is suspended, then each thread that is due is
 * walked by DoStackSnapshot of its runtimes and by itself. Slow; what others are held against.
 */
#ifndef SXS_SAMPLER_SNAPSHOT_H
#define SXS_SAMPLER_SNAPSHOT_H

#include "manager/runtime.h"
#include "session/write/samples_write.h"

/** Before the first tick; samples go to @w. */
void sxs_snapshot_init(struct sxs_samples_writer *w, enum sxs_sample_mode mode, unsigned hz);

/** One round: waits until it is due, then stops the runtimes if any thread is. One thread calls this;
 *  no runtime knows it. */
void sxs_snapshot_tick(void);

/** Around a fork: no runtime is suspended from the return of hold() to release(). hold() waits for a second at most and
 *  returns 1, or 0 when it gave up: then release() is not called. The same thread. */
int  sxs_snapshot_hold(void);
void sxs_snapshot_release(void);

/** A runtime has ended: waits until it is resumed, should it be suspended just now. */
void sxs_snapshot_ended(void);

#endif
