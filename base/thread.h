/* SPDX-License-Identifier: MIT */
/** thread.h - start the library's own threads. */
#ifndef SXS_BASE_THREAD_H
#define SXS_BASE_THREAD_H

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

#endif
