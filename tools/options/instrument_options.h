/* SPDX-License-Identifier: MIT */
/** instrument_options.h - parses the options after "instrument:" in SXSPROF_TOOLS. Used by the
 *  library and the command. */
#ifndef SXS_TOOLS_OPTIONS_INSTRUMENT_OPTIONS_H
#define SXS_TOOLS_OPTIONS_INSTRUMENT_OPTIONS_H

#include <stddef.h>

#include "tools/options/tool_options.h"

struct sxs_instrument_options {
    int      precompiled; /* 0: runtimes do not use precompiled code */
    unsigned traced_mb;   /* largest size of the file of traced calls, in MiB */
    unsigned    traced_rate; /* calls a second that are traced; 0: no limit */
    const char *config;   /* in the text; the file or folder of rules; NULL: SXSPROF_INSTRUMENT */
    size_t      config_len; /* bytes */
};

#define SXS_INSTRUMENT_TRACED_MB     256u
#define SXS_INSTRUMENT_MAX_TRACED_MB 2048u
#define SXS_INSTRUMENT_TRACED_RATE   10000u
#define SXS_INSTRUMENT_MAX_RATE      100000000u

extern const struct sxs_tool_table sxs_instrument_table;

/** sxs_instrument_options_parse - parse @text over the defaults (precompiled=on,traced=256,rate=10000).
 *  Returns 0, or -1 with a sentence about the first wrong option in @why (@size bytes). Pure. */
int sxs_instrument_options_parse(const char *text, struct sxs_instrument_options *out, char *why,
                                 size_t size);

#endif
