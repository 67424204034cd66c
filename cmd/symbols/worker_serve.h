/* SPDX-License-Identifier: MIT */
/** worker_serve.h - the main function of the process of a worker (worker.h): answers requests until its
 *  command ends. */
#ifndef SXS_CMD_SYMBOLS_WORKER_SERVE_H
#define SXS_CMD_SYMBOLS_WORKER_SERVE_H

#include "cmd/symbols/worker_job.h"

#include <stdbool.h>

/** What a worker works on. */
struct sxs_symbol_served {
    struct sxs_symbol_job job;
    int                   fd; /* its end of the connection */
};

/**
 * sxs_symbol_worker_serve - answer requests until there are no more. @served: a struct
 * sxs_symbol_served. Returns an exit status. For a process of sxs_confined_start().
 */
int sxs_symbol_worker_serve(void *served);

/**
 * sxs_symbol_worker_limited - in the worker: from now on, the time and memory count (@limited) as those of
 * files of others, or do not. Returns what was before. Without effect in other processes.
 */
bool sxs_symbol_worker_limited(bool limited);

#endif
