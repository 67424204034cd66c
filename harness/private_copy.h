/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_PRIVATE_COPY_H
#define SXS_HARNESS_PRIVATE_COPY_H

#include <stddef.h>

/**
 * sxs_private_copy - copy a runtime's directory, so that its libraries can be loaded once more.
 * The dynamic loader knows a file by its inode, so native libraries are really copied; all else is
 * a symbolic link. Copies lie in one temporary folder below TMPDIR (or /tmp), which goes away with
 * this process however it ends: a small child that is forked with the first copy waits for that.
 * @dir:   absolute path of the runtime.
 * @index: tells copies of the same runtime apart.
 * @why:   receives, on failure, one line.
 * Returns the copy's absolute path, owned, or NULL. Main thread, before any other thread starts. */
char *sxs_private_copy(const char *dir, size_t index, char *why, size_t why_size);

/* Removes all copies and waits until they are gone. Nothing to do when there are none, or when that
 * was done or begun before. Any thread, when nothing of the copies is needed any more; allocates
 * nothing and takes no lock. */
void sxs_private_copy_remove(void);

#endif
