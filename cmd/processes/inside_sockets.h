/* SPDX-License-Identifier: MIT */
/** inside_sockets.h - connect to and listen at Unix sockets of a process, as its own user (inside.h). */
#ifndef SXS_CMD_PROCESSES_INSIDE_SOCKETS_H
#define SXS_CMD_PROCESSES_INSIDE_SOCKETS_H

#include "cmd/processes/process.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * sxs_inside_connect - connect to the Unix socket @path of the process, as its user.
 * @path: absolute, as the process sees it; or an abstract name, which begins with '@' and is looked
 *   up in the network of the process. Links in the middle of it end below the root folder of the
 *   process; its last component must be a socket.
 * @fd: receives the connected socket, non-blocking and close-on-exec.
 * Returns 0 or an errno value; EAGAIN when the queue of connections is full; ENOTSOCK when something
 * else is there, also a link.
 */
int sxs_inside_connect(const struct sxs_process *p, const char *path, int *fd);

/** A name in a folder of the process. */
struct sxs_inside_file {
    unsigned mode;  /* of the file that is there, as st_mode; 0: nothing was found */
    uid_t    owner; /* of that file */
    uint64_t dev, ino;
};

/**
 * sxs_inside_listen - listen at the Unix socket @path (absolute, as the process sees it), as its
 * user, mode 0600. A socket of that user at which nobody listens any more is replaced; nothing else
 * is ever removed.
 * @fd: receives the listening socket, non-blocking and close-on-exec.
 * @file: receives what is there now: the socket that was made, or after a failure what is in the way.
 * Returns 0 or an errno value: EADDRINUSE when another process listens there, EPERM when the socket
 * of another user is there, ENOTSOCK when something else is there.
 */
int sxs_inside_listen(const struct sxs_process *p, const char *path, int *fd,
                      struct sxs_inside_file *file);

/** A socket that sxs_inside_listen() has made. */
struct sxs_inside_socket {
    char                   path[PATH_MAX];
    struct sxs_inside_file made;
};

/** sxs_inside_unlink - remove those of @n sockets of the process that are still the files that were made,
 *  also when the process has ended. Returns 0 or the errno value of the last failure: ESTALE when
 *  something else has the name. */
int sxs_inside_unlink(const struct sxs_process *p, const struct sxs_inside_socket *sockets,
                      size_t n);

#endif
