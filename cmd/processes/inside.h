/* SPDX-License-Identifier: MIT */
/**
 * inside.h - do something as a process's own user, in its folders and its network.
 *
 * A process can have another root folder, other mounts, another network and another user than this
 * command. A forked child becomes the process's user, and joins its network if asked to; paths are
 * looked up below the process's root folder, so that a symbolic link in a container leads to a file
 * of the container. What the child opens comes back as a descriptor.
 */
#ifndef SXS_CMD_PROCESSES_INSIDE_H
#define SXS_CMD_PROCESSES_INSIDE_H

#include "cmd/processes/process.h"

#define SXS_INSIDE_NET 1u /* join the process's network namespace, for abstract socket names */

/**
 * sxs_inside_call - run @work in a child that is the user of @p.
 * @work: gets a descriptor of the root folder of @p. *@fd is -1; a descriptor in it comes back to
 *   the caller. Returns 0 or an errno value. Must not change memory that the caller shall see, and
 *   must end by itself within a short time.
 * @fd: receives the descriptor, close-on-exec, or -1. NULL: none is expected.
 * Returns the result of @work, or an errno value: EPERM when this user may not become that one,
 * ESRCH when the process is gone, ETIMEDOUT when @work did not end within ten seconds.
 */
int sxs_inside_call(const struct sxs_process *p, unsigned            flags,
                    int (*work)(int root, void *arg, int *fd), void *arg, int *fd);

/**
 * sxs_inside_open - open @path, a path of the process, below its root folder @root.
 * @flags, @mode: as for openat(2). Links that lead out of that root folder end in it.
 * Returns a descriptor, or -1 with errno. For use in the work of sxs_inside_call(), and outside.
 */
int sxs_inside_open(int root, const char *path, int flags, unsigned mode);

/**
 * sxs_inside_connect - connect to the Unix socket @path of the process, as its user.
 * @path: absolute, as the process sees it; or an abstract name, which begins with '@' and is looked
 *   up in the network of the process.
 * @fd: receives the connected socket, non-blocking and close-on-exec.
 * Returns 0 or an errno value; EAGAIN when the queue of connections is full.
 */
int sxs_inside_connect(const struct sxs_process *p, const char *path, int *fd);

/**
 * sxs_inside_listen - listen at the Unix socket @path (absolute, as the process sees it), as its
 * user, mode 0600.
 * @fd: receives the listening socket, non-blocking and close-on-exec.
 * Returns 0 or an errno value; EADDRINUSE when something else is there already.
 */
int sxs_inside_listen(const struct sxs_process *p, const char *path, int *fd);

/** sxs_inside_unlink - remove the file or socket @path of the process. Returns 0 or an errno
 *  value. */
int sxs_inside_unlink(const struct sxs_process *p, const char *path);

/** sxs_inside_can - test whether the user of the process has the rights @mode (R_OK, W_OK, X_OK) at
 *  @path. Returns 0 or an errno value. */
int sxs_inside_can(const struct sxs_process *p, const char *path, int mode);

#endif
