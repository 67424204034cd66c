/* SPDX-License-Identifier: MIT */
#include "cmd/processes/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Parses a line in place. Returns false for a mapping without a file. */
static bool parse_line(char *line, struct sxs_mapped_file *out)
{
    static const char  suffix[] = " (deleted)";
    size_t             range = strcspn(line, " ");
    char              *path = strchr(line, '/');
    size_t             len = path ? strcspn(path, "\n") : 0;
    unsigned long long inode = 0;
    if (!len || range >= sizeof(out->range))
        return false;
    sscanf(line, "%*s %*s %*s %*s %llu", &inode);
    path[len] = '\0';
    memcpy(out->range, line, range);
    out->range[range] = '\0';
    out->inode = inode;
    out->deleted = len > sizeof(suffix) && strcmp(path + len - sizeof(suffix) + 1, suffix) == 0;
    if (out->deleted)
        path[len - sizeof(suffix) + 1] = '\0';
    out->path = path;
    return true;
}

int sxs_maps_each(int dir, int (*each)(void *arg, const struct sxs_mapped_file *f), void *arg)
{
    int      fd = openat(dir, "maps", O_RDONLY | O_CLOEXEC);
    FILE    *from = fd >= 0 ? fdopen(fd, "r") : NULL;
    char    *line = NULL, last[PATH_MAX] = "";
    uint64_t last_inode = 0;
    size_t   room = 0;
    int      err = 0;
    if (!from) {
        err = errno;
        if (fd >= 0)
            close(fd);
        return err;
    }
    errno = 0;
    while (!err && getline(&line, &room, from) > 0) {
        struct sxs_mapped_file f;
        if (!parse_line(line, &f) || (f.inode == last_inode && strcmp(f.path, last) == 0))
            continue;
        snprintf(last, sizeof(last), "%s", f.path);
        last_inode = f.inode;
        err = each(arg, &f);
        errno = 0;
    }
    if (!err && !feof(from))
        err = errno; /* EACCES and ESRCH come with the first read */
    free(line);
    fclose(from);
    return err;
}
