/* SPDX-License-Identifier: MIT */
#include "signals/progress.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENOUGH_NS 10000000u /* registering a handler takes microseconds */

static int read_file(pid_t tid, const char *name, char *text, size_t size)
{
    char    path[64];
    ssize_t n;
    int     fd;
    snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = read(fd, text, size - 1);
    close(fd);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    return 0;
}

/* Running, waiting for a processor, or for a page of memory. */
static int is_at_work(pid_t tid)
{
    char        text[512];
    const char *state;
    if (read_file(tid, "stat", text, sizeof(text)) != 0)
        return 0;
    state = strrchr(text, ')'); /* the name before it may have any characters */
    return state && state[1] == ' ' && (state[2] == 'R' || state[2] == 'D');
}

static uint64_t cpu_ns(pid_t tid)
{
    char text[128];
    return read_file(tid, "schedstat", text, sizeof(text)) == 0 ? strtoull(text, NULL, 10) : 0;
}

void sxs_progress_begin(struct sxs_progress *p)
{
    DIR           *dir = opendir("/proc/self/task");
    pid_t          self = (pid_t)syscall(SYS_gettid);
    struct dirent *e;
    p->n = 0;
    while (dir && p->n < SXS_PROGRESS_THREADS && (e = readdir(dir)) != NULL) {
        pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
        if (tid <= 0 || tid == self || !is_at_work(tid))
            continue;
        p->all[p->n].tid = tid;
        p->all[p->n++].cpu_ns = cpu_ns(tid);
    }
    if (dir)
        closedir(dir);
}

/* Those that have come further are taken off the list. */
int sxs_progress_over(struct sxs_progress *p)
{
    unsigned left = 0;
    for (unsigned i = 0; i < p->n; i++)
        if (is_at_work(p->all[i].tid) && cpu_ns(p->all[i].tid) - p->all[i].cpu_ns < ENOUGH_NS)
            p->all[left++] = p->all[i];
    p->n = left;
    return left == 0;
}
