/* SPDX-License-Identifier: MIT */
/** events_options.h - parses the options after "events:" in SXSPROF_TOOLS. Used by the library and
 *  the command. */
#ifndef SXS_TOOLS_OPTIONS_EVENTS_OPTIONS_H
#define SXS_TOOLS_OPTIONS_EVENTS_OPTIONS_H

#include <stddef.h>

#include "tools/options/tool_options.h"

struct sxs_event_options {
    int classes; /* 1: also record class loads */
    int tiers;   /* 1: ask runtimes for the tiers of compiled methods */
};

extern const struct sxs_tool_table sxs_event_table;

/** sxs_event_options_parse - parse @text over the defaults (tiers=on). Returns 0, or -1 with a
 *  sentence about the first wrong option in @why (@size bytes). Pure. */
int sxs_event_options_parse(const char *text, struct sxs_event_options *out, char *why,
                            size_t size);

#endif
