/* SPDX-License-Identifier: MIT */
/** session_write.h - the library's end of a session folder. */
#ifndef SXS_SESSION_WRITE_H
#define SXS_SESSION_WRITE_H

#include "session/write/folder_write.h"
#include "session/format/session.h"

/**
 * sxs_session_open - this process's census, in @dir (created 0700 if missing) or in memory only.
 * @dir: NULL or "" for none. Trouble (no such folder, not writable, a link, owned by somebody
 * else, writable by others, disk full) is said in one line
 * and the census stays in memory. Returns a census that lives as long as the process, never NULL; the
 * first call decides, later ones return the same. Any thread; not signal-safe. In a forked child the
 * census becomes private memory: a file belongs to one process.
 */
struct sxs_census *sxs_session_open(const char *dir);

/**
 * sxs_session_row - the row for runtime @number (from 1). Beyond SXS_MAX_RUNTIMES: a row that is
 * counted into but not listed. Never NULL; lives as long as the process. Any thread.
 */
struct sxs_census_runtime *sxs_session_row(unsigned number);

/**
 * sxs_session_folder - this process's folder in the session; borrowed, lives as long as the process.
 * NULL when nothing is recorded: a line of the log says that the tool @tool cannot do without.
 */
const struct sxs_folder *sxs_session_folder(const char *tool);

#endif
