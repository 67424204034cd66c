/* SPDX-License-Identifier: MIT */
/** sample_options.h - parses the options after "sample:" in SXSPROF_TOOLS. Used by the library and
 *  the command. */
#ifndef SXS_TOOLS_OPTIONS_SAMPLE_OPTIONS_H
#define SXS_TOOLS_OPTIONS_SAMPLE_OPTIONS_H

#include <stddef.h>

#include "session/format/samples.h"
#include "tools/options/tool_options.h"

struct sxs_sampler_options {
    enum sxs_sample_mode   mode;
    enum sxs_sample_walker walker;
    unsigned               hz;    /* samples a second */
    int                    tiers; /* 0: runtimes are not asked to report what they compile */
    int                    trace; /* 1: samples have the current Activity of their threads */
};

extern const struct sxs_tool_table sxs_sampler_table;

/** sxs_sampler_parse - parse @text over the defaults (cpu=199,walker=fast,tiers=on,trace=off). Returns 0, or
 *  -1 with a sentence about the first wrong option in @why (@size bytes). Pure. */
int sxs_sampler_parse(const char *text, struct sxs_sampler_options *out, char *why, size_t size);

#endif
