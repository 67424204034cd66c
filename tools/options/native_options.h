/* SPDX-License-Identifier: MIT */
/** native_options.h - parses the options after "native:" in SXSPROF_TOOLS. Used by the library and
 *  the command. */
#ifndef SXS_TOOLS_OPTIONS_NATIVE_OPTIONS_H
#define SXS_TOOLS_OPTIONS_NATIVE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "tools/options/tool_options.h"

struct sxs_native_options {
    uint64_t interval; /* bytes from one sample to the next, on average */
};

extern const struct sxs_tool_table sxs_native_table;

/** sxs_native_options_parse - parse @text over the defaults (interval=512k). Returns 0, or -1 with a
 *  sentence about the first wrong option in @why (@size bytes). Pure. */
int sxs_native_options_parse(const char *text, struct sxs_native_options *out, char *why,
                             size_t size);

#endif
