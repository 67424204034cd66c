/* SPDX-License-Identifier: MIT */
/** wall.h - wall-clock samples: of running threads by signal, of waiting ones without disturbing them. */
#ifndef SXS_SAMPLER_WALL_H
#define SXS_SAMPLER_WALL_H

#include "record/samples_write.h"
#include "sampler/threads.h"

/** Before the first tick; samples go to @w. */
void sxs_wall_init(struct sxs_samples_writer *w, unsigned hz);

/** One round: sleeps until the next is due, then looks at every thread. One thread calls this. */
void sxs_wall_tick(void);

/** The waiting alone: until the next round is due. */
void sxs_wall_wait(void);

/** sxs_wall_begin - a round begins at @now_ns (CLOCK_MONOTONIC). It stands for the rounds that were missed since the
 *  last one as well, up to 10 in all; when more were missed the machine stood still, and it stands for one. */
void sxs_wall_begin(uint64_t now_ns);

/**
 * sxs_wall_due - has @t run since its stack was last taken?
 * Returns ns its next sample stands for, or 0: it waits where it waited, and that is accounted for.
 */
uint32_t sxs_wall_due(struct sxs_sampled_thread *t);

/** The calling thread's stack has just been taken by its handler. The CPU time that this cost is not work of
 *  the thread: sxs_wall_due() counts from now on. Signal-safe. */
SXS_SIGSAFE void sxs_wall_taken(struct sxs_sampled_thread *t);

#endif
