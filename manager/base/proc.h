/* SPDX-License-Identifier: MIT */
/**
 * proc.h - read files of /proc, and other small files, without a descriptor in the host's table.
 *
 * A host may close a descriptor that it did not open at any moment, and open a file of its own that gets the number. A
 * close() of the library would then close the host's file. So each file is opened, read and closed on the thread of
 * descriptors.h, whose table is its own. Reading works in a host that has used up its descriptors, too.
 */
#ifndef SXS_PROC_H
#define SXS_PROC_H

#include <stddef.h>
#include <sys/types.h>

/**
 * sxs_proc_call - run @work(@arg) as sxs_descriptors_call() does. In a forked child, where that is refused, @work runs on
 * the calling thread. For work that opens what it needs and closes it again. Returns what @work returns.
 */
int sxs_proc_call(int (*work)(void *arg), void *arg);

/**
 * sxs_proc_read - read the first @size bytes of the file @path, fewer when it has fewer.
 * Returns how many were read, or -errno. Allocates nothing. Any thread; not signal-safe.
 */
ssize_t sxs_proc_read(const char *path, char *text, size_t size);

/**
 * sxs_proc_lines - call @line(text, @arg) for each line of the file @path, without its end, until @line returns nonzero.
 * A line is cut at 4,095 bytes. @line runs on the thread of descriptors.h: it must not log and must not take a lock that the
 * caller holds.
 * Returns what @line returned last, 0 without lines, or -errno when the file cannot be read. Allocates nothing. Any thread;
 * not signal-safe.
 */
int sxs_proc_lines(const char *path, int (*line)(char *text, void *arg), void *arg);

#endif
