/* SPDX-License-Identifier: MIT */
/**
 * progress.h - find out whether all running threads have made progress.
 *
 * Used to wait for a thread that was preempted in the middle of a few instructions, for example
 * between the registration of a handler and its next store. The thread finishes them as soon as it
 * has a processor: at once on an idle machine, much later on a loaded one. So the wait is not
 * limited by time. It is over when each thread that was running at its begin has used 10 ms of CPU
 * time since, is blocked, or has ended.
 */
#ifndef SXS_SIGNALS_PROGRESS_H
#define SXS_SIGNALS_PROGRESS_H

#include <stdint.h>
#include <sys/types.h>

#define SXS_PROGRESS_THREADS 256u /* running threads beyond this number are ignored */

/** The threads that have not made progress yet. */
struct sxs_unserved_threads {
    unsigned n;
    struct {
        pid_t    tid;
        uint64_t cpu_ns; /* CPU time that the thread had used at sxs_progress_begin() */
    } all[SXS_PROGRESS_THREADS];
};

/** sxs_progress_begin - record all threads of the process that are running or ready to run, except
 *  the calling thread. Reads /proc; without /proc no thread is recorded. Not signal-safe. */
void sxs_progress_begin(struct sxs_unserved_threads *p);

/** sxs_progress_over - tell whether each recorded thread has used 10 ms of CPU time since, is
 *  blocked, or has ended. Returns 1 if so, else 0. Does not wait. Not signal-safe. */
int sxs_progress_over(struct sxs_unserved_threads *p);

#endif
