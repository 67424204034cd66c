/* SPDX-License-Identifier: MIT */
/** unix_lines.h - paths of sockets by the lines of /proc/PID/net/unix, for kernels without unix_diag. */
#ifndef SXS_CMD_PROCESSES_UNIX_LINES_H
#define SXS_CMD_PROCESSES_UNIX_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/processes/process.h"

#define SXS_UNIX_LINES 65536u /* paths that are looked at */

/**
 * sxs_unix_lines_find - find the paths that contain @name.
 * @has: tells whether the process has the socket with this inode open.
 * @found: called for each path of which that is true, and where a socket of the process's user lies below its root
 * folder: other users can write lines, by names that contain a line feed, but can make no such socket.
 */
void sxs_unix_lines_find(const struct sxs_process *p, const char                      *name,
                         bool (*has)(const void *arg, uint64_t inode), const void     *has_arg,
                         void (*found)(void *arg, const char *path, size_t len), void *arg);

#endif
