/* SPDX-License-Identifier: MIT */
/**
 * processes.h - the processes of a session that were asked for, one by one.
 */
#ifndef SXS_REPORT_PROCESSES_H
#define SXS_REPORT_PROCESSES_H

#include "session/read/session_read.h"

/** sxs_process_wanted - is @process, a folder or pid, this one? NULL: all are wanted. */
bool sxs_process_wanted(const struct sxs_session_process *p, const char *process);

/** The version of runtime @number of @p, "?" when it is not known. Borrowed. */
const char *sxs_process_version(const struct sxs_session_process *p, uint32_t number);

/** Takes a process whose folder is open as @folder_fd (borrowed). Returns 0, or an errno value that
 *  ends it all. */
typedef int sxs_process_take(void *arg, const struct sxs_session_process *p, int folder_fd);

/**
 * sxs_processes_take - hand every process of @session, which lies in @dir, that is wanted to @take.
 * One whose folder cannot be opened is passed over: the session's reader has said so. Returns 0, what
 * @take returned, or an errno value when @dir cannot be opened.
 */
int sxs_processes_take(const char *dir, const struct sxs_session *session, const char *process,
                       sxs_process_take *take, void *arg);

#endif
