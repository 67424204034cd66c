/* SPDX-License-Identifier: MIT */
#include "cmd/confined/stuck.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/stat_field.h"
#include "cmd/confined/helper.h"

#define NS_PER_MS 1000000u

/* Returns how many bytes the process has read and written so far. */
static unsigned long long bytes_moved(pid_t child)
{
    char               path[64];
    unsigned long long in = 0, out = 0;
    snprintf(path, sizeof(path), "/proc/%d/io", (int)child);
    FILE *from = fopen(path, "re");
    if (from) {
        if (fscanf(from, "rchar: %llu wchar: %llu", &in, &out) != 2)
            in = out = 0;
        fclose(from);
    }
    return in + out;
}

/* Returns for how many clock ticks the process has computed so far. */
static unsigned long long ticks_used(pid_t child)
{
    char text[1024];
    if (!sxs_helper_stat(child, text, sizeof(text)))
        return 0;
    return sxs_stat_number(text, SXS_STAT_UTIME) + sxs_stat_number(text, SXS_STAT_STIME);
}

bool sxs_stuck_for(struct sxs_stuck *s, pid_t child, unsigned ms)
{
    unsigned long long done = bytes_moved(child) + ticks_used(child);
    uint64_t           now = sxs_now_ns(CLOCK_MONOTONIC);
    if (!s->since || done != s->done) {
        s->done = done;
        s->since = now;
    }
    return now - s->since >= (uint64_t)ms * NS_PER_MS;
}
