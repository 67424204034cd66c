/* SPDX-License-Identifier: MIT */
/** calls_options.h - parses the options after "calls:" in SXSPROF_TOOLS, and patterns that name
 *  functions. Used by the library and the command. */
#ifndef SXS_TOOLS_OPTIONS_CALLS_OPTIONS_H
#define SXS_TOOLS_OPTIONS_CALLS_OPTIONS_H

#include <stddef.h>

#include "session/format/calls.h"
#include "tools/options/tool_options.h"

#define SXS_CALLS_TRACE_MB 64u /* default size of a call trace: 4 million events, 2 million calls */

struct sxs_calls_options {
    enum sxs_calls_mode mode;
    int                 inlining;   /* 1: the JIT may inline; inlined calls are not counted */
    unsigned            backoff_hz; /* back off above so many calls a second; 0: never */
    unsigned            backoff_ns; /* and only if a call takes less than so many ns */
    int                 logical;    /* 1: resumed async methods lie below their awaiters */
    unsigned            trace_mb;   /* MiB for the call trace; 0: no call trace */
};

extern const struct sxs_tool_table sxs_calls_table;

/**
 * sxs_calls_parse - parse @text over the defaults (tree, inline=off, backoff=1000000/200,
 * await=physical). await=logical is accepted with a call tree only.
 * Returns 0, or -1 with a sentence about the first wrong option in @why (@size bytes). Pure.
 */
int sxs_calls_parse(const char *text, struct sxs_calls_options *out, char *why, size_t size);

/** The parts of a pattern "[VERSION/]ASSEMBLY:NAME". Each part may have the wildcards '*' and
 *  '?'. */
struct sxs_calls_pattern {
    char version[32];   /* "": any version; "8" also matches 8.0.29 */
    char assembly[128]; /* without .dll */
    char name[512];     /* Namespace.Type.Method */
};

#define SXS_CALLS_PATTERN_EXPECTED "[VERSION/]ASSEMBLY:NAME, wildcards * and ?"

/** sxs_calls_pattern - parse a pattern. Returns 0, or -1 when @text (@len bytes) is not a
 *  pattern. */
int sxs_calls_pattern(const char *text, size_t len, struct sxs_calls_pattern *out);

/** sxs_calls_pattern_assembly, sxs_calls_pattern_name - return 1 if the pattern matches, else 0.
 *  @name: Namespace.Type.Method; generic arguments and parameters in it are ignored. Pure. */
int sxs_calls_pattern_assembly(const struct sxs_calls_pattern *p, const char *version,
                               const char *assembly);
int sxs_calls_pattern_name(const struct sxs_calls_pattern *p, const char *name);

#endif
