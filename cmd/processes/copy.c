/* SPDX-License-Identifier: MIT */
#include "cmd/processes/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 8

/* Copies the bytes from @at to @end. Returns 0 or an errno value. */
static int copy_range(int from, int to, off_t at, off_t end)
{
    static char buf[1 << 16];
    while (at < end) {
        size_t  want = end - at < (off_t)sizeof(buf) ? (size_t)(end - at) : sizeof(buf);
        ssize_t n = pread(from, buf, want, at);
        if (n <= 0)
            return n < 0 ? errno : 0; /* the file was cut meanwhile */
        for (ssize_t done = 0, k; done < n; done += k) {
            k = pwrite(to, buf + done, (size_t)(n - done), at + done);
            if (k < 0)
                return errno;
        }
        at += n;
    }
    return 0;
}

int sxs_copy_file(int from, int to)
{
    struct stat st;
    int         err = fstat(from, &st) == 0 ? 0 : errno;
    off_t       end = err ? 0 : st.st_size;
    for (off_t at = 0; !err && at < end;) {
        off_t data = lseek(from, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            break; /* the rest is a hole */
        if (data < 0)
            data = at; /* this file system does not know holes */
        off_t hole = lseek(from, data, SEEK_HOLE);
        if (hole < 0 || hole > end)
            hole = end;
        err = copy_range(from, to, data, hole);
        at = hole;
    }
    if (!err && ftruncate(to, end) != 0)
        err = errno;
    return err;
}

/* Copies one regular file. */
static int copy_entry(int from, int to, const char *name)
{
    struct stat st = {0};
    int         in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), out = -1;
    int         err = in < 0 || fstat(in, &st) != 0 ? errno : 0;
    if (!err && S_ISREG(st.st_mode)) {
        out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        err = out < 0 ? errno : sxs_copy_file(in, out);
    }
    if (out >= 0 && close(out) != 0 && !err)
        err = errno;
    if (in >= 0)
        close(in);
    return err;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int open_folder(int dir, const char *name)
{
    return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens the folder again, to list it. Returns NULL with errno. */
static DIR *list_folder(int dir)
{
    int  fd = open_folder(dir, ".");
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d && fd >= 0)
        close(fd);
    return d;
}

static int copy_tree(int from, int to, int depth);

static int copy_subfolder(int from, int to, const char *name, int depth)
{
    int in = open_folder(from, name), out = -1, err = in < 0 ? errno : 0;
    if (!err && mkdirat(to, name, 0700) != 0 && errno != EEXIST)
        err = errno;
    if (!err)
        out = open_folder(to, name);
    if (!err)
        err = out < 0 ? errno : copy_tree(in, out, depth + 1);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return err;
}

/* Returns the type of an entry as DT_REG..., also on file systems that do not list it. */
static int type_of(int dir, const struct dirent *e)
{
    struct stat st;
    if (e->d_type != DT_UNKNOWN)
        return e->d_type;
    if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_UNKNOWN;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as MAX_DEPTH
static int copy_tree(int from, int to, int depth)
{
    DIR *d = depth < MAX_DEPTH ? list_folder(from) : NULL;
    int  first = d ? 0 : errno;
    for (struct dirent *e; d && (e = readdir(d));) {
        int err = 0, type = type_of(from, e);
        if (is_dots(e->d_name))
            continue;
        if (type == DT_DIR)
            err = copy_subfolder(from, to, e->d_name, depth);
        else if (type == DT_REG)
            err = copy_entry(from, to, e->d_name);
        if (err && !first)
            first = err;
    }
    if (d)
        closedir(d);
    return first;
}

int sxs_copy_folder(int from, int to)
{
    return copy_tree(from, to, 0);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as MAX_DEPTH
static int remove_tree(int dir, int depth)
{
    DIR *d = depth < MAX_DEPTH ? list_folder(dir) : NULL;
    int  first = d ? 0 : errno;
    for (struct dirent *e; d && (e = readdir(d));) {
        int err = 0, sub;
        if (is_dots(e->d_name))
            continue;
        if (type_of(dir, e) == DT_DIR && (sub = open_folder(dir, e->d_name)) >= 0) {
            remove_tree(sub, depth + 1);
            close(sub);
            err = unlinkat(dir, e->d_name, AT_REMOVEDIR) == 0 ? 0 : errno;
        } else if (unlinkat(dir, e->d_name, 0) != 0) {
            err = errno;
        }
        if (err && !first)
            first = err;
    }
    if (d)
        closedir(d);
    return first;
}

int sxs_remove_contents(int dir)
{
    return remove_tree(dir, 0);
}
