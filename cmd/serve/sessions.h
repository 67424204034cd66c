/* SPDX-License-Identifier: MIT */
/** sessions.h - the list of sessions, with a summary of each. Called by child processes of the server. */
#ifndef SXS_CMD_SERVE_SESSIONS_H
#define SXS_CMD_SERVE_SESSIONS_H

#include "cmd/serve/serve.h"
#include "session/read/session_read.h"

#include <stdio.h>

/** sxs_serve_is_running - return true when a process of session @s, in folder @dir, still writes to
 *  it. */
bool sxs_serve_is_running(const char *dir, const struct sxs_session *s);

/**
 * sxs_serve_list - write the list of sessions as JSON to @to, the newest first.
 * The working folder is o->dir. Returns 0, or -1 when it cannot be read or written.
 */
int sxs_serve_list(const struct sxs_serve_options *o, FILE *to);

#endif
