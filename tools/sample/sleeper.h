/* SPDX-License-Identifier: MIT */
/**
 * tools/sample/sleeper.h - samples of threads that a signal would disturb: they wait in a system call
 * with a timeout that would begin anew (tools/recorder/restart.h). Their stacks are walked from
 * outside, as far as that goes. */
#ifndef SXS_TOOLS_SAMPLE_SLEEPER_H
#define SXS_TOOLS_SAMPLE_SLEEPER_H

#include "session/write/samples_write.h"
#include "tools/recorder/threads.h"

/**
 * sxs_sleeper_take - record a sample of @t that stands for @weight ns, unless a signal may ask it for
 * one. One thread at a time calls this; samples are written to @w.
 * Returns 0: send a signal; 1: recorded; 2: dropped and counted; -1: the thread has gone on meanwhile,
 * and nothing is recorded. */
int sxs_sleeper_take(struct sxs_samples_writer *w, struct sxs_thread_slot *t, uint64_t weight);

#endif
