/* SPDX-License-Identifier: MIT */
/** control.h - shared by the verbs start, stop, status and snapshot: one process and its control
 *  socket. */
#ifndef SXS_CMD_CONTROL_H
#define SXS_CMD_CONTROL_H

#include "cmd/out_dir.h"
#include "cmd/processes/control_client.h"

/** A process that is asked. */
struct sxs_control_target {
    struct sxs_process        process;
    int                       fd;      /* its control socket; -1: not connected */
    bool                      said_waiting; /* that the answer takes long */
    struct sxs_message_writer request;      /* to be written by the verb */
    struct sxs_control_answer answer;
};

/**
 * sxs_control_open - find the process that @argument (PID or name) means, and connect to its
 * control socket. Returns an exit status: SXS_EXIT_OK, or SXS_EXIT_USAGE after a message. @t:
 * release with sxs_control_close(), also after a failure.
 */
int sxs_control_open(struct sxs_control_target *t, const char *argument);

/**
 * sxs_control_send - end t->request, send it, and wait for the answer, as long as the process answers
 * other requests.
 * Returns 0, or an errno value after a message; EREMOTEIO: the answer is "error".
 */
int sxs_control_send(struct sxs_control_target *t, int timeout_ms);

/** sxs_control_value - return a value of the answer as text that is safe to print; "" if it is not
 *  there. @text: receives it; @size bytes. Returns @text. */
const char *sxs_control_value(const struct sxs_control_target *t, const char *name, char *text,
                              size_t size);

/** sxs_control_folder - write the path by which this command opens the answer's folder.
 *  Returns false when it names none. */
bool sxs_control_folder(const struct sxs_control_target *t, char path[PATH_MAX]);

/**
 * sxs_control_folder_open - open the folder that the answer names, if it is one of a session of the
 * process: it and its census belong to the process's user, and nobody else may write there.
 * @now: and the process records into it now, as far as it is another user's or in a container: it has
 *   the census mapped.
 * @bytes: receives how many bytes of the disk its files take, without their holes; NULL: not counted.
 * The folder is opened with the rights of the process, below its root folder, in a child that has a
 * limit of time. So root does not lend its own rights to a process that names a folder of another user.
 * Returns a descriptor, or -1 with *@why, a static text, and errno: ENOENT when there is no such folder, or no
 * session in it.
 */
int sxs_control_folder_open(const struct sxs_control_target *t, bool now, uint64_t *bytes,
                            const char **why);

void sxs_control_close(struct sxs_control_target *t);

/** sxs_control_out_open - open the session folder @dir, as sxs_out_dir_open(), or one with the name
 *  of process @pid when @dir is NULL. Returns an exit status, after a message unless it is
 *  SXS_EXIT_OK. */
int sxs_control_out_open(struct sxs_out_dir *out, const char *dir, enum sxs_out_use use,
                         pid_t pid);

#define SXS_CONTROL_TIMEOUT_MS 120000 /* for requests that begin and end sessions */

#endif
