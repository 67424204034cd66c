/* SPDX-License-Identifier: MIT */
/**
 * clocks.h - what makes a thread's sample signal come: a timer on its CPU clock, or a perf event.
 *
 * CPU-clock timers fire on the scheduler's tick, so they cannot give more than some 250 a second; a
 * perf task-clock event can, where the system permits it. Both stand still while the thread sleeps.
 * A perf event costs some microseconds at each context switch of its thread, a timer nothing: above 240 Hz a thread
 * begins with a perf event, and gets a timer when it turns out to run for less than a millisecond at a time.
 * Samples of either kind carry the time they stand for.
 */
#ifndef SXS_SAMPLER_CLOCKS_H
#define SXS_SAMPLER_CLOCKS_H

#include <signal.h>

#include "session/format/samples.h"
#include "tools/sample/threads.h"
#include "signals/signals.h"

/** Chooses for @hz. Returns what will be used; perf is tried out first. Not signal-safe. */
enum sxs_sample_clock sxs_clocks_choose(unsigned hz);

/** sxs_clocks_signal - the signal that clocks send; sxs_clocks_choose() takes the router's
 *  (sxs_signals.sample_signal). sxs_clocks_use - clocks that start from now on send @sig. Any thread;
 *  signal-safe. */
int  sxs_clocks_signal(void);
void sxs_clocks_use(int sig);

/** Starts the clock of one thread; 0, or -errno (it is gone). Called by whoever holds its slot BUSY. */
int sxs_clocks_start(struct sxs_sampled_thread *t);
void sxs_clocks_stop(struct sxs_sampled_thread *t);
/** When the host has closed the thread's perf event, starts a timer in its place. Called by whoever holds its
 *  slot BUSY. */
void sxs_clocks_check(struct sxs_sampled_thread *t);
/** sxs_clocks_any_to_move - has any thread asked for the other kind of clock since the last call? Any thread.
 *  sxs_clocks_move - gives @t the kind of clock that its handler asked for, if it did. No time of the thread is lost or
 *  counted twice: the new clock's first sample is due when the old one's next would have been. Called by whoever holds its
 *  slot BUSY. Not signal-safe. */
int  sxs_clocks_any_to_move(void);
void sxs_clocks_move(struct sxs_sampled_thread *t);
/** In a forked child: closes its copy of the descriptor; timers were not inherited. */
void sxs_clocks_disown(struct sxs_sampled_thread *t);

/** Around a fork: no descriptor is opened or closed from hold() to release(), so that the child finds all there are in the
 *  slots. hold() waits for a second at most and returns 1, or 0 when it gave up: then release() is not called. The same
 *  thread. Not signal-safe. */
int  sxs_clocks_hold_for_fork(void);
void sxs_clocks_release(void);

/** CPU time of a thread, in ns, or 0 when it is gone. */
uint64_t sxs_clocks_cpu_ns(uint32_t tid);

/** A weight that is none: the signal asks for the thread's stack (walk_request.h). */
#define SXS_CLOCKS_WALK UINT32_MAX

/** Sends one sample signal to @tid that stands for @weight_ns. 0, or -errno. */
int sxs_clocks_poke(uint32_t tid, uint32_t weight_ns);

/**
 * sxs_clocks_own - is this signal one of ours? @weight_ns: then, how much time it stands for; 0: for
 * none. @t: the calling thread, or NULL. Returns 1, or 0 when it is somebody else's. Arms the next
 * one. Signal-safe.
 */
SXS_SIGSAFE int sxs_clocks_own(struct sxs_sampled_thread *t, const siginfo_t *info,
                               uint64_t *weight_ns);

#endif
