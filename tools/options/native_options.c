/* SPDX-License-Identifier: MIT */
#include "tools/options/native_options.h"

static int read_every(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_native_options *out = options;
    (void)row;
    return sxs_tool_bytes(value, 1, UINT64_C(1) << 30, &out->interval);
}

static const struct sxs_tool_option rows[] = {
    {"interval=BYTES", "interval", "BYTES", "bytes from 1 to 1g, such as 512k",
     "Sample one allocation in so many allocated bytes, on average (512k)", read_every},
};
const struct sxs_tool_table sxs_native_table = {"native", rows, sizeof(rows) / sizeof(rows[0])};

int sxs_native_options_parse(const char *text, struct sxs_native_options *out, char *why,
                             size_t size)
{
    *out = (struct sxs_native_options){.interval = UINT64_C(512) << 10};
    return sxs_tool_parse(&sxs_native_table, text, out, why, size);
}
