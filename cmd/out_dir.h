/* SPDX-License-Identifier: MIT */
/** out_dir.h - the session folder of one run: named by -o or after the command's PID, or temporary. */
#ifndef SXS_CMD_OUT_DIR_H
#define SXS_CMD_OUT_DIR_H

#include "session/read/session_read.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** What a folder that exists may have in it. */
enum sxs_out_use {
    SXS_OUT_NEW,      /* nothing */
    SXS_OUT_APPEND,   /* a session: more processes are added to it */
    SXS_OUT_SEGMENTS, /* segments: more are added to them (continuous mode) */
};

/** A session folder to record into. */
struct sxs_out_dir {
    char   path[PATH_MAX]; /* absolute, links resolved */
    dev_t    dev;            /* device and inode of the folder */
    ino_t    ino;
    bool   temporary;      /* sxs_out_dir_close() removes the folder */
    bool   created;        /* this run made the folder; sxs_out_dir_abandon() removes it */
    uint64_t segments_ns; /* CLOCK_REALTIME: segments are recorded from then on; 0: one session */
    bool   of_process;     /* a process has named it: its file system may be one that never answers */
    bool   unnamed;        /* sxs_out_dir_name() will name the folder after the command's PID */
    char **old;            /* owned; process folders that existed before this run */
    size_t n_old;
};

/**
 * sxs_out_dir_open - open the session folder @dir.
 * A folder that does not exist is made (mode 0700); an empty one is used, and one that has nothing
 * but what @use says.
 * @why: receives a sentence about a failure, what is wrong and what was expected; holds @size
 * bytes.
 * Returns SXS_EXIT_OK or SXS_EXIT_USAGE.
 */
int sxs_out_dir_open(struct sxs_out_dir *out, const char *dir, enum sxs_out_use use,
                     char *why, size_t size);

/** sxs_out_dir_for_segments - say that segments are recorded into @out from now on. */
void sxs_out_dir_for_segments(struct sxs_out_dir *out);

/**
 * sxs_out_dir_make - make a new private folder.
 * @keep: the folder is kept after the run. It is in the current folder or, when that cannot be
 * written to, below $TMPDIR (or /tmp); sxs_out_dir_name() gives it its name. Otherwise the folder
 * is temporary and below $TMPDIR.
 * @why: as above. Returns SXS_EXIT_OK or SXS_EXIT_FAILED.
 */
int sxs_out_dir_make(struct sxs_out_dir *out, bool keep, char *why, size_t size);

/**
 * sxs_out_dir_name - name a kept folder that sxs_out_dir_make() made sxsprof-<pid>, or
 * sxsprof-<pid>-2, -3... when there is one already.
 * @pid: of the command. Returns out->path.
 */
const char *sxs_out_dir_name(struct sxs_out_dir *out, pid_t pid);

/** sxs_out_dir_keep_new - remove from @s the processes that were recorded before this run. */
void sxs_out_dir_keep_new(const struct sxs_out_dir *out, struct sxs_session *s);

/** sxs_out_dir_undo - release @out when an attach has failed; removes what it has recorded, and the folder when this
 *  run made it. */
void sxs_out_dir_undo(struct sxs_out_dir *out);

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
