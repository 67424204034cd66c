/* SPDX-License-Identifier: MIT */
/** thread.h - threads of the library's own. */
#ifndef SXS_THREAD_H
#define SXS_THREAD_H

#include <stdint.h>

/** Static: a thread goes on reading it. */
struct sxs_thread {
    const char *name; /* at most 15 characters */
    void (*body)(void);
};

/**
 * sxs_thread_start - start a detached thread in which all signals are blocked: the host's handlers
 * never run there. Returns 0, or the errno value of pthread_create(). Any thread; not signal-safe.
 */
int sxs_thread_start(const struct sxs_thread *thread);

/** sxs_thread_is_own - nonzero when @tid, a thread's kernel number, is a thread that sxs_thread_start() started and that
 *  has not ended. At most 16 are known at a time. Any thread; signal-safe. */
int sxs_thread_is_own(uint32_t tid);

#endif
