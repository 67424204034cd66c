/* SPDX-License-Identifier: MIT */
/**
 * base/held.h - mark a file or folder as in use, so that other processes see whether its user still lives.
 *
 * The mark is an exclusive lock (flock) of an open descriptor: one process has it. The kernel takes it back when the process ends,
 * however it ends. Process IDs do not tell the same: another PID namespace shows other ones.
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
 * sxs_held_is - tell whether somebody holds the mark of the file or folder @path.
 * @dir: descriptor of the folder in which a relative @path is; AT_FDCWD. A link at the end of @path is not followed.
 * Opens and closes a descriptor. Any thread; not signal-safe.
 */
enum sxs_held sxs_held_is(int dir, const char *path);

#endif
