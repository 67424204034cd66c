/* SPDX-License-Identifier: MIT */
#include "tools/options/events_options.h"

static int read_classes(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_event_options *out = options;
    (void)row;
    out->classes = 1;
    return value ? -1 : 0;
}

static int read_tiers(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_event_options *out = options;
    int                       choice = sxs_choice(row->argument, value);
    out->tiers = choice == 0;
    return choice < 0 ? -1 : 0;
}

static const struct sxs_tool_option rows[] = {
    {"classes", "classes", NULL, "no value", "Record class loads, too", read_classes},
    {"tiers=on|off", "tiers", "on|off", "on or off",
     "Ask the runtimes for the tiers of compiled methods (on)", read_tiers},
};
const struct sxs_tool_table sxs_event_table = {"events", rows, sizeof(rows) / sizeof(rows[0])};

int sxs_event_options_parse(const char *text, struct sxs_event_options *out, char *why, size_t size)
{
    *out = (struct sxs_event_options){.tiers = 1};
    return sxs_tool_parse(&sxs_event_table, text, out, why, size);
}
