/* SPDX-License-Identifier: MIT */
/**
 * chunks_read.h - reads a file of chunks (session/format/chunks.h has the format).
 *
 * The file is untrusted: it may be cut, damaged, or still be written by a living process. Chunks
 * are copied into memory one at a time, so that a file that shrinks or changes meanwhile does no
 * harm: the bytes that were checked are the bytes that are used. Holes of the file are not read, and
 * chunks after the SXS_CHUNKS_MAX-th are left out: so reading takes time for the data on the disk,
 * not for the size that a file claims to have.
 */
#ifndef SXS_SESSION_READ_CHUNKS_READ_H
#define SXS_SESSION_READ_CHUNKS_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "session/format/chunks.h"
#include "session/read/file_read.h"

/** An open file. One thread at a time; not signal-safe. */
struct sxs_chunk_reader {
    int      fd;
    uint64_t size;     /* of the file when it was opened, in bytes; later growth is not read */
    uint32_t n_chunks; /* number of chunks that begin within that size; at most SXS_CHUNKS_MAX */
    uint32_t chunk;    /* index of the chunk to load next */
    size_t   at, end;  /* offsets in `bytes`: of the next record, and of the end of the records */
    char    *bytes;    /* one chunk, 8-byte aligned; owned */
    /* Damage that was found; reported by sxs_chunk_reader_problem(). */
    bool     bad_count; /* the number of chunks in the header is impossible */
    uint64_t n_cut, n_bad_chunks, n_garbled, n_unknown, n_unreadable;
    uint64_t n_beyond; /* chunks of the file that its format does not allow */
    char     line[256]; /* the line that sxs_chunk_reader_problem() returned last */
};

/** The properties of one kind of file, for sxs_chunk_reader_open(). */
struct sxs_chunk_file {
    const char *name, *magic; /* magic: 8 bytes, including the terminating zero */
    uint32_t    version;
    size_t      head_size;                  /* size of the header's struct, in bytes */
    size_t      n_chunks_at, max_chunks_at; /* offsets of these fields (32 bits) in the header */
};

/**
 * sxs_chunk_reader_open - open a file of the kind @kind in a folder.
 * @folder: the folder; borrowed for this call.
 * @head: receives the header, kind->head_size bytes.
 * @why: receives one line about a failure, else "".
 * Returns 0, and sxs_chunk_reader_close() must follow; ENOENT when there is no such file, EINVAL
 * when it has another format, or another errno value. Follows no symbolic link and does not wait
 * for a pipe.
 */
int sxs_chunk_reader_open(struct sxs_chunk_reader *r, const struct sxs_files *folder,
                          const struct sxs_chunk_file *kind, void *head, char *why,
                          size_t why_size);

/** A function that reads a record of type @type into @out. record->size bytes may be read. Returns
 *  false when the record is damaged. */
typedef bool sxs_chunk_take(const struct sxs_record *record, uint16_t type, void *out);

/**
 * sxs_chunk_reader_next - pass records to @take, in the order of the file, until it accepts one.
 * @last: the highest record type that is known. @out: passed to @take.
 * Returns true when @take accepted a record, or false at the end of the file. Damaged records are skipped
 * and counted. A loop over it always ends, because every call consumes bytes of the file as it was
 * when it was opened.
 */
bool sxs_chunk_reader_next(struct sxs_chunk_reader *r, uint16_t last, sxs_chunk_take *take,
                           void *out);

/** Start again with the first record, and forget the problems found so far. */
void sxs_chunk_reader_rewind(struct sxs_chunk_reader *r);

/** sxs_chunk_reader_problem - return a line that describes a kind of damage that was found.
 *  @index: count it up from 0 until NULL is returned.
 *  The list is complete after sxs_chunk_reader_next() has returned false. The line is borrowed until
 *  the next call on @r. */
const char *sxs_chunk_reader_problem(struct sxs_chunk_reader *r, size_t index);

void sxs_chunk_reader_close(struct sxs_chunk_reader *r);

#endif
