/* SPDX-License-Identifier: MIT */
/** process_session.h - the session of the process that an argument names. */
#ifndef SXS_CMD_PROCESS_SESSION_H
#define SXS_CMD_PROCESS_SESSION_H

#include "cmd/processes/session.h"

/**
 * sxs_process_session_open - find the session of process @pid, or print why it cannot be looked for.
 * @out: overwritten; free it by sxs_process_session_free(), whatever is returned. A process without a
 * session is no failure: out->dir is NULL.
 * Returns SXS_EXIT_OK, or another exit status after a message.
 */
int sxs_process_session_open(pid_t pid, struct sxs_process_session *out);

#endif
