/* SPDX-License-Identifier: MIT */
/** session_write.h - opens the session of this process: its folder and its file "census". */
#ifndef SXS_SESSION_WRITE_SESSION_WRITE_H
#define SXS_SESSION_WRITE_SESSION_WRITE_H

#include "session/write/folder_write.h"
#include "session/format/session.h"

/**
 * sxs_session_open - open the session and return the census of this process.
 * @dir: the session folder, which is created with mode 0700 if it is missing; NULL or "": keep the
 *   census in memory only. Only the @dir of the first call has an effect; later calls return the
 *   same census.
 * Returns the census, which lives as long as the process; never NULL. If the folder cannot be used
 * (it cannot be created or written to, is a symbolic link, belongs to another user, can be written
 * to by others, or the disk is full), logs one line and keeps the census in memory.
 * In a forked child the census becomes private memory, because a file belongs to one process.
 * Any thread; not signal-safe.
 */
struct sxs_census *sxs_session_open(const char *dir);

/**
 * sxs_session_reopen - open the folder of another session: the census is recorded there from now on,
 * and begins with the runtimes that have not ended, and zero counts.
 * @dir: the session folder. @why: receives the reason of a failure (@size bytes).
 * If a folder is open, it is closed first, and its files are complete.
 * Returns 0 or a negative errno value; then nothing has changed. One thread at a time, after sxs_session_open(); not signal-safe.
 */
int sxs_session_reopen(const char *dir, char *why, size_t size);

/**
 * sxs_session_close - complete the census of the session, and close its folder. The rows go on in
 * memory, at the same addresses. Does nothing if no folder is open.
 * @discard: nonzero: delete the process's folder with the files in it.
 * Returns 0, or -errno: no memory; then the census stays in its file. Threads: as
 * sxs_session_reopen().
 */
int sxs_session_close(int discard);

/**
 * sxs_session_row - put the row of runtime @number (from 1) into use and return it.
 * Runtimes beyond SXS_MAX_RUNTIMES share one row that is not part of the census. Never NULL; lives
 * as long as the process. A number may be used again when its runtime has ended; the counts of the
 * session go on. Any thread.
 */
struct sxs_census_runtime *sxs_session_row(unsigned number);

/**
 * sxs_session_folder - return this process's folder in the session; borrowed until the session ends.
 * Returns NULL when there is none, and logs one line that the tool @tool needs it, unless
 * @tool is NULL.
 */
const struct sxs_folder *sxs_session_folder(const char *tool);

#endif
