/* SPDX-License-Identifier: MIT */
/** selection.h - check that the process and the runtime that a user names are in the session. */
#ifndef SXS_CMD_SELECTION_H
#define SXS_CMD_SELECTION_H

#include "session/read/session_read.h"

/**
 * sxs_selection_check - print a message that lists what the session has when it lacks what the
 * options name.
 * @dir: the session's folder, for the message. @process: argument of --process, or NULL.
 * @runtime: argument of --runtime, or 0.
 * Returns SXS_EXIT_OK, or SXS_EXIT_USAGE after the message. Accepts any @runtime when a part of the
 * session could not be read, because that part may have it. Any thread; not signal-safe.
 */
int sxs_selection_check(const char *dir, const struct sxs_session *session, const char *process,
                        uint32_t runtime);

#endif
