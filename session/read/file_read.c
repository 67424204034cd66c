/* SPDX-License-Identifier: MIT */
#include "session/read/file_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens the file @name without reading it and without any effect on a device or pipe. Returns a
 * descriptor of the kind O_PATH, or -errno. */
static int look_at(int folder_fd, const char *name, struct stat *st)
{
    int fd = openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int err = fd < 0 ? errno : fstat(fd, st) != 0 ? errno : 0;
    if (!err && !S_ISREG(st->st_mode))
        err = S_ISLNK(st->st_mode) ? ELOOP : EINVAL;
    if (!err)
        return fd;
    if (fd >= 0)
        close(fd);
    return -err;
}

/* Opens the file that @at stands for. Where /proc is not mounted, its name is opened again: then a
 * pipe does not wait, a terminal does not become the process's own, and a device is noticed after
 * it was opened. Returns a descriptor or -errno. */
static int open_again(int at, int folder_fd, const char *name)
{
    const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    char      path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
    int fd = open(path, flags);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        fd = openat(folder_fd, name, flags | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

static int open_regular(int folder_fd, const char *name, struct stat *st)
{
    int at = look_at(folder_fd, name, st);
    if (at < 0)
        return at;
    int fd = open_again(at, folder_fd, name);
    close(at);
    int err = fd < 0 ? -fd : fstat(fd, st) != 0 ? errno : S_ISREG(st->st_mode) ? 0 : EINVAL;
    if (!err)
        return fd;
    if (fd >= 0)
        close(fd);
    return -err;
}

/* Returns a descriptor of a file that is kept open, owned by the caller, or -errno. */
static int open_kept(int kept, struct stat *st)
{
    int fd = fcntl(kept, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (fstat(fd, st) == 0)
        return fd;
    int err = errno;
    close(fd);
    return -err;
}

int sxs_file_open_regular(const struct sxs_files *folder, const char *name, struct stat *st)
{
    struct sxs_kept_files *kept = folder->kept;
    for (size_t i = 0; kept && i < kept->n; i++)
        if (strcmp(kept->all[i].name, name) == 0)
            return kept->all[i].fd < 0 ? -kept->all[i].err : open_kept(kept->all[i].fd, st);
    if (kept && kept->lacks && kept->lacks(kept, name))
        return -ENOENT;
    int fd = open_regular(folder->fd, name, st);
    if (!kept || kept->n == SXS_FILES_KEPT || strlen(name) >= sizeof(kept->all[0].name))
        return fd;
    snprintf(kept->all[kept->n].name, sizeof(kept->all[0].name), "%s", name);
    kept->all[kept->n].fd = fd;
    kept->all[kept->n++].err = fd < 0 ? -fd : 0;
    return fd < 0 ? fd : open_kept(fd, st);
}

void sxs_kept_files_close(struct sxs_kept_files *kept)
{
    for (size_t i = 0; i < kept->n; i++)
        if (kept->all[i].fd >= 0)
            close(kept->all[i].fd);
    kept->n = 0;
}

const char *sxs_file_why(int err, char *buf, size_t size)
{
    snprintf(buf, size, "%s",
             err == ELOOP    ? "is a symbolic link: not followed"
             : err == EINVAL ? "not a regular file"
                             : strerror(err));
    return buf;
}

int sxs_file_open(const struct sxs_files *folder, const char *name, uint64_t *size, char *why,
                  size_t why_size)
{
    struct stat st = {0};
    int         fd = sxs_file_open_regular(folder, name, &st);
    why[0] = '\0';
    if (fd >= 0)
        *size = (uint64_t)st.st_size;
    else
        sxs_file_why(-fd, why, why_size);
    return fd;
}

size_t sxs_file_read_at(int fd, void *to, size_t size, uint64_t at)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = pread(fd, (char *)to + got, size - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    return got;
}

uint64_t sxs_file_next_data(int fd, uint64_t at, uint64_t end)
{
    off_t data;
    if (at >= end)
        return end;
    data = lseek(fd, (off_t)at, SEEK_DATA);
    if (data < 0) /* ENXIO: a hole up to the end; else this file system does not know holes */
        return errno == ENXIO ? end : at;
    return (uint64_t)data < end ? (uint64_t)data : end;
}

uint64_t sxs_file_next_hole(int fd, uint64_t at, uint64_t end)
{
    off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);
    return hole < 0 || (uint64_t)hole > end ? end : (uint64_t)hole;
}

size_t sxs_file_read_data(int fd, void *to, size_t size, uint64_t at)
{
    struct stat st;
    uint64_t    end = at + size;
    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size <= at)
        return 0;
    if (end > (uint64_t)st.st_size)
        end = (uint64_t)st.st_size;
    for (uint64_t from = at; (from = sxs_file_next_data(fd, from, end)) < end;) {
        uint64_t hole = sxs_file_next_hole(fd, from, end);
        size_t   want = (size_t)(hole > from ? hole - from : end - from);
        size_t   got = sxs_file_read_at(fd, (char *)to + (from - at), want, from);
        if (got < want)
            return (size_t)(from - at) + got;
        from += want;
    }
    return (size_t)(end - at);
}

void *sxs_list_room(void *list, size_t n, size_t *cap, size_t item)
{
    if (n < *cap)
        return list;
    size_t more = *cap ? *cap * 2 : 64;
    void  *at = reallocarray(list, more, item);
    if (at)
        *cap = more;
    return at;
}

void sxs_lines_add(char ***lines, size_t *n, const char *fmt, ...)
{
    char   *line = NULL;
    va_list ap;
    if (*n > SXS_LINES_MAX)
        return;
    char **grown = reallocarray(*lines, *n + 1, sizeof(*grown));
    if (!grown)
        return;
    *lines = grown;
    va_start(ap, fmt);
    int len = *n == SXS_LINES_MAX ? asprintf(&line, "there are more problems, which are not listed")
                                  : vasprintf(&line, fmt, ap);
    va_end(ap);
    if (len >= 0)
        grown[(*n)++] = line;
}

void sxs_lines_free(char **lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(lines[i]);
    free(lines);
}
