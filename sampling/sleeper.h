/* SPDX-License-Identifier: MIT */
/**
 * sampling/sleeper.h - samples of threads that must not be interrupted by a signal: they wait in a system
 * call with a timeout, which would begin again after the signal (sampling/restart.h). Another thread
 * walks their stacks, as far as that is possible. */
#ifndef SXS_SAMPLING_SLEEPER_H
#define SXS_SAMPLING_SLEEPER_H

#include "sampling/threads.h"
#include "session/write/samples_write.h"

/**
 * sxs_sleeper_take - record a sample of @t that stands for @weight ns, unless the sample can be requested
 * by a signal. One thread at a time calls this; samples are written to @w.
 * Returns 0: send a signal; 1: recorded; 2: dropped and counted; -1: the thread has continued
 * meanwhile, and nothing is recorded. */
int sxs_sleeper_take(struct sxs_samples_writer *w, struct sxs_thread_slot *t, uint64_t weight);

#endif
