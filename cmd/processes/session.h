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
    char *dir;     /* the session's folder, as this process can open it; owned; NULL: no session. Of
                    * another user's process, the path can lead elsewhere by now: it is for messages */
    char *folder;  /* name of the process's folder in it; owned; NULL: no session */
    int   fd; /* of the session's folder (O_PATH), whose process's folder was checked; owned; -1 */
    char *
        open; /* path by which to open the session's folder: `dir` if the process belongs to the own
                    * user, else one that leads through `fd`, for this process and its children; owned */
};

/** sxs_process_session_is_foreign - tell whether the session that was found is of another user's process. */
bool sxs_process_session_is_foreign(const struct sxs_process_session *s);

/**
 * sxs_process_session_find - find the library, and the session that is recorded now, among the
 * files that process @pid has mapped. The folder of a session that only the process itself can see,
 * because it is in a container, leads through /proc/PID/root.
 * A folder counts only if it is reached without a symbolic link, belongs to the user of the process, to
 * the own user or to root, is not writable for everybody, and has the census that the process has mapped;
 * and if the file system says so within three seconds.
 * @out: receives what was found; overwritten, to be freed whatever is returned. Files are to be opened
 * below out->open, the folder of the process without following a link: then nobody can put another folder
 * in the place of the one that was checked.
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
