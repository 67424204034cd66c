/* SPDX-License-Identifier: MIT */
/**
 * descriptors.h - work with files on a thread whose descriptor table the host cannot reach.
 *
 * A descriptor that the library keeps open in the host's table is not safe there: closefrom() or a
 * loop of close() in the host closes it, the kernel gives its number to a file of the host, and the
 * library's next system call acts on that file. So the library keeps such descriptors in the table
 * of one thread of its own (close_range() with CLOSE_RANGE_UNSHARE, Linux 5.9). The host neither
 * sees nor closes them, and they do not count against its limit. All signals are blocked on that
 * thread, so SIGXFSZ, which the kernel sends to a thread that exceeds RLIMIT_FSIZE, is never
 * delivered to the host.
 */
#ifndef SXS_BASE_DESCRIPTORS_H
#define SXS_BASE_DESCRIPTORS_H

/**
 * sxs_descriptors_call - run @work(@arg) on the thread described above, wait for it and return its
 * result.
 *
 * The first call starts the thread. If the thread cannot be started, @work runs on the calling
 * thread with SIGXFSZ blocked and thread cancellation disabled.
 * @work must not take a lock that a caller may hold, must not log (standard error is not in the
 * thread's table), and must not allocate if this function may be called from a hook. If @work calls
 * this function, the inner work runs at once on the same thread.
 * Returns the result of @work, or -ECHILD in a forked child, where @work does not run. Keeps errno.
 * Any thread; not signal-safe.
 */
int sxs_descriptors_call(int (*work)(void *arg), void *arg);

/**
 * sxs_descriptors_are_own - tell whether @work may keep a descriptor open after it returns.
 *
 * Returns 1 if @work runs with a descriptor table of its own. Returns 0 if it runs with the host's
 * table, because the kernel is older than 5.9, a seccomp filter forbids the call, or the thread
 * could not be started. In that case @work must open each file it needs by its path and close it
 * before it returns. To be called inside @work only.
 */
int sxs_descriptors_are_own(void);

#endif
