/* SPDX-License-Identifier: MIT */
/** thread.h - threads of the library's own. */
#ifndef SXS_THREAD_H
#define SXS_THREAD_H

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

#endif
