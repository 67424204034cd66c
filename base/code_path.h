/* SPDX-License-Identifier: MIT */
/**
 * code_path.h - tells whether every user could replace a file whose code this process is about to load.
 *
 * A setting that names a library, a guest or rules that load code gives the rights of this process to the owner of
 * that file, and to the owners and groups of the folders on its path. It is not meant to give them to all users of the
 * machine. So a file is refused when every user can write to it, or can put another file in its place.
 */
#ifndef SXS_BASE_CODE_PATH_H
#define SXS_BASE_CODE_PATH_H

#include <stddef.h>

/**
 * sxs_code_path_refused - test the file @path, the folders on the way, and those that links lead through.
 * @why: receives the reason and what is expected, @size bytes.
 * Returns 1 with the reason when one of them is writable for all users and not on a file system that is mounted
 * read-only. In a folder with the sticky bit, such as /tmp, only an entry is refused that belongs neither to root nor
 * to the effective user nor to the folder's owner. Returns 1 for a path that leads nowhere, too. Returns 0 when the
 * path is fine, or is a name without a slash, which the loader looks up in folders of the system.
 * It also returns 0 where, by the same test, every user could replace the library or the command that asks: then all
 * users can have code loaded anyway. An example is a pod with a shared volume that every user can write to and that has
 * the profiler in it. Otherwise, after a result of 0, other users cannot change the answer: the next open() of @path
 * gets the file that was tested. Takes about 3 * PATH_MAX bytes of stack. Any thread; not signal-safe.
 */
int sxs_code_path_refused(const char *path, char *why, size_t size);

#endif
