/* SPDX-License-Identifier: MIT */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/read.h"

struct proc_job {
    const char *path;
    char       *text;
    size_t      size; /* bytes requested */
    ssize_t     n;    /* bytes read, or -1 */
};

int sxs_proc_call(int (*work)(void *arg), void *arg)
{
    int result = sxs_descriptors_call(work, arg);
    return result == -ECHILD ? work(arg) : result;
}

static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* One read() of a file in /proc returns at most a page, so several may be needed. */
static int read_file(void *arg)
{
    struct proc_job *job = arg;
    int              err, fd = open_file(job->path);
    if (fd < 0)
        return -errno;
    job->n = sxs_read_up_to(fd, job->text, job->size);
    err = job->n < 0 ? -errno : 0;
    close(fd);
    return err;
}

ssize_t sxs_proc_read(const char *path, char *text, size_t size)
{
    struct proc_job job = {.path = path, .text = text, .size = size};
    int             err = sxs_proc_call(read_file, &job);
    return err ? err : job.n;
}

#define LONGEST_LINE ((size_t)4096) /* bytes, with the end of line */

struct lines_job {
    const char *path;
    int (*line)(char *text, void *arg);
    void *arg;
};

/* Calls job->line for each complete line in the @n bytes of @text. Moves the incomplete line at the
 * end, if any, to the beginning of @text and sets *left to its size in bytes. */
static int each_whole_line(const struct lines_job *job, char *text, size_t n, size_t *left)
{
    char *at = text, *end;
    int   result = 0;
    while (!result && (end = memchr(at, '\n', n - (size_t)(at - text))) != NULL) {
        *(end - at < (ptrdiff_t)LONGEST_LINE ? end : at + LONGEST_LINE - 1) = '\0';
        result = job->line(at, job->arg);
        at = end + 1;
    }
    *left = n - (size_t)(at - text);
    memmove(text, at, *left);
    return result;
}

/* Each read() of /proc/self/maps returns complete lines, at most a page of them. */
static int read_lines(void *arg)
{
    const struct lines_job *job = arg;
    char                    text[2 * LONGEST_LINE];
    size_t                  n = 0;
    int                     result = 0, fd = open_file(job->path);
    if (fd < 0)
        return -errno;
    while (!result) {
        ssize_t got = TEMP_FAILURE_RETRY(read(fd, text + n, sizeof(text) - 1 - n));
        if (got < 0)
            result = -errno;
        if (got <= 0)
            break;
        result = each_whole_line(job, text, n + (size_t)got, &n);
        if (n >= LONGEST_LINE)
            n = LONGEST_LINE - 1; /* the rest of the line is dropped */
    }
    if (!result && n) { /* the last line has no end of line */
        text[n] = '\0';
        result = job->line(text, job->arg);
    }
    close(fd);
    return result;
}

int sxs_proc_lines(const char *path, int (*line)(char *text, void *arg), void *arg)
{
    struct lines_job job = {path, line, arg};
    return sxs_proc_call(read_lines, &job);
}
