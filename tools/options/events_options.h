/* SPDX-License-Identifier: MIT */
/** events_options.h - parses the options after "events:" in SXSPROF_TOOLS. Used by the library and
 *  the command. */
#ifndef SXS_TOOLS_OPTIONS_EVENTS_OPTIONS_H
#define SXS_TOOLS_OPTIONS_EVENTS_OPTIONS_H

#include <stddef.h>

struct sxs_event_options {
    int classes; /* 1: also record class loads */
    int tiers;   /* 1: ask runtimes for the tiers of compiled methods */
};

#define SXS_EVENT_OPTIONS_EXPECTED "classes or tiers=on|off, separated by ','"

/** sxs_event_options_parse - parse @text over the defaults (tiers=on). Returns 0, or -1 with the
 *  invalid option in @bad (@size bytes). Pure. */
int sxs_event_options_parse(const char *text, struct sxs_event_options *out, char *bad,
                            size_t size);

#endif
