/* SPDX-License-Identifier: MIT */
/**
 * chunks_read.h - read a file of chunks back (chunks.h has its bytes).
 *
 * The file is taken as untrusted: it may be cut, garbled, or still be written by a living process.
 * Chunks are read into memory of our own, one at a time, so that neither a file that shrinks nor
 * one that changes meanwhile can hurt: what was checked is what is used.
 */
#ifndef SXS_RECORD_CHUNKS_READ_H
#define SXS_RECORD_CHUNKS_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "session/format/chunks.h"

/** An open file. One thread at a time; not signal-safe. */
struct sxs_chunk_reader {
    int      fd;
    uint64_t size;     /* of the file at open; what grows later is not read */
    uint32_t n_chunks; /* that begin within it */
    uint32_t chunk;    /* the one to load next */
    size_t   at, end;  /* the next record in `bytes`, and where records end */
    char    *bytes;    /* one chunk, 8-byte aligned; owned */
    /* What was not whole, told by sxs_chunk_reader_problem(). */
    bool     bad_count; /* chunks the header tells of */
    uint64_t n_cut, n_bad_chunks, n_garbled, n_unknown, n_unreadable;
    char     line[256];
};

/** What a file of one kind is: for sxs_chunk_reader_open(). */
struct sxs_chunk_file {
    const char *name, *magic; /* magic: 8 bytes with its zero */
    uint32_t    version;
    size_t      head_size;    /* of the header's structure */
    size_t      n_chunks_at, max_chunks_at; /* in the header: 32 bits each */
};

/**
 * sxs_chunk_reader_open - open such a file in the folder @folder_fd (borrowed for this call).
 * @head: receives the header, kind->head_size bytes. @why: one line about a failure, else "".
 * Returns 0 (then sxs_chunk_reader_close()), ENOENT when there is no such file, EINVAL when it is
 * none of ours, or another errno value. Follows no link and waits for no pipe.
 */
int sxs_chunk_reader_open(struct sxs_chunk_reader *r, int folder_fd,
                          const struct sxs_chunk_file *kind, void *head, char *why,
                          size_t why_size);

/** Takes a record of type @type, whose size lies within its chunk; false when it is not whole. */
typedef bool sxs_chunk_take(const struct sxs_record *record, uint16_t type, void *out);

/**
 * sxs_chunk_reader_next - the next record that @take accepts, in the order of the file.
 * @last: the highest type that is known. Returns 1, or 0 at the end. What is damaged is skipped and
 * counted. Always ends: every call consumes bytes of the file as it was at open.
 */
int sxs_chunk_reader_next(struct sxs_chunk_reader *r, uint16_t last, sxs_chunk_take *take,
                          void *out);

/** Begin again with the first record; forgets the problems seen so far. */
void sxs_chunk_reader_rewind(struct sxs_chunk_reader *r);

/** What was not whole, as one line each: @index from 0 until NULL returns. Complete after
 *  sxs_chunk_reader_next() has returned 0. Borrowed until the next call on @r. */
const char *sxs_chunk_reader_problem(struct sxs_chunk_reader *r, size_t index);

void sxs_chunk_reader_close(struct sxs_chunk_reader *r);

#endif
