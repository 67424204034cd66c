/* SPDX-License-Identifier: MIT */
/** apart.h - copies files of a process in a child process, so that a file system that never answers blocks the child
 *  and not this command. */
#ifndef SXS_CMD_PROCESSES_APART_H
#define SXS_CMD_PROCESSES_APART_H

#include <stddef.h>

#include "cmd/processes/copy.h"

/**
 * sxs_copy_apart - call @copy in a child that holds no descriptors but @keep, and wait as long as it makes progress.
 * @copy: returns 0 or an errno value. @result: zeroed for it, and what it has become, also after a failure.
 * Returns what @copy returned; ETIMEDOUT: the child moved no byte for five seconds and was given up; or another errno
 * value, when there is no child.
 */
int sxs_copy_apart(int (*copy)(void *arg, struct sxs_copy_result *result), void *arg, int *keep,
                   size_t n, struct sxs_copy_result *result);

#endif
