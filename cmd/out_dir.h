/* SPDX-License-Identifier: MIT */
/**
 * out_dir.h - the session folder of one run: asked for with -o, or private and temporary.
 */
#ifndef SXS_REPORT_OUT_DIR_H
#define SXS_REPORT_OUT_DIR_H

#include "session/read/session_read.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** A folder to record into. */
struct sxs_out_dir {
    char   path[PATH_MAX]; /* absolute, without links */
    bool   temporary;      /* removed by sxs_out_dir_close() */
    bool   created;        /* by us: sxs_out_dir_abandon() removes it again */
    char **old;            /* owned: process folders that were there before this run */
    size_t n_old;
};

/**
 * sxs_out_dir_open - make @dir (mode 0700) or take it when it is empty or a session already; with
 * NULL, make a private folder below $TMPDIR (or /tmp).
 * Returns 0, or -1 with a sentence in @why (@size bytes): what is wrong and what was expected.
 */
int sxs_out_dir_open(struct sxs_out_dir *out, const char *dir, char *why, size_t size);

/**
 * sxs_out_dir_open_kept - a new private folder sxsprof-<pid> in the current folder, or, where that
 * cannot be written to, below $TMPDIR (or /tmp); it stays. Returns as above.
 */
int sxs_out_dir_open_kept(struct sxs_out_dir *out, char *why, size_t size);

/** sxs_out_dir_keep_new - take those processes out of @s that were recorded before this run. */
void sxs_out_dir_keep_new(const struct sxs_out_dir *out, struct sxs_session *s);

/** sxs_out_dir_abandon - nothing was started: a folder that we made goes, whatever kind it is. */
void sxs_out_dir_abandon(struct sxs_out_dir *out);

/** sxs_out_dir_close - remove a temporary folder with its content, follow no link, free memory. */
void sxs_out_dir_close(struct sxs_out_dir *out);

#endif
