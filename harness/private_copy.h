/* SPDX-License-Identifier: MIT */
/** private_copy.h - temporary copies of runtimes that are loaded more than once. */
#ifndef SXS_HARNESS_PRIVATE_COPY_H
#define SXS_HARNESS_PRIVATE_COPY_H

#include <stddef.h>

/**
 * sxs_private_copy - copy a runtime's directory, so that its libraries can be loaded once more.
 * @dir:   absolute path of the runtime.
 * @index: number of the copy, a different one for each.
 * @why:   receives, on failure, one line.
 * Returns the copy's absolute path, owned, or NULL. Main thread, before any other thread starts.
 *
 * Native libraries are copied, because the dynamic loader identifies a file by its inode;
 * everything else is a symbolic link. The copies lie in one temporary folder below TMPDIR (or
 * /tmp). A small child process, forked with the first copy, waits for the end of this process and
 * then removes the folder, however this process ends. */
char *sxs_private_copy(const char *dir, size_t index, char *why, size_t why_size);

/* Removes all copies and waits until they are removed. Does nothing when there are no copies, or
 * when another call removes or has removed them. Call it when the copies are no longer needed. Any
 * thread. Allocates nothing and takes no lock. */
void sxs_private_copy_remove(void);

#endif
