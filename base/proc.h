/* SPDX-License-Identifier: MIT */
/**
 * base/proc.h - read files of /proc, and other small files, without a descriptor in the host's
 * table.
 *
 * A host may at any moment close a descriptor that it did not open, and open a file of its own that
 * gets the same number. A close() in the library would then close the host's file. So each file is
 * opened, read and closed on the thread of base/descriptors.h, which has a descriptor table of its
 * own. For this reason reading also works in a host that has used up its descriptors.
 */
#ifndef SXS_BASE_PROC_H
#define SXS_BASE_PROC_H

#include <stddef.h>
#include <sys/types.h>

/**
 * sxs_proc_call - run @work(@arg) as sxs_descriptors_call() does, but on the calling thread in a
 * forked child, where sxs_descriptors_call() refuses.
 * @work: must close all descriptors that it opens.
 * Returns the result of @work. Any thread; not signal-safe.
 */
int sxs_proc_call(int (*work)(void *arg), void *arg);

/**
 * sxs_proc_read - read the first @size bytes of the file @path into @text, or the whole file if it
 * is shorter.
 * Returns the number of bytes read, or -errno. Adds no terminating zero. Allocates nothing. Any
 * thread; not signal-safe.
 */
ssize_t sxs_proc_read(const char *path, char *text, size_t size);

/**
 * sxs_proc_lines - call @line(text, @arg) for each line of the file @path, until @line returns
 * nonzero.
 * @line: receives the line without its end, cut at 4,095 bytes. Runs on the thread of
 *        base/descriptors.h, so it must not log and must not take a lock that the caller holds.
 * Returns the last result of @line, 0 if there are no lines, or -errno when the file cannot be
 * read. Allocates nothing. Any thread; not signal-safe.
 */
int sxs_proc_lines(const char *path, int (*line)(char *text, void *arg), void *arg);

#endif
