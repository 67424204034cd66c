/* SPDX-License-Identifier: MIT */
/**
 * session.h - the layout of a session folder and of the file "census", which the library writes and
 * the command reads.
 *
 * A session folder holds one folder per process, named after its pid. When the pid is used again, a
 * dash and a number follow. Each process's folder holds the file "census", which is one struct
 * sxs_census. The process maps the file shared, so the counts survive any end of the process (exit,
 * _exit, a signal, kill -9). docs/internals/session.md describes the same bytes for other readers.
 * All integers are little-endian.
 */
#ifndef SXS_SESSION_FORMAT_SESSION_H
#define SXS_SESSION_FORMAT_SESSION_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SXS_CENSUS_MAGIC   "SXSCENS" /* 8 bytes with its zero */
#define SXS_CENSUS_VERSION 1u
#define SXS_CENSUS_FILE    "census"
#define SXS_LOG_FILE \
    "log" /* lines of text: errors and warnings of the library, or why a process was left out, which then has no
           * census. Zero bytes end it */
#define SXS_LOG_BYTES      ((size_t)16384)
#define SXS_MAX_RUNTIMES   64u /* more runtimes than this in one process are counted, not listed */

/** How the manager treats a runtime. The texts of sxs_state_text() are part of the JSON format. */
enum sxs_state {
    SXS_STATE_NONE = 0,      /* the row is not in use yet */
    SXS_STATE_PICKED = 1,    /* profiled */
    SXS_STATE_GUARDED = 2,   /* not profiled, but its signals are routed */
    SXS_STATE_CANCELLED = 3, /* turned away; runs without the profiler */
};

/** The row of one runtime. Counters only grow; they are stored as relaxed atomics and can be read
 *  at any time. */
struct sxs_census_runtime {
    _Atomic uint32_t state;       /* enum sxs_state; stored last when the row comes into use */
    uint32_t         number;      /* 1, 2, 3... in order of admission in this process */
    _Atomic uint64_t modules;     /* modules loaded without error */
    _Atomic uint64_t methods;     /* method bodies compiled without error, every tier counted */
    _Atomic uint64_t threads;     /* managed threads created */
    _Atomic uint64_t gcs;         /* garbage collections started */
    _Atomic uint64_t exceptions;  /* managed exceptions thrown */
    _Atomic uint64_t signals;     /* signals that the router handed to this runtime */
    _Atomic uint64_t errors;      /* calls of this runtime that failed; the process went on */
    uint64_t         started_ns;  /* time of admission: CLOCK_REALTIME, nanoseconds since 1970 */
    _Atomic uint64_t ended_ns;    /* 0: still running, or the process ended without Shutdown */
    char             version[64]; /* "8.0.29", zero-terminated; "" until known */
    char             path[512];   /* of libcoreclr.so, zero-terminated, cut when longer */
};

/** The whole file. */
struct sxs_census {
    char             magic[8]; /* SXS_CENSUS_MAGIC */
    uint32_t         version;  /* SXS_CENSUS_VERSION */
    uint32_t         size;     /* sizeof(struct sxs_census), bytes */
    uint32_t         row_size; /* sizeof(struct sxs_census_runtime), bytes */
    uint32_t         pid;
    uint64_t         started_ns;  /* CLOCK_REALTIME when the first runtime loaded the library, or
                                   * when a request began the session */
    _Atomic uint32_t n_runtimes;  /* rows in use, at most SXS_MAX_RUNTIMES */
    _Atomic uint32_t n_unlisted;  /* runtimes beyond SXS_MAX_RUNTIMES */
    uint16_t         preloaded;   /* 1 when the signal library was preloaded */
    uint16_t         mask;        /* enum sxs_mask (base/mask.h): which values were not recorded */
    uint8_t          signals_off; /* 1 when SXSPROF_SIGNALS=off */
    _Atomic uint8_t  has_children; /* 1 when forked children had no memory: they are counted here */
    uint16_t held; /* 1 when the process holds a lock (flock) of this file until the session ends */
    _Atomic uint64_t signals_unwanted; /* routed signals that no runtime wanted */
    char             command[1024];    /* /proc/self/cmdline, spaces for zeros, cut if longer */
    struct sxs_census_runtime runtimes[SXS_MAX_RUNTIMES];
};

_Static_assert(sizeof(struct sxs_census_runtime) == 656, "row layout is part of the format");
_Static_assert(offsetof(struct sxs_census, runtimes) == 1080, "header layout is part of the format");

/** Return the text of an enum sxs_state: "none", "picked", "guarded", "cancelled", or "unknown" for
 *  any other value. Static string. */
static inline const char *sxs_state_text(uint32_t state)
{
    static const char *const text[] = {"none", "picked", "guarded", "cancelled"};
    return state < 4 ? text[state] : "unknown";
}

#endif
