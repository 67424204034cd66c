/* SPDX-License-Identifier: MIT */
/**
 * sampling/rounds.h - samples threads for which the system refuses a clock: a thread of the library
 * reads the CPU clocks of such threads in rounds and requests their samples by signals.
 *
 * The kernel refuses timers where the user's pending signals reach RLIMIT_SIGPENDING, or a sandbox
 * forbids timer_create(). */
#ifndef SXS_SAMPLING_ROUNDS_H
#define SXS_SAMPLING_ROUNDS_H

#include "base/thread.h"
#include "sampling/threads.h"
#include "session/write/samples_write.h"

/** sxs_rounds_init - prepare for @hz samples a second; refusals are counted in the file of @w. */
void sxs_rounds_init(struct sxs_samples_writer *w, unsigned hz);

/**
 * sxs_rounds_take - sample @t in rounds from now on, because the system has refused its clock.
 * @due_ns: CPU time of the thread when its first sample is due. @err: the reason, an errno value. The caller must
 * hold the slot as SXS_SLOT_BUSY. sxs_rounds_leave() ends that. */
void sxs_rounds_take(struct sxs_thread_slot *t, uint64_t due_ns, int err);
void sxs_rounds_leave(struct sxs_thread_slot *t);

/** sxs_rounds_any - whether any thread has been sampled in rounds in this session. Any thread. */
int sxs_rounds_any(void);

/** sxs_rounds_tick - sleep until the next round, then request the samples that are due from each thread.
 *  Called on the thread of @worker. Returns 1 when that thread must end, else 0. */
int sxs_rounds_tick(struct sxs_worker *worker);

/** sxs_rounds_refused - count a signal to a thread that the system refused; @err: an errno. ESRCH is not counted,
 *  since the thread has ended, nor ENOTSUP: the host uses all signals. Any thread.
 *  sxs_rounds_are_refused - whether one was refused in this session. The system refuses all signals of a sender, so
 *  then samples of all threads without a clock are missing. Any thread. */
void sxs_rounds_refused(int err);
int  sxs_rounds_are_refused(void);

#endif
