/* SPDX-License-Identifier: MIT */
/* session.c - finds the session that a running process records into: the process maps its census.
 * */
#include "cmd/top/top.h"

#include "session/format/session.h"
#include "session/read/session_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the path in a line of /proc/PID/maps, without its line feed; NULL when it has none. */
static char *path_of(char *line)
{
    char *path = strchr(line, '/');
    if (path)
        path[strcspn(path, "\n")] = '\0';
    return path;
}

/* If @path is that of a census in the folder of a process, cuts it to that folder. */
static bool cut_to_folder(char *path)
{
    char *slash = strrchr(path, '/'), *name;
    if (!slash || strcmp(slash + 1, SXS_CENSUS_FILE) != 0)
        return false;
    *slash = '\0';
    name = strrchr(path, '/');
    return name && sxs_session_names_process(name + 1);
}

/* Finds the path in /proc/PID/maps: the last one, because a process may have had several sessions.
 * */
static int search_maps(pid_t pid, char *dir, size_t size)
{
    char   name[64], *line = NULL;
    size_t cap = 0;
    int    err = ENODATA;
    snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "re");
    if (!maps)
        return errno;
    errno = 0;
    while (getline(&line, &cap, maps) > 0) {
        char *path = path_of(line);
        if (!path || !cut_to_folder(path))
            continue;
        snprintf(dir, size, "%s", path);
        err = 0;
    }
    if (err && ferror(maps))
        err = errno ? errno : EIO;
    free(line);
    fclose(maps);
    return err;
}

/* A process in a container has another root: its path is below /proc/PID/root here. */
static bool is_here(pid_t pid, const char *dir)
{
    char        there[4200];
    struct stat a, b;
    snprintf(there, sizeof(there), "/proc/%d/root%s", (int)pid, dir);
    return stat(dir, &a) == 0 &&
           (stat(there, &b) != 0 || (a.st_dev == b.st_dev && a.st_ino == b.st_ino));
}

int sxs_top_session_of(pid_t pid, char *dir, size_t size, char *why, size_t why_size)
{
    char found[4096];
    int  err = search_maps(pid, found, sizeof(found));
    if (err == ENOENT || err == ESRCH) {
        snprintf(why, why_size, "no process has this number");
        return ENOENT;
    }
    if (err) {
        snprintf(why, why_size, "%s", err == ENODATA ? "it records no session now" : strerror(err));
        return err;
    }
    if (is_here(pid, found))
        snprintf(dir, size, "%s", found);
    else
        snprintf(dir, size, "/proc/%d/root%s", (int)pid, found);
    return 0;
}
