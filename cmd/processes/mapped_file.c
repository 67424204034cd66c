/* SPDX-License-Identifier: MIT */
#include "cmd/processes/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* How much of what /proc/PID/maps shows of a file agrees with stat(). */
enum numbers { AGREE_ALL, AGREE_INODE, AGREE_NONE };

static enum numbers numbers_of(int fd)
{
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0)
        return AGREE_ALL;
    return fs.f_type == OVERLAYFS_SUPER_MAGIC ? AGREE_NONE
           : fs.f_type == BTRFS_SUPER_MAGIC   ? AGREE_INODE
                                              : AGREE_ALL;
}

/* @exact: no file system is trusted to show other numbers. */
static bool is_same(const struct sxs_mapped_file *f, int fd, const struct stat *st, bool exact)
{
    bool inode = st->st_ino == f->inode;
    if (inode && st->st_dev == makedev(f->major, f->minor))
        return true;
    enum numbers agree = exact ? AGREE_ALL : numbers_of(fd);
    return agree == AGREE_NONE || (agree == AGREE_INODE && inode);
}

/* Looks a file up by its addresses. Returns an O_PATH descriptor, or -errno. */
static int find_by_range(int dir, const struct sxs_mapped_file *f, struct stat *st)
{
    char name[64];
    snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)f->start,
             (unsigned long long)f->end);
    int fd = openat(dir, name, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, st) == 0 && is_same(f, fd, st, false))
        return fd;
    close(fd);
    return -ESTALE; /* something else has been mapped there meanwhile */
}

/* Looks a file up by its path below @root. @exact: as is_same(). */
static int find_by_path(int root, const struct sxs_mapped_file *f, bool exact, struct stat *st)
{
    struct open_how how = {
        .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)syscall(SYS_openat2, root, f->path, &how, sizeof(how));
    if (fd < 0)
        return errno == ELOOP ? -ESTALE : -errno;
    if (fstat(fd, st) == 0 && is_same(f, fd, st, exact))
        return fd;
    close(fd);
    return -ESTALE;
}

/* The kernel shows paths from this command's root folder when the process has the same mounts, and from
 * the process's when it has others. */
static int find_in(int dir, const char *root, bool exact, const struct sxs_mapped_file *f,
                   struct stat *st)
{
    int fd = openat(dir, root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int found = find_by_path(fd, f, exact, st);
    close(fd);
    return found;
}

static int find(int dir, const struct sxs_mapped_file *f, struct stat *st)
{
    int fd = find_by_range(dir, f, st);
    if (fd >= 0 || f->deleted || f->ambiguous)
        return fd;
    fd = find_in(dir, "root", false, f, st);
    if (fd >= 0)
        return fd;
    int own = find_in(AT_FDCWD, "/", true, f, st);
    return own >= 0 ? own : fd;
}

static int find_program(int dir, struct stat *st)
{
    int fd = openat(dir, "exe", O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, st) == 0)
        return fd < 0 ? -errno : fd;
    close(fd);
    return -EIO;
}

int sxs_mapped_open(int dir, const struct sxs_mapped_file *f, struct stat *st)
{
    char path[64];
    int  found = f ? find(dir, f, st) : find_program(dir, st);
    if (found < 0)
        return found;
    if (!S_ISREG(st->st_mode)) {
        close(found);
        return -EINVAL;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int err = fd < 0 ? errno : 0;
    close(found);
    return fd < 0 ? -err : fd;
}
