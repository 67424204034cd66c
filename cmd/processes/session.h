/* SPDX-License-Identifier: MIT */
/** session.h - the session that a running process records, and the processes that record one. */
#ifndef SXS_CMD_PROCESSES_SESSION_H
#define SXS_CMD_PROCESSES_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** What a process has. Free it by sxs_process_session_free(). */
struct sxs_process_session {
    bool  library; /* libsxsprof.so is loaded */
    char *dir;     /* the session's folder, as this process can open it; owned; NULL: no session */
    char *folder;  /* name of the process's folder in it; owned; NULL: no session */
};

/**
 * sxs_process_session_find - find the library, and the session that is recorded now, among the
 * files that process @pid has mapped. The folder of a session that only the process itself can see,
 * because it is in a container, leads through /proc/PID/root.
 * A folder counts only if it is reached without a symbolic link, belongs to the user of the process, to
 * the own user or to root, is not writable for everybody, and has a census; and if the file system says
 * so within three seconds.
 * @out: receives what was found; overwritten, to be freed whatever is returned.
 * Returns 0, also when there is no session, or an errno value: ESRCH when there is no such process,
 * EACCES or EPERM when it belongs to another user, ENOMEM.
 */
int sxs_process_session_find(pid_t pid, struct sxs_process_session *out);

void sxs_process_session_free(struct sxs_process_session *s);

/**
 * sxs_process_has_census - return true when process @pid has the census mapped that has the real
 * path @path, or the inode @inode: overlay file systems show other inodes than stat() does.
 * @folder: the process's folder, in which the census is; it has the same name in every container.
 */
bool sxs_process_has_census(pid_t pid, const char *folder, const char *path, uint64_t inode);

#endif
