/* SPDX-License-Identifier: MIT */
/**
 * asked.h - the questions of a confined process about other processes. Its helper (cmd/confined/helper.h)
 * finds the answers; a process without a helper finds them itself.
 */
#ifndef SXS_CMD_PROCESSES_ASKED_H
#define SXS_CMD_PROCESSES_ASKED_H

#include "cmd/processes/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * sxs_asked_answer - what the helper answers; pass it to sxs_helper_start().
 * @arg: const pid_t *, the process whose session may be asked for; NULL: none.
 */
size_t sxs_asked_answer(void *arg, const void *question, size_t size, void *answer, int *fd);

/** sxs_asked_census - as sxs_process_has_census(). @pid: 0: any process. */
bool sxs_asked_census(pid_t pid, const char *folder, const char *path, uint64_t inode);

/** sxs_asked_session - as sxs_process_session_find(). With a helper, out->open leads through out->fd. */
int sxs_asked_session(pid_t pid, struct sxs_process_session *out);

#endif
