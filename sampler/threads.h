/* SPDX-License-Identifier: MIT */
/**
 * threads.h - every thread of the process, managed or native, found by its tid from a handler.
 *
 * A fixed table, filled by one service thread that looks at /proc/self/task; read without locks by
 * signal handlers and by the threads themselves.
 */
#ifndef SXS_SAMPLER_THREADS_H
#define SXS_SAMPLER_THREADS_H

#include <stdatomic.h>

#include "manager/base/base.h"

#define SXS_MAX_SAMPLED_THREADS 8192 /* at once; more are counted, not sampled */

struct sxs_sampled_thread {
    _Atomic uint32_t  tid;       /* 0: free */
    _Atomic uint32_t  seen;      /* the scan that last found it alive */
    _Atomic uintptr_t stack_lo, stack_hi; /* bytes; 0: not known yet */
    _Atomic uint64_t  runtimes;  /* bit N: belongs to runtime number N */
    uint64_t          started_ns;/* CLOCK_MONOTONIC, when it was found */
    char              name[16];
    int               timer;     /* kernel's id, -1: none */
    int               perf_fd;   /* -1: none */
    int               excluded;  /* the library's own */
    _Atomic uint64_t  cpu_ns;    /* wall: CPU time when its stack was last taken */
    _Atomic(const void *) last;  /* wall: its latest sample record */
    uint64_t          waited_ns; /* wall: time that record has stood for since, not yet recorded */
};

/** The thread with that tid, or NULL. Signal-safe; a bounded number of probes. */
SXS_SIGSAFE struct sxs_sampled_thread *sxs_threads_find(uint32_t tid);

/** Notes that @tid belongs to runtime @number; the thread need not have been found yet. */
void sxs_threads_mark(uint32_t tid, unsigned number);

/** Threads that the table had no room for. */
uint64_t sxs_threads_unlisted(void);

/**
 * sxs_threads_scan - look for threads that came, went or were renamed. One thread calls this.
 * @came, @went, @renamed: called for each; the slot is valid during the call.
 */
struct sxs_threads_events {
    void (*came)(struct sxs_sampled_thread *t);
    void (*went)(struct sxs_sampled_thread *t);
    void (*renamed)(struct sxs_sampled_thread *t);
};
void sxs_threads_scan(const struct sxs_threads_events *events);

/** Calls @fn for every thread that has been found and is not the library's own. */
void sxs_threads_each(void (*fn)(struct sxs_sampled_thread *t));

/** The calling thread is the library's own: never sampled. */
void sxs_threads_exclude_me(void);

/** In a forked child: only the calling thread is left, and it is not sampled. */
void sxs_threads_forget(void);

#endif
