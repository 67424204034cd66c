/* SPDX-License-Identifier: MIT */
/**
 * sampling/sleeper.h - samples of threads that a signal would disturb: they wait in a system call
 * with a timeout that would begin anew (sampling/restart.h). Their stacks are walked from
 * outside, as far as that goes. */
#ifndef SXS_SAMPLING_SLEEPER_H
#define SXS_SAMPLING_SLEEPER_H

#include "sampling/threads.h"
#include "session/write/samples_write.h"

/**
 * sxs_sleeper_take - record a sample of @t that stands for @weight ns, unless a signal may ask it for
 * one. One thread at a time calls this; samples are written to @w.
 * Returns 0: send a signal; 1: recorded; 2: dropped and counted; -1: the thread has gone on meanwhile,
 * and nothing is recorded. */
int sxs_sleeper_take(struct sxs_samples_writer *w, struct sxs_thread_slot *t, uint64_t weight);

#endif
