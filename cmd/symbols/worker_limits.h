/* SPDX-License-Identifier: MIT */
/** worker_limits.h - what a worker (worker.h) may do, and how much memory it may take. */
#ifndef SXS_CMD_SYMBOLS_WORKER_LIMITS_H
#define SXS_CMD_SYMBOLS_WORKER_LIMITS_H

#include <stdbool.h>

/**
 * sxs_symbol_worker_confine - in a new worker of sxs_confined_start(): have the kernel refuse everything that
 * reading files does not need. In particular, files can be opened only in the way of
 * sxs_foreign_open(), not as libraries do it on their own. The standard streams are given up, because
 * a worker that hangs in the kernel would keep them open.
 */
void sxs_symbol_worker_confine(void);

/**
 * sxs_symbol_worker_limit_memory - begin or end to limit how much memory is taken from now on. What is
 * taken between a begin and an end is subtracted from what the next begin allows.
 */
void sxs_symbol_worker_limit_memory(bool limited);

#endif
