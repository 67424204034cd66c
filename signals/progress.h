/* SPDX-License-Identifier: MIT */
/**
 * progress.h - waiting until the threads that are at work now have come further.
 *
 * A thread that was preempted in the middle of a few instructions finishes them as soon as it has a processor. On a
 * crowded machine that may take long, on an idle one no time. So who waits for it does not count milliseconds: the wait is over
 * when each thread that was at work has run for a while since, waits for something, or has ended.
 */
#ifndef SXS_SIGNALS_PROGRESS_H
#define SXS_SIGNALS_PROGRESS_H

#include <stdint.h>
#include <sys/types.h>

#define SXS_PROGRESS_THREADS 256u /* more that are at work at once are not waited for */

struct sxs_progress {
    unsigned n;
    struct {
        pid_t    tid;
        uint64_t cpu_ns; /* CPU time it had at the begin */
    } all[SXS_PROGRESS_THREADS];
};

/** sxs_progress_begin - note the threads of the process, but the calling one, that run or could. Reads /proc; none is noted
 *  where that is not there. Not signal-safe. */
void sxs_progress_begin(struct sxs_progress *p);

/** sxs_progress_over - has each of them run for 10 ms since, or does it wait, or has it ended? 1 or 0. Does not wait itself.
 *  Not signal-safe. */
int sxs_progress_over(struct sxs_progress *p);

#endif
