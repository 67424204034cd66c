/* SPDX-License-Identifier: MIT */
/** thread.h - start the library's own threads. */
#ifndef SXS_BASE_THREAD_H
#define SXS_BASE_THREAD_H

#include <pthread.h>
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

/** sxs_thread_start_joinable - like sxs_thread_start(), but the thread must be joined.
 *  @id: receives the thread, for pthread_join(). */
int sxs_thread_start_joinable(const struct sxs_thread *thread, pthread_t *id);

/** sxs_thread_calls_runtimes - unblock the signals by which runtimes stop their threads and handle
 *  faults. Call it first on a thread of the library on which functions of a runtime will be called
 *  that may run or stop managed code. */
void sxs_thread_calls_runtimes(void);

/** sxs_thread_is_own - tell whether the thread with kernel ID @tid was started by
 *  this file and has not ended. Returns nonzero if so. Only 16 threads at a time are
 *  recorded; further ones are not recognized. Any thread; signal-safe. */
SXS_SIGSAFE int sxs_thread_is_own(uint32_t tid);

#endif
