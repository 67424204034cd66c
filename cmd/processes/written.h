/* SPDX-License-Identifier: MIT */
/** written.h - whether a process still writes the files of a recorded session. */
#ifndef SXS_CMD_PROCESSES_WRITTEN_H
#define SXS_CMD_PROCESSES_WRITTEN_H

#include "session/read/session_read.h"

#include <stdbool.h>
#include <sys/types.h>

enum sxs_written {
    SXS_WRITTEN_NO, /* the session has ended, or its process */
    SXS_WRITTEN_MAYBE, /* a file has changed within two minutes, and no process that can be seen has the session */
    SXS_WRITTEN_YES,
};

/**
 * sxs_process_written - tell whether a process still writes files in its folder.
 * @folder: descriptor of the folder of the process; borrowed. @p: the process, as it was read from there.
 *
 * The process holds a lock of its census (base/held.h), which tells it in all PID namespaces. Its process ID does
 * not: in another namespace, or on another machine, that is another process or none. Without the lock (the library
 * had no descriptor for it, or the file system has no locks), a running process that has the census mapped tells it;
 * the processes of another namespace cannot be seen, so a file that has changed lately leaves it open.
 *
 * Without the lock it reads the maps of one process, and those of all if a file has changed lately: some milliseconds
 * each. Any thread; not signal-safe.
 */
enum sxs_written sxs_process_written(int folder, const struct sxs_session_process *p);

/**
 * sxs_process_writes - return true when the running process @pid (of this PID namespace) is the one that writes in the
 * folder @folder: it has the census there mapped. @pid: 0: any process. Any thread; not signal-safe.
 */
bool sxs_process_writes(pid_t pid, int folder);

/** sxs_session_written - the same as sxs_process_written() for process @p of the session in folder @dir; of a ring, for the
 *  newest segment of the process. SXS_WRITTEN_NO when its folder cannot be opened. */
enum sxs_written sxs_session_written(const char *dir, const struct sxs_session_process *p);

#endif
