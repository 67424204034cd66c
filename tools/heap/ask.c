/* SPDX-License-Identifier: MIT */
#include "tools/heap/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "session/write/folder_write.h"
#include "session/write/session_write.h"

/* ---- parsing --------------------------------------------------------------------------------- */

/* Takes a number and the blank after it, if @blank. Returns 0 or -1. */
static int take_number(const char **at, int base, int blank, uint64_t *out)
{
    char *end;
    if (**at == '-' || **at == '+' || **at == ' ')
        return -1;
    errno = 0;
    *out = strtoull(*at, &end, base);
    if (errno || end == *at || *end != (blank ? ' ' : '\0'))
        return -1;
    *at = end + blank;
    return 0;
}

static int is_text(const char *text)
{
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return 0;
    return *text && strlen(text) < SXS_HEAP_ASK_TEXT;
}

/* Parses one line, which is zero-terminated. Returns 0 or -1. */
static int parse_line(const char *line, struct sxs_heap_question *out)
{
    uint64_t runtime;
    int      object = strncmp(line, "object ", 7) == 0;
    *out = (struct sxs_heap_question){.runtime = 0};
    if (!object && strncmp(line, "static ", 7) != 0)
        return -1;
    line += 7;
    if (take_number(&line, 10, 1, &runtime) != 0 || runtime > UINT16_MAX)
        return -1;
    out->runtime = (unsigned)runtime;
    if (object)
        return take_number(&line, 16, 0, &out->address) != 0 || !out->address ? -1 : 0;
    if (!is_text(line))
        return -1;
    memcpy(out->text, line, strlen(line) + 1);
    return 0;
}

int sxs_heap_request_parse(const char *bytes, size_t size, struct sxs_heap_request *out)
{
    const char *at = bytes, *end = bytes + size;
    int         first = 1;
    out->n = 0;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t      n = stop ? (size_t)(stop - at) : 0;
        char        line[SXS_HEAP_ASK_TEXT + 64] = "";
        if (!stop) /* every line ends */
            break;
        if (n < sizeof(line) && !memchr(at, '\0', n)) {
            memcpy(line, at, n);
            line[n] = '\0';
        } else {
            line[0] = '\0';
        }
        at = stop + 1;
        if (first && strcmp(line, SXS_HEAP_ASK_FIRST) != 0)
            return -1;
        if (!first && out->n < SXS_HEAP_ASK_LINES && parse_line(line, &out->all[out->n]) == 0)
            out->n++;
        first = 0;
    }
    return first ? -1 : 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

struct ask_job {
    const struct sxs_folder *folder;
    char                     bytes[SXS_HEAP_ASK_MAX];
    size_t                   size;
};

static int read_all(struct ask_job *job, int fd)
{
    struct stat st;
    ssize_t     n = 1;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 0 ||
        st.st_size > (off_t)sizeof(job->bytes))
        return -EINVAL;
    while (job->size < sizeof(job->bytes) && n != 0) {
        n = read(fd, job->bytes + job->size, sizeof(job->bytes) - job->size);
        if (n < 0 && errno != EINTR)
            return -errno;
        job->size += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* On the thread of base/descriptors.h. Returns 0 or -errno. */
static int take_file(void *arg)
{
    struct ask_job *job = arg;
    int             folder = sxs_folder_use(job->folder), fd, err;
    if (folder < 0)
        return folder;
    fd = openat(folder, SXS_HEAP_ASK_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    err = fd < 0 ? -errno : read_all(job, fd);
    if (fd >= 0)
        close(fd);
    if (err != -ENOENT)
        unlinkat(folder, SXS_HEAP_ASK_FILE, 0);
    sxs_folder_used(job->folder, folder);
    return err;
}

void sxs_heap_request_take(struct sxs_heap_request *out)
{
    const struct sxs_folder *folder = sxs_session_folder(NULL);
    struct ask_job          *job = folder ? calloc(1, sizeof(*job)) : NULL;
    int                      err;
    out->n = 0;
    if (!job)
        return;
    job->folder = folder;
    err = sxs_descriptors_call(take_file, job);
    if (!err && sxs_heap_request_parse(job->bytes, job->size, out) != 0)
        err = -EINVAL;
    if (err && err != -ENOENT)
        sxs_warn("tool heap: the request for values (" SXS_HEAP_ASK_FILE ") is not valid: it is "
                 "ignored");
    free(job);
}
