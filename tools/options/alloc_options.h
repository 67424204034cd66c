/* SPDX-License-Identifier: MIT */
/** alloc_options.h - parses the options after "alloc:" in SXSPROF_TOOLS. Used by the library and
 *  the command. */
#ifndef SXS_TOOLS_OPTIONS_ALLOC_OPTIONS_H
#define SXS_TOOLS_OPTIONS_ALLOC_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "tools/options/tool_options.h"

/** The runtimes' own interval, in bytes: of 10.0 on average; 8.0 and 9.0 report an allocation when
 *  more than this has been allocated since the last. */
#define SXS_ALLOC_RUNTIME_INTERVAL UINT64_C(102400)

struct sxs_alloc_options {
    uint64_t interval; /* bytes from one sampled object to the next, on average */
    int      exact; /* 1: all objects are counted, too */
    int      ticks; /* 1: on 8.0 and 9.0, samples come from the runtime's allocation ticks */
    int      live;  /* 1: sampled objects are followed until they are collected */
};

extern const struct sxs_tool_table sxs_alloc_table;

/** sxs_alloc_options_parse - parse @text over the defaults (interval=512k). Returns 0, or -1 with a
 *  sentence about the first wrong option in @why (@size bytes). Pure. */
int sxs_alloc_options_parse(const char *text, struct sxs_alloc_options *out, char *why,
                            size_t size);

#endif
