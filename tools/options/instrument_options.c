/* SPDX-License-Identifier: MIT */
#include "tools/options/instrument_options.h"

#include <stdio.h>
#include <string.h>

#define CONFIG "config="

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

static int read_rate(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_instrument_options *out = options;
    (void)row;
    return sxs_tool_number(value, 0, SXS_INSTRUMENT_MAX_RATE, &out->traced_rate);
}

/* For messages; sxs_instrument_options_parse() has taken the option out. */
static int read_config(const struct sxs_tool_option *row, const char *value, void *options)
{
    (void)row, (void)value, (void)options;
    return -1;
}

static const struct sxs_tool_option rows[] = {
    {"config=FILE", NULL, NULL, "an absolute path, once", NULL, read_config},
    {"precompiled=on|off", "precompiled", "on|off", "on or off",
     "Let the runtimes use precompiled code (on)", read_precompiled},
    {"traced=MB", "trace-size", "MB", "a size from 1 to 2048 MiB",
     "Largest size of the file of traced calls, in MiB (256)", read_traced},
    {"rate=N", "trace-rate", "N", "a number from 0 (no limit) to 100000000",
     "Traced calls a second, after the first 10 times as many; 0: no limit (10000)", read_rate},
};
const struct sxs_tool_table sxs_instrument_table = {"instrument", rows,
                                                    sizeof(rows) / sizeof(rows[0])};

int sxs_instrument_options_parse(const char *text, struct sxs_instrument_options *out, char *why,
                                 size_t size)
{
    const char *at = text;
    char        rest[256] = "";
    size_t      n = 0;
    *out = (struct sxs_instrument_options){.precompiled = 1,
                                           .traced_mb = SXS_INSTRUMENT_TRACED_MB,
                                           .traced_rate = SXS_INSTRUMENT_TRACED_RATE};
    while (*at) { /* a path can be longer than the other options */
        size_t len = strcspn(at, ",");
        if (!out->config && strncmp(at, CONFIG "/", sizeof(CONFIG)) == 0) {
            out->config = at + sizeof(CONFIG) - 1;
            out->config_len = len - (sizeof(CONFIG) - 1);
        } else if (n + len + 2 < sizeof(rest)) {
            n += (size_t)snprintf(rest + n, sizeof(rest) - n, "%s%.*s", n ? "," : "", (int)len, at);
        } else {
            snprintf(why, size, "%.40s...: the options are too long", at);
            return -1;
        }
        at += len + (at[len] == ',');
    }
    return sxs_tool_parse(&sxs_instrument_table, rest, out, why, size);
}
