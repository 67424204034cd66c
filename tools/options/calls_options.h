/* SPDX-License-Identifier: MIT */
/** calls_options.h - what follows "calls:" in SXSPROF_TOOLS, and patterns of functions; read by the
 *  library and the command. */
#ifndef SXS_CALLS_OPTIONS_H
#define SXS_CALLS_OPTIONS_H

#include <stddef.h>

#include "session/format/calls.h"

#define SXS_CALLS_TRACE_MB 64u /* by default: 4 million events, 2 million calls */

struct sxs_calls_options {
    enum sxs_calls_mode mode;
    int                 inlining;   /* 1: what the JIT inlines stays unseen */
    unsigned            backoff_hz; /* calls a second of one function; 0: never back off */
    unsigned            backoff_ns; /* and its calls are shorter than this */
    int                 logical;    /* 1: what goes on after an await lies below who awaits it */
    unsigned            trace_mb;   /* room for single calls; 0: they are not recorded */
};

#define SXS_CALLS_OPTIONS_EXPECTED                                                         \
    "[count|time|tree|trace[=MB]][,inline=on|off][,backoff=CALLS-PER-SECOND/NANOSECONDS|off]" \
    "[,await=physical|logical]"

/**
 * sxs_calls_parse - reads @text ("" is all defaults: tree, inline=off, backoff=1000000/200,
 * await=physical).
 * Returns 0, or -1 with the first word that is not understood in @bad.
 */
int sxs_calls_parse(const char *text, struct sxs_calls_options *out, char *bad, size_t size);

/** A pattern "[VERSION/]ASSEMBLY:NAME", cut into its parts. Wildcards in each: '*' and '?'. */
struct sxs_calls_pattern {
    char version[32];   /* "" is any; "8" is also 8.0.29 */
    char assembly[128]; /* without .dll */
    char name[512];     /* Namespace.Type.Method */
};

#define SXS_CALLS_PATTERN_EXPECTED "[VERSION/]ASSEMBLY:NAME, wildcards * and ?"

/** Returns 0, or -1 when @text (@len bytes) is no pattern. */
int sxs_calls_pattern(const char *text, size_t len, struct sxs_calls_pattern *out);

/** 1 when it fits: @name is Namespace.Type.Method, with generic arguments and parameters or not:
 *  both are passed over. Pure. */
int sxs_calls_pattern_assembly(const struct sxs_calls_pattern *p, const char *version,
                               const char *assembly);
int sxs_calls_pattern_name(const struct sxs_calls_pattern *p, const char *name);

#endif
