/* SPDX-License-Identifier: MIT */
#include "cmd/gc/sums.h"

#include <stdio.h>

unsigned sxs_gc_line(const struct sxs_events_collection *c)
{
    return c->type == SXS_GC_BACKGROUND ? 3 : c->generation < 3 ? c->generation : 4;
}

const char *sxs_gc_line_text(unsigned line)
{
    static const char *const texts[SXS_GC_LINES] = {"generation 0", "generation 1", "generation 2",
                                                    "generation 2, background",
                                                    "generation unknown"};
    return texts[line < SXS_GC_LINES ? line : SXS_GC_LINES - 1];
}
