/* SPDX-License-Identifier: MIT */
#include "cmd/processes/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- a line ---- */

/* What is left of a line. A field that is not as expected sets @wrong. */
struct rest {
    const char *at, *end;
    bool        wrong;
};

static unsigned digit_value(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                  : 16;
}

/* Reads a number of at most 16 hexadecimal or 20 decimal digits, and @after. */
static uint64_t take_number(struct rest *r, unsigned base, char after)
{
    uint64_t value = 0;
    size_t   digits = 0, most = base == 16 ? 16 : 20;
    unsigned d;
    for (; r->at < r->end && (d = digit_value(*r->at)) < base; r->at++, digits++) {
        r->wrong |= value > (UINT64_MAX - d) / base;
        value = value * base + d;
    }
    if (!digits || digits > most || r->at >= r->end || *r->at != after)
        r->wrong = true;
    else
        r->at++;
    return value;
}

/* Skips "r-xp ". */
static void skip_rights(struct rest *r)
{
    if (r->end - r->at < 5 || r->at[4] != ' ')
        r->wrong = true;
    else
        r->at += 5;
}

static bool ends_with(const char *text, size_t len, const char *end, size_t end_len)
{
    return len > end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

/* Takes the rest of the line, after blanks. */
static bool take_path(struct rest *r, struct sxs_mapped_file *out)
{
    static const char gone[] = " (deleted)";
    while (r->at < r->end && *r->at == ' ')
        r->at++;
    size_t len = (size_t)(r->end - r->at);
    if (!len || *r->at != '/' || memchr(r->at, '\n', len) || memchr(r->at, '\0', len))
        return false;
    out->deleted = ends_with(r->at, len, gone, sizeof(gone) - 1);
    if (out->deleted)
        len -= sizeof(gone) - 1;
    if (len >= sizeof(out->path))
        return false;
    memcpy(out->path, r->at, len);
    out->path[len] = '\0';
    out->ambiguous = strstr(out->path, "\\012") != NULL;
    return true;
}

bool sxs_maps_parse_line(const char *line, size_t len, struct sxs_mapped_file *out)
{
    struct rest r = {line, line + len, false};
    if (len && line[len - 1] == '\n')
        r.end--;
    out->start = take_number(&r, 16, '-');
    out->end = take_number(&r, 16, ' ');
    skip_rights(&r);
    take_number(&r, 16, ' ');
    out->major = (unsigned)take_number(&r, 16, ':');
    out->minor = (unsigned)take_number(&r, 16, ' ');
    out->inode = take_number(&r, 10, ' ');
    return !r.wrong && out->start < out->end && take_path(&r, out);
}

/* ---- all lines ---- */

/* The lines of a file. One that is longer than the buffer is left out. */
struct file_lines {
    int    fd, err;
    bool   skip; /* until the next line */
    size_t at, len;
    char   text[4 * PATH_MAX];
};

/* Reads more after what is left. Returns false at the end. */
static bool fill(struct file_lines *l)
{
    if (l->len - l->at == sizeof(l->text)) {
        l->at = l->len;
        l->skip = true;
    }
    memmove(l->text, l->text + l->at, l->len - l->at);
    l->len -= l->at;
    l->at = 0;
    ssize_t n = read(l->fd, l->text + l->len, sizeof(l->text) - l->len);
    if (n < 0)
        l->err = errno; /* EACCES and ESRCH come with the first read */
    l->len += n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* Returns the next line, with its end, or NULL. Valid until the next call. */
static const char *next_line(struct file_lines *l, size_t *len)
{
    for (;;) {
        const char *line = l->text + l->at;
        const char *end = memchr(line, '\n', l->len - l->at);
        if (!end) {
            if (!fill(l))
                return NULL;
            continue;
        }
        *len = (size_t)(end + 1 - line);
        l->at += *len;
        if (!l->skip)
            return line;
        l->skip = false;
    }
}

static bool same_file(const struct sxs_mapped_file *a, const struct sxs_mapped_file *b)
{
    return a->inode == b->inode && a->major == b->major && a->minor == b->minor &&
           a->deleted == b->deleted && strcmp(a->path, b->path) == 0;
}

int sxs_maps_each(int dir, int (*each)(void *arg, const struct sxs_mapped_file *f), void *arg)
{
    struct file_lines      l = {.fd = openat(dir, "maps", O_RDONLY | O_CLOEXEC)};
    struct sxs_mapped_file both[2], *last = NULL, *f = &both[0];
    const char            *line;
    size_t                 len, n = 0;
    int                    err = 0;
    if (l.fd < 0)
        return errno;
    while (!err && (line = next_line(&l, &len))) {
        if (++n > SXS_MAPS_MAX)
            err = EOVERFLOW;
        else if (sxs_maps_parse_line(line, len, f) && (!last || !same_file(f, last))) {
            err = each(arg, f);
            last = f;
            f = f == &both[0] ? &both[1] : &both[0];
        }
    }
    close(l.fd);
    return err ? err : l.err;
}
