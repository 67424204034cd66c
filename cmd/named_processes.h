/* SPDX-License-Identifier: MIT */
/** named_processes.h - the processes that the argument of a verb names. */
#ifndef SXS_CMD_NAMED_PROCESSES_H
#define SXS_CMD_NAMED_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * sxs_named_processes - find the processes that @target names: a PID, or the name of a process, of its
 * program or of its assembly.
 * @all: several may have the name.
 * @pids: receives at most @max process IDs. @n: receives their number.
 * Returns SXS_EXIT_OK, or SXS_EXIT_USAGE after a message.
 */
int sxs_named_processes(const char *target, bool all, pid_t *pids, size_t max, size_t *n);

#endif
