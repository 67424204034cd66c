/* SPDX-License-Identifier: MIT */
/** locks_options.h - parses the options after "locks:" in SXSPROF_TOOLS. Used by the library and the
 *  command. */
#ifndef SXS_TOOLS_OPTIONS_LOCKS_OPTIONS_H
#define SXS_TOOLS_OPTIONS_LOCKS_OPTIONS_H

#include <stddef.h>

#include "tools/options/tool_options.h"

struct sxs_locks_options {
    int owners; /* 1: also the stacks of the threads that hold the locks */
    int pool;   /* 1: also the thread pool: its threads, starvation and queue */
};

extern const struct sxs_tool_table sxs_locks_table;

/** sxs_locks_parse - parse @text over the defaults (owners=on,pool=on). Returns 0, or -1 with a
 *  sentence about the first wrong option in @why (@size bytes). Pure. */
int sxs_locks_parse(const char *text, struct sxs_locks_options *out, char *why, size_t size);

#endif
