/* SPDX-License-Identifier: MIT */
/**
 * inspect.h - finds out what the files are that processes have mapped, once for each file.
 *
 * The files belong to strangers, so two child processes read them. One opens files, with no more rights
 * than that needs; the other parses them, with none. A file that does not answer, or ends a child, costs
 * a limited time, and so do all files of a process, of a user, and of a run of the command.
 * Nothing here is thread-safe.
 */
#ifndef SXS_CMD_PROCESSES_INSPECT_H
#define SXS_CMD_PROCESSES_INSPECT_H

#include "cmd/processes/examine.h"
#include "cmd/processes/maps.h"

#include <stdbool.h>

/**
 * sxs_inspect - find out what a mapped file is.
 * @dir: descriptor of /proc/PID.
 * @f: the mapping; NULL: the program.
 * @version: find the version of the runtime in it, too; this may need to read all of it.
 * Returns 0, or an errno value with SXS_FILE_OTHER: ETIMEDOUT when the file did not answer in time or
 * the time for files of this process or its user is used up, EBADMSG when a child has crashed on it,
 * ESTALE when its path leads to another file now; or why it cannot be opened.
 */
int sxs_inspect(int dir, const struct sxs_mapped_file *f, bool version, struct sxs_inspected *out);

/** sxs_inspect_may_go_on - return false when the time for the process of @dir or its user is used up. */
bool sxs_inspect_may_go_on(int dir);

/** sxs_inspect_charge - count @us microseconds as used for the process of @dir. */
void sxs_inspect_charge(int dir, uint64_t us);

/** sxs_inspect_end - end the children, if there are any. The next file starts them again. */
void sxs_inspect_end(void);

#endif
