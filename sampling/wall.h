/* SPDX-License-Identifier: MIT */
/**
 * sampling/wall.h - wall-clock samples: running threads get a signal, waiting threads are
 * not disturbed. */
#ifndef SXS_SAMPLING_WALL_H
#define SXS_SAMPLING_WALL_H

#include <ucontext.h>

#include "base/thread.h"
#include "sampling/threads.h"
#include "session/write/samples_write.h"

/**
 * sxs_wall_init - prepare for @hz rounds a second. Call it before the first tick; samples are
 * written to @w. */
void sxs_wall_init(struct sxs_samples_writer *w, unsigned hz);

/** sxs_wall_ask_reasons - ask the kernel from now on what each thread waits in, once for each wait.
 *  Any thread. */
void sxs_wall_ask_reasons(void);

/**
 * sxs_wall_tick - sleep until the next round is due, then check every thread. Called on the thread of
 * @worker. Returns 1 when that shall end, else 0. */
int sxs_wall_tick(struct sxs_worker *worker);

/** sxs_wall_wait - sleep until the next round is due, then begin it by sxs_wall_begin(). Thread and
 *  result as of sxs_wall_tick(). */
int sxs_wall_wait(struct sxs_worker *worker);

/**
 * sxs_wall_begin - begin a round at @now_ns (CLOCK_MONOTONIC). Samples of the round stand for the time
 * of their threads until then. */
void sxs_wall_begin(uint64_t now_ns);

/**
 * sxs_wall_due - whether @t must be sampled, because it has run since its stack was last taken, or
 * was taken while it ran and waits in a system call now.
 * Returns the time in ns that its next sample stands for: all of its life up to this round that no
 * sample stands for yet. It belongs to the caller from now on: no later call returns it again, unless
 * it is given back. @t: BUSY. If that is more than a second, the process was probably stopped: then one
 * interval, and the rest counts as not sampled. Returns 0 when the thread is still waiting at the same
 * place; then that time is added to its last sample. */
uint32_t sxs_wall_due(struct sxs_thread_slot *t);

/** sxs_wall_request - ask @t by a signal for a sample that stands for @weight ns. Returns 0, or what
 *  sxs_sample_signal_send() returns. */
int sxs_wall_request(struct sxs_thread_slot *t, uint32_t weight);

/** sxs_wall_asked - take the ns that the sample that is about to be taken of @t stands for; 0: an
 *  earlier one stood for them, and none is to be taken. Signal-safe. */
SXS_SIGSAFE uint64_t sxs_wall_asked(struct sxs_thread_slot *t);

/** sxs_wall_give_back - say that @ns of those that sxs_wall_due() or sxs_wall_asked() returned have no
 *  sample: the next one stands for them. Signal-safe. */
SXS_SIGSAFE void sxs_wall_give_back(struct sxs_thread_slot *t, uint64_t ns);

/**
 * sxs_wall_taken - note that the handler has just taken the stack of the calling thread @t, which
 * was interrupted at @uc. sxs_wall_due() counts CPU time from now on, so the cost of the sample does
 * not count as work of the thread. Signal-safe. */
SXS_SIGSAFE void sxs_wall_taken(struct sxs_thread_slot *t, const ucontext_t *uc);

/** sxs_wall_ended - record the time of a thread that ends, or of which the session ends, up to now.
 *  @t: BUSY, or no round is going on. */
void sxs_wall_ended(struct sxs_thread_slot *t);

#endif
