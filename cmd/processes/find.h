/* SPDX-License-Identifier: MIT */
/** find.h - the processes that an argument names: a PID, or a name. */
#ifndef SXS_CMD_PROCESSES_FIND_H
#define SXS_CMD_PROCESSES_FIND_H

#include "cmd/processes/process.h"

/**
 * sxs_process_named - return true when @name names the process: the name of its main thread, its
 * program's file name, or the file name of the assembly that dotnet runs ("app" or "app.dll" for
 * "dotnet /srv/app.dll").
 */
sxs_process_filter sxs_process_named;

/**
 * sxs_process_find - find the one process that @argument names.
 * @argument: a PID, or a name of a process with runtimes.
 * @out: release with sxs_process_free(), also after a failure.
 * @why: receives a sentence about a failure, what was wrong and what was expected; @size bytes.
 * Returns 0 or an errno value: ESRCH when there is none, ENOTUNIQ when there are several.
 */
int sxs_process_find(const char *argument, struct sxs_process *out, char *why, size_t size);

#endif
