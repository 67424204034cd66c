/* SPDX-License-Identifier: MIT */
/**
 * clocks.h - what makes a thread's sample signal come: a timer on its CPU clock, or a perf event.
 *
 * CPU-clock timers fire on the scheduler's tick, so they cannot give more than some 250 a second; a
 * perf task-clock event can, where the system permits it. Both stand still while the thread sleeps.
 */
#ifndef SXS_SAMPLER_CLOCKS_H
#define SXS_SAMPLER_CLOCKS_H

#include <signal.h>

#include "record/samples.h"
#include "sampler/threads.h"

#define SXS_SAMPLE_SIGNAL SIGPROF

/** Chooses for @hz. Returns what will be used; perf is tried out first. Not signal-safe. */
enum sxs_sample_clock sxs_clocks_choose(unsigned hz);

/** Starts the clock of one thread; 0, or -errno. Called by the service thread. */
int sxs_clocks_start(struct sxs_sampled_thread *t);
void sxs_clocks_stop(struct sxs_sampled_thread *t);

/** CPU time of a thread, in ns, or 0 when it is gone. */
uint64_t sxs_clocks_cpu_ns(uint32_t tid);

/** Sends one sample signal to @tid that stands for @weight_ns. 0, or -errno. */
int sxs_clocks_poke(uint32_t tid, uint32_t weight_ns);

/**
 * sxs_clocks_weight - is this signal one of ours, and how much time does it stand for?
 * Returns ns, or 0 when the signal is somebody else's. Arms the next one. Signal-safe.
 */
SXS_SIGSAFE uint64_t sxs_clocks_weight(struct sxs_sampled_thread *t, const siginfo_t *info);

#endif
