/* SPDX-License-Identifier: MIT */
/** out_dir.h - the session folder of one run: named by -o, or a temporary private folder. */
#ifndef SXS_CMD_OUT_DIR_H
#define SXS_CMD_OUT_DIR_H

#include "session/read/session_read.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** A session folder to record into. */
struct sxs_out_dir {
    char   path[PATH_MAX]; /* absolute, links resolved */
    bool   temporary;      /* sxs_out_dir_close() removes the folder */
    bool   created;        /* this run made the folder; sxs_out_dir_abandon() removes it */
    char **old;            /* owned; process folders that existed before this run */
    size_t n_old;
};

/**
 * sxs_out_dir_open - open the session folder of a run.
 * @dir: the folder; it is made (mode 0700), or used when it is empty or contains only an earlier
 * session. NULL makes a private folder below $TMPDIR (or /tmp), which is temporary.
 * @why: receives a sentence about a failure, what is wrong and what was expected; holds @size
 * bytes.
 * Returns 0 or -1.
 */
int sxs_out_dir_open(struct sxs_out_dir *out, const char *dir, char *why, size_t size);

/**
 * sxs_out_dir_open_kept - make a new private folder that is kept after the run.
 * The folder is sxsprof-<pid> in the current folder or, when that cannot be written to, a folder
 * below $TMPDIR (or /tmp).
 * Returns as sxs_out_dir_open().
 */
int sxs_out_dir_open_kept(struct sxs_out_dir *out, char *why, size_t size);

/** sxs_out_dir_keep_new - remove from @s the processes that were recorded before this run. */
void sxs_out_dir_keep_new(const struct sxs_out_dir *out, struct sxs_session *s);

/**
 * sxs_out_dir_abandon - release @out when no command was started; removes the folder, temporary or
 * not, when this run made it.
 */
void sxs_out_dir_abandon(struct sxs_out_dir *out);

/**
 * sxs_out_dir_close - release @out; removes a temporary folder and its contents without following
 * links.
 */
void sxs_out_dir_close(struct sxs_out_dir *out);

#endif
