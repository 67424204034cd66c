/* SPDX-License-Identifier: MIT */
/**
 * thread_names.h - the format of the file "threads" in a process's session folder: the names that
 * managed code gave to its threads.
 *
 * The kernel keeps only 15 bytes of a thread's name; the runtimes report the whole name. Other files have
 * thread numbers (tid), or the kernel's names; readers find the whole names here. The file is a
 * header of one page, then chunks of records (session/format/chunks.h). A process whose managed code
 * names no thread has no such file. docs/internals/session.md describes the same bytes.
 */
#ifndef SXS_SESSION_FORMAT_THREAD_NAMES_H
#define SXS_SESSION_FORMAT_THREAD_NAMES_H

#include <stddef.h>

#include "session/format/chunks.h"

#define SXS_THREAD_NAMES_MAGIC   "SXSTHRD" /* 8 bytes with its zero */
#define SXS_THREAD_NAMES_VERSION 1u
#define SXS_THREAD_NAMES_FILE    "threads"
#define SXS_THREAD_NAME_MAX      255u /* bytes of a name; a longer one is cut between characters */

/** The first page. */
struct sxs_thread_names_header {
    char             magic[8];
    uint32_t         version;
    uint32_t         chunk_size;
    uint32_t         pid;
    _Atomic uint32_t n_chunks;
    uint32_t         max_chunks;
    uint32_t         zero;
    _Atomic uint64_t lost; /* names dropped because the file had no room */
};

enum sxs_thread_names_record_type {
    SXS_THREAD_NAMES_NAME = 1,
    SXS_THREAD_NAMES_LAST = 1,
};

/** A thread got a name, or started with the name that it had got before, or had it when the session
 *  began. Times are CLOCK_MONOTONIC in ns. */
struct sxs_thread_name {
    struct sxs_record head;
    uint64_t          time_ns;  /* since when the thread is known by it */
    _Atomic uint64_t  ended_ns; /* when the thread ended; 0: not yet, or it got a later name */
    uint32_t          tid;
    uint16_t          runtime; /* number of the runtime */
    uint16_t          size;   /* bytes of text, without a terminating zero; 0: it has no name now */
    char              text[]; /* UTF-8, one line */
};

_Static_assert(sizeof(struct sxs_thread_names_header) <= SXS_HEADER_SIZE, "the header is one page");
_Static_assert(offsetof(struct sxs_thread_name, text) == 32, "part of the format");

#endif
