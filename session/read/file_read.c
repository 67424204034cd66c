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

int sxs_file_open(int folder_fd, const char *name, uint64_t *size, char *why, size_t why_size)
{
    struct stat st;
    int         err;
    /* O_NONBLOCK: if the file was replaced by a pipe, do not wait for a writer */
    int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    why[0] = '\0';
    if (fd < 0) {
        err = errno;
        snprintf(why, why_size, "%s",
                 err == ELOOP ? "is a symbolic link: not followed" : strerror(err));
        return -err;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        snprintf(why, why_size, "not a regular file");
        close(fd);
        return -EINVAL;
    }
    *size = (uint64_t)st.st_size;
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

void sxs_lines_add(char ***lines, size_t *n, const char *fmt, ...)
{
    char  **grown = reallocarray(*lines, *n + 1, sizeof(*grown));
    char   *line = NULL;
    va_list ap;
    if (!grown)
        return;
    *lines = grown;
    va_start(ap, fmt);
    if (vasprintf(&line, fmt, ap) >= 0)
        grown[(*n)++] = line;
    va_end(ap);
}

void sxs_lines_free(char **lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(lines[i]);
    free(lines);
}
