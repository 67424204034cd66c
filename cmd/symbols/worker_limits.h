/* SPDX-License-Identifier: MIT */
/** worker_limits.h - the limits of memory and time of a worker (worker.h). */
#ifndef SXS_CMD_SYMBOLS_WORKER_LIMITS_H
#define SXS_CMD_SYMBOLS_WORKER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * sxs_symbol_worker_prepare - in a new worker of sxs_confined_start(), before anything else here: open what
 * limits of memory need, and give up the standard streams, because a worker that hangs in the kernel
 * would keep them open.
 */
void sxs_symbol_worker_prepare(void);

/**
 * sxs_symbol_worker_limit_memory - begin or end to limit how much memory is taken from now on. What is
 * taken between a begin and an end is subtracted from what the next begin allows.
 */
void sxs_symbol_worker_limit_memory(bool limited);

/**
 * sxs_symbol_worker_limit_time - begin or end to limit the processor time from now on: the process ends
 * by SIGXCPU when it has taken @ms milliseconds more, rounded up to seconds, also when nobody ends
 * it. Without @limited, only the limit remains with which it was started.
 */
void sxs_symbol_worker_limit_time(bool limited, uint32_t ms);

#endif
