/* SPDX-License-Identifier: MIT */
#include "cmd/output/names_of_values.h"

const char *sxs_tier_text(unsigned tier)
{
    static const char *const texts[] = {"unknown", "tier 0", "tier 1",  "OSR",
                                        "R2R",     "stub",   "dynamic", "optimized"};
    return tier < sizeof(texts) / sizeof(texts[0]) ? texts[tier] : "unknown";
}

const char *sxs_suspension_text(unsigned reason)
{
    static const char *const texts[] = {
        "other", "garbage collection", "application domain shutdown", "code pitching", "shutdown",
        "unknown", "debugger", "background garbage collection", "ReJIT", "profiler"};
    return reason < sizeof(texts) / sizeof(texts[0]) ? texts[reason] : "unknown";
}

const char *sxs_sample_clock_text(unsigned clock)
{
    static const char *const texts[] = {"", "CPU timer", "perf events", "monotonic timer", "rounds"};
    return clock < sizeof(texts) / sizeof(texts[0]) ? texts[clock] : "?";
}
