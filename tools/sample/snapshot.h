/* SPDX-License-Identifier: MIT */
/**
 * tools/sample/snapshot.h - the walker "snapshot": suspends all runtimes and takes the stack of
 * each thread that is due, by DoStackSnapshot of its runtimes and by a walk of its own. Slow;
 * used to check the other walkers. */
#ifndef SXS_TOOLS_SAMPLE_SNAPSHOT_H
#define SXS_TOOLS_SAMPLE_SNAPSHOT_H

#include "base/thread.h"
#include "manager/runtime.h"
#include "session/write/samples_write.h"

/**
 * sxs_snapshot_init - prepare the walker. Call it before the first tick; samples are written to
 * @w. */
void sxs_snapshot_init(struct sxs_samples_writer *w, enum sxs_sample_mode mode, unsigned hz);

/**
 * sxs_snapshot_tick - wait until the next tick is due, then suspend the runtimes if any thread
 * is due. Called on the thread of @worker, which no runtime knows. Returns 1 when that shall end,
 * else 0. */
int sxs_snapshot_tick(struct sxs_worker *worker);

/**
 * sxs_snapshot_hold, sxs_snapshot_release - must enclose a fork. No runtime is suspended in between.
 * sxs_snapshot_hold() waits at most a second and returns 1, or 0 when that was not enough; then
 * sxs_snapshot_release() must not be called. Both on the same thread. */
int  sxs_snapshot_hold(void);
void sxs_snapshot_release(void);

/**
 * sxs_snapshot_ended - must be called when a runtime ends. Waits until a suspension in progress
 * is over, at most 5 seconds. */
void sxs_snapshot_ended(void);

#endif
