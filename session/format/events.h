/* SPDX-License-Identifier: MIT */
/**
 * events.h - the format of the file "events" in a process's session folder: exceptions (tool
 * "exceptions") and compilations, collections, loads and threads (tool "events").
 *
 * The file is a header of one page, then chunks of records (session/format/chunks.h). Some records
 * change after they were committed: counts grow, and the fate of an exception is filled in. Each
 * such field is written by one aligned store. Times are CLOCK_MONOTONIC in ns. The page
 * docs/internals/session.md describes the same bytes.
 */
#ifndef SXS_SESSION_FORMAT_EVENTS_H
#define SXS_SESSION_FORMAT_EVENTS_H

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
    uint32_t         tools; /* enum sxs_events_tool_bit: the tools that were enabled */
    uint64_t         started_realtime_ns;
    uint64_t         started_ns;
    _Atomic uint64_t ended_ns;   /* 0: still running, or ended without a shutdown of the tools */
    _Atomic uint32_t n_chunks;   /* chunks in the file */
    uint32_t         max_chunks; /* limit of n_chunks */
    _Atomic uint64_t lost;       /* events dropped because the file had no room */
    _Atomic uint64_t exceptions_lost; /* exceptions dropped: no room, or too deeply nested */
    char             command[1024];   /* command line of the process, zero-terminated */
};

enum sxs_events_tool_bit { SXS_EVENTS_OF_EXCEPTIONS = 1, SXS_EVENTS_OF_RUNTIMES = 2 };

enum sxs_event_record_type {
    SXS_EVENT_NAME = 1,       /* a text; other records refer to it by its number */
    SXS_EVENT_THROW_SITE = 2, /* a throw site, with counts of its exceptions */
    SXS_EVENT_EXCEPTION = 3,  /* one exception */
    SXS_EVENT_SPAN = 4,       /* an event of a runtime, with a duration */
    SXS_EVENT_RECORD_LAST = 4,
};

struct sxs_event_name {
    struct sxs_record head;
    uint32_t          number;  /* 1, 2, 3... in this file */
    uint16_t          runtime; /* number of the runtime */
    uint16_t          size;    /* bytes of text, without a terminating zero */
    char              text[];
};

/** The fate of an exception. Reports print the texts. */
#define SXS_EXCEPTION_FATES(X)                                                           \
    X(SEARCHING, "unhandled") /* no catcher so far; if the process ended, the cause */   \
    X(UNWINDING, "under way") /* a catcher was found, but it does not run yet */         \
    X(CAUGHT, "caught")                                                                  \
    X(NATIVE, "by native code") /* left managed code without a catcher */                \
    X(SUPERSEDED, "superseded") /* another exception left a finally block that it ran */ \
    X(IN_FILTER, "in a filter") /* left a filter, which the runtime takes for "no" */
enum sxs_exception_fate {
#define X(name, text) SXS_FATE_##name,
    SXS_EXCEPTION_FATES(X)
#undef X
        SXS_N_FATES
};

/** A throw site: exceptions of one type and one runtime that one function threw, with the same
 *  catching function and fate. Equal throw sites can have several records, whose counts add up. */
struct sxs_event_throw_site {
    struct sxs_record head;
    uint32_t          type, thrown, caught; /* numbers of names: type, throwing and catching
                                             * function; 0: not known, or none */
    uint16_t          runtime;              /* number of the runtime */
    uint8_t           fate;                 /* enum sxs_exception_fate: CAUGHT or a later value */
    uint8_t           rethrown;             /* 1: thrown again by a handler that had caught it */
    uint32_t          number;               /* 1, 2, 3... in this file */
    uint32_t          zero;
    _Atomic uint64_t  n;        /* number of exceptions */
    _Atomic uint64_t  total_ns; /* time from throw to handler, sum over all exceptions */
    _Atomic uint64_t  last_ns;  /* time at which the latest was thrown */
};

/** One exception. The file has records of the first exceptions of each throw site, of those in
 *  flight, and of those that were in flight when the process ended. */
struct sxs_event_exception {
    struct sxs_record head;
    uint64_t          time_ns;     /* time at which it was thrown */
    _Atomic uint64_t  duration_ns; /* time from throw to handler; 0: no handler reached yet */
    uint32_t          tid;
    uint16_t          runtime;  /* number of the runtime */
    _Atomic uint8_t   fate;     /* enum sxs_exception_fate */
    uint8_t rethrown; /* as in struct sxs_event_throw_site, as are type, thrown and caught */
    uint32_t          type;
    _Atomic uint32_t  thrown, caught;
    _Atomic uint8_t   kept; /* 1: reports list it; 0: matters only while in flight */
    uint8_t           zero[3];
    uint16_t          message_size; /* bytes of message: UTF-8, cut at SXS_MESSAGE_MAX */
    uint16_t          message_cut;  /* 1: the exception's message was longer */
    char              message[];
};
#define SXS_MESSAGE_MAX 240u

/** Kinds of events. Reports, the format "json" too, print the texts. `a`, `b` and text belong to
 *  struct sxs_event_span. */
#define SXS_EVENT_KINDS(X)                                                                     \
    X(THREAD, "thread") /* a managed thread's life; text: its name */                          \
    X(THREAD_NAME, "thread name")                                                              \
    X(GC, "gc")                   /* a: highest generation, b: 1 when it was induced */        \
    X(SUSPENSION, "suspension")   /* a: COR_PRF_SUSPEND_REASON, b: us until all had stopped */ \
    X(JIT, "jit")                 /* text: the method; a: bytes of code, b: ReJIT version */   \
    X(MODULE_LOAD, "module load") /* text: the module's file */                                \
    X(CLASS_LOAD, "class load")   /* text: the class's name */
enum sxs_event_kind {
#define X(name, text) SXS_KIND_##name,
    SXS_EVENT_KINDS(X)
#undef X
        SXS_N_EVENT_KINDS
};

struct sxs_event_span {
    struct sxs_record head;
    uint64_t          time_ns;
    uint64_t          duration_ns; /* 0: a point in time, or a thread that is still running */
    uint32_t          tid;
    uint16_t          runtime; /* number of the runtime */
    uint8_t           kind;    /* enum sxs_event_kind */
    uint8_t           failed;  /* 1: the operation failed */
    uint32_t          a, b;    /* by kind; see SXS_EVENT_KINDS */
    uint16_t          tier;    /* for JIT: enum sxs_code_tier, 0 if not known */
    uint16_t          size;    /* bytes of text, without a terminating zero */
    char              text[];
};

_Static_assert(sizeof(struct sxs_events_header) <= SXS_HEADER_SIZE, "the header is one page");
_Static_assert(sizeof(struct sxs_event_throw_site) == 56, "part of the format");
_Static_assert(offsetof(struct sxs_event_name, text) == 16, "part of the format");
_Static_assert(offsetof(struct sxs_event_exception, message) == 52, "part of the format");
_Static_assert(offsetof(struct sxs_event_span, text) == 44, "part of the format");

#endif
