/* SPDX-License-Identifier: MIT */
/**
 * events.h - the format of the file "events" in a process's session folder: exceptions (tool
 * "exceptions"), compilations, collections, loads and threads (tool "events"), and collections in
 * detail (tool "gc").
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
    _Atomic uint32_t crash_watch;     /* enum sxs_events_crash_watch */
    uint32_t         zero;
};

/** What is known about a crash of the process: about a signal that ended it and nobody handled. */
enum sxs_events_crash_watch {
    SXS_CRASH_UNKNOWN = 0, /* signals were not routed: a crash would not be noticed */
    SXS_CRASH_NONE = 1,    /* no crash so far */
    SXS_CRASH_SEEN = 2,    /* crashed: an exception that caused it has the fate UNHANDLED */
};

enum sxs_events_tool_bit {
    SXS_EVENTS_OF_EXCEPTIONS = 1,
    SXS_EVENTS_OF_RUNTIMES = 2,
    SXS_EVENTS_OF_COLLECTIONS = 4,
};

enum sxs_event_record_type {
    SXS_EVENT_NAME = 1,       /* a text; other records refer to it by its number */
    SXS_EVENT_THROW_SITE = 2, /* a throw site, with counts of its exceptions */
    SXS_EVENT_EXCEPTION = 3,  /* one exception */
    SXS_EVENT_SPAN = 4,       /* an event of a runtime, with a duration */
    SXS_EVENT_COLLECTION = 5, /* a collection in detail */
    SXS_EVENT_RECORD_LAST = 5,
};

struct sxs_event_name {
    struct sxs_record head;
    uint32_t          number;  /* 1, 2, 3... in this file */
    uint16_t          runtime; /* number of the runtime */
    uint16_t          size;    /* bytes of text, without a terminating zero */
    char              text[];
};

/** The fate of an exception. Reports print the texts. */
#define SXS_EXCEPTION_FATES(X)                                                              \
    X(SEARCHING, "under way") /* no catcher so far */                                       \
    X(UNWINDING, "under way") /* a catcher was found, but it does not run yet */            \
    X(CAUGHT, "caught")                                                                     \
    X(NATIVE, "by native code")  /* left managed code without a catcher */                  \
    X(SUPERSEDED, "superseded")  /* another exception left a finally block that it ran */   \
    X(IN_FILTER, "in a filter")  /* left a filter, which the runtime takes for "no" */      \
    X(UNWOUND, "by native code") /* left managed code; if the process crashed, the cause */ \
    X(UNHANDLED, "unhandled")    /* ended the process */
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
    uint8_t           fate;                 /* enum sxs_exception_fate: CAUGHT to IN_FILTER */
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
    uint16_t          runtime; /* number of the runtime */
    _Atomic uint8_t   fate;    /* enum sxs_exception_fate */
    uint8_t  rethrown; /* as in struct sxs_event_throw_site, as are type, thrown and caught */
    uint32_t type;
    _Atomic uint32_t thrown, caught;
    _Atomic uint8_t  kept; /* 1: reports list it; 0: matters only while in flight */
    uint8_t          zero[3];
    uint16_t         message_size; /* bytes of message: UTF-8, cut at SXS_MESSAGE_MAX */
    uint16_t         message_cut;  /* 1: the exception's message was longer */
    char             message[];
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

/** Why a collection was started, as the runtimes number it. Reports print the texts. */
#define SXS_GC_REASONS(X)                                           \
    X(ALLOCATION, "allocation")                                     \
    X(INDUCED, "induced")                                           \
    X(LOW_MEMORY, "low memory")                                     \
    X(EMPTY, "empty")                                               \
    X(LARGE_ALLOCATION, "large allocation")                         \
    X(NO_SPACE, "no space")                                         \
    X(NO_LARGE_SPACE, "no space for a large object")                \
    X(INDUCED_OPTIONAL, "induced, optional")                        \
    X(STRESS, "GC stress")                                          \
    X(LOW_MEMORY_BLOCKING, "low memory, blocking")                  \
    X(INDUCED_COMPACTING, "induced, compacting")                    \
    X(HOST_LOW_MEMORY, "low memory of the host")                    \
    X(PROVISIONAL, "full collection in the provisional mode")       \
    X(HOST_LOW_MEMORY_BLOCKING, "low memory of the host, blocking") \
    X(TUNING, "background tuning")                                  \
    X(TUNING_LARGE, "background tuning, large objects")             \
    X(STEPPING, "background stepping")                              \
    X(INDUCED_AGGRESSIVE, "induced, aggressive")
enum sxs_gc_reason {
#define X(name, text) SXS_GC_##name,
    SXS_GC_REASONS(X)
#undef X
        SXS_N_GC_REASONS
};
#define SXS_GC_UNKNOWN 255u /* a reason, type or generation that is not known */

enum sxs_gc_type {
    SXS_GC_BLOCKING,   /* threads are suspended from its start to its end */
    SXS_GC_BACKGROUND, /* concurrent: threads run for most of it */
    SXS_GC_FOREGROUND, /* blocking, while a background collection is in progress */
    SXS_N_GC_TYPES
};

/** Bits of struct sxs_event_collection.known: which of its members the runtime has reported. */
enum sxs_gc_known {
    SXS_GC_KNOWS_START = 1,  /* number, type; reason in full, not only whether it was induced */
    SXS_GC_KNOWS_HEAP = 2,   /* size and promoted of the generations, and the counts */
    SXS_GC_KNOWS_DETAIL = 4, /* before, survived, fragmentation of the generations; heaps */
    SXS_GC_KNOWS_GLOBAL = 8, /* compacting and concurrent of `mechanisms`; pause_mode */
};

/** Bits of struct sxs_event_collection.mechanisms. The runtime sets more. */
enum sxs_gc_mechanism {
    SXS_GC_CONCURRENT = 1, /* it is a background collection */
    SXS_GC_COMPACTING = 2,
};

#define SXS_GC_GENERATIONS 5u /* 0, 1, 2, large objects, pinned objects */
#define SXS_GC_PAUSES      3u /* pauses of one collection that are listed; further ones are summed */

/** A suspension of the runtime's threads for a collection. */
struct sxs_gc_pause {
    _Atomic uint64_t time_ns;       /* when the suspension was requested */
    _Atomic uint64_t suspension_ns; /* until all threads had stopped */
    _Atomic uint64_t duration_ns;   /* until they were resumed; 0: not yet, or not known */
};

/** Bytes of one generation in a collection. */
struct sxs_gc_generation {
    _Atomic uint64_t size;          /* at the end, with free space between objects */
    _Atomic uint64_t promoted;      /* of objects in it that survived */
    _Atomic uint64_t before;        /* size at the start */
    _Atomic uint64_t free_before;   /* free space between objects at the start: fragmentation */
    _Atomic uint64_t fragmentation; /* likewise, at the end */
    _Atomic uint64_t survived;      /* of objects that were in it at the start and survived */
    _Atomic uint64_t pinned;        /* likewise, of objects that were pinned or near pinned ones */
};

/** A collection in detail. Committed when it starts; the other members are filled in as the
 *  runtime reports them, each by one store, so the record of a collection that the end of the
 *  process has interrupted is there. */
struct sxs_event_collection {
    struct sxs_record head;
    uint64_t          time_ns; /* start */
    _Atomic uint64_t  end_ns;  /* 0: in progress, or its end was not reported */
    uint32_t          number;  /* 1, 2, 3... in its runtime */
    uint32_t          tid; /* the thread that reported its start: usually the one that does it */
    uint16_t          runtime;                 /* number of the runtime */
    uint8_t          generation, reason, type; /* enum sxs_gc_reason, sxs_gc_type; SXS_GC_UNKNOWN */
    uint8_t          zero;
    _Atomic uint8_t  known;         /* bits of enum sxs_gc_known */
    _Atomic uint8_t  n_pauses;      /* may be more than SXS_GC_PAUSES */
    _Atomic uint32_t heaps;         /* number of heaps: server GC has several */
    _Atomic uint32_t mechanisms;    /* enum sxs_gc_mechanism; bit 2: promotion, 3: demotion */
    _Atomic uint64_t pause_ns;      /* all threads stopped or being stopped, sum of its pauses */
    _Atomic uint64_t suspension_ns; /* of that, until all had stopped */
    _Atomic uint64_t finalizable;   /* bytes kept by objects that became ready for finalization */
    _Atomic uint64_t n_finalizable; /* such objects */
    _Atomic uint64_t n_finalized;   /* finalizers that ran before the next collection ended */
    _Atomic uint64_t finalizers_ns; /* how long */
    _Atomic uint32_t n_pinned;      /* pinned objects */
    _Atomic uint32_t n_handles;     /* GC handles */
    _Atomic uint32_t sync_blocks;   /* objects with a monitor or a hash code in a sync block */
    _Atomic uint32_t trigger_tid;   /* the thread that asked for it; 0: not known */
    struct sxs_gc_pause      pauses[SXS_GC_PAUSES];
    struct sxs_gc_generation generations[SXS_GC_GENERATIONS];
};

_Static_assert(sizeof(struct sxs_event_collection) == 464, "part of the format");
_Static_assert(sizeof(struct sxs_events_header) <= SXS_HEADER_SIZE, "the header is one page");
_Static_assert(sizeof(struct sxs_event_throw_site) == 56, "part of the format");
_Static_assert(offsetof(struct sxs_event_name, text) == 16, "part of the format");
_Static_assert(offsetof(struct sxs_event_exception, message) == 52, "part of the format");
_Static_assert(offsetof(struct sxs_event_span, text) == 44, "part of the format");

#endif
