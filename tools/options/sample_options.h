/* SPDX-License-Identifier: MIT */
/** sample_options.h - parses the options after "sample:" in SXSPROF_TOOLS. Used by the library and
 *  the command. */
#ifndef SXS_TOOLS_OPTIONS_SAMPLE_OPTIONS_H
#define SXS_TOOLS_OPTIONS_SAMPLE_OPTIONS_H

#include <stddef.h>

#include "session/format/samples.h"

#define SXS_SAMPLE_OPTIONS_EXPECTED "cpu=HZ or wall=HZ (1 to 10000), " \
    "walker=fast, unwind or snapshot, tiers=on or off"

struct sxs_sampler_options {
    enum sxs_sample_mode   mode;
    enum sxs_sample_walker walker;
    unsigned               hz;    /* samples a second */
    int                    tiers; /* 0: runtimes are not asked to report what they compile */
};

/** sxs_sampler_parse - parse @text over the defaults (cpu=199,walker=fast,tiers=on). Returns 0, or
 *  -1 with the invalid option in @bad (@size bytes). Pure. */
int sxs_sampler_parse(const char *text, struct sxs_sampler_options *out, char *bad, size_t size);

#endif
