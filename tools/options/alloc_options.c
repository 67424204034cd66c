/* SPDX-License-Identifier: MIT */
#include "tools/options/alloc_options.h"

#define LARGEST_INTERVAL (UINT64_C(1) << 30)

static int read_every(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_alloc_options *out = options;
    (void)row;
    return sxs_tool_bytes(value, SXS_ALLOC_RUNTIME_INTERVAL, LARGEST_INTERVAL, &out->interval);
}

static int read_exact(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_alloc_options *out = options;
    (void)row;
    out->exact = 1;
    return value ? -1 : 0;
}

static int read_ticks(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_alloc_options *out = options;
    (void)row;
    out->ticks = 1;
    return value ? -1 : 0;
}

static int read_live(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_alloc_options *out = options;
    int                       choice = sxs_choice(row->argument, value);
    out->live = choice == 0;
    return choice < 0 ? -1 : 0;
}

static const struct sxs_tool_option rows[] = {
    {"interval=BYTES", "interval", "BYTES", "bytes from 100k to 1g, such as 512k",
     "Sample one object in so many allocated bytes, on average (512k)", read_every},
    {"exact", "exact", NULL, "no value",
     "Count every object, too; this slows allocation down a lot", read_exact},
    {"ticks", "ticks", NULL, "no value",
     "Sample .NET 8 and 9 by their own events: cheaper, but estimates may be biased", read_ticks},
    {"live=on|off", "live", "on|off", "on or off",
     "Follow the sampled objects: which are still alive (off)", read_live},
};
const struct sxs_tool_table sxs_alloc_table = {"alloc", rows, sizeof(rows) / sizeof(rows[0])};

int sxs_alloc_options_parse(const char *text, struct sxs_alloc_options *out, char *why, size_t size)
{
    *out = (struct sxs_alloc_options){.interval = UINT64_C(512) << 10};
    return sxs_tool_parse(&sxs_alloc_table, text, out, why, size);
}
