/* SPDX-License-Identifier: MIT */
#include "tools/options/late_start.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "runtime_facts/info.h"
#include "tools/options/alloc_options.h"
#include "tools/options/heap_options.h"
#include "tools/options/instrument_options.h"

/* One row of the table. The first row that fits counts. */
struct late_start_row {
    const char *tool;
    int (*fits)(const char *options); /* NULL: with any options */
    bool (*is_about)(const struct sxs_runtime_facts *f); /* NULL: all versions */
    unsigned             ways;        /* a bit for each enum sxs_late_way */
    enum sxs_late_result result;
    const char          *why;
};

enum { ATTACH = 1 << SXS_LATE_ATTACH, REQUEST = 1 << SXS_LATE_REQUEST, BOTH = ATTACH | REQUEST };

static int is_exact(const char *text)
{
    struct sxs_alloc_options o;
    char                     why[SXS_TOOL_WHY];
    return sxs_alloc_options_parse(text, &o, why, sizeof(why)) == 0 && o.exact;
}

static int is_at_exit(const char *text)
{
    struct sxs_heap_options o;
    char                    why[SXS_TOOL_WHY];
    return sxs_heap_options_parse(text, &o, why, sizeof(why)) == 0 && o.at_exit;
}

static int is_without_rules(const char *text)
{
    struct sxs_instrument_options o;
    char                          why[SXS_TOOL_WHY];
    return sxs_instrument_options_parse(text, &o, why, sizeof(why)) != 0 || !o.config;
}

static bool lacks_sessions(const struct sxs_runtime_facts *f)
{
    return f->info < SXS_INFO_EVENT_PIPE;
}

static bool lacks_allocations(const struct sxs_runtime_facts *f)
{
    return f->allocation_events == SXS_ALLOCATION_NONE;
}

static bool has_ticks(const struct sxs_runtime_facts *f)
{
    return f->allocation_events == SXS_ALLOCATION_TICKS;
}

static const struct late_start_row rows[] = {
    {"census", NULL, NULL, ATTACH, SXS_LATE_PARTLY, "it counts from the attach on"},
    {"census", NULL, NULL, REQUEST, SXS_LATE_FULL, ""},
    {"sample", NULL, lacks_sessions, BOTH, SXS_LATE_PARTLY,
     "tiers are unknown: runtimes before .NET 5 do not report them"},
    {"sample", NULL, NULL, BOTH, SXS_LATE_PARTLY,
     "the tier of code that was compiled before is unknown"},
    {"wait", NULL, NULL, BOTH, SXS_LATE_FULL, ""},
    {"recorder", NULL, NULL, BOTH, SXS_LATE_FULL, ""},
    {"exceptions", NULL, NULL, BOTH, SXS_LATE_FULL, ""},
    {"events", NULL, NULL, BOTH, SXS_LATE_PARTLY,
     "threads that were created before appear without a name and a start"},
    {"gc", NULL, lacks_sessions, BOTH, SXS_LATE_PARTLY,
     "runtimes before .NET 5 report pauses and generations only"},
    {"gc", NULL, NULL, BOTH, SXS_LATE_FULL, ""},
    {"alloc", is_exact, NULL, BOTH, SXS_LATE_NO,
     "exact must be set when the program starts: a runtime that runs already cannot report every "
     "object"},
    {"alloc", NULL, lacks_allocations, BOTH, SXS_LATE_NO,
     "only .NET 8 and later report allocations when they run already"},
    {"alloc", NULL, has_ticks, BOTH, SXS_LATE_PARTLY,
     "objects are chosen by the runtime's allocation ticks, not at random: estimates may be "
     "biased, and "
     "have no known error"},
    {"alloc", NULL, NULL, BOTH, SXS_LATE_FULL, ""},
    {"locks", NULL, lacks_sessions, BOTH, SXS_LATE_NO,
     "runtimes before .NET 5 do not report waits for locks to a profiler"},
    {"locks", NULL, NULL, BOTH, SXS_LATE_FULL, ""},
    {"heap", is_at_exit, NULL, BOTH, SXS_LATE_NO,
     "at-exit must be set when the program starts: the code that ends it may be compiled already"},
    {"heap", NULL, NULL, BOTH, SXS_LATE_PARTLY,
     "static fields of types that were loaded before are not named"},
    {"native", NULL, NULL, ATTACH, SXS_LATE_NO,
     "libsxsprof-malloc.so must be preloaded when the program starts"},
    {"native", NULL, NULL, REQUEST, SXS_LATE_PARTLY, "what was allocated before is not known"},
    {"instrument", is_without_rules, NULL, ATTACH, SXS_LATE_NO,
     "it needs rules: sxsprof instrument RULES.xml -p PID"},
    {"instrument", NULL, NULL, BOTH, SXS_LATE_PARTLY,
     "copies of methods that were inlined into precompiled code stay as they are, types that were "
     "loaded before are not named in traced values, and the runtime cannot be detached afterwards"},
    {"calls", NULL, NULL, BOTH, SXS_LATE_NO,
     "a runtime accepts enter and leave hooks only when it starts; rules with <count/> "
     "count calls in one that runs: sxsprof instrument RULES.xml -p PID"},
};

enum sxs_late_result sxs_late_start(enum sxs_late_way way, const char *tool, const char *options,
                                    const struct sxs_runtime_facts *facts, const char **why)
{
    const char  *none = NULL;
    const char **text = why ? why : &none;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct late_start_row *r = &rows[i];
        if (strcmp(r->tool, tool) == 0 && (!r->is_about || r->is_about(facts)) &&
            (r->ways >> way & 1) && (!r->fits || r->fits(options ? options : ""))) {
            *text = r->why;
            return r->result;
        }
    }
    *text = "there is no such tool";
    return SXS_LATE_NO;
}
