/* SPDX-License-Identifier: MIT */
/* self.c - finds the folder of the runsxs program. */
#include "harness/self.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

const char *sxs_self_dir(void)
{
    static char dir[PATH_MAX];

    if (dir[0])
        return dir;
    ssize_t len = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
    if (len <= 0)
        return ".";
    dir[len] = '\0';
    char *slash = strrchr(dir, '/');
    if (slash)
        *slash = '\0';
    return dir;
}
