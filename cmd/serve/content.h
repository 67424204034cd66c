/* SPDX-License-Identifier: MIT */
/** content.h - what a child process of the server makes: lists of sessions, data of pages,
 * reports. */
#ifndef SXS_CMD_SERVE_CONTENT_H
#define SXS_CMD_SERVE_CONTENT_H

#include "cmd/serve/serve.h"

#include <stdint.h>

/* What a child writes to its pipe before it makes anything of a session. */
#define SXS_SERVE_IS_RUNNING 'r'
#define SXS_SERVE_HAS_ENDED  'e'

/**
 * sxs_serve_make - make what @wanted asks for, and end the process. Runs in a child process, whose
 * standard output receives the result, and whose standard error, a file, receives messages.
 * @source_fd: the session's folder or file, or the folder of sessions; @tell_fd: the pipe.
 * The process ends with status 0 when the output is complete. A report may be complete with status
 * 1, when something in the session is damaged.
 */
_Noreturn void sxs_serve_make(const struct sxs_serve_options *o,
                              const struct sxs_serve_wanted *wanted, int source_fd, int tell_fd);

/**
 * sxs_serve_stamp - return a number that changes when a file of a session changes its size or its
 * time. @fd: the session's folder or file, or a folder of sessions; borrowed. Reads no file.
 */
uint64_t sxs_serve_stamp(int fd);

/**
 * sxs_serve_open - open the session @name. @name: "": the folder of sessions, or the session if
 * o->dir is one. Follows no symbolic link. Returns a descriptor; -1: there is no such session.
 */
int sxs_serve_open(const struct sxs_serve_options *o, const char *name);

#endif
