/* SPDX-License-Identifier: MIT */
/** worker_process.h - start and end the processes of workers (worker.h), here or by the starter. */
#ifndef SXS_CMD_SYMBOLS_WORKER_PROCESS_H
#define SXS_CMD_SYMBOLS_WORKER_PROCESS_H

#include "cmd/symbols/worker_job.h"

#include <sys/types.h>

struct sxs_confinement;

/**
 * sxs_symbol_starter - make the starter of this process, for workers that do one of @jobs; without
 * it, this process starts and ends its workers itself. Call it once, before foreign data is read.
 * @c: how the starter is confined, and its workers with it.
 */
void sxs_symbol_starter(const struct sxs_confinement *c, const struct sxs_symbol_job *jobs,
                        size_t n);

/**
 * sxs_symbol_process_start - start a process that does @job with requests that come over the
 * socket @fd, which is borrowed. Returns its PID; -1: it cannot be started.
 */
pid_t sxs_symbol_process_start(const struct sxs_symbol_job *job, int fd);

/**
 * sxs_symbol_process_end - end the process @pid of sxs_symbol_process_start() by SIGKILL.
 * Returns its status as of waitpid(); -1: it has not ended within a tenth of a second, because it
 * waits in the kernel for a file system that does not answer. It ends when that does.
 */
int sxs_symbol_process_end(pid_t pid);

#endif
