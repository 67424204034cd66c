/* SPDX-License-Identifier: MIT */
/**
 * instrument.h - the format of the file "instrument" in a process's session folder: the methods
 * that got new IL, the state of each, and the counts of their calls.
 *
 * The file is a header of one page, then chunks of records (session/format/chunks.h). Fields marked
 * _Atomic change after their record was committed, each by one aligned store. Each thread has its
 * own counters, so the counts of a method are the sum over all COUNTS records. A "site" in
 * identifiers is an instrumented method. docs/internals/session.md describes the same bytes.
 */
#ifndef SXS_SESSION_FORMAT_INSTRUMENT_H
#define SXS_SESSION_FORMAT_INSTRUMENT_H

#include <stddef.h>

#include "session/format/chunks.h"

#define SXS_INSTRUMENT_MAGIC   "SXSINST" /* 8 bytes with its zero */
#define SXS_INSTRUMENT_VERSION 1u
#define SXS_INSTRUMENT_FILE    "instrument"

/** Kinds of the library's own work whose time is measured: CPU time of the thread that does it, but
 *  wall time for REVERT and REJIT. The texts are the names in JSON. */
#define SXS_SPENT_KINDS(X)                                                         \
    X(LOAD, "load")     /* read the instrumentation files, after each change */    \
    X(MATCH, "match")   /* compare the rules with a module */                      \
    X(REVERT, "revert") /* ask a runtime to revert a batch of methods */           \
    X(REJIT, "rejit")   /* ask it to recompile a batch; it suspends its threads */ \
    X(WEAVE, "weave")   /* read, check, change, check and hand over a method's IL */
enum sxs_spent_kind {
#define X(name, text) SXS_SPENT_##name,
    SXS_SPENT_KINDS(X)
#undef X
        SXS_N_SPENT
};

struct sxs_instrument_spent {
    _Atomic uint64_t n;          /* number of pieces of work */
    _Atomic uint64_t ns;         /* time of all of them */
    _Atomic uint64_t longest_ns; /* time of the longest */
};

/** The first page. Two pairs of clock readings (started_*, seen_*) tell how long a tick is. The two
 *  values of the second pair are stored one after the other, so a reader of a running process may
 *  see values that are one update interval (some ms) apart. */
struct sxs_instrument_header {
    char             magic[8];
    uint32_t         version;
    uint32_t         chunk_size;
    uint32_t         pid;
    uint32_t         zero;
    uint64_t         started_realtime_ns;
    uint64_t         started_ns, started_tick; /* CLOCK_MONOTONIC */
    _Atomic uint64_t seen_ns, seen_tick;       /* a later pair, updated while the process runs */
    _Atomic uint64_t ended_ns;      /* 0: still running, or ended without a shutdown of the tool */
    _Atomic uint32_t n_chunks;      /* chunks in the file */
    uint32_t         max_chunks;    /* limit of n_chunks */
    _Atomic uint64_t lost;          /* records dropped because the file had no room */
    _Atomic uint64_t changes;       /* configurations applied after the first */
    char             command[1024]; /* command line of the process, zero-terminated */
    struct sxs_instrument_spent spent[SXS_N_SPENT]; /* by kind; zeros in older files of version 1 */
};

enum sxs_instrument_record_type {
    SXS_INSTRUMENT_METHOD = 1,     /* a method that rules apply to */
    SXS_INSTRUMENT_STATE = 2,      /* a state of such a method; the latest record is valid */
    SXS_INSTRUMENT_COUNTS_OLD = 3, /* as COUNTS, with the first five members of each counter only */
    SXS_INSTRUMENT_LABEL = 4,      /* a method's name in reports; the latest record is valid */
    SXS_INSTRUMENT_HELPER = 5,     /* a managed method that rules have called, in one runtime */
    SXS_INSTRUMENT_RULE = 6,   /* statistics of a rule; the latest record of its number is valid */
    SXS_INSTRUMENT_COUNTS = 7, /* one thread's counters of SXS_INSTRUMENT_PAGE methods */
    SXS_INSTRUMENT_LAST = 7,
};

/** State of an instrumented method. Reports and JSON print the texts. */
#define SXS_INSTRUMENTED_STATES(X)                                            \
    X(PENDING, "pending")   /* requested; the method was not called since */  \
    X(ACTIVE, "active")     /* the runtime has received the new IL */         \
    X(FAILED, "failed")     /* by the library or the runtime; see text, hr */ \
    X(REVERTED, "reverted") /* the original IL is in use again */             \
    X(UNLOADED, "unloaded") /* the module of the method was unloaded */
enum sxs_instrumented_state {
#define X(name, text) SXS_INSTRUMENTED_##name,
    SXS_INSTRUMENTED_STATES(X)
#undef X
        SXS_N_INSTRUMENTED_STATES
};

struct sxs_instrument_method {
    struct sxs_record head;
    uint32_t          number;                   /* 0, 1, 2... in this file */
    uint32_t          token;                    /* mdMethodDef in its module */
    uint16_t          runtime;                  /* number of the runtime */
    uint16_t          assembly_size, name_size; /* bytes of the texts, without terminating zeros */
    uint16_t          zero;
    char              text[]; /* assembly, then Namespace.Type.Method */
};

struct sxs_instrument_state {
    struct sxs_record head;
    uint64_t          time_ns;
    uint32_t          method; /* number of the method */
    uint32_t          hr;    /* HRESULT of the runtime, or 0 */
    uint8_t           state; /* enum sxs_instrumented_state */
    uint8_t           zero;
    uint16_t          size;   /* bytes of text, without a terminating zero */
    char              text[]; /* pending: names of the rules; failed: the reason; active:
                               * SXS_INSTRUMENT_COMPILED once the runtime has compiled the new IL */
};

#define SXS_INSTRUMENT_COMPILED "compiled"

#define SXS_INSTRUMENT_PAGE 256u /* methods of one COUNTS record */

/** Counters of one method on one thread. */
struct sxs_instrument_count {
    _Atomic uint64_t calls;     /* calls that began */
    _Atomic uint64_t ended;     /* calls that were timed to their end */
    _Atomic uint64_t threw;     /* of `ended`: calls that an exception left */
    _Atomic uint64_t ticks;     /* ticks of all calls in `ended`, including their callees; those of
                                 * recursive calls lie in those of the outermost call, too */
    _Atomic uint64_t swallowed; /* exceptions of helpers that the method called */
    _Atomic uint64_t total;     /* ticks of the outermost calls in `ended`: recursion counts once */
    _Atomic uint64_t outermost; /* tick at which the outermost call in progress began; 0: none */
};

#define SXS_INSTRUMENT_COUNT_OLD 40u /* bytes of a counter in a record of type COUNTS_OLD */

struct sxs_instrument_counts {
    struct sxs_record           head;
    uint32_t                    first; /* number of the method that counts[0] belongs to */
    uint32_t                    zero;
    struct sxs_instrument_count counts[SXS_INSTRUMENT_PAGE];
};

struct sxs_instrument_label {
    struct sxs_record head;
    uint32_t          method; /* number of the method */
    uint32_t          size; /* bytes of text, without a zero; 0: use the method's name */
    char              text[];
};

struct sxs_instrument_helper {
    struct sxs_record head;
    _Atomic uint64_t  threw;   /* calls whose exception was swallowed */
    _Atomic uint32_t  failed;  /* 1: it could not be loaded, and is not called */
    uint16_t          runtime; /* number of the runtime */
    uint16_t          size;    /* bytes of text, without a terminating zero */
    char              text[];  /* Namespace.Type.Method in PATH */
};

struct sxs_instrument_rule {
    struct sxs_record head;
    uint32_t          number;     /* 0, 1, 2... in this file */
    uint32_t          line;       /* line of the rule in its configuration file */
    uint32_t          without_il; /* number of methods that the rule matches but that have no IL */
    uint8_t           matched;    /* 1: the rule has matched a method, 0: no method so far */
    uint8_t           gone;       /* 1: the rule is no longer in force */
    uint16_t          name_size, file_size, text_size; /* bytes of the texts, without zeros */
    char              text[]; /* name of the rule; its configuration file; the methods most similar
                               * to the rule, or the first methods without IL */
};

_Static_assert(sizeof(struct sxs_instrument_header) <= SXS_HEADER_SIZE, "the header is one page");
_Static_assert(offsetof(struct sxs_instrument_header, spent) == 1120, "part of the format");
_Static_assert(offsetof(struct sxs_instrument_method, text) == 24, "part of the format");
_Static_assert(offsetof(struct sxs_instrument_state, text) == 28, "part of the format");
_Static_assert(sizeof(struct sxs_instrument_counts) == 16 + 56 * SXS_INSTRUMENT_PAGE,
               "part of the format");
_Static_assert(offsetof(struct sxs_instrument_rule, text) == 28, "part of the format");
_Static_assert(offsetof(struct sxs_instrument_label, text) == 16, "part of the format");
_Static_assert(offsetof(struct sxs_instrument_helper, text) == 24, "part of the format");

#endif
