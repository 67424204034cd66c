/* SPDX-License-Identifier: MIT */
#include "cmd/top_follow.h"

#include "cmd/confined/helper.h"
#include "cmd/output/segments.h"
#include "cmd/processes/asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIES = 50, TRY_MS = 100 }; /* a segment follows another one within some 100 ms, mostly */

int sxs_top_follow_open(struct sxs_top_follow *f, const char *path, const char *name,
                        const char *process, pid_t pid, double window_s, char *why, size_t size)
{
    const struct sxs_live_options options = {.process = process, .window_s = window_s};
    char *segments;
    *f = (struct sxs_top_follow){.pid = pid, .window_s = window_s};
    snprintf(f->dir, sizeof(f->dir), "%s", name);
    if (sxs_live_open(path, &options, &f->live, why, size) == 0)
        return 0;
    segments = pid ? NULL : sxs_segments_refuse(path);
    if (segments)
        snprintf(why, size, "%s, or the PID of the process", segments);
    free(segments);
    return -1;
}

bool sxs_top_follow_next(struct sxs_top_follow *f)
{
    struct sxs_process_session found;
    struct sxs_top_follow      next;
    char                       dir[PATH_MAX + 64], path[PATH_MAX + 64], why[512];
    bool                       is_new = false;
    if (!f->pid)
        return false;
    if (sxs_asked_session(f->pid, &found) == 0 && found.dir) {
        snprintf(dir, sizeof(dir), "%s/%s", found.dir, found.folder);
        snprintf(path, sizeof(path), "%s/%s", found.open, found.folder);
        is_new =
            strcmp(dir, f->dir) != 0 &&
            sxs_top_follow_open(&next, path, dir, NULL, f->pid, f->window_s, why, sizeof(why)) == 0;
    }
    sxs_process_session_free(&found);
    if (!is_new)
        return false;
    sxs_live_close(f->live);
    *f = next;
    return true;
}

/* Returns true when the last folder but one of @path, DIR/SEGMENT/PROCESS, is a segment. */
static bool is_segment(const char *path)
{
    char copy[PATH_MAX + 64], *slash;
    snprintf(copy, sizeof(copy), "%s", path);
    slash = strrchr(copy, '/');
    if (!slash)
        return false;
    *slash = '\0';
    slash = strrchr(copy, '/');
    return sxs_segment_name(slash ? slash + 1 : copy, NULL, NULL);
}

bool sxs_top_follow_wait(struct sxs_top_follow *f)
{
    if (sxs_top_follow_next(f))
        return true;
    for (int i = 0; i < TRIES && f->pid && is_segment(f->dir) && !sxs_top_stopped(); i++) {
        const struct timespec wait = {0, TRY_MS * 1000000L};
        char                  stat[2048];
        if (!sxs_helper_stat(f->pid, stat, sizeof(stat)))
            return false;
        nanosleep(&wait, NULL);
        if (sxs_top_follow_next(f))
            return true;
    }
    return false;
}

void sxs_top_follow_close(struct sxs_top_follow *f)
{
    sxs_live_close(f->live);
    f->live = NULL;
}
