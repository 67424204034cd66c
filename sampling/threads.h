/* SPDX-License-Identifier: MIT */
/**
 * sampling/threads.h - a table of all threads of the process, managed and native, by thread
 * number (tid).
 *
 * The table has a fixed size. A thread whose start is seen (signals.h's watch_threads) fills its
 * own slot; one service thread finds all others in /proc/self/task. Signal handlers read the
 * table without locks. A slot belongs to the thread whose tid it has. Setting up or clearing a
 * slot requires that its state was changed to SXS_SLOT_BUSY, and no thread waits for that: if a
 * thread finds its slot BUSY because the service thread is working on it, the service thread
 * will do the thread's part. */
#ifndef SXS_SAMPLING_THREADS_H
#define SXS_SAMPLING_THREADS_H

#include <stdatomic.h>

#include "base/base.h"

#define SXS_MAX_THREADS 8192 /* at the same time; more are counted, but not recorded */

#define SXS_SLOT_RUNTIMES 4  /* runtimes whose ThreadIDs a slot has room for */

enum sxs_slot_state {
    SXS_SLOT_NEW,  /* not set up yet; only `runtimes` may be set */
    SXS_SLOT_BUSY, /* being set up, updated or cleared */
    SXS_SLOT_LIVE,
};

/** The requests that sxs_sample_signal_send() sends to a thread (sampling/sample_signal.h). */
enum sxs_asked { SXS_ASKED_SAMPLE, SXS_ASKED_WALK, SXS_ASKED_COST, SXS_ASKED_KINDS };

struct sxs_thread_slot {
    _Atomic uint32_t  tid;       /* 0: the slot is free */
    _Atomic uint32_t  state;     /* enum sxs_slot_state */
    _Atomic uint32_t  seen;      /* number of the scan that last found the thread */
    _Atomic uintptr_t stack_lo, stack_hi; /* bytes; the thread's own stack; 0: not known */
    _Atomic uint64_t  runtimes;  /* bit N: the thread belongs to runtime number N */
    uint64_t          started_ns;/* CLOCK_MONOTONIC, when the thread was found */
    uint64_t          born_ns;   /* as in struct sxs_record_thread */
    char              name[16];  /* in the kernel */
    uint64_t          name_ns;   /* CLOCK_MONOTONIC: it was read then or a little later */
    char              end_name[16]; /* the name at gone_ns; set before that */
    uint64_t          end_cpu_ns;   /* the CPU time at gone_ns; set before that */
    /* 1: a thread of the library, or one whose stack is too small for the handler of the sample
     * signal. Any thread may read it. */
    _Atomic int       excluded;
    int               recorded;  /* 1: the thread has a record in the file */
    _Atomic int       has_costs; /* 1: a cost of the thread was recorded */
    int               begun;     /* 1: sxs_recorder_user.began() was called for the thread */
    int               is_left;   /* 1: its record was completed because the process exits */
    /* By enum sxs_asked; bit N: by signal number N, which the thread has not handled yet. */
    _Atomic uint64_t  asked[SXS_ASKED_KINDS];
    /* What follows is the tool sample's. */
    _Atomic int       timer;     /* the kernel's timer number, -1: none */
    _Atomic int       perf_fd;   /* descriptor of the perf event, -1: none */
    _Atomic uint64_t  perf_id;   /* the kernel's number of the perf event */
    /* Timer: CPU time when the first sample is due, if that is within the first tick. Perf
     * event: 1 until its first signal. Else 0. */
    _Atomic uint64_t  first_due_ns;
    int               took_over; /* timer: 1 if the thread had a perf event before */
    /* CPU time when the next sample is due, if the handler requested the other kind of clock; 0:
     * not requested. */
    _Atomic uint64_t  move_ns;
    /* sampling/runs.h: CPU time, and number of waits, at the last measurement. */
    uint64_t          run_began_ns;
    uint64_t          n_waits;
    unsigned          n_samples; /* samples since the last measurement */
    /* wall: CPU time when the stack was last taken; CPU time: as it was when the thread was last seen */
    _Atomic uint64_t  cpu_ns;
    _Atomic(const void *) last;  /* the latest sample record */
    /* wall: time that the latest record also stands for and that is not recorded yet */
    _Atomic uint64_t  waited_ns;
    /* wall: claimed_ns: CLOCK_MONOTONIC; the thread's life before this time has been given to samples, or
     * counted as not sampled; 0: no sample yet. given_back_ns: time of samples that were not recorded. */
    _Atomic uint64_t claimed_ns, given_back_ns;
    /* weighed_ns: sum of the weights of the thread's samples. unsampled_ns: its time that is in no sample;
     * for CPU time it is set at its end, if that is most of its time or signals were refused. */
    _Atomic uint64_t weighed_ns, unsampled_ns;
    _Atomic uint64_t gone_ns;  /* when the thread reported its end; 0: it runs, or did not report it */
    _Atomic uint64_t requested_ns; /* the weight of the sample that a signal has requested */
    uint64_t         began_cpu_ns; /* CPU time when sampling by CPU time began */
    _Atomic uint64_t round_due_ns; /* sampling/rounds.h: CPU time when the next sample is due; 0: it
                                    * has a clock, or none was started */
    int              had_rounds;   /* 1: it is counted as a thread without a clock */
    /* wall: enum sxs_waiting of the current wait, if reasons are asked for; 0: not asked yet */
    _Atomic uint32_t  reason;
    /* wall: 1 if the latest record does not tell where the thread waits: it was taken outside of a
     * system call, or its stack was not listed yet */
    _Atomic int       was_running;
    unsigned          n_again;   /* wall: signals for that since the thread last ran */
    unsigned          missed;    /* snapshot: number of missed answers in a row */
    /* The runtimes' own objects for the thread (ThreadIDs), by the numbers that
     * sampling/activities.c gives to runtimes; 0: none, or not known. */
    _Atomic uintptr_t managed[SXS_SLOT_RUNTIMES];
    /* sampling/activities.h, by the thread itself and its signal handlers: the latest span whose
     * route was found, and the number of its name; a span whose request was searched for without success, and
     * how often. */
    _Atomic uint64_t route_span, missed_span;
    _Atomic uint32_t route_name, n_route_missed;
};

/**
 * sxs_threads_find - find the slot of a thread, or NULL. Signal-safe; a bounded number of
 * probes. */
SXS_SIGSAFE struct sxs_thread_slot *sxs_threads_find(uint32_t tid);

/**
 * sxs_threads_mark - note that @tid belongs to runtime @number. The thread may not have been
 * found yet. */
void sxs_threads_mark(uint32_t tid, unsigned number);

/**
 * sxs_threads_set_managed - set the ThreadID of @tid in the runtime with index @at, which is below
 * SXS_SLOT_RUNTIMES; 0: it has none any more. The thread may not have been found yet. */
void sxs_threads_set_managed(uint32_t tid, unsigned at, uintptr_t thread);

/**
 * sxs_threads_unlisted - the number of threads, at least, that found no room in the table, or
 * whose stack is too small for the handler. */
uint64_t sxs_threads_unlisted(void);

/** sxs_threads_is_gone - whether thread @tid of this process has ended. Any thread. */
int sxs_threads_is_gone(uint32_t tid);

/**
 * sxs_threads_begin - get the slot of the calling thread, BUSY, for the thread to set up.
 * @stack_lo, @stack_hi: its stack; 0 when not known.
 * Returns NULL when there is no room, or the service thread is already setting up the slot.
 * Otherwise call sxs_threads_ready() at the end. Not signal-safe. */
struct sxs_thread_slot *sxs_threads_begin(uintptr_t stack_lo, uintptr_t stack_hi);
void                       sxs_threads_ready(struct sxs_thread_slot *t);

/**
 * sxs_threads_finish - get the slot of the calling thread, BUSY, to clear it by
 * sxs_threads_release(). The thread's name is read. Returns NULL when the slot is BUSY; then the
 * service thread will clear it, and has that name. */
struct sxs_thread_slot *sxs_threads_finish(void);
void                       sxs_threads_release(struct sxs_thread_slot *t);

/**
 * sxs_threads_scan - find threads that were started, have ended, or were renamed. One thread
 * calls this.
 * @came, @went, @renamed: called for each such thread that did not change its slot itself. The
 *   slot is valid and BUSY during the call. @came returns nonzero when the thread has already
 *   ended; then the slot is cleared.
 * @aged: called for a thread that has lived for SXS_SHORT_NS and has no record. */
#define SXS_SHORT_NS 50000000u
struct sxs_threads_events {
    int (*came)(struct sxs_thread_slot *t);
    void (*went)(struct sxs_thread_slot *t);
    void (*renamed)(struct sxs_thread_slot *t);
    void (*aged)(struct sxs_thread_slot *t);
    void (*seen)(struct sxs_thread_slot *t); /* in each scan, for each thread found before */
};
void sxs_threads_scan(const struct sxs_threads_events *events);

/**
 * sxs_threads_each - call @fn for every thread that has been found, except those of the library. Its
 * slot is BUSY during the call, so nobody who reads the slot sees the thread end meanwhile;
 * slots that are already BUSY are left out. While another thread scans, a thread may be visited twice
 * or not at all. Not signal-safe. */
void sxs_threads_each(void (*fn)(struct sxs_thread_slot *t));

/**
 * sxs_threads_each_busy - call @fn for every thread that has been found. Its slot is BUSY during
 * the call; slots that are already BUSY are left out. Returns their number. Not signal-safe. */
unsigned sxs_threads_each_busy(void (*fn)(struct sxs_thread_slot *t));

/**
 * sxs_threads_each_slot - call @fn for every slot in use, in any state. For a forked child,
 * which has only one thread. */
void sxs_threads_each_slot(void (*fn)(struct sxs_thread_slot *t));

/**
 * sxs_threads_forget - in a forked child: clear the table. Only the calling thread is left, and
 * it is not sampled. */
void sxs_threads_forget(void);

#endif
