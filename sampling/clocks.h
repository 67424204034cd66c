/* SPDX-License-Identifier: MIT */
/**
 * sampling/clocks.h - the clock of a thread, which sends its sample signals: a timer on
 * its CPU clock, or a perf event; where the system refuses both, rounds (sampling/rounds.h).
 *
 * CPU-clock timers fire at the scheduler's tick, so they give at most some 250 samples a second.
 * A perf task-clock event gives more, where the system permits it. Both stand still while the
 * thread sleeps. A perf event costs some microseconds at each context switch of its thread; a
 * timer costs nothing there. So above 240 Hz a thread begins with a perf event, and gets a timer
 * if it runs for less than a millisecond at a time. Samples of both kinds carry the time they
 * stand for. */
#ifndef SXS_SAMPLING_CLOCKS_H
#define SXS_SAMPLING_CLOCKS_H

#include <signal.h>

#include "sampling/threads.h"
#include "session/format/samples.h"
#include "signals/signals.h"

/**
 * sxs_clocks_choose - choose the kind of clock for @hz samples a second. Tries if perf events
 * are permitted, and if timers are. Chooses the signal, too (sxs_sample_signal_choose()). Returns the kind that
 * will be used first. Not signal-safe. */
enum sxs_sample_clock sxs_clocks_choose(unsigned hz);
/** sxs_clocks_choose_none - choose the signal alone, for samples in rounds. Returns SXS_CLOCK_ROUNDS.
 *  Not signal-safe. */
enum sxs_sample_clock sxs_clocks_choose_none(void);

/**
 * sxs_clocks_start, sxs_clocks_stop - start or stop the clock of a thread. The caller must hold
 * the thread's slot as SXS_SLOT_BUSY. sxs_clocks_start() returns 0, or -ESRCH when the thread
 * has ended. */
int sxs_clocks_start(struct sxs_thread_slot *t);
void sxs_clocks_stop(struct sxs_thread_slot *t);
/**
 * sxs_clocks_check - start a timer if the host has closed the thread's perf event. The caller
 * must hold the slot as SXS_SLOT_BUSY. */
void sxs_clocks_check(struct sxs_thread_slot *t);
/**
 * sxs_clocks_any_to_move - whether any thread has requested the other kind of clock since the
 * last call. Any thread.
 * sxs_clocks_move - give @t the other kind of clock if its handler requested that. No time of
 * the thread is lost or counted twice: the first sample of the new clock is due when the next
 * sample of the old clock would have been. The caller must hold the slot as SXS_SLOT_BUSY. Not
 * signal-safe. */
int  sxs_clocks_any_to_move(void);
void sxs_clocks_move(struct sxs_thread_slot *t);
/**
 * sxs_clocks_disown - in a forked child: close the child's copy of the perf event's descriptor.
 * Timers are not inherited. */
void sxs_clocks_disown(struct sxs_thread_slot *t);

/**
 * sxs_clocks_own - whether a signal was sent by a clock.
 * @t: the calling thread, or NULL.
 * @weight_ns: receives the time that the sample stands for, if the result is 1; 0: take no
 *   sample.
 * Returns 1, or 0 for a signal from another sender. Arms the next sample. Signal-safe. */
SXS_SIGSAFE int sxs_clocks_own(struct sxs_thread_slot *t, const siginfo_t *info,
                               uint64_t *weight_ns);

#endif
