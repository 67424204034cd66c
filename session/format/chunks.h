/* SPDX-License-Identifier: MIT */
/**
 * chunks.h - what the files "samples" and "events" have in common: a page, then chunks of records.
 *
 * The library maps such a file shared and writes straight into the mapping, from several threads at
 * once, so whatever ends the process loses nothing that was committed. A record is reserved by
 * advancing its chunk's `used`, filled, and committed by storing its `type` last; a record whose
 * writer died in between stays uncommitted (type 0) and is skipped by its size, or, if that is 0 too,
 * by looking for the next record mark. Little-endian; all records 8-byte aligned.
 */
#ifndef SXS_RECORD_CHUNKS_H
#define SXS_RECORD_CHUNKS_H

#include <stdatomic.h>
#include <stdint.h>

#define SXS_HEADER_SIZE 4096u
#define SXS_CHUNK_SIZE  (256u << 10)
#define SXS_CHUNK_MAGIC 0x4b484353u /* "SCHK" */
#define SXS_RECORD_MARK 0xa5c3u

/** How the first page of each such file begins. */
struct sxs_chunks_head {
    char     magic[8];
    uint32_t version;
    uint32_t chunk_size;
    uint32_t pid;
};

struct sxs_chunk_header {
    uint32_t         magic; /* SXS_CHUNK_MAGIC */
    uint32_t         index; /* of this chunk in the file, from 0 */
    _Atomic uint32_t used;  /* bytes reserved, this header included; may exceed SXS_CHUNK_SIZE */
    uint32_t         zero;
};

struct sxs_record {
    uint32_t         size; /* bytes, this header included, a multiple of 8 */
    uint16_t         mark; /* SXS_RECORD_MARK */
    _Atomic uint16_t type; /* of the file's own; 0: reserved, not committed. Stored last */
};

_Static_assert(sizeof(struct sxs_chunk_header) == 16, "part of the format");
_Static_assert(sizeof(struct sxs_record) == 8, "part of the format");

#endif
