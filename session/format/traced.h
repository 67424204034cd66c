/* SPDX-License-Identifier: MIT */
/**
 * traced.h - the format of the file "traced" in a process's session folder: single calls of methods that are
 * traced, beside the file "instrument", whose sites they name. A file of its own, so that a storm of calls
 * takes no room from states and counts.
 *
 * A header of one page, then chunks of records (session/format/chunks.h). docs/session.md describes the same bytes.
 */
#ifndef SXS_RECORD_TRACED_H
#define SXS_RECORD_TRACED_H

#include <stddef.h>

#include "session/format/chunks.h"

#define SXS_TRACED_MAGIC   "SXSTRCD" /* 8 bytes with its zero */
#define SXS_TRACED_VERSION 1u
#define SXS_TRACED_FILE    "traced"
#define SXS_TRACED_TEXT    512u /* bytes of a text at most */

/** The first page. Ticks are those of the file "instrument". */
struct sxs_traced_header {
    char             magic[8];
    uint32_t         version;
    uint32_t         chunk_size;
    uint32_t         pid;
    _Atomic uint32_t n_chunks;
    uint32_t         max_chunks;
    uint32_t         zero;
    _Atomic uint64_t lost; /* records that found no room */
};

enum sxs_traced_record_type {
    SXS_TRACED_ENTER = 1, /* with arguments; a call without any has the other record alone */
    SXS_TRACED_END = 2,
    SXS_TRACED_LAST = 2,
};

/** A call is known by its thread and the tick it began at. */
struct sxs_traced_enter {
    struct sxs_record head;
    uint64_t          started_tick;
    uint32_t          site, tid;
    uint32_t          size;   /* bytes that follow, no zero at the end */
    char              text[]; /* its arguments: "n = 1, s = \"x\"" */
};

struct sxs_traced_end {
    struct sxs_record head;
    uint64_t          started_tick, ended_tick;
    uint32_t          site, tid;
    uint16_t          result_size, after_size, thrown_size; /* bytes that follow, one behind the other */
    uint8_t           threw;
    uint8_t           zero;
    char              text[]; /* its result; by-ref arguments at its end; type and message of what left it */
};

_Static_assert(sizeof(struct sxs_traced_header) <= SXS_HEADER_SIZE, "the header is one page");
_Static_assert(offsetof(struct sxs_traced_enter, text) == 28, "part of the format");
_Static_assert(offsetof(struct sxs_traced_end, text) == 40, "part of the format");

#endif
