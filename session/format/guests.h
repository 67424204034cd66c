/* SPDX-License-Identifier: MIT */
/**
 * guests.h - the layout of the file "guests" in a process's folder: which other profilers ran as
 * guests, on which runtime, and what they did.
 *
 * The file is one struct sxs_guests. The process maps it shared, as the census (session.h). All
 * integers are little-endian.
 */
#ifndef SXS_SESSION_FORMAT_GUESTS_H
#define SXS_SESSION_FORMAT_GUESTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SXS_GUESTS_MAGIC   "SXSGUES" /* 8 bytes with its zero */
#define SXS_GUESTS_VERSION 1u
#define SXS_GUESTS_FILE    "guests"
#define SXS_GUESTS_ROWS    1024u /* guests x runtimes; more are counted, not listed */

/** The state of a guest on a runtime. The texts of sxs_guest_state_text() are part of the JSON
 *  format. */
enum sxs_guest_state {
    SXS_GUEST_NONE = 0,     /* the row is not in use yet */
    SXS_GUEST_STARTING = 1, /* its library is being loaded, or Initialize has not returned */
    SXS_GUEST_ACTIVE = 2,
    SXS_GUEST_FAILED = 3,   /* not loaded, or Initialize failed; the runtime runs without it */
    SXS_GUEST_REFUSED = 4,  /* as failed, but it serves another runtime of the process */
    SXS_GUEST_DETACHED = 5, /* it asked to be detached */
    SXS_GUEST_ENDED = 6,    /* its runtime has shut down */
};

/** Bits of an event mask's low half: hooks at enter and leave, and those with which hooks take the
 *  slow path (arguments, results, frames). */
#define SXS_GUEST_HOOKS 0x00001000u
#define SXS_GUEST_SLOW  0x0e000000u

/** One guest on one runtime. Counters only grow; they are stored as relaxed atomics. */
struct sxs_guest_row {
    _Atomic uint32_t state;      /* enum sxs_guest_state; stored last when the row comes into use */
    uint32_t         runtime;    /* number of the runtime in the census */
    _Atomic uint64_t callbacks;  /* calls of its callback object */
    _Atomic uint64_t failures;   /* those that returned a failure */
    _Atomic uint64_t ns;         /* time in callbacks: an estimate from a sample (guests/call.c) */
    _Atomic uint64_t info_calls; /* calls of its ICorProfilerInfo */
    _Atomic uint64_t info_refused;     /* those with an ID of another runtime: E_INVALIDARG */
    _Atomic uint32_t low, high;        /* event mask that it has asked for */
    _Atomic uint32_t result;           /* HRESULT of its Initialize */
    uint32_t         callback_version; /* highest ICorProfilerCallback it has; 0: unknown */
    int32_t          priority;
    uint32_t         unused;
    uint64_t         started_ns; /* CLOCK_MONOTONIC: how long loading and Initialize took */
    _Atomic uint64_t start_took_ns;
    char             clsid[40]; /* "{...}" */
    char             path[512]; /* of the library, zero-terminated, cut when longer */
    char             why[200];  /* why it is not active; "" when it is */
};

/** The whole file. */
struct sxs_guests {
    char                 magic[8]; /* SXS_GUESTS_MAGIC */
    uint32_t             version;  /* SXS_GUESTS_VERSION */
    uint32_t             size;     /* sizeof(struct sxs_guests), bytes */
    uint32_t             row_size; /* sizeof(struct sxs_guest_row), bytes */
    _Atomic uint32_t     n_rows;   /* rows in use, at most SXS_GUESTS_ROWS */
    _Atomic uint32_t     n_unlisted;
    _Atomic uint32_t     has_children; /* 1 when forked children had no memory: they are counted here */
    struct sxs_guest_row rows[SXS_GUESTS_ROWS];
};

_Static_assert(sizeof(struct sxs_guest_row) == 840, "row layout is part of the format");
_Static_assert(offsetof(struct sxs_guests, rows) == 32, "header layout is part of the format");

/** Return the text of an enum sxs_guest_state. Static string. A guest whose runtime has shut down
 *  was active until then. */
static inline const char *sxs_guest_state_text(uint32_t state)
{
    static const char *const text[] = {"none",    "starting", "active", "failed",
                                       "refused", "detached", "active"};
    return state < 7 ? text[state] : "unknown";
}

#endif
