/* SPDX-License-Identifier: MIT */
/**
 * worker.h - a process that reads files for this one: it opens the files that a session names, and
 * parses them. A file that never answers, or whose contents need all memory or all time, ends
 * the worker and nothing else: the caller gets the reason, and goes on with a new worker.
 *
 * A worker can open files only for reading. It cannot connect to anything or start a process. While it
 * works on files that others than root and the user can have written, it has little memory and, over
 * its whole life and that of its successors, little time. It also has limits for all of its life: a
 * file that has taken control of the worker cannot lift them. Its answers are untrusted (answers.h).
 *
 * A command that reads files of strangers in a confined child (cmd/confined_verb.h) may neither make
 * processes nor signal them: a stranger's code in it could fill the machine with them. A starter
 * does that for it: a process that is made before the child reads the first byte, reads nothing but
 * orders to start and to end workers, and has 16 workers at most at once. It ends with the child,
 * and its workers with it. One thread at a time.
 */
#ifndef SXS_CMD_SYMBOLS_WORKER_H
#define SXS_CMD_SYMBOLS_WORKER_H

#include "cmd/symbols/worker_job.h"

#include <stdbool.h>
#include <stddef.h>

struct sxs_symbol_worker;

/**
 * sxs_symbol_worker_new - return an owned worker, whose process starts with the first request. It sees the
 * memory of the process that starts it, as it is then. @arg: borrowed.
 */
struct sxs_symbol_worker *sxs_symbol_worker_new(sxs_symbol_worker_answer *answer, void *arg);

/**
 * sxs_symbol_worker_ask - send a request and wait for the answer.
 * @fd: a descriptor that goes with it, borrowed, or -1; receives the one of the answer, which the
 * caller owns, or -1. @limited: the time counts as that of files of others, until the worker calls
 * sxs_symbol_worker_limited(). The requests of all workers together have five minutes besides, and
 * a quarter of the time for which the command runs, whatever a worker tells.
 * @why: receives why there is no answer, static text.
 * Returns the answer, borrowed until the next request, and its @answer_size; or NULL. After NULL the
 * process has ended, and what it knew is gone: sxs_symbol_worker_starts() has changed.
 */
const void *sxs_symbol_worker_ask(struct sxs_symbol_worker *w, const void *request, size_t size,
                                  bool limited, int *fd, size_t *answer_size, const char **why);

/**
 * sxs_symbol_worker_refuse - end the process, because its last answer makes no sense. Returns why there is
 * no answer, static text.
 */
const char *sxs_symbol_worker_refuse(struct sxs_symbol_worker *w);

/** sxs_symbol_worker_starts - return the number of the process that answers the next request, from 1. */
unsigned sxs_symbol_worker_starts(const struct sxs_symbol_worker *w);

/** sxs_symbol_worker_free - end the process; NULL is allowed. */
void sxs_symbol_worker_free(struct sxs_symbol_worker *w);

#endif
