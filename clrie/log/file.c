/* SPDX-License-Identifier: MIT */
#include "clrie/log/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/folder_path.h"

static struct {
    int  is_open;
    int  is_torn; /* a line was written in part */
    int  fd;      /* in the table of the library's thread; -1: the file is opened for each line */
    char path[PATH_MAX]; /* absolute */
} file = {.fd = -1};

/* ---- the path --------------------------------------------------------------------------------- */

static int is_folder(const char *path)
{
    size_t      len = strlen(path);
    struct stat st;
    return path[len - 1] == '/' || strcmp(path, ".") == 0 ||
           (len > 1 && strcmp(path + len - 2, "/.") == 0) ||
           (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Makes the absolute path of the file in file.path. Returns 0, or -1 when it is too long. */
static int set_path(const char *path)
{
    char        here[PATH_MAX] = "", name[40] = "";
    const char *between = "";
    int         n;
    if (!*path || (*path != '/' && !getcwd(here, sizeof(here))))
        return -1;
    if (is_folder(path)) {
        between = path[strlen(path) - 1] == '/' ? "" : "/";
        snprintf(name, sizeof(name), "ProfilerLog_%u.txt", (unsigned)getpid());
    }
    n = snprintf(file.path, sizeof(file.path), "%s%s%s%s%s", here, *here ? "/" : "", path, between,
                 name);
    return n > 0 && (size_t)n < sizeof(file.path) ? 0 : -1;
}

/* ---- work on the thread of base/descriptors.h -------------------------------------------------- */

struct log_line {
    const char *text;
    size_t      size;
};

/* Where a reason is written to. */
struct reason_text {
    char  *why;
    size_t size; /* bytes */
};

/* Returns 0 when an existing file may be written to, else an errno value. Without a descriptor table
 * of the library's own, pipes are refused: writing to one that nobody reads would send SIGPIPE to the
 * host. */
static int check_existing(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return errno;
    if (S_ISREG(st.st_mode))
        return st.st_uid == geteuid() && st.st_nlink == 1 ? 0 : EPERM;
    if (S_ISFIFO(st.st_mode) && sxs_descriptors_are_own())
        return st.st_uid == geteuid() || st.st_uid == 0 ? 0 : EPERM;
    return S_ISCHR(st.st_mode) ? 0 : EINVAL;
}

/* Opens the file @name in the folder @parent. O_NONBLOCK: a pipe without a reader, or a full one, must
 * not stop the host. Returns a descriptor, or -errno. */
static int open_in(int parent, const char *name)
{
    const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int       err, fd = openat(parent, name, flags | O_CREAT | O_EXCL, 0600);
    if (fd >= 0)
        return fd;
    if (errno != EEXIST || (fd = openat(parent, name, flags)) < 0)
        return -errno;
    err = check_existing(fd);
    if (!err)
        return fd;
    close(fd);
    return -err;
}

/* Opens the file. Returns a descriptor, or -1 with a reason. */
static int open_file(char *why, size_t size)
{
    char  real[PATH_MAX], folder[PATH_MAX];
    char *name;
    int   fd, parent;
    memcpy(folder, file.path, sizeof(folder));
    name = strrchr(folder, '/') + 1;
    name[-1] = '\0';
    parent = sxs_folder_path_open(*folder ? folder : "/",
                                  SXS_FOLDER_PATH_LAST_LINK | SXS_FOLDER_PATH_ENTER, real, NULL,
                                  why, size);
    if (parent < 0)
        return -1;
    fd = open_in(parent, name);
    close(parent);
    if (fd < 0)
        snprintf(why, size, "%s",
                 fd == -ELOOP ? "it is a symbolic link; expected the file itself"
                 : fd == -EPERM
                     ? "the file belongs to another user or has several names; expected a "
                       "file of one's own"
                     : strerror(-fd));
    return fd < 0 ? -1 : fd;
}

static int open_work(void *arg)
{
    const struct reason_text *reason = arg;
    int                       fd = open_file(reason->why, reason->size);
    if (fd < 0)
        return -1;
    if (sxs_descriptors_are_own())
        file.fd = fd;
    else
        close(fd);
    return 0;
}

/* Returns the number of bytes that were written. */
static size_t write_bytes(int fd, const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        ssize_t n = write(fd, text + at, size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    return at;
}

static int write_work(void *arg)
{
    const struct log_line *line = arg;
    char                   why[8];
    int                    fd = file.fd >= 0 ? file.fd : open_file(why, sizeof(why));
    size_t                 n;
    if (fd < 0)
        return -1;
    if (file.is_torn)
        file.is_torn = write_bytes(fd, "\n", 1) != 1;
    if (!file.is_torn) {
        n = write_bytes(fd, line->text, line->size);
        file.is_torn = n > 0 && n < line->size;
    }
    if (fd != file.fd)
        close(fd);
    return 0;
}

static int close_work(void *unused)
{
    (void)unused;
    if (file.fd >= 0)
        close(file.fd);
    file.fd = -1;
    return 0;
}

/* ---- functions of file.h ----------------------------------------------------------------------- */

int clrie_log_file_open(const char *path, char *why, size_t size)
{
    struct reason_text reason = {why, size};
    snprintf(why, size, "%s", strerror(ENAMETOOLONG));
    file.is_torn = 0;
    file.is_open = set_path(path) == 0 && sxs_descriptors_call(open_work, &reason) == 0;
    return file.is_open;
}

void clrie_log_file_write(const char *line, size_t size)
{
    struct log_line job = {line, size};
    if (file.is_open)
        sxs_descriptors_call(write_work, &job);
}

void clrie_log_file_close(void)
{
    if (file.is_open)
        sxs_descriptors_call(close_work, NULL);
    file.is_open = 0;
}
