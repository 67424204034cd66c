/* SPDX-License-Identifier: MIT */
/**
 * chunks_follow.h - reads a file of chunks while a living process writes it: each look reads what
 * was added since the look before.
 *
 * Several threads commit records one by one, in any order (session/format/chunks.h). So a record that is
 * not committed yet is remembered and looked at again. The chunks that were finished last are looked at
 * again, too, because a slow thread may still write into them. The file is untrusted, as for
 * session/read/chunks_read.h.
 */
#ifndef SXS_SESSION_READ_CHUNKS_FOLLOW_H
#define SXS_SESSION_READ_CHUNKS_FOLLOW_H

#include "session/read/chunks_read.h"

#define SXS_FOLLOW_CHUNKS 8u   /* chunks in which a slow thread may still begin a record */
#define SXS_FOLLOW_LATE   512u /* records that are waited for; the oldest are given up */

/** An open file. One thread at a time; not signal-safe. */
struct sxs_chunk_follower {
    struct sxs_chunk_reader      file; /* descriptor, buffer of one chunk, damage */
    const struct sxs_chunk_file *kind;
    struct {
        uint32_t index;
        uint32_t at;             /* offset in the chunk up to which it was read */
        bool     hole;           /* the last look found no record at `at` */
    } chunks[SXS_FOLLOW_CHUNKS]; /* the chunks that are read, in order; the last is the newest */
    unsigned n_chunks;
    unsigned reading; /* index in `chunks` of the chunk in the buffer; n_chunks: none */
    struct {
        uint64_t at;          /* offset in the file */
        uint32_t room;        /* bytes until the next record */
    } late[SXS_FOLLOW_LATE];  /* not committed when they were read */
    size_t   n_late, late_at; /* late_at: which of them this look checks next */
    uint64_t budget;          /* bytes that this look may still read */
    uint64_t offset;          /* in the file, of the record that was accepted last */
    uint64_t n_bytes;         /* read so far, of records */
};

/**
 * sxs_chunk_follow_open - open a file; as sxs_chunk_reader_open(). After success,
 * sxs_chunk_follow_close() must follow. @kind: borrowed until then.
 * Returns EAGAIN when the file has no header yet: its process is making it.
 */
int sxs_chunk_follow_open(struct sxs_chunk_follower *f, const struct sxs_files *folder,
                          const struct sxs_chunk_file *kind, void *head, char *why,
                          size_t why_size);

/**
 * sxs_chunk_follow_look - begin a look: find out how far the file has grown.
 * @max_bytes: how many bytes this look reads at most, rounded up to what is left of a chunk.
 */
void sxs_chunk_follow_look(struct sxs_chunk_follower *f, uint64_t max_bytes);

/**
 * sxs_chunk_follow_next - pass new records to @take until it accepts one, as
 * sxs_chunk_reader_next(). f->offset is the accepted record's place.
 * Returns true when @take accepted a record, or false when this look has read everything that is committed, or
 * @max_bytes.
 */
bool sxs_chunk_follow_next(struct sxs_chunk_follower *f, uint16_t last, sxs_chunk_take *take,
                           void *out);

/**
 * sxs_chunk_follow_again - read a record once more, because it may have changed in place.
 * @offset: f->offset when it was accepted. @record: receives at most @size bytes.
 * Returns true when a committed record of that type is still there, at least @size bytes long.
 */
bool sxs_chunk_follow_again(struct sxs_chunk_follower *f, uint64_t offset, uint16_t type,
                            void *record, size_t size);

/** sxs_chunk_follow_head - read the header again. Returns false when it cannot be read. */
bool sxs_chunk_follow_head(struct sxs_chunk_follower *f, void *head);

/** sxs_chunk_follow_left - return about how many bytes are written and not read yet; 0 when the
 * last
 *  look has read everything. */
uint64_t sxs_chunk_follow_left(struct sxs_chunk_follower *f);

void sxs_chunk_follow_close(struct sxs_chunk_follower *f);

#endif
