/* SPDX-License-Identifier: MIT */
/**
 * events.h - the format of the file "events" in a process's session folder: exceptions and the life
 * of each runtime, by the tools "exceptions" and "events".
 *
 * A header of one page, then chunks of records (session/format/chunks.h). Some records are changed after they
 * were committed: counts grow, an exception's fate is filled in. Each such field is one aligned store.
 * Times are CLOCK_MONOTONIC, in ns. docs/session.md describes the same bytes.
 */
#ifndef SXS_RECORD_EVENTS_H
#define SXS_RECORD_EVENTS_H

#include <stddef.h>

#include "session/format/chunks.h"

#define SXS_EVENTS_MAGIC   "SXSEVNT" /* 8 bytes with its zero */
#define SXS_EVENTS_VERSION 1u
#define SXS_EVENTS_FILE    "events"

/** The first page. */
struct sxs_events_header {
    char             magic[8];
    uint32_t         version;
    uint32_t         chunk_size;
    uint32_t         pid;
    uint32_t         tools;      /* bit 0: exceptions, bit 1: events */
    uint64_t         started_realtime_ns;
    uint64_t         started_ns;
    _Atomic uint64_t ended_ns;   /* 0: still running, or ended without saying so */
    _Atomic uint32_t n_chunks;
    uint32_t         max_chunks;
    _Atomic uint64_t lost;       /* events that found no room */
    _Atomic uint64_t exceptions_lost; /* exceptions that found no room, or nested too deep */
    char             command[1024];
};

enum sxs_events_tool_bit { SXS_EVENTS_OF_EXCEPTIONS = 1, SXS_EVENTS_OF_RUNTIMES = 2 };

enum sxs_event_record_type {
    SXS_EVENT_NAME = 1,      /* a text, referred to by its number */
    SXS_EVENT_SITE = 2,      /* exceptions of one type, thrown and caught at the same places */
    SXS_EVENT_EXCEPTION = 3, /* one of them */
    SXS_EVENT_SPAN = 4,      /* something that happened in a runtime */
    SXS_EVENT_RECORD_LAST = 4,
};

struct sxs_event_name {
    struct sxs_record head;
    uint32_t          number; /* from 1, in this file */
    uint16_t          runtime;
    uint16_t          size;   /* bytes that follow, no zero at the end */
    char              text[];
};

/** What became of an exception. The names are what reports print. */
#define SXS_EXCEPTION_FATES(X)                                                              \
    X(SEARCHING, "unhandled")         /* no catcher so far: if the process ended, its end */ \
    X(UNWINDING, "under way")         /* a catcher was found */                              \
    X(CAUGHT, "caught")                                                                     \
    X(NATIVE, "by native code")       /* left managed code without a catcher */              \
    X(SUPERSEDED, "superseded")       /* another one left the finally block it had come to */\
    X(IN_FILTER, "in a filter")       /* left a filter: counts as "no" */
enum sxs_exception_fate {
#define X(name, text) SXS_FATE_##name,
    SXS_EXCEPTION_FATES(X)
#undef X
        SXS_N_FATES
};

struct sxs_event_site {
    struct sxs_record head;
    uint32_t          type, thrown, caught; /* names; 0: not known, or nowhere */
    uint16_t          runtime;
    uint8_t           fate;     /* enum sxs_exception_fate: CAUGHT or further on */
    uint8_t           rethrown; /* 1: thrown again by a handler that had caught it */
    uint32_t          number;   /* of this site, from 1 */
    uint32_t          zero;
    _Atomic uint64_t  n;
    _Atomic uint64_t  total_ns; /* from the throw to the handler, all of them */
    _Atomic uint64_t  last_ns;  /* when the latest was thrown */
};

/** The first of each site, those under way, and those that the process ended with. */
struct sxs_event_exception {
    struct sxs_record head;
    uint64_t          time_ns;
    _Atomic uint64_t  duration_ns; /* from the throw to the handler; 0: not there yet */
    uint32_t          tid;
    uint16_t          runtime;
    _Atomic uint8_t   fate;
    uint8_t           rethrown;
    uint32_t          type;
    _Atomic uint32_t  thrown, caught;
    _Atomic uint8_t   kept;        /* 1: to be listed; 0: of interest only while it is under way */
    uint8_t           zero[3];
    uint16_t          message_size; /* UTF-8 bytes that follow, cut at SXS_MESSAGE_MAX */
    uint16_t          message_cut;  /* 1: it was longer */
    char              message[];
};
#define SXS_MESSAGE_MAX 240u

/** What happened. The names are what reports and "json" print. */
#define SXS_EVENT_KINDS(X)                                                                  \
    X(THREAD, "thread")      /* from its creation to its end; text: its name */              \
    X(THREAD_NAME, "thread name")                                                           \
    X(GC, "gc")              /* a: highest generation, b: 1 when it was induced */           \
    X(SUSPENSION, "suspension") /* a: COR_PRF_SUSPEND_REASON, b: us until all stood still */ \
    X(JIT, "jit")            /* text: the method; a: bytes of code, b: ReJIT version */       \
    X(MODULE_LOAD, "module load") /* text: its file */                                      \
    X(CLASS_LOAD, "class load")   /* text: its name */
enum sxs_event_kind {
#define X(name, text) SXS_KIND_##name,
    SXS_EVENT_KINDS(X)
#undef X
        SXS_N_EVENT_KINDS
};

struct sxs_event_span {
    struct sxs_record head;
    uint64_t          time_ns;
    uint64_t          duration_ns; /* 0: a moment */
    uint32_t          tid;
    uint16_t          runtime;
    uint8_t           kind;   /* enum sxs_event_kind */
    uint8_t           failed; /* 1: it did not come to a good end */
    uint32_t          a, b;
    uint16_t          tier;   /* of JIT: enum sxs_code_tier, 0 when not known */
    uint16_t          size;   /* bytes that follow, no zero at the end */
    char              text[];
};

_Static_assert(sizeof(struct sxs_events_header) <= SXS_HEADER_SIZE, "the header is one page");
_Static_assert(sizeof(struct sxs_event_site) == 56, "part of the format");
_Static_assert(offsetof(struct sxs_event_name, text) == 16, "part of the format");
_Static_assert(offsetof(struct sxs_event_exception, message) == 52, "part of the format");
_Static_assert(offsetof(struct sxs_event_span, text) == 44, "part of the format");

#endif
