/* SPDX-License-Identifier: MIT */
/* system.c - CPU time, memory and threads of a process, from /proc. */
#include "base/clock.h"
#include "cmd/top/top.h"

#include "base/stat_field.h"
#include "cmd/confined/helper.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void sxs_top_system_read(struct sxs_top_system *s, pid_t pid)
{
    char text[2048];
    sxs_helper_stat(pid, text, sizeof(text));
    char state = sxs_stat_state(text);
    if (!state || state == 'Z' || state == 'X') {
        *s = (struct sxs_top_system){0};
        return;
    }
    uint64_t ticks = sxs_stat_number(text, SXS_STAT_UTIME) + sxs_stat_number(text, SXS_STAT_STIME);
    uint64_t at = sxs_now_ns(CLOCK_MONOTONIC);
    if (s->at_ns && at > s->at_ns && ticks >= s->ticks)
        s->cpu = (double)(ticks - s->ticks) / (double)sysconf(_SC_CLK_TCK) /
                 ((double)(at - s->at_ns) / 1e9);
    s->there = true;
    s->ticks = ticks;
    s->at_ns = at;
    s->threads = (unsigned)sxs_stat_number(text, SXS_STAT_THREADS);
    s->rss = sxs_stat_number(text, SXS_STAT_RSS) * (uint64_t)sysconf(_SC_PAGESIZE);
}
