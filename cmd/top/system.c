/* SPDX-License-Identifier: MIT */
/* system.c - CPU time, memory and threads of a process, from /proc. */
#include "cmd/top/top.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Fields of /proc/PID/stat, from 1; those up to the name come before its last bracket. */
enum { FIELD_STATE = 3, FIELD_UTIME = 14, FIELD_STIME = 15, FIELD_THREADS = 20, FIELD_RSS = 24 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the start of field @n in the text behind the name. */
static const char *field(const char *after_name, int n)
{
    const char *at = after_name;
    for (int i = FIELD_STATE; i < n && at; i++) {
        at = strchr(at, ' ');
        at += at != NULL;
    }
    return at ? at : "0";
}

void sxs_top_system_read(struct sxs_top_system *s, pid_t pid)
{
    char        path[64], text[2048];
    const char *after;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE  *f = pid > 0 ? fopen(path, "re") : NULL;
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    after = strrchr(text, ')');
    if (!after || strlen(after) < 3 || after[2] == 'Z' || after[2] == 'X') {
        *s = (struct sxs_top_system){0};
        return;
    }
    after += 2;
    uint64_t ticks = strtoull(field(after, FIELD_UTIME), NULL, 10) +
                     strtoull(field(after, FIELD_STIME), NULL, 10);
    uint64_t at = now_ns();
    if (s->at_ns && at > s->at_ns && ticks >= s->ticks)
        s->cpu = (double)(ticks - s->ticks) / (double)sysconf(_SC_CLK_TCK) /
                 ((double)(at - s->at_ns) / 1e9);
    s->there = true;
    s->ticks = ticks;
    s->at_ns = at;
    s->threads = (unsigned)strtoul(field(after, FIELD_THREADS), NULL, 10);
    s->rss = strtoull(field(after, FIELD_RSS), NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}
