/* SPDX-License-Identifier: MIT */
/**
 * sampling/runs.h - measures how long a thread runs between two waits. The measurement is made in
 * the sample handler of the thread itself. */
#ifndef SXS_SAMPLING_RUNS_H
#define SXS_SAMPLING_RUNS_H

#include "sampling/threads.h"

enum sxs_runs {
    SXS_RUNS_UNKNOWN, /* not measured now, or between the limits */
    SXS_RUNS_SHORT,   /* less than 1 ms on average */
    /* More than 4 ms. The gap between the limits keeps threads from changing their clock all the
     * time. */
    SXS_RUNS_LONG,
};

/**
 * sxs_runs_look - measure the runs of the calling thread @t. Call it once for each of its
 * samples; every sixteenth call measures the runs since the last measurement. Signal-safe. */
SXS_SIGSAFE enum sxs_runs sxs_runs_look(struct sxs_thread_slot *t);

#endif
