/* SPDX-License-Identifier: MIT */
/**
 * runs.h - how long a thread runs until it waits, measured by its own sample handler.
 */
#ifndef SXS_SAMPLER_RUNS_H
#define SXS_SAMPLER_RUNS_H

#include "tools/sample/threads.h"

enum sxs_runs {
    SXS_RUNS_UNKNOWN, /* not measured now, or in between */
    SXS_RUNS_SHORT,   /* less than 1 ms on average */
    SXS_RUNS_LONG,    /* more than 4 ms; the limits lie apart, so that no thread goes to and fro */
};

/**
 * sxs_runs_look - call it once for each sample of the calling thread @t. Every sixteenth time it measures the thread's runs
 * since the last measurement. Signal-safe.
 */
SXS_SIGSAFE enum sxs_runs sxs_runs_look(struct sxs_sampled_thread *t);

#endif
