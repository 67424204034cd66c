/* SPDX-License-Identifier: MIT */
/**
 * staging.h - makes a folder for a process, in which it finds the library and records its session, when
 * the process cannot reach the files of this command: in a container, or as another user.
 *
 * The folder is made by the process's user, mode 0700, in /tmp, /var/tmp or /dev/shm of the process:
 * the first that can be written to and, if the library must be copied, permits code to be loaded.
 *
 * A command that is killed leaves its folder behind. It holds a lock of the folder (flock) as long as
 * it lives, so the next command that makes a folder there recognizes folders that are not in use, and
 * removes them: those of the same user that are older than a minute.
 */
#ifndef SXS_CMD_PROCESSES_STAGING_H
#define SXS_CMD_PROCESSES_STAGING_H

#include "cmd/processes/copy.h"
#include "cmd/processes/process.h"

struct sxs_staging {
    int  dir;         /* descriptor of the folder; -1: none was made */
    char folder[64];  /* as the process sees it: "/tmp/sxsprof-0123456789abcdef" */
    char session[80]; /* the session folder inside */
    char library[96]; /* the library inside; "": not copied */
};

/**
 * sxs_staging_open - make the folder.
 * @library: path of the library to copy, with the libraries of its own beside it; NULL: none.
 * @out: release with sxs_staging_close(), also after a failure.
 * @why: receives a sentence about a failure; @size bytes.
 * Returns 0 or an errno value. After a failure nothing is left.
 */
int sxs_staging_open(const struct sxs_process *p, const char *library, struct sxs_staging *out,
                     char *why, size_t size);

/**
 * sxs_staging_fetch - copy the session out of the folder into the folder @to of this command. Works
 * also when the process has ended.
 * @owner: user of the process; files and folders of other users are left out, and everything that is no
 *   part of a session (copy.h).
 * @result: receives what was copied, and what was left out.
 * Returns 0 or an errno value: ETIMEDOUT when the folder's file system does not answer. The main thread
 * only.
 */
int sxs_staging_fetch(const struct sxs_staging *s, uid_t owner, const char *to,
                      struct sxs_copy_result *result);

/** sxs_staging_keep - leave the folder in place: this command does not remove it, only the user may. Releases
 *  @s. */
void sxs_staging_keep(const struct sxs_process *p, struct sxs_staging *s);

/** sxs_staging_close - remove the folder with everything in it, as the process's user. Returns 0, or
 *  an errno value when something is left. */
int sxs_staging_close(const struct sxs_process *p, struct sxs_staging *s);

#endif
