/* SPDX-License-Identifier: MIT */
/** top_follow.h - opens the session that "top" shows. When the session ends, as each segment of continuous
 *  mode does, the next session of the same process is opened. */
#ifndef SXS_CMD_TOP_FOLLOW_H
#define SXS_CMD_TOP_FOLLOW_H

#include "cmd/top/top.h"

#include <limits.h>

/** A session that is open. Close it by sxs_top_follow_close(). */
struct sxs_top_follow {
    struct sxs_live *live; /* owned */
    pid_t            pid;  /* whose next sessions are followed; 0: of none */
    double           window_s;
    char             dir[PATH_MAX + 64]; /* of the session, as it is called */
};

/**
 * sxs_top_follow_open - open the session in @path.
 * @name: as it is called: the path of the folder.
 * @process: as in struct sxs_live_options.
 * @pid: the process of a session that was found by its PID; 0: the session was named.
 * Returns 0, or -1 with a reason in @why of @size bytes; then nothing needs to be closed.
 */
int sxs_top_follow_open(struct sxs_top_follow *f, const char *path, const char *name,
                        const char *process, pid_t pid, double window_s, char *why, size_t size);

/**
 * sxs_top_follow_next - open the session that the process records now, in place of the one that has
 * ended. Returns true when @f->live is another one; false: there is none yet, or it is the same.
 */
bool sxs_top_follow_next(struct sxs_top_follow *f);

/** sxs_top_follow_wait - wait for the next session if the one that has ended is a segment, whose
 *  successor comes soon while the process runs. Returns as sxs_top_follow_next(). */
bool sxs_top_follow_wait(struct sxs_top_follow *f);

void sxs_top_follow_close(struct sxs_top_follow *f);

#endif
