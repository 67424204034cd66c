/* SPDX-License-Identifier: MIT */
/** heap_options.h - parses the options after "heap:" in SXSPROF_TOOLS. Used by the library and the
 *  command. */
#ifndef SXS_TOOLS_OPTIONS_HEAP_OPTIONS_H
#define SXS_TOOLS_OPTIONS_HEAP_OPTIONS_H

#include <stddef.h>

#include "tools/options/tool_options.h"

#define SXS_HEAP_SIGNAL_NAME "RTMAX-5" /* the signal that asks for a snapshot, by default */

struct sxs_heap_options {
    unsigned every_s; /* seconds between snapshots; 0: none at intervals */
    int      signal;  /* number of the signal that asks for one; 0: none */
    int      at_exit; /* 1: of each runtime when its program ends */
    int      now;     /* 1: when the first runtime has started */
    int      collect; /* 1: collect before, so that no garbage is included and roots are known */
    int      frames;  /* 1: name the functions of roots on stacks; no concurrent collections */
};

extern const struct sxs_tool_table sxs_heap_table;

/** sxs_heap_options_parse - parse @text over the defaults (signal=RTMAX-5, collect=on). Returns 0,
 *  or -1 with a sentence about the first wrong option in @why (@size bytes). Pure. */
int sxs_heap_options_parse(const char *text, struct sxs_heap_options *out, char *why, size_t size);

/** sxs_heap_signal - return the number of a signal that may ask for snapshots: USR1, USR2, RTMIN+2
 *  to RTMAX, with or without "SIG"; 0 for "off"; -1: it is none of these. Pure. */
int sxs_heap_signal(const char *name);

#endif
