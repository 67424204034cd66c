/* SPDX-License-Identifier: MIT */
/** events_options.h - what follows "events:" in SXSPROF_TOOLS; read by the library and the command. */
#ifndef SXS_EVENT_OPTIONS_H
#define SXS_EVENT_OPTIONS_H

#include <stddef.h>

struct sxs_event_options {
    int classes; /* 1: class loads too */
    int tiers;   /* 0: runtimes are not asked at which tier they compile */
};

#define SXS_EVENT_OPTIONS_EXPECTED "classes or tiers=on|off, separated by ','"

/** Parses @text over the defaults (tiers=on). Returns 0, or -1 with the piece that is wrong in @bad
 *  (@size bytes). Pure. */
int sxs_event_options_parse(const char *text, struct sxs_event_options *out, char *bad,
                            size_t size);

#endif
