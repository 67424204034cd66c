/* SPDX-License-Identifier: MIT */
/**
 * helper.h - a process that answers a few questions of a confined one.
 *
 * A confined process may not look into other processes, also not into those of the same user: it cannot
 * read which files they have mapped, and where /proc hides processes (hidepid) it does not see them. Before
 * it confines itself, it starts a child process that keeps all rights, reads no files of strangers, and
 * answers questions of a fixed form. One helper for each process; one thread at a time.
 */
#ifndef SXS_CMD_CONFINED_HELPER_H
#define SXS_CMD_CONFINED_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Bytes of a question, and of an answer, at most. */
#define SXS_HELPER_MESSAGE 12288u

/**
 * sxs_helper_answer - answers one question. Called in the helper.
 * @question: @size bytes, which a stranger's code may have made. @answer: room for SXS_HELPER_MESSAGE bytes.
 * @fd: receives a descriptor that goes with the answer, and is closed then; -1: none.
 * Returns the size of the answer.
 */
typedef size_t sxs_helper_answer(void *arg, const void *question, size_t size, void *answer,
                                 int *fd);

/**
 * sxs_helper_start - start the helper of this process. It ends with this process. Call it before the
 * process confines itself.
 * @answer: answers what sxs_helper_ask() asks; NULL: the helper answers sxs_helper_stat() only.
 * Returns 0 or an errno value.
 */
int sxs_helper_start(sxs_helper_answer *answer, void *arg);

/** sxs_helper_runs - return true when this process has a helper. */
bool sxs_helper_runs(void);

/**
 * sxs_helper_ask - ask the helper and wait for its answer.
 * @answer: room for @room bytes. @fd: receives the descriptor, owned; -1: none.
 * Returns the size of the answer; -1: there is no helper any more, or the answer is too long.
 */
ssize_t sxs_helper_ask(const void *question, size_t size, void *answer, size_t room, int *fd);

/**
 * sxs_helper_stat - read /proc/PID/stat of process @pid: by the helper, if there is one.
 * @text: receives the text with a zero after it; holds @size bytes. Returns false when there is no such
 * process.
 */
bool sxs_helper_stat(pid_t pid, char *text, size_t size);

#endif
