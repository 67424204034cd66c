/* SPDX-License-Identifier: MIT */
#include "session/read/chunks_follow.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "session/read/file_read.h"

static uint64_t chunk_offset(uint32_t index)
{
    return SXS_HEADER_SIZE + (uint64_t)index * SXS_CHUNK_SIZE;
}

/* Returns true when the beginning of the header is zero: its magic is written last. */
static bool is_being_made(const struct sxs_chunks_head *head)
{
    static const char none[sizeof(head->magic)];
    return memcmp(head->magic, none, sizeof(none)) == 0;
}

int sxs_chunk_follow_open(struct sxs_chunk_follower *f, const struct sxs_files *folder,
                          const struct sxs_chunk_file *kind, void *head, char *why, size_t why_size)
{
    memset(f, 0, sizeof(*f));
    memset(head, 0, kind->head_size);
    int err = sxs_chunk_reader_open(&f->file, folder, kind, head, why, why_size);
    if (err == EINVAL && is_being_made(head))
        return EAGAIN;
    if (err)
        return err;
    f->kind = kind;
    /* These compare the header with the file as it was at the opening: a living process is between
     * the two. */
    f->file.bad_count = false;
    f->file.n_cut = 0;
    f->file.n_chunks = 0;
    return 0;
}

bool sxs_chunk_follow_head(struct sxs_chunk_follower *f, void *head)
{
    return sxs_file_read_at(f->file.fd, head, f->kind->head_size, 0) == f->kind->head_size;
}

/* Reads the header of a chunk. Returns false when the file ends before it. */
static bool read_chunk_head(const struct sxs_chunk_follower *f, uint32_t index,
                            struct sxs_chunk_header *to)
{
    return index < f->file.n_chunks &&
           sxs_file_read_at(f->file.fd, to, sizeof(*to), chunk_offset(index)) == sizeof(*to);
}

/* Returns true when records have been written into the chunk, or its header is damaged. */
static bool has_records(const struct sxs_chunk_follower *f, uint32_t index)
{
    struct sxs_chunk_header h;
    if (!read_chunk_head(f, index, &h))
        return false;
    return h.magic != SXS_CHUNK_MAGIC ? h.magic != 0 || h.index != 0 || h.zero != 0
                                      : atomic_load(&h.used) > sizeof(h);
}

static void follow_chunk(struct sxs_chunk_follower *f, uint32_t index)
{
    if (f->n_chunks == SXS_FOLLOW_CHUNKS) {
        memmove(&f->chunks[0], &f->chunks[1], (SXS_FOLLOW_CHUNKS - 1) * sizeof(f->chunks[0]));
        f->n_chunks--;
    }
    f->chunks[f->n_chunks].index = index;
    f->chunks[f->n_chunks].at = sizeof(struct sxs_chunk_header);
    f->chunks[f->n_chunks].hole = false;
    f->n_chunks++;
}

void sxs_chunk_follow_look(struct sxs_chunk_follower *f, uint64_t max_bytes)
{
    struct stat st;
    f->budget = max_bytes;
    f->late_at = 0;
    f->reading = 0;
    f->file.at = f->file.end = 0;
    if (fstat(f->file.fd, &st) != 0)
        return;
    uint64_t size = (uint64_t)st.st_size;
    uint64_t body = size > SXS_HEADER_SIZE ? size - SXS_HEADER_SIZE : 0;
    uint64_t n = (body + SXS_CHUNK_SIZE - 1) / SXS_CHUNK_SIZE;
    if (size < f->file.size)
        f->file.n_cut += (f->file.size - size + SXS_CHUNK_SIZE - 1) / SXS_CHUNK_SIZE;
    f->file.size = size;
    f->file.n_chunks = n < SXS_CHUNKS_MAX ? (uint32_t)n : SXS_CHUNKS_MAX;
    if (!f->n_chunks && f->file.n_chunks)
        follow_chunk(f, 0);
}

/* ---- records that were not committed
 * ------------------------------------------------------------ */

static void wait_for(struct sxs_chunk_follower *f, uint64_t at, uint32_t room)
{
    if (room < sizeof(struct sxs_record))
        return;
    if (f->n_late == SXS_FOLLOW_LATE) { /* give up the oldest */
        memmove(&f->late[0], &f->late[1], (SXS_FOLLOW_LATE - 1) * sizeof(f->late[0]));
        f->n_late--;
        f->late_at -= f->late_at > 0;
    }
    f->late[f->n_late].at = at;
    f->late[f->n_late].room = room;
    f->n_late++;
}

/* Loads a record that was not committed at an earlier look. Returns true when it is in the buffer
 * now; its place in the list then stands for what follows it in the same room. */
static bool load_late(struct sxs_chunk_follower *f, size_t i)
{
    struct sxs_record *r = (void *)f->file.bytes;
    uint64_t           at = f->late[i].at;
    uint32_t           room = f->late[i].room;
    if (sxs_file_read_at(f->file.fd, r, sizeof(*r), at) != sizeof(*r) ||
        r->mark != SXS_RECORD_MARK || !atomic_load(&r->type) || r->size < sizeof(*r) ||
        r->size % 8 || r->size > room)
        return false;
    uint32_t size = r->size;
    if (sxs_file_read_at(f->file.fd, r, size, at) != size || r->size != size)
        return false;
    f->late[i].at += size;
    f->late[i].room -= size;
    f->offset = at;
    return true;
}

static bool next_late(struct sxs_chunk_follower *f, uint16_t last, sxs_chunk_take *take, void *out)
{
    while (f->late_at < f->n_late) {
        size_t i = f->late_at;
        if (!load_late(f, i)) {
            f->late_at++;
            continue;
        }
        if (f->late[i].room < sizeof(struct sxs_record)) {
            f->n_late--;
            memmove(&f->late[i], &f->late[i + 1], (f->n_late - i) * sizeof(f->late[0]));
        }
        const struct sxs_record *r = (const void *)f->file.bytes;
        uint16_t                 type = atomic_load(&r->type);
        f->n_bytes += r->size;
        if (type <= last && take(r, type, out))
            return true;
        f->file.n_unknown += type > last;
        f->file.n_garbled += type <= last;
    }
    return false;
}

/* ---- chunks
 * ------------------------------------------------------------------------------------- */

/* Returns how far the chunk is written: an offset in it. */
static uint32_t written(struct sxs_chunk_follower *f, uint32_t index)
{
    struct sxs_chunk_header h;
    if (!read_chunk_head(f, index, &h))
        return 0;
    uint32_t used = atomic_load(&h.used);
    if (h.magic != SXS_CHUNK_MAGIC || h.index != index) {
        /* Not begun yet; or damaged, and then what is whole in it is read. */
        if (!has_records(f, index) && !has_records(f, index + 1))
            return 0;
        used = SXS_CHUNK_SIZE;
    }
    return used < SXS_CHUNK_SIZE ? used & ~7u : SXS_CHUNK_SIZE;
}

/* Loads what is new in the chunk f->reading. Returns false when there is nothing. */
static bool load_new(struct sxs_chunk_follower *f)
{
    uint32_t index = f->chunks[f->reading].index, at = f->chunks[f->reading].at;
    uint32_t end = written(f, index);
    if (end <= at || !f->budget)
        return false;
    size_t got =
        sxs_file_read_at(f->file.fd, f->file.bytes + at, end - at, chunk_offset(index) + at) &
        ~(size_t)7;
    f->budget -= got < f->budget ? got : f->budget;
    f->n_bytes += got;
    f->file.at = at;
    f->file.end = at + got;
    if (at == sizeof(struct sxs_chunk_header) && got) {
        struct sxs_chunk_header h;
        if (read_chunk_head(f, index, &h) && (h.magic != SXS_CHUNK_MAGIC || h.index != index))
            f->file.n_bad_chunks++;
    }
    return got > 0;
}

/* Leaves the chunk that was read, and begins the next one. Returns false when there is none. */
static bool next_chunk(struct sxs_chunk_follower *f)
{
    while (f->reading < f->n_chunks || f->budget) {
        if (f->reading < f->n_chunks) {
            if (load_new(f))
                return true;
            if (++f->reading < f->n_chunks)
                continue;
        }
        uint32_t next = f->n_chunks ? f->chunks[f->n_chunks - 1].index + 1 : 0;
        if (!f->budget || !f->n_chunks || !has_records(f, next))
            return false;
        follow_chunk(f, next);
        f->reading = f->n_chunks - 1;
    }
    return false;
}

static bool is_record(const struct sxs_chunk_follower *f, size_t at)
{
    const struct sxs_record *r = (const void *)(f->file.bytes + at);
    return r->mark == SXS_RECORD_MARK && r->size >= sizeof(*r) && r->size % 8 == 0 &&
           r->size <= f->file.end - at;
}

/* No record begins here: its thread has reserved it, and has not written its size yet. The next
 * look tries again, and then goes on after it. Returns false when this chunk has to wait. */
static bool pass_hole(struct sxs_chunk_follower *f)
{
    size_t from = f->file.at, at = from;
    if (!f->chunks[f->reading].hole) {
        f->chunks[f->reading].hole = true;
        return false;
    }
    bool zero = true;
    for (; at + sizeof(struct sxs_record) <= f->file.end && !is_record(f, at); at += 8)
        zero &= memcmp(f->file.bytes + at, "\0\0\0\0\0\0\0", 8) == 0;
    f->file.n_garbled += !zero;
    if (zero &&
        at < SXS_CHUNK_SIZE - sizeof(struct sxs_record)) /* else: the unused end of a chunk */
        wait_for(f, chunk_offset(f->chunks[f->reading].index) + from, (uint32_t)(at - from));
    f->chunks[f->reading].hole = false;
    f->file.at = at;
    return true;
}

/* Passes the record at f->file.at to @take. Returns true when it accepts. */
static bool pass_record(struct sxs_chunk_follower *f, uint16_t last, sxs_chunk_take *take,
                        void *out)
{
    const struct sxs_record *r = (const void *)(f->file.bytes + f->file.at);
    uint16_t                 type = atomic_load(&r->type);
    f->offset = chunk_offset(f->chunks[f->reading].index) + f->file.at;
    f->chunks[f->reading].hole = false;
    if (type != 0 && type <= last && take(r, type, out)) {
        f->file.at += r->size;
        return true;
    }
    if (type == 0)
        wait_for(f, f->offset, r->size);
    f->file.n_unknown += type > last;
    f->file.n_garbled += type != 0 && type <= last;
    /* as sxs_chunk_reader_next() does */
    f->file.at += type == 0 || type > last ? r->size : sizeof(*r);
    return false;
}

bool sxs_chunk_follow_next(struct sxs_chunk_follower *f, uint16_t last, sxs_chunk_take *take,
                           void *out)
{
    if (f->late_at < f->n_late && f->file.at >= f->file.end && next_late(f, last, take, out))
        return true;
    for (;;) {
        bool stuck = false;
        while (f->file.at + sizeof(struct sxs_record) <= f->file.end && !stuck) {
            bool found = is_record(f, f->file.at) ? pass_record(f, last, take, out) : false;
            if (!found && f->file.at < f->file.end && !is_record(f, f->file.at))
                stuck = !pass_hole(f);
            f->chunks[f->reading].at = (uint32_t)f->file.at;
            if (found)
                return true;
        }
        f->file.at = f->file.end = 0;
        if (stuck)
            f->reading++;
        if (!next_chunk(f))
            return false;
    }
}

bool sxs_chunk_follow_again(struct sxs_chunk_follower *f, uint64_t offset, uint16_t type,
                            void *record, size_t size)
{
    const struct sxs_record *r = record;
    return sxs_file_read_at(f->file.fd, record, size, offset) == size &&
           r->mark == SXS_RECORD_MARK && r->size >= size && atomic_load(&r->type) == type;
}

uint64_t sxs_chunk_follow_left(struct sxs_chunk_follower *f)
{
    uint32_t next = f->n_chunks ? f->chunks[f->n_chunks - 1].index + 1 : 0;
    uint64_t at = chunk_offset(next);
    if (f->budget && !has_records(f, next))
        return 0;
    if (has_records(f, next))
        return f->file.size > at ? f->file.size - at : 0;
    uint32_t end = f->n_chunks ? written(f, next - 1) : 0,
             from = f->n_chunks ? f->chunks[f->n_chunks - 1].at : 0;
    return end > from ? end - from : 0;
}

void sxs_chunk_follow_close(struct sxs_chunk_follower *f)
{
    sxs_chunk_reader_close(&f->file);
}
