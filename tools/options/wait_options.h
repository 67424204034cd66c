/* SPDX-License-Identifier: MIT */
/** wait_options.h - parses the options after "wait:" in SXSPROF_TOOLS. Used by the library and the
 *  command. */
#ifndef SXS_TOOLS_OPTIONS_WAIT_OPTIONS_H
#define SXS_TOOLS_OPTIONS_WAIT_OPTIONS_H

#include <stddef.h>

#include "tools/options/tool_options.h"

struct sxs_wait_options {
    unsigned hz; /* rounds a second */
};

extern const struct sxs_tool_table sxs_wait_table;

/** sxs_wait_parse - parse @text over the defaults (rate=100). Returns 0, or -1 with a sentence about
 *  the first wrong option in @why (@size bytes). Pure. */
int sxs_wait_parse(const char *text, struct sxs_wait_options *out, char *why, size_t size);

#endif
