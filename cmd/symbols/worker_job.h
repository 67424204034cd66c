/* SPDX-License-Identifier: MIT */
/** worker_job.h - the job of a worker (worker.h), and its limits. */
#ifndef SXS_CMD_SYMBOLS_WORKER_JOB_H
#define SXS_CMD_SYMBOLS_WORKER_JOB_H

#include <stddef.h>

#define SXS_SYMBOL_WORKER_MESSAGE (144u << 10) /* bytes of the largest request or answer */
#define SXS_SYMBOL_WORKER_S       300 /* seconds of processor time of one worker, whatever it reads */

/**
 * A function that answers a request, in the worker. @arg: as for sxs_symbol_worker_new(). @fd: the descriptor
 * that came with the request, owned, or -1; receives one that goes with the answer, or -1, and is
 * closed then. @answer: has room for SXS_SYMBOL_WORKER_MESSAGE bytes. Returns the size of the answer.
 */
typedef size_t sxs_symbol_worker_answer(void *arg, const void *request, size_t size, void *answer,
                                        int *fd);

/** What a worker does with each request. */
struct sxs_symbol_job {
    sxs_symbol_worker_answer *answer;
    void                     *arg; /* borrowed */
};

#endif
