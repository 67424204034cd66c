/* SPDX-License-Identifier: MIT */
/**
 * inside.h - do something as a process's own user, in its folders and its network.
 *
 * A process can have another root folder, other mounts, another network and another user than this
 * command. A forked child becomes the process's user, and joins its network if asked to; paths are
 * looked up below the process's root folder, so that a symbolic link in a container leads to a file
 * of the container. What the child opens comes back as a descriptor.
 *
 * The child can do nothing that the process could not do itself: it has the user, the groups and at
 * most the capabilities of the process, cannot get more (no_new_privs), cannot be looked into by the
 * process's user, and has only the descriptors of this command that it needs. It does nothing when another
 * process or program has the PID now (identity.h), or when a step fails. A process
 * whose real, effective and saved user differ is not acted for.
 *
 * A path may lead to a file system that another process serves and that never answers. So this command
 * looks up no such path itself. A child that hangs there and cannot be killed is left behind.
 */
#ifndef SXS_CMD_PROCESSES_INSIDE_H
#define SXS_CMD_PROCESSES_INSIDE_H

#include "cmd/processes/process.h"

#define SXS_INSIDE_NET 1u /* join the process's network namespace, for abstract socket names */
#define SXS_INSIDE_ENDED \
    2u /* the process may have ended: act as the user that it had, without groups */
#define SXS_INSIDE_CLEAN \
    4u /* it removes what was made: half a second is given after the deadline, too */

/** What the child does, and which descriptors it needs for that. */
struct sxs_inside_work {
    /* Gets a descriptor of the root folder of the process. *@fd is -1; a descriptor in it comes back to
     * the caller. Returns 0 or an errno value. Must not change memory that the caller shall see unless
     * it is shared, and must end by itself within a short time. */
    int (*run)(int root, void *arg, int *fd);
    void      *arg;
    const int *keep;   /* descriptors that @run uses; -1 is skipped; borrowed */
    size_t     n_keep; /* at most SXS_INSIDE_KEEP */
    unsigned   flags;  /* SXS_INSIDE_NET... */
};
#define SXS_INSIDE_KEEP 8u

/**
 * sxs_inside_run - run @work in a child that is the user of @p.
 * @fd: receives the descriptor, close-on-exec, or -1. NULL: none is expected.
 * Returns the result of the work, or an errno value: EPERM when this user may not become that one, or
 * nobody should act for the process; ESRCH when the process is gone or has become another program;
 * ETIMEDOUT when the work did not end within ten seconds or up to the deadline (deadline.h).
 * The main thread only.
 */
int sxs_inside_run(const struct sxs_process *p, const struct sxs_inside_work *work, int *fd);

/** sxs_inside_call - sxs_inside_run() of a work that needs no descriptor but that of the root folder;
 *  all others are closed in the child. */
int sxs_inside_call(const struct sxs_process *p, unsigned            flags,
                    int (*work)(int root, void *arg, int *fd), void *arg, int *fd);

/**
 * sxs_inside_seclude - in a forked child that may be left behind: close all descriptors but 0 to 2, which
 * lead nowhere then, and the @n in @keep, which is sorted; ignore the signals of the terminal; end
 * with the parent, whose PID is @parent.
 * Returns 0 or an errno value: ESRCH when the parent has ended.
 */
int sxs_inside_seclude(int *keep, size_t n, pid_t parent);

/**
 * sxs_inside_open - open @path, a path of the process, below its root folder @root.
 * @flags, @mode: as for openat(2). Links that lead out of that root folder end in it.
 * Returns a descriptor, or -1 with errno. For use in the work of sxs_inside_call(), and outside.
 */
int sxs_inside_open(int root, const char *path, int flags, unsigned mode);

/** sxs_inside_can - test whether the user of the process has the rights @mode (R_OK, W_OK, X_OK) at
 *  @path. Returns 0 or an errno value. */
int sxs_inside_can(const struct sxs_process *p, const char *path, int mode);

#endif
