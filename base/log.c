/* SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "base/displayed.h"
#include "base/env.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW_BYTES = 512 }; /* of a line of a signal handler */

enum sxs_log_level sxs_log_level = SXS_LOG_WARN;

static const char *const level_text[] = {"error", "warn", "info", "debug"};

/* The file that standard error was when the library was loaded; all zero: it was closed. */
static struct stat first;

__attribute__((constructor)) static void note_standard_error(void)
{
    if (fstat(STDERR_FILENO, &first))
        first = (struct stat){0};
}

SXS_SIGSAFE static int same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Tells whether descriptor 2 is still standard error. A host that closes descriptor 2 may get the
 * same number for a file or socket of its own, and no message must be written there. Descriptor 2
 * counts as standard error if it is the file that it was at the start, or the same file as standard
 * output (as after a redirection of both), or a terminal or other character device. */
SXS_SIGSAFE static int is_standard_error(void)
{
    struct stat now, out;
    if (fstat(STDERR_FILENO, &now))
        return 0;
    return same_file(&now, &first) || S_ISCHR(now.st_mode) ||
           (!S_ISSOCK(now.st_mode) && fstat(STDOUT_FILENO, &out) == 0 && same_file(&now, &out));
}

/* Ends @line, which has room for one byte more, with a line feed. A message can name paths, and
 * variables and assemblies of others: what a terminal would not show is replaced. Returns the new length. */
SXS_SIGSAFE static size_t end_line(char *line, size_t len)
{
    len = sxs_displayed_clean(line, len);
    line[len++] = '\n';
    return len;
}

/* Writes @line, which ends with a line feed. Ignores errors, because the host's standard error may be closed or
 * full. */
SXS_SIGSAFE static void write_line(const char *line, size_t len)
{
    int saved = errno;
    if (is_standard_error()) {
        ssize_t done = write(STDERR_FILENO, line, len);
        (void)done;
    }
    errno = saved;
}

/* Where errors of this thread are copied to; NULL: nowhere. */
static SXS_TLS char  *listener;
static SXS_TLS size_t listener_size;

void sxs_log_listen(char *line, size_t size)
{
    listener = line;
    listener_size = size;
}

/* Takes errors and warnings; NULL: nothing does. */
static void (*_Atomic keep)(const char *line, size_t len);
/* Takes lines of signal handlers. */
static void (*_Atomic keep_last)(const char *line, size_t len);
static _Atomic int is_diverted; /* 1: standard error gets no line */

void sxs_log_keep(void (*take)(const char *line, size_t len))
{
    atomic_store(&keep, take);
}

void sxs_log_keep_last(void (*take)(const char *line, size_t len))
{
    atomic_store(&keep_last, take);
}

void sxs_log_divert(void)
{
    atomic_store(&is_diverted, 1);
}

void sxs_log_write(enum sxs_log_level level, const char *fmt, ...)
{
    char    line[1024];
    int     saved = errno;
    int     head = snprintf(line, sizeof(line), "sxsprof: %s", level == SXS_LOG_DEBUG ? "debug: " : "");
    va_list args;
    va_start(args, fmt);
    int body = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, fmt, args);
    va_end(args);
    size_t len = (size_t)head + (body < 0 ? 0 : (size_t)body);
    if (len > sizeof(line) - 2)
        len = sizeof(line) - 2;
    if (listener && level == SXS_LOG_ERROR)
        snprintf(listener, listener_size, "%s", line + head);
    len = end_line(line, len);
    void (*take)(const char *, size_t) = level <= SXS_LOG_WARN ? atomic_load(&keep) : NULL;
    if (take)
        take(line, len);
    if ((level != SXS_LOG_WARN || sxs_log_level >= SXS_LOG_WARN) && !atomic_load(&is_diverted))
        write_line(line, len);
    errno = saved;
}

/* Copies @text and ends the line. Returns its length. */
SXS_SIGSAFE static size_t raw_line(char line[RAW_BYTES], const char *text)
{
    size_t len = 0;
    while (len < RAW_BYTES - 1 && text[len]) {
        line[len] = text[len];
        len++;
    }
    return end_line(line, len);
}

void sxs_log_raw(const char *text)
{
    char   line[RAW_BYTES];
    size_t len = raw_line(line, text);
    write_line(line, len);
}

void sxs_log_last(const char *text)
{
    void (*take)(const char *, size_t) = atomic_load(&keep_last);
    char   line[RAW_BYTES];
    size_t len = raw_line(line, text);
    if (take)
        take(line, len);
    write_line(line, len);
}

void sxs_log_init(void)
{
    const char *text = sxs_env_get(SXS_ENV_LOG);
    if (!text)
        return;
    for (unsigned i = 0; i < ARRAY_LEN(level_text); i++) {
        if (strcmp(text, level_text[i]) == 0) {
            sxs_log_level = (enum sxs_log_level)i;
            return;
        }
    }
    sxs_error("SXSPROF_LOG=%s: expected error, warn, info or debug; going on with warn", text);
}
