/* SPDX-License-Identifier: MIT */
/** process_internal.h - the parts of sxs_process_read(): what the files of /proc/PID say. */
#ifndef SXS_CMD_PROCESSES_PROCESS_INTERNAL_H
#define SXS_CMD_PROCESSES_PROCESS_INTERNAL_H

#include "cmd/processes/process.h"

/**
 * sxs_process_find_runtimes - fill p->runtimes and p->musl from /proc/PID/maps, and p->problem.
 * Returns 0 or ENOMEM.
 */
int sxs_process_find_runtimes(struct sxs_process *p);

/**
 * sxs_process_read_files - fill in what the files of p->dir (stat, status, cmdline, cgroup...) say of
 * a process that is worth it, and its profilers unless p->problem is set.
 * @p: has `dir` and `pid`.
 * Returns 0 or an errno value: ESRCH when the process is gone, ENOMEM.
 */
int sxs_process_read_files(struct sxs_process *p);

#endif
