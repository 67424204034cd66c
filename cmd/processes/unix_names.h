/* SPDX-License-Identifier: MIT */
/**
 * unix_names.h - the names of Unix sockets by their inodes, as the kernel knows them.
 *
 * /proc/PID/net/unix shows the same, but a name there can have line feeds: any user can write lines
 * about the sockets of others into it. The kernel's answers here have lengths instead.
 */
#ifndef SXS_CMD_PROCESSES_UNIX_NAMES_H
#define SXS_CMD_PROCESSES_UNIX_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "cmd/processes/process.h"

/** A name, as /proc/PID/net/unix writes it: a path, or '@' and an abstract name. */
struct sxs_unix_name {
    char text[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
    bool listens;
};

/**
 * sxs_unix_names_open - open a socket that answers about the network of @p.
 * Returns a close-on-exec descriptor, or -1 when this kernel has no such answers (unix_diag), or this
 * user may not join that network. The main thread only.
 */
int sxs_unix_names_open(const struct sxs_process *p);

/**
 * sxs_unix_names_ask - find the name of one socket.
 * @fd: from sxs_unix_names_open(). @inode: of the socket, as "socket:[INODE]" shows it.
 * Returns 0 or an errno value: ENOENT when it is no Unix socket of that network; EINVAL when it has no
 * name, or one that is neither an absolute path nor an abstract name of text without zero bytes.
 */
int sxs_unix_names_ask(int fd, uint64_t inode, struct sxs_unix_name *out);

#endif
