/* SPDX-License-Identifier: MIT */
/** thread.h - start the library's own threads. */
#ifndef SXS_BASE_THREAD_H
#define SXS_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/base.h"

/** The description of a thread. */
struct sxs_thread {
    const char *name; /* at most 15 characters */
    void (*body)(void);
};

/**
 * sxs_thread_start - start a detached thread in which all signals are blocked, so that no handler
 * of the host runs there.
 * @thread: must be static, because the new thread reads it after this function has returned.
 * Returns 0, or the error number of pthread_create(). Any thread; not signal-safe.
 */
int sxs_thread_start(const struct sxs_thread *thread);

/** A thread that ends when it is asked to, for threads that belong to a session. Zeroed before the
 *  first use. One thread at a time starts and ends it. */
struct sxs_worker {
    pthread_t        id;
    int              is_started;
    _Atomic uint32_t asked; /* futex word. Bit 0: the thread shall end; bit 1: it shall wake up */
};

/** sxs_worker_start - start a thread that is ended by sxs_worker_end(). If the worker's thread of an
 *  earlier call has not been ended, it is first. Otherwise as sxs_thread_start(). */
int sxs_worker_start(struct sxs_worker *w, const struct sxs_thread *thread);

/** sxs_worker_is_asked - return 1 when the thread shall end. Any thread. */
int sxs_worker_is_asked(const struct sxs_worker *w);

/** sxs_worker_pause - on the worker's thread: sleep for @ns nanoseconds, until sxs_worker_wake() or
 *  until the thread shall end. Returns 1 when it shall end. */
int sxs_worker_pause(struct sxs_worker *w, uint64_t ns);

/** sxs_worker_wake - end the present or next pause of the thread. Any thread;
 *  signal-safe. */
SXS_SIGSAFE void sxs_worker_wake(struct sxs_worker *w);

/** sxs_worker_ask - ask the thread to end, and do not wait for that. Any thread, also its own. */
void sxs_worker_ask(struct sxs_worker *w);

/** sxs_worker_end - ask the thread to end, and wait until it has. Does nothing if it was not started.
 *  Not in a forked child, which has no such thread. */
void sxs_worker_end(struct sxs_worker *w);

/** sxs_worker_end_within - as sxs_worker_end(), for a thread that calls functions which may not
 *  return. @limit_ns: how long to wait. Returns 0, or -ETIMEDOUT; then it may be called again. */
int sxs_worker_end_within(struct sxs_worker *w, uint64_t limit_ns);

/** sxs_worker_leave_behind - do not wait for the thread any more, which was asked to end. Its body
 *  must touch nothing of the session when it comes back, @w included. */
void sxs_worker_leave_behind(struct sxs_worker *w);

/** sxs_thread_is_own - tell whether the thread with kernel ID @tid was started by
 *  sxs_thread_start() or sxs_worker_start() and has not ended. Returns nonzero if so. Only 16 threads at a time are
 *  recorded; further ones are not recognized. Any thread; signal-safe. */
SXS_SIGSAFE int sxs_thread_is_own(uint32_t tid);

/** sxs_thread_own_cpu_ns - return the CPU time that such threads have used so far, in nanoseconds,
 *  also those that have ended. Any thread. */
uint64_t sxs_thread_own_cpu_ns(void);

#endif
