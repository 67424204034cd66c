/* SPDX-License-Identifier: MIT */
#include "tools/options/wait_options.h"

#define MAX_HZ 10000

static int read_rate(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_wait_options *out = options;
    (void)row;
    return sxs_tool_number(value, 1, MAX_HZ, &out->hz);
}

static const struct sxs_tool_option rows[] = {
    {"rate=HZ", "rate", "HZ", "a rate from 1 to 10000 Hz", "Looks at each thread a second (100)",
     read_rate},
};
const struct sxs_tool_table sxs_wait_table = {"wait", rows, sizeof(rows) / sizeof(rows[0])};

int sxs_wait_parse(const char *text, struct sxs_wait_options *out, char *why, size_t size)
{
    *out = (struct sxs_wait_options){.hz = 100};
    return sxs_tool_parse(&sxs_wait_table, text, out, why, size);
}
