/* SPDX-License-Identifier: MIT */
#include "base/task.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int sxs_task_read(uint32_t tid, const char *name, char *text, size_t size)
{
    char    path[64];
    ssize_t n;
    int     fd;
    snprintf(path, sizeof(path), "/proc/self/task/%u/%s", tid, name);
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

char sxs_task_state(uint32_t tid)
{
    char        text[512];
    const char *end;
    if (sxs_task_read(tid, "stat", text, sizeof(text)) != 0)
        return 0;
    end = strrchr(text, ')'); /* the last one, because the thread's name may contain ')' too */
    return end && end[1] == ' ' ? end[2] : '\0';
}
