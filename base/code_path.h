/* SPDX-License-Identifier: MIT */
/**
 * code_path.h - tells whether every user could replace a file whose code this process is about to load.
 *
 * Who names a library, a guest or rules that load code trusts the file's owner, and the owners and groups of the
 * folders on the way, with the rights of this process. Nobody means all users of the machine by that. So a file is
 * refused that they can write to, or put in the place of the one that was meant.
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
 * It returns 0 also where every user could replace the library or the command that asks, by the same test: then they
 * can have code loaded anyway, as where a pod shares one volume of all users with the profiler in it.
 * Else, if it returns 0, the answer does not change by what other users do: whoever opens @path next gets the file that was
 * tested. Takes about 3 * PATH_MAX bytes of stack. Any thread; not signal-safe.
 */
int sxs_code_path_refused(const char *path, char *why, size_t size);

#endif
