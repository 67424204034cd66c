/* SPDX-License-Identifier: MIT */
/**
 * worker.h - a process that reads files for this one: it opens the files that a session names, and
 * takes them apart. A file that never answers, or whose contents need all memory or all time, ends
 * the worker and nothing else: the caller gets the reason, and goes on with a new worker.
 *
 * A worker can open no file but for reading, make no connection, and start no program. While it
 * works on files that others than root and the user can have written, it has little memory and, over
 * its whole life and that of its successors, little time. One thread at a time.
 */
#ifndef SXS_CMD_SYMBOLS_WORKER_H
#define SXS_CMD_SYMBOLS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SXS_SYMBOL_WORKER_MESSAGE (144u << 10) /* bytes of the largest request or answer */

struct sxs_symbol_worker;

/**
 * A function that answers a request, in the worker. @arg: as for sxs_symbol_worker_new(). @fd: the descriptor
 * that came with the request, owned, or -1; receives one that goes with the answer, or -1, and is
 * closed then. @answer: has room for SXS_SYMBOL_WORKER_MESSAGE bytes. Returns the size of the answer.
 */
typedef size_t sxs_symbol_worker_answer(void *arg, const void *request, size_t size, void *answer,
                                        int *fd);

/**
 * sxs_symbol_worker_new - return an owned worker, whose process starts with the first request. It sees the
 * memory of this process as it is then. @arg: borrowed.
 */
struct sxs_symbol_worker *sxs_symbol_worker_new(sxs_symbol_worker_answer *answer, void *arg);

/**
 * sxs_symbol_worker_ask - send a request and wait for the answer.
 * @fd: a descriptor that goes with it, borrowed, or -1; receives the one of the answer, which the
 * caller owns, or -1. @limited: the time counts as that of files of others, until the worker calls
 * sxs_symbol_worker_limited(). @why: receives why there is no answer, static text.
 * Returns the answer, borrowed until the next request, and its @answer_size; or NULL. After NULL the
 * process has ended, and what it knew is gone: sxs_symbol_worker_starts() has changed.
 */
const void *sxs_symbol_worker_ask(struct sxs_symbol_worker *w, const void *request, size_t size,
                                  bool limited, int *fd, size_t *answer_size, const char **why);

/** sxs_symbol_worker_starts - return the number of the process that answers the next request, from 1. */
unsigned sxs_symbol_worker_starts(const struct sxs_symbol_worker *w);

/**
 * sxs_symbol_worker_limited - in the worker: from now on, the time and memory count (@limited) as those of
 * files of others, or do not. Returns what was before. Without effect in other processes.
 */
bool sxs_symbol_worker_limited(bool limited);

/** sxs_symbol_worker_free - end the process; NULL is allowed. */
void sxs_symbol_worker_free(struct sxs_symbol_worker *w);

#endif
