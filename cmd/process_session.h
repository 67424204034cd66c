/* SPDX-License-Identifier: MIT */
/** process_session.h - finds the session that a running process records. */
#ifndef SXS_CMD_PROCESS_SESSION_H
#define SXS_CMD_PROCESS_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

/** What a process has. Free it by sxs_process_session_free(). */
struct sxs_process_session {
    bool  library; /* libsxsprof.so is loaded */
    char *dir;     /* the session's folder, as this process can open it; owned; NULL: no session */
    char *folder;  /* name of the process's folder in it; owned; NULL: no session */
};

/**
 * sxs_process_session_find - find the library and the session among the files that process @pid has
 * mapped. The name of a folder of a process in a container leads through /proc/PID/root.
 * @out: receives what was found; overwritten, to be freed whatever is returned.
 * Returns 0, or an errno value: ENOENT or ESRCH when there is no such process, EACCES or EPERM when
 * it belongs to another user.
 */
int sxs_process_session_find(pid_t pid, struct sxs_process_session *out);

void sxs_process_session_free(struct sxs_process_session *s);

#endif
