/* SPDX-License-Identifier: MIT */
#include "tools/options/instrument_options.h"

static int read_precompiled(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_instrument_options *out = options;
    int                            choice = sxs_choice(row->argument, value);
    out->precompiled = choice == 0;
    return choice < 0 ? -1 : 0;
}

static int read_traced(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_instrument_options *out = options;
    (void)row;
    return sxs_tool_number(value, 1, SXS_INSTRUMENT_MAX_TRACED_MB, &out->traced_mb);
}

static const struct sxs_tool_option rows[] = {
    {"precompiled=on|off", "precompiled", "on|off", "on or off",
     "Let the runtimes use precompiled code (on)", read_precompiled},
    {"traced=MB", "trace-size", "MB", "a size from 1 to 2048 MiB",
     "Largest size of the file of traced calls, in MiB (256)", read_traced},
};
const struct sxs_tool_table sxs_instrument_table = {"instrument", rows,
                                                    sizeof(rows) / sizeof(rows[0])};

int sxs_instrument_options_parse(const char *text, struct sxs_instrument_options *out, char *why,
                                 size_t size)
{
    *out = (struct sxs_instrument_options){1, SXS_INSTRUMENT_TRACED_MB};
    return sxs_tool_parse(&sxs_instrument_table, text, out, why, size);
}
