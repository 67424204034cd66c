/* SPDX-License-Identifier: MIT */
/**
 * chunks.h - the layout that the files "samples", "events", "instrument", "traced" and "threads" share: a
 * header of one page, then chunks of records.
 *
 * The library maps such a file shared and writes into the mapping from several threads at once, so
 * committed records survive any end of the process. A writer reserves a record by advancing `used`
 * of the chunk, fills it, and commits it by storing `type` last. If the process ends in between,
 * the record stays uncommitted (type 0). Readers skip it by its size, or, if the size is 0 too, by
 * searching for the next record mark. All integers are little-endian, all records 8-byte aligned.
 */
#ifndef SXS_SESSION_FORMAT_CHUNKS_H
#define SXS_SESSION_FORMAT_CHUNKS_H

#include <stdatomic.h>
#include <stdint.h>

#define SXS_HEADER_SIZE 4096u
#define SXS_CHUNK_SIZE  (256u << 10)
#define SXS_CHUNKS_MAX  16384u      /* in one file, which has 4 GiB then; the library writes less */
#define SXS_CHUNK_MAGIC 0x4b484353u /* "SCHK" */
#define SXS_RECORD_MARK 0xa5c3u

/** The first bytes of the header of each such file. */
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
    _Atomic uint16_t type; /* each file has its own types; 0: not committed. Stored last */
};

_Static_assert(sizeof(struct sxs_chunk_header) == 16, "part of the format");
_Static_assert(sizeof(struct sxs_record) == 8, "part of the format");

#endif
