/* SPDX-License-Identifier: MIT */
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

DIR *sxs_tree_list(int dir, const char *name)
{
    int  fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list && fd >= 0)
        close(fd);
    return list;
}

static int is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Returns 0, or the first -errno. */
static int clear(DIR *list, unsigned depth)
{
    const struct dirent *e;
    int                  first = 0;
    while ((e = readdir(list))) {
        if (is_dots(e->d_name) || unlinkat(dirfd(list), e->d_name, 0) == 0)
            continue;
        int err = -errno;
        if ((err == -EISDIR || err == -EPERM) && depth)
            err = sxs_tree_delete(dirfd(list), e->d_name, depth - 1);
        if (!first)
            first = err;
    }
    return first;
}

int sxs_tree_delete(int dir, const char *name, unsigned depth)
{
    DIR *list = sxs_tree_list(dir, name);
    if (!list)
        return -errno;
    clear(list, depth);
    closedir(list);
    return unlinkat(dir, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
}

int sxs_tree_clear(int fd, unsigned depth)
{
    DIR *list = sxs_tree_list(fd, ".");
    if (!list)
        return -errno;
    int err = clear(list, depth);
    closedir(list);
    return err;
}

int sxs_tree_unlink(int fd, const char *name)
{
    struct stat st, named;
    int         parent = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;
    if (parent < 0)
        return -errno;
    int known = fstat(fd, &st) == 0 && fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0;
    if (known && (st.st_dev != named.st_dev || st.st_ino != named.st_ino))
        err = ESTALE;
    else if (!known || unlinkat(parent, name, AT_REMOVEDIR) != 0)
        err = errno;
    close(parent);
    return -err;
}
