/* SPDX-License-Identifier: MIT */
#include "record/samples_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sxs_samples {
    int                       fd;
    struct sxs_samples_header head;
    uint64_t                  size;     /* of the file at open; what grows later is not read */
    uint32_t                  n_chunks; /* that begin within it */
    uint32_t                  chunk;    /* the one to load next */
    size_t                    at, end;  /* the next record in `bytes`, and where records end */
    char                     *bytes;    /* one chunk, 8-byte aligned */
    /* What was not whole, told by sxs_samples_problem(). */
    bool     bad_count; /* chunks the header tells of */
    uint64_t n_cut, n_bad_chunks, n_garbled, n_unknown, n_unreadable;
    char     line[256];
};

static size_t align8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* Reads up to @size bytes from @at; returns how many there were, 0 on any error. */
static size_t read_at(int fd, void *to, size_t size, uint64_t at)
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

static int check_head(struct sxs_samples *s, size_t got, char *why, size_t why_size)
{
    const struct sxs_samples_header *h = &s->head;
    if (got < sizeof(*h) || s->size < SXS_HEADER_SIZE)
        snprintf(why, why_size, "cut: %zu bytes, the header alone has %u", got, SXS_HEADER_SIZE);
    else if (memcmp(h->magic, SXS_SAMPLES_MAGIC, sizeof(h->magic)) != 0)
        snprintf(why, why_size, "not a samples file: it does not begin with \"" SXS_SAMPLES_MAGIC
                                "\"");
    else if (h->version != SXS_SAMPLES_VERSION)
        snprintf(why, why_size, "format version %u, this command reads version %u", h->version,
                 SXS_SAMPLES_VERSION);
    else if (h->chunk_size != SXS_CHUNK_SIZE)
        snprintf(why, why_size, "chunks of %u bytes, version %u has %u", h->chunk_size,
                 SXS_SAMPLES_VERSION, SXS_CHUNK_SIZE);
    else
        return 0;
    return EINVAL;
}

/* How many chunks there are to read: all that the file has. The header's count comes last when the file
 * grows, and may be damaged. */
static void count_chunks(struct sxs_samples *s)
{
    uint64_t told = atomic_load_explicit(&s->head.n_chunks, memory_order_relaxed);
    uint64_t body = s->size - SXS_HEADER_SIZE;
    uint64_t there = (body + SXS_CHUNK_SIZE - 1) / SXS_CHUNK_SIZE;
    s->bad_count = told > s->head.max_chunks || told + 1 < there;
    s->n_cut = told > there && !s->bad_count ? told - there : 0;
    s->n_chunks = there < UINT32_MAX ? (uint32_t)there : UINT32_MAX;
}

int sxs_samples_open(int folder_fd, struct sxs_samples **out, char *why, size_t why_size)
{
    *out = NULL;
    why[0] = '\0';
    /* O_NONBLOCK: opening a pipe put in its place must not wait for a writer */
    int fd = openat(folder_fd, SXS_SAMPLES_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        int err = errno;
        snprintf(why, why_size, "%s",
                 err == ELOOP ? "is a symbolic link: not followed" : strerror(err));
        return err;
    }
    struct stat         st;
    struct sxs_samples *s = NULL;
    int                 err = EINVAL;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        snprintf(why, why_size, "not a regular file");
        goto fail;
    }
    err = ENOMEM;
    s = calloc(1, sizeof(*s));
    if (s)
        s->bytes = aligned_alloc(64, SXS_CHUNK_SIZE);
    if (!s || !s->bytes) {
        snprintf(why, why_size, "out of memory");
        goto fail;
    }
    s->fd = fd;
    s->size = (uint64_t)st.st_size;
    err = check_head(s, read_at(fd, &s->head, sizeof(s->head), 0), why, why_size);
    if (err)
        goto fail;
    s->head.command[sizeof(s->head.command) - 1] = '\0';
    count_chunks(s);
    *out = s;
    return 0;
fail:
    if (s)
        free(s->bytes);
    free(s);
    close(fd);
    return err;
}

const struct sxs_samples_header *sxs_samples_head(const struct sxs_samples *s)
{
    return &s->head;
}

static bool all_zero(const char *p, size_t size)
{
    return size == 0 || (p[0] == 0 && memcmp(p, p + 1, size - 1) == 0);
}

/* Loads the next chunk that has something to read. Returns false when there is none. */
static bool load_chunk(struct sxs_samples *s)
{
    while (s->chunk < s->n_chunks) {
        uint32_t index = s->chunk++;
        size_t   got = read_at(s->fd, s->bytes, SXS_CHUNK_SIZE,
                               SXS_HEADER_SIZE + (uint64_t)index * SXS_CHUNK_SIZE);
        s->n_unreadable += got < SXS_CHUNK_SIZE;
        s->end = got & ~(size_t)7;
        s->at = sizeof(struct sxs_chunk_header);
        if (got < s->at)
            continue;
        const struct sxs_chunk_header *c = (const void *)s->bytes;
        uint32_t used = atomic_load_explicit(&c->used, memory_order_relaxed);
        if (all_zero(s->bytes, sizeof(*c)) && all_zero(s->bytes, s->end))
            continue; /* taken, but its owner ended before the first byte */
        if (c->magic != SXS_CHUNK_MAGIC || c->index != index)
            s->n_bad_chunks++; /* its records may be whole all the same: `used` is not believed */
        else if (used < s->end)
            s->end = align8(used);
        return true;
    }
    return false;
}

/* Are the @need bytes of a record within its size? Lengths come from the file: 64-bit sums. */
static bool fits(const struct sxs_record *r, uint64_t need)
{
    return need <= r->size;
}

static bool take_sample(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_sample *v = out->sample;
    return fits(r, sizeof(*v)) && v->n <= SXS_MAX_STACK && v->end < SXS_N_SAMPLE_ENDS &&
           fits(r, sizeof(*v) + 8 * (uint64_t)v->n);
}

static bool take_module(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_module *v = out->module;
    if (!fits(r, sizeof(*v)) || !fits(r, offsetof(struct sxs_record_module, path) + v->path_size) ||
        v->build_id_size > sizeof(v->build_id) || v->lo >= v->hi)
        return false;
    out->text[0] = v->path;
    out->text_size[0] = v->path_size;
    return true;
}

static bool take_code(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_code *v = out->code;
    if (!fits(r, sizeof(*v)) || v->lo >= v->hi)
        return false;
    uint64_t text_end = offsetof(struct sxs_record_code, text) + (uint64_t)v->name_size +
                        v->file_size;
    uint64_t lines_at = align8(text_end);
    if (!fits(r, text_end) ||
        (v->n_lines && !fits(r, lines_at + (uint64_t)v->n_lines * sizeof(struct sxs_code_line))))
        return false;
    out->text[0] = v->text;
    out->text_size[0] = v->name_size;
    out->text[1] = v->text + v->name_size;
    out->text_size[1] = v->file_size;
    out->lines = v->n_lines ? (const void *)((const char *)v + lines_at) : NULL;
    out->n_lines = v->n_lines;
    return true;
}

static bool take_runtime(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_runtime *v = out->runtime;
    if (!fits(r, sizeof(*v)) || !fits(r, offsetof(struct sxs_record_runtime, text) +
                                             (uint64_t)v->version_size + v->path_size))
        return false;
    out->text[0] = v->text;
    out->text_size[0] = v->version_size;
    out->text[1] = v->text + v->version_size;
    out->text_size[1] = v->path_size;
    return true;
}

static bool take_difference(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_difference *v = out->difference;
    return fits(r, sizeof(*v)) && fits(r, sizeof(*v) + (uint64_t)v->n * sizeof(v->frames[0]));
}

/* Fills @out from a record whose size lies within its chunk; false when it is not whole. */
static bool take(const struct sxs_record *r, uint16_t type, struct sxs_samples_record *out)
{
    memset(out, 0, sizeof(*out));
    out->head = r;
    out->type = (enum sxs_record_type)type;
    switch (type) {
    case SXS_RECORD_SAMPLE: return take_sample(r, out);
    case SXS_RECORD_THREAD: return fits(r, sizeof(struct sxs_record_thread));
    case SXS_RECORD_MODULE: return take_module(r, out);
    case SXS_RECORD_CODE: return take_code(r, out);
    case SXS_RECORD_RUNTIME: return take_runtime(r, out);
    case SXS_RECORD_PAUSE: return fits(r, sizeof(struct sxs_record_pause));
    case SXS_RECORD_DIFFERENCE: return take_difference(r, out);
    default: return false;
    }
}

static bool is_record(const struct sxs_samples *s, size_t at)
{
    const struct sxs_record *r = (const void *)(s->bytes + at);
    return r->mark == SXS_RECORD_MARK && r->size >= sizeof(*r) && r->size % 8 == 0 &&
           r->size <= s->end - at;
}

/* Moves on to the next thing that looks like a record; counts what was there if it was not blank. */
static void skip_to_record(struct sxs_samples *s)
{
    size_t from = s->at;
    while (s->at + sizeof(struct sxs_record) <= s->end && !is_record(s, s->at))
        s->at += 8;
    if (!all_zero(s->bytes + from, s->at - from))
        s->n_garbled++;
}

int sxs_samples_next(struct sxs_samples *s, struct sxs_samples_record *out)
{
    for (;;) {
        if (s->at + sizeof(struct sxs_record) > s->end) {
            if (!load_chunk(s))
                return 0;
            continue;
        }
        if (!is_record(s, s->at)) {
            skip_to_record(s);
            continue;
        }
        const struct sxs_record *r = (const void *)(s->bytes + s->at);
        uint16_t type = atomic_load_explicit(&r->type, memory_order_relaxed);
        if (type != SXS_RECORD_NONE && take(r, type, out)) {
            s->at += r->size;
            return 1;
        }
        if (type > SXS_RECORD_DIFFERENCE)
            s->n_unknown++;
        else if (type != SXS_RECORD_NONE)
            s->n_garbled++;
        /* A size that was garbled may hide whole records: look behind the header, not the size. */
        s->at += type == SXS_RECORD_NONE || type > SXS_RECORD_DIFFERENCE ? r->size : sizeof(*r);
    }
}

void sxs_samples_rewind(struct sxs_samples *s)
{
    s->chunk = 0;
    s->at = s->end = 0;
    s->n_bad_chunks = s->n_garbled = s->n_unknown = s->n_unreadable = 0;
}

const char *sxs_samples_problem(struct sxs_samples *s, size_t index)
{
    const struct {
        uint64_t    n;
        const char *text;
    } all[] = {
        {s->bad_count, "the header is damaged: its number of chunks cannot be; the file's is used"},
        {s->n_cut, "the file was cut: its last chunks are missing (%llu)"},
        {s->n_unreadable, "the file was cut in the middle of a chunk"},
        {s->n_bad_chunks, "chunks with a damaged head: %llu; what is whole in them is used"},
        {s->n_garbled, "places with damaged records: %llu; those are left out"},
        {s->n_unknown, "records of a kind this command does not know: %llu; those are left out"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (!all[i].n || index--)
            continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the texts above */
        snprintf(s->line, sizeof(s->line), all[i].text, (unsigned long long)all[i].n);
#pragma GCC diagnostic pop
        return s->line;
    }
    return NULL;
}

void sxs_samples_close(struct sxs_samples *s)
{
    if (!s)
        return;
    close(s->fd);
    free(s->bytes);
    free(s);
}
