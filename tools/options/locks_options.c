/* SPDX-License-Identifier: MIT */
#include "tools/options/locks_options.h"

static int read_owners(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_locks_options *out = options;
    int                       choice = sxs_choice(row->argument, value);
    out->owners = choice == 0;
    return choice < 0 ? -1 : 0;
}

static int read_pool(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_locks_options *out = options;
    int                       choice = sxs_choice(row->argument, value);
    out->pool = choice == 0;
    return choice < 0 ? -1 : 0;
}

static const struct sxs_tool_option rows[] = {
    {"owners=on|off", "owners", "on|off", "on or off",
     "Record the stacks of the threads that hold the locks, too (on)", read_owners},
    {"pool=on|off", "pool", "on|off", "on or off",
     "Record the threads and the queue of the thread pool, too (on)", read_pool},
};
const struct sxs_tool_table sxs_locks_table = {"locks", rows, sizeof(rows) / sizeof(rows[0])};

int sxs_locks_parse(const char *text, struct sxs_locks_options *out, char *why, size_t size)
{
    *out = (struct sxs_locks_options){.owners = 1, .pool = 1};
    return sxs_tool_parse(&sxs_locks_table, text, out, why, size);
}
