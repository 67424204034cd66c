/* SPDX-License-Identifier: MIT */
/**
 * descriptors.h - work with files on a thread whose descriptor table the host cannot reach.
 *
 * A descriptor that the library keeps open in the host's table is not safe there: closefrom() or a loop
 * of close() in the host closes it, the kernel gives its number to a file of the host, and the library's
 * next system call hits that file. So the library keeps such descriptors in the table of one thread of
 * its own (close_range() with CLOSE_RANGE_UNSHARE, Linux 5.9). The host neither sees nor closes them, and
 * they do not count against its limit. All signals are blocked on that thread, so SIGXFSZ, which the
 * kernel sends to a thread that exceeds RLIMIT_FSIZE, is never delivered to the host.
 */
#ifndef SXS_DESCRIPTORS_H
#define SXS_DESCRIPTORS_H

/**
 * sxs_descriptors_call - run @work(@arg) on that thread, wait for it and return its result.
 *
 * The first call starts the thread. When the thread cannot be started, @work runs on the calling thread
 * with SIGXFSZ blocked and thread cancellation disabled. Returns -ECHILD in a forked child, where
 * @work does not run. @work must not take a lock that a caller may hold, must not log (standard error is
 * not in the thread's table), and must not allocate when it may be called from a hook. When @work calls this
 * function, the inner work runs at once. Any thread; not signal-safe.
 */
int sxs_descriptors_call(int (*work)(void *arg), void *arg);

/**
 * sxs_descriptors_are_own - whether @work may keep a descriptor open after it returns: 1 when it runs
 * with a table of its own, 0 when it runs with the host's (an older kernel, a seccomp filter, no thread).
 * Then each piece of work opens what it needs by its path and closes it again. Only inside @work.
 */
int sxs_descriptors_are_own(void);

#endif
