/* SPDX-License-Identifier: MIT */
/**
 * thread_state.h - what each thread knows of guests: in which guest it is, and its counters.
 *
 * A thread writes only its own block, without atomic read-modify-write instructions, so that
 * delivering an event costs a few nanoseconds. Others read the blocks: to wait until no thread is
 * inside a guest, and to add up the counters.
 */
#ifndef SXS_GUESTS_THREAD_STATE_H
#define SXS_GUESTS_THREAD_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/base.h"
#include "sxs_abi.h"

#define GUEST_MAX_INSTANCES 1024u /* guests x runtimes in one process */

struct guest_instance;

/** A thread's counters of one instance. Written by that thread only. */
struct guest_counters {
    _Atomic uint64_t calls;    /* callbacks */
    uint64_t         timed_at; /* the number of calls at which the next call is timed */
    _Atomic uint64_t ns;       /* time in callbacks, sampled (call.c) */
    _Atomic uint64_t added;    /* calls that the session's row has already */
    _Atomic uint32_t inside;   /* calls in progress, except the one in `current` */
    uint64_t         random;   /* state of sxs_random(); 0: not used yet */
};

struct guest_thread {
    struct guest_thread             *next; /* all threads' blocks; never removed */
    _Atomic int                      in_use;
    _Atomic(struct guest_instance *) current; /* the guest that the thread is in, when it is in one
                                               * only; when it is in several: the youngest */
    struct guest_counters            of[GUEST_MAX_INSTANCES];
};

/** The calling thread's block; NULL: not made yet. */
extern SXS_TLS struct guest_thread *guest_thread;

/** guest_thread_block - return the calling thread's block, made if it has none; NULL without memory.
 *  Not signal-safe. */
struct guest_thread *guest_thread_block(void);

/** guest_threads_inside - return how many calls of the instance are in progress on other threads.
 *  Counts calls of the calling thread only with @own. */
unsigned guest_threads_inside(const struct guest_instance *g, int own);

/** guest_thread_add - add what a thread has counted since the last time to the session's row. */
void guest_thread_add(struct guest_instance *g, struct guest_counters *c);

/** guest_threads_sum - add the counters of all threads to the instance's row of the session. */
void guest_threads_sum(struct guest_instance *g);

/** guest_current - return the guest that the calling thread is in, or NULL. Signal-safe. */
SXS_SIGSAFE const struct guest_instance *guest_current(void);

#endif
