/* SPDX-License-Identifier: MIT */
#include "session/read/chunks_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "session/read/file_read.h"

static size_t align8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static int check_head(const struct sxs_chunk_reader *r, const struct sxs_chunk_file *kind,
                      const struct sxs_chunks_head *h, size_t got, char *why, size_t why_size)
{
    if (got < kind->head_size || r->size < SXS_HEADER_SIZE)
        snprintf(why, why_size, "cut: %zu bytes, the header alone has %u", got, SXS_HEADER_SIZE);
    else if (memcmp(h->magic, kind->magic, sizeof(h->magic)) != 0)
        snprintf(why, why_size, "not a %s file: it does not begin with \"%s\"", kind->name,
                 kind->magic);
    else if (h->version != kind->version)
        snprintf(why, why_size, "format version %u, this command reads version %u", h->version,
                 kind->version);
    else if (h->chunk_size != SXS_CHUNK_SIZE)
        snprintf(why, why_size, "chunks of %u bytes, version %u has %u", h->chunk_size,
                 kind->version, SXS_CHUNK_SIZE);
    else
        return 0;
    return EINVAL;
}

/* Set the number of chunks to read to all chunks that the file has. The number in the header is not
 * used, because it is updated after the file has grown, and may be damaged. */
static void count_chunks(struct sxs_chunk_reader *r, const struct sxs_chunk_file *kind,
                         const char *head)
{
    uint32_t reported, max;
    uint64_t body = r->size - SXS_HEADER_SIZE;
    uint64_t there = (body + SXS_CHUNK_SIZE - 1) / SXS_CHUNK_SIZE;
    memcpy(&reported, head + kind->n_chunks_at, sizeof(reported));
    memcpy(&max, head + kind->max_chunks_at, sizeof(max));
    r->bad_count = reported > max || (uint64_t)reported + 1 < there;
    r->n_cut = reported > there && !r->bad_count ? reported - there : 0;
    r->n_beyond = there > SXS_CHUNKS_MAX ? there - SXS_CHUNKS_MAX : 0;
    r->n_chunks = (uint32_t)(there - r->n_beyond);
}

static uint64_t size_now(const struct sxs_chunk_reader *r)
{
    struct stat st;
    return fstat(r->fd, &st) == 0 ? (uint64_t)st.st_size : r->size;
}

/* Counts the chunks. A recorder that lengthens or shortens the file at this moment changes its size
 * and the number in its header one after the other: if they do not agree, both are read again. */
#define TRIES 6
static void count_agreeing(struct sxs_chunk_reader *r, const struct sxs_chunk_file *kind, char *head)
{
    static const struct timespec pause = {0, 1000000};
    count_chunks(r, kind, head);
    for (int i = 1; i < TRIES && (r->bad_count || r->n_cut); i++) {
        uint64_t size;
        nanosleep(&pause, NULL);
        size = size_now(r);
        if (size < SXS_HEADER_SIZE)
            return;
        r->size = size;
        if (sxs_file_read_at(r->fd, head, kind->head_size, 0) < kind->head_size)
            return;
        count_chunks(r, kind, head);
    }
}

int sxs_chunk_reader_open(struct sxs_chunk_reader *r, const struct sxs_files *folder,
                          const struct sxs_chunk_file *kind, void *head, char *why, size_t why_size)
{
    int err;
    memset(r, 0, sizeof(*r));
    r->fd = sxs_file_open(folder, kind->name, &r->size, why, why_size);
    if (r->fd < 0)
        return -r->fd;
    err = check_head(r, kind, head, sxs_file_read_at(r->fd, head, kind->head_size, 0), why,
                     why_size);
    if (err)
        goto fail;
    r->bytes = aligned_alloc(64, SXS_CHUNK_SIZE);
    if (!r->bytes) {
        err = ENOMEM;
        snprintf(why, why_size, "out of memory");
        goto fail;
    }
    count_agreeing(r, kind, head);
    return 0;
fail:
    close(r->fd);
    return err;
}

static bool all_zero(const char *p, size_t size)
{
    return size == 0 || (p[0] == 0 && memcmp(p, p + 1, size - 1) == 0);
}

/* Whether the file ends now before the chunk @index, with a whole chunk: the session has ended since
 * the file was opened, and the recorder has removed the chunks that it had kept ready. */
static bool was_shortened(const struct sxs_chunk_reader *r, uint32_t index)
{
    uint64_t size = size_now(r);
    return size < r->size && size > SXS_HEADER_SIZE &&
           (size - SXS_HEADER_SIZE) % SXS_CHUNK_SIZE == 0 &&
           size <= SXS_HEADER_SIZE + (uint64_t)index * SXS_CHUNK_SIZE;
}

/* Advance to the next chunk that is not completely a hole, or to the last one: its end tells
 * whether the file was cut. */
static void skip_holes(struct sxs_chunk_reader *r)
{
    uint64_t at = SXS_HEADER_SIZE + (uint64_t)r->chunk * SXS_CHUNK_SIZE;
    uint64_t data = sxs_file_next_data(r->fd, at, r->size);
    uint64_t next = data < r->size ? (data - SXS_HEADER_SIZE) / SXS_CHUNK_SIZE : r->n_chunks;
    if (next >= r->n_chunks)
        next = r->n_chunks - 1;
    if (next > r->chunk)
        r->chunk = (uint32_t)next;
}

/* Load the next chunk that is not empty. Returns false when there is none. */
static bool load_chunk(struct sxs_chunk_reader *r)
{
    while (r->chunk < r->n_chunks) {
        skip_holes(r);
        uint32_t index = r->chunk++;
        memset(r->bytes, 0, SXS_CHUNK_SIZE);
        size_t got = sxs_file_read_data(r->fd, r->bytes, SXS_CHUNK_SIZE,
                                        SXS_HEADER_SIZE + (uint64_t)index * SXS_CHUNK_SIZE);
        if (got == 0 && was_shortened(r, index)) {
            r->chunk = r->n_chunks;
            return false;
        }
        r->n_unreadable += got < SXS_CHUNK_SIZE;
        r->end = got & ~(size_t)7;
        r->at = sizeof(struct sxs_chunk_header);
        if (got < r->at)
            continue;
        const struct sxs_chunk_header *c = (const void *)r->bytes;
        uint32_t used = atomic_load_explicit(&c->used, memory_order_relaxed);
        if (all_zero(r->bytes, sizeof(*c)) && all_zero(r->bytes, r->end))
            continue; /* blocks were reserved, but the process ended before it wrote the header */
        if (c->magic != SXS_CHUNK_MAGIC || c->index != index)
            r->n_bad_chunks++; /* its records may be undamaged: read them, but ignore `used` */
        else if (used < r->end)
            r->end = align8(used);
        return true;
    }
    return false;
}

static bool is_record(const struct sxs_chunk_reader *r, size_t at)
{
    const struct sxs_record *record = (const void *)(r->bytes + at);
    return record->mark == SXS_RECORD_MARK && record->size >= sizeof(*record) &&
           record->size % 8 == 0 && record->size <= r->end - at;
}

/* Advance to the next record, which is recognised by its mark and size. Counts the skipped bytes as
 * one damaged place unless all are zero. */
static void skip_to_record(struct sxs_chunk_reader *r)
{
    size_t from = r->at;
    while (r->at + sizeof(struct sxs_record) <= r->end && !is_record(r, r->at))
        r->at += 8;
    if (!all_zero(r->bytes + from, r->at - from))
        r->n_garbled++;
}

bool sxs_chunk_reader_next(struct sxs_chunk_reader *r, uint16_t last, sxs_chunk_take *take,
                           void *out)
{
    for (;;) {
        if (r->at + sizeof(struct sxs_record) > r->end) {
            if (!load_chunk(r))
                return false;
            continue;
        }
        if (!is_record(r, r->at)) {
            skip_to_record(r);
            continue;
        }
        const struct sxs_record *record = (const void *)(r->bytes + r->at);
        uint16_t type = atomic_load_explicit(&record->type, memory_order_relaxed);
        if (type != 0 && type <= last && take(record, type, out)) {
            r->at += record->size;
            return true;
        }
        if (type > last)
            r->n_unknown++;
        else if (type != 0)
            r->n_garbled++;
        /* The size of a damaged record may be wrong and span undamaged records, so continue right
         * after its header. */
        r->at += type == 0 || type > last ? record->size : sizeof(*record);
    }
}

void sxs_chunk_reader_rewind(struct sxs_chunk_reader *r)
{
    r->chunk = 0;
    r->at = r->end = 0;
    r->n_bad_chunks = r->n_garbled = r->n_unknown = r->n_unreadable = 0;
}

const char *sxs_chunk_reader_problem(struct sxs_chunk_reader *r, size_t index)
{
    const struct {
        uint64_t    n;
        const char *text;
    } all[] = {
        {r->bad_count, "the header is damaged: its number of chunks cannot be; the file's is used"},
        {r->n_cut, "the file was cut: its last chunks are missing (%llu)"},
        {r->n_beyond, "the file is larger than its format allows: its last %llu chunks are left out"},
        {r->n_unreadable, "the file was cut in the middle of a chunk"},
        {r->n_bad_chunks, "chunks with a damaged head: %llu; what is whole in them is used"},
        {r->n_garbled, "places with damaged records: %llu; those are left out"},
        {r->n_unknown, "records of a kind this command does not know: %llu; those are left out"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (!all[i].n || index--)
            continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the texts above */
        snprintf(r->line, sizeof(r->line), all[i].text, (unsigned long long)all[i].n);
#pragma GCC diagnostic pop
        return r->line;
    }
    return NULL;
}

void sxs_chunk_reader_close(struct sxs_chunk_reader *r)
{
    close(r->fd);
    free(r->bytes);
    r->bytes = NULL;
}
