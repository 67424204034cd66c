/* SPDX-License-Identifier: MIT */
/**
 * base/held.h - mark a file or folder as in use, so that other processes can see whether the process that uses it
 * still runs.
 *
 * The mark is an exclusive lock (flock) on an open descriptor, which one process can have. The kernel releases it
 * when the process ends, in whatever way. A process ID could not serve as a mark, because another PID namespace has
 * other IDs.
 */
#ifndef SXS_BASE_HELD_H
#define SXS_BASE_HELD_H

enum sxs_held {
    SXS_HELD_UNKNOWN = -1, /* it cannot be opened, or its file system has no locks */
    SXS_HELD_NO = 0,
    SXS_HELD_YES = 1,
};

/**
 * sxs_held_mark - mark the file or folder @fd as in use until the descriptor and its duplicates are closed.
 * Returns 0 or an errno value. Waits some milliseconds at most. Any thread; not signal-safe.
 */
int sxs_held_mark(int fd);

/**
 * sxs_held_is - tell whether a process holds the mark of the file or folder @path.
 * @dir: descriptor of the folder in which a relative @path is; AT_FDCWD. A link at the end of @path is not followed.
 * Opens and closes a descriptor. Any thread; not signal-safe.
 */
enum sxs_held sxs_held_is(int dir, const char *path);

#endif
