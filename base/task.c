/* SPDX-License-Identifier: MIT */
#include "base/task.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/stat_field.h"

int sxs_task_read(uint32_t tid, const char *name, char *text, size_t size)
{
    char    path[64];
    ssize_t n;
    snprintf(path, sizeof(path), "/proc/self/task/%u/%s", tid, name);
    n = sxs_proc_read(path, text, size - 1);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    return 0;
}

char sxs_task_state(uint32_t tid)
{
    char text[512];
    return sxs_task_read(tid, "stat", text, sizeof(text)) == 0 ? sxs_stat_state(text) : '\0';
}

int sxs_task_name(uint32_t tid, char *name, size_t size)
{
    if (sxs_task_read(tid, "comm", name, size) != 0)
        return -1;
    name[strcspn(name, "\n")] = '\0';
    return 0;
}

struct task_visit {
    void (*fn)(uint32_t tid, void *arg);
    void *arg;
};

static int visit_all(void *arg)
{
    const struct task_visit *visit = arg;
    struct dirent           *entry;
    DIR                     *dir = opendir("/proc/self/task");
    if (!dir)
        return -errno;
    while ((entry = readdir(dir)) != NULL) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (tid)
            visit->fn(tid, visit->arg);
    }
    closedir(dir);
    return 0;
}

int sxs_tasks_each(void (*fn)(uint32_t tid, void *arg), void *arg)
{
    struct task_visit visit = {fn, arg};
    return sxs_proc_call(visit_all, &visit);
}
