/* SPDX-License-Identifier: MIT */
/**
 * threads.h - every thread of the process, managed or native, found by its tid from a handler.
 *
 * A fixed table, filled by the threads themselves where their start is seen (signals.h's
 * watch_threads) and by one service thread that looks at /proc/self/task for all others; read without
 * locks by signal handlers. A slot's owner is its tid; who sets it up or clears it away has brought it
 * from one state to SXS_SLOT_BUSY, and nobody waits for it: what the thread itself cannot do because
 * the service thread is at it, the service thread will find out.
 */
#ifndef SXS_SAMPLER_THREADS_H
#define SXS_SAMPLER_THREADS_H

#include <stdatomic.h>

#include "manager/base/base.h"

#define SXS_MAX_SAMPLED_THREADS 8192 /* at once; more are counted, not sampled */

enum sxs_slot_state {
    SXS_SLOT_NEW,  /* at most marked: nobody has looked after it yet */
    SXS_SLOT_BUSY, /* being set up, renamed or cleared away */
    SXS_SLOT_LIVE,
};

struct sxs_sampled_thread {
    _Atomic uint32_t  tid;       /* 0: free */
    _Atomic uint32_t  state;     /* enum sxs_slot_state */
    _Atomic uint32_t  seen;      /* the scan that last found it alive */
    _Atomic uintptr_t stack_lo, stack_hi; /* bytes; its own stack; 0: not known */
    _Atomic uint64_t  runtimes;  /* bit N: belongs to runtime number N */
    uint64_t          started_ns;/* CLOCK_MONOTONIC, when it was found */
    char              name[16];
    _Atomic int       timer;     /* kernel's id, -1: none */
    _Atomic int       perf_fd;   /* -1: none */
    _Atomic uint64_t  perf_id;   /* the kernel's number of that event */
    int               excluded;  /* the library's own, or its stack is too small for the handler */
    int               recorded;  /* it has a record in the file */
    _Atomic uint64_t  first_due_ns; /* CPU timer: when the second sample is due; 0: no matter */
    int               took_over; /* CPU timer: it had a perf event before */
    _Atomic uint64_t  move_ns;   /* CPU time at which the other kind of clock shall begin; 0: keep it */
    uint64_t          run_began_ns; /* runs.h: CPU time and waits, when they were last measured; */
    uint64_t          n_waits;
    unsigned          n_samples; /* those taken since */
    _Atomic uint64_t  cpu_ns;    /* wall: CPU time when its stack was last taken */
    _Atomic(const void *) last;  /* wall: its latest sample record */
    _Atomic uint64_t  waited_ns; /* wall: time that record has stood for since, not yet recorded */
    unsigned          missed;    /* snapshot: how often in a row it did not answer */
};

/** The thread with that tid, or NULL. Signal-safe; a bounded number of probes. */
SXS_SIGSAFE struct sxs_sampled_thread *sxs_threads_find(uint32_t tid);

/** Notes that @tid belongs to runtime @number; the thread need not have been found yet. */
void sxs_threads_mark(uint32_t tid, unsigned number);

/** Threads that the table, or their stack the handler, had no room for: so many at least. */
uint64_t sxs_threads_unlisted(void);

/**
 * sxs_threads_begin - the calling thread takes its slot, to be set up by it.
 * @stack_lo, @stack_hi: what it has for a stack, 0 when not known.
 * Returns NULL when there is no room, or the service thread is at it already. End with
 * sxs_threads_ready(). Not signal-safe.
 */
struct sxs_sampled_thread *sxs_threads_begin(uintptr_t stack_lo, uintptr_t stack_hi);
void                       sxs_threads_ready(struct sxs_sampled_thread *t);

/** The calling thread takes its slot to clear it away, by sxs_threads_release(); NULL: the service
 *  thread will do that. Its name is read. */
struct sxs_sampled_thread *sxs_threads_finish(void);
void                       sxs_threads_release(struct sxs_sampled_thread *t);

/**
 * sxs_threads_scan - look for threads that came, went or were renamed. One thread calls this.
 * @came, @went, @renamed: called for each that did not tell by itself; the slot is valid and BUSY
 * during the call. @came returns nonzero when the thread is gone already: it is forgotten.
 * @aged: it has lived for SXS_SHORT_NS and has no record.
 */
#define SXS_SHORT_NS 50000000u
struct sxs_threads_events {
    int (*came)(struct sxs_sampled_thread *t);
    void (*went)(struct sxs_sampled_thread *t);
    void (*renamed)(struct sxs_sampled_thread *t);
    void (*aged)(struct sxs_sampled_thread *t);
    void (*seen)(struct sxs_sampled_thread *t); /* each scan, for each thread found before */
};
void sxs_threads_scan(const struct sxs_threads_events *events);

/** Calls @fn for every thread that has been found and is not the library's own. While another thread
 *  scans, one may be met twice or not at all. */
void sxs_threads_each(void (*fn)(struct sxs_sampled_thread *t));

/** Calls @fn for every thread that has been found, its slot BUSY meanwhile; those whose slot is BUSY
 *  already are left out. Not signal-safe. */
void sxs_threads_each_busy(void (*fn)(struct sxs_sampled_thread *t));

/** The same for every slot in use, whatever its state: in a forked child, where nobody else is. */
void sxs_threads_each_slot(void (*fn)(struct sxs_sampled_thread *t));

/** In a forked child: only the calling thread is left, and it is not sampled. */
void sxs_threads_forget(void);

#endif
