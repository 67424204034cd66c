/* SPDX-License-Identifier: MIT */
/**
 * traced.h - the format of the file "traced" in a process's session folder: the traced calls of
 * traced methods.
 *
 * Records refer to the instrumented methods of the file "instrument" by number. Calls have a file
 * of their own, so that even very many calls leave enough room for the states and counts in
 * "instrument".
 * The file is a header of one page, then chunks of records (session/format/chunks.h).
 * docs/internals/session.md describes the same bytes.
 */
#ifndef SXS_SESSION_FORMAT_TRACED_H
#define SXS_SESSION_FORMAT_TRACED_H

#include <stddef.h>

#include "session/format/chunks.h"

#define SXS_TRACED_MAGIC   "SXSTRCD" /* 8 bytes with its zero */
#define SXS_TRACED_VERSION 1u
#define SXS_TRACED_FILE    "traced"
#define SXS_TRACED_TEXT    512u /* limit of each text, in bytes */

/** The first page. The header of the file "instrument" tells how long a tick is. */
struct sxs_traced_header {
    char             magic[8];
    uint32_t         version;
    uint32_t         chunk_size;
    uint32_t         pid;
    _Atomic uint32_t n_chunks;
    uint32_t         max_chunks;
    uint32_t         rate; /* limit of calls a second; 0: none, or a file without `left_out` */
    _Atomic uint64_t lost; /* records dropped because the file had no room */
    _Atomic uint64_t left_out; /* calls that were not recorded because of `rate` */
    _Atomic uint32_t complete; /* 1: `left_out` has all; 0: all but those of the last few ms */
    uint32_t         zero;
};

/** So many calls are recorded at once before the rate limits them: calls of SXS_TRACED_BURST s. */
#define SXS_TRACED_BURST 10u

enum sxs_traced_record_type {
    SXS_TRACED_ENTER = 1, /* start of a call with its arguments; not written without arguments */
    SXS_TRACED_END = 2,   /* end of a call */
    SXS_TRACED_LAST = 2,
};

/** The start of a call. The thread and the tick at which the call began identify a call. */
struct sxs_traced_enter {
    struct sxs_record head;
    uint64_t          started_tick;
    uint32_t          method, tid; /* number of the instrumented method; thread */
    uint32_t          size;      /* bytes of text, without a terminating zero */
    char              text[];    /* the arguments: "n = 1, s = \"x\"" */
};

/** The end of a call. */
struct sxs_traced_end {
    struct sxs_record head;
    uint64_t          started_tick, ended_tick;
    uint32_t          method, tid; /* number of the instrumented method; thread */
    uint16_t          result_size, after_size, thrown_size; /* bytes of the three texts */
    uint8_t           threw;                                /* 1: an exception left the method */
    uint8_t           zero;
    char              text[]; /* result; by-reference arguments at the end of the call; type and
                               * message of the exception that left the method */
};

_Static_assert(sizeof(struct sxs_traced_header) <= SXS_HEADER_SIZE, "the header is one page");
_Static_assert(offsetof(struct sxs_traced_enter, text) == 28, "part of the format");
_Static_assert(offsetof(struct sxs_traced_end, text) == 40, "part of the format");

#endif
