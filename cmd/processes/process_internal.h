/* SPDX-License-Identifier: MIT */
/** process_internal.h - find runtimes and profilers among the files that a process has mapped. */
#ifndef SXS_CMD_PROCESSES_PROCESS_INTERNAL_H
#define SXS_CMD_PROCESSES_PROCESS_INTERNAL_H

#include "cmd/processes/process.h"

/**
 * sxs_process_find_runtimes - fill p->runtimes and p->musl from /proc/PID/maps, and p->problem.
 * Returns 0 or ENOMEM.
 */
int sxs_process_find_runtimes(struct sxs_process *p);

#endif
