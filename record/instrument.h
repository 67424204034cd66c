/* SPDX-License-Identifier: MIT */
/**
 * instrument.h - the format of the file "instrument" in a process's session folder: which methods got
 * new IL, what became of each, and what that counted.
 *
 * A header of one page, then chunks of records (record/chunks.h). Fields marked _Atomic are changed after
 * their record was committed, each by one aligned store. Counters are kept by each thread on its own: the
 * sum over all COUNTS records is what counts. docs/session.md describes the same bytes.
 */
#ifndef SXS_RECORD_INSTRUMENT_H
#define SXS_RECORD_INSTRUMENT_H

#include <stddef.h>

#include "record/chunks.h"

#define SXS_INSTRUMENT_MAGIC   "SXSINST" /* 8 bytes with its zero */
#define SXS_INSTRUMENT_VERSION 1u
#define SXS_INSTRUMENT_FILE    "instrument"

/** What the library does, and how long it took: CPU time of its thread, for REVERT and REJIT wall
 *  time. The names are those of JSON. */
#define SXS_SPENT_KINDS(X)                                                          \
    X(LOAD, "load")     /* instrumentation files read, each time they changed */    \
    X(MATCH, "match")   /* rules held against a module */                           \
    X(REVERT, "revert") /* a runtime asked to revert a batch of methods */          \
    X(REJIT, "rejit")   /* or to compile it anew: the runtime stands still inside */ \
    X(WEAVE, "weave")   /* a method read, checked, changed, checked, handed over */
enum sxs_spent_kind {
#define X(name, text) SXS_SPENT_##name,
    SXS_SPENT_KINDS(X)
#undef X
        SXS_N_SPENT
};

struct sxs_instrument_spent {
    _Atomic uint64_t n;
    _Atomic uint64_t ns;         /* of all */
    _Atomic uint64_t longest_ns; /* of one */
};

/** The first page. Two pairs of clock readings tell how long a tick is. The second pair is stored one after the other: a
 *  reader of a running process may see readings that are one interval of some ms apart. */
struct sxs_instrument_header {
    char             magic[8];
    uint32_t         version;
    uint32_t         chunk_size;
    uint32_t         pid;
    uint32_t         zero;
    uint64_t         started_realtime_ns;
    uint64_t         started_ns, started_tick; /* CLOCK_MONOTONIC */
    _Atomic uint64_t seen_ns, seen_tick;
    _Atomic uint64_t ended_ns; /* 0: still running, or ended without saying so */
    _Atomic uint32_t n_chunks;
    uint32_t         max_chunks;
    _Atomic uint64_t lost;    /* records that found no room */
    _Atomic uint64_t changes; /* configurations applied */
    char             command[1024];
    /* What the library's own work took, since version 1 began to tell it; zeros before. */
    struct sxs_instrument_spent spent[SXS_N_SPENT];
};

enum sxs_instrument_record_type {
    SXS_INSTRUMENT_SITE = 1,   /* a method that rules apply to */
    SXS_INSTRUMENT_STATE = 2,  /* what became of it: the latest counts */
    SXS_INSTRUMENT_COUNTS = 3, /* one thread's counters of SXS_INSTRUMENT_PAGE sites */
    SXS_INSTRUMENT_LABEL = 4,  /* a site's name in reports: the latest counts */
    SXS_INSTRUMENT_HELPER = 5, /* a managed method that rules have called, in one runtime */
    SXS_INSTRUMENT_RULE = 6,   /* what a rule came to: the latest of its number counts */
    SXS_INSTRUMENT_LAST = 6,
};

/** State of a site. The names are what reports and JSON print. */
#define SXS_SITE_STATES(X)                                                      \
    X(PENDING, "pending")   /* asked for; the method was not called since */    \
    X(ACTIVE, "active")     /* its new IL was handed to the runtime */          \
    X(FAILED, "failed")     /* by us or by the runtime: text and hr tell why */ \
    X(REVERTED, "reverted") /* the original is back */                          \
    X(UNLOADED, "unloaded") /* with its module */
enum sxs_site_state {
#define X(name, text) SXS_SITE_##name,
    SXS_SITE_STATES(X)
#undef X
        SXS_N_SITE_STATES
};

struct sxs_instrument_site {
    struct sxs_record head;
    uint32_t          number;                   /* from 0, in this file */
    uint32_t          token;                    /* in its module */
    uint16_t          runtime;                  /* its number */
    uint16_t          assembly_size, name_size; /* bytes that follow, no zeros at their ends */
    uint16_t          zero;
    char              text[]; /* assembly, then Namespace.Type.Method */
};

struct sxs_instrument_state {
    struct sxs_record head;
    uint64_t          time_ns;
    uint32_t          site;
    uint32_t          hr;    /* of the runtime, or 0 */
    uint8_t           state; /* enum sxs_site_state */
    uint8_t           zero;
    uint16_t          size;   /* bytes that follow, no zero at the end */
    char              text[]; /* names of the rules, or the reason; SXS_INSTRUMENT_COMPILED: of an
                                 active one, the runtime has machine code of its new IL */
};

#define SXS_INSTRUMENT_COMPILED "compiled"

#define SXS_INSTRUMENT_PAGE 256u

struct sxs_instrument_count {
    _Atomic uint64_t calls; /* entered */
    _Atomic uint64_t ended; /* timed */
    _Atomic uint64_t threw; /* of those: left by an exception */
    _Atomic uint64_t ticks; /* of all that ended, with what they called */
    _Atomic uint64_t swallowed; /* exceptions of helpers that it called */
};

struct sxs_instrument_counts {
    struct sxs_record           head;
    uint32_t                    first; /* site of the first */
    uint32_t                    zero;
    struct sxs_instrument_count counts[SXS_INSTRUMENT_PAGE];
};

struct sxs_instrument_label {
    struct sxs_record head;
    uint32_t          site;
    uint32_t          size;   /* bytes that follow, no zero at the end; 0: the method's name again */
    char              text[];
};

struct sxs_instrument_helper {
    struct sxs_record head;
    _Atomic uint64_t  threw;  /* calls whose exception was swallowed */
    _Atomic uint32_t  failed; /* 1: it could not be loaded, and is not called */
    uint16_t          runtime;
    uint16_t          size;   /* bytes that follow, no zero at the end */
    char              text[]; /* Namespace.Type.Method in PATH */
};

struct sxs_instrument_rule {
    struct sxs_record head;
    uint32_t          number; /* from 0, in this file */
    uint32_t          line;   /* in its file */
    uint32_t          without_il; /* methods it fits that have none */
    uint8_t           matched;    /* 0: nothing so far */
    uint8_t           gone;       /* it is no longer in force */
    uint16_t          name_size, file_size, text_size; /* bytes that follow, no zeros at their ends */
    char              text[]; /* name, file; what came nearest, or the first methods without IL */
};

_Static_assert(sizeof(struct sxs_instrument_header) <= SXS_HEADER_SIZE, "the header is one page");
_Static_assert(offsetof(struct sxs_instrument_header, spent) == 1120, "part of the format");
_Static_assert(offsetof(struct sxs_instrument_site, text) == 24, "part of the format");
_Static_assert(offsetof(struct sxs_instrument_state, text) == 28, "part of the format");
_Static_assert(sizeof(struct sxs_instrument_counts) == 16 + 40 * SXS_INSTRUMENT_PAGE,
               "part of the format");
_Static_assert(offsetof(struct sxs_instrument_rule, text) == 28, "part of the format");
_Static_assert(offsetof(struct sxs_instrument_label, text) == 16, "part of the format");
_Static_assert(offsetof(struct sxs_instrument_helper, text) == 24, "part of the format");

#endif
