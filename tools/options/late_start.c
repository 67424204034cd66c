/* SPDX-License-Identifier: MIT */
#include "tools/options/late_start.h"

#include <string.h>

#include "base/base.h"
#include "tools/options/alloc_options.h"
#include "tools/options/heap_options.h"
#include "tools/options/instrument_options.h"

/* Versions of .NET. */
enum { FIRST_WITH_EVENTS = 5, FIRST_WITH_TICKS = 8, FIRST_WITH_SAMPLES = 10 };

#define ALL 9999u

/* One row of the table. The first row that fits counts. */
struct row {
    const char *tool;
    int (*fits)(const char *options); /* NULL: with any options */
    unsigned             least, most; /* versions that the row is about */
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

static const struct row rows[] = {
    {"census", NULL, 0, ALL, ATTACH, SXS_LATE_PARTLY, "it counts from the attach on"},
    {"census", NULL, 0, ALL, REQUEST, SXS_LATE_FULL, ""},
    {"sample", NULL, 0, FIRST_WITH_EVENTS - 1, BOTH, SXS_LATE_PARTLY,
     "tiers are unknown: runtimes before .NET 5 do not report them"},
    {"sample", NULL, 0, ALL, BOTH, SXS_LATE_PARTLY,
     "the tier of code that was compiled before is unknown"},
    {"wait", NULL, 0, ALL, BOTH, SXS_LATE_FULL, ""},
    {"recorder", NULL, 0, ALL, BOTH, SXS_LATE_FULL, ""},
    {"exceptions", NULL, 0, ALL, BOTH, SXS_LATE_FULL, ""},
    {"events", NULL, 0, ALL, BOTH, SXS_LATE_PARTLY,
     "threads that were created before appear without a name and a start"},
    {"gc", NULL, 0, FIRST_WITH_EVENTS - 1, BOTH, SXS_LATE_PARTLY,
     "runtimes before .NET 5 report pauses and generations only"},
    {"gc", NULL, 0, ALL, BOTH, SXS_LATE_FULL, ""},
    {"alloc", is_exact, 0, ALL, BOTH, SXS_LATE_NO,
     "exact must be set when the program starts: a runtime that runs already cannot report every "
     "object"},
    {"alloc", NULL, 0, FIRST_WITH_TICKS - 1, BOTH, SXS_LATE_NO,
     "only .NET 8 and later report allocations when they run already"},
    {"alloc", NULL, FIRST_WITH_TICKS, FIRST_WITH_SAMPLES - 1, BOTH, SXS_LATE_PARTLY,
     "objects are chosen by the runtime's allocation ticks, not at random: estimates may be "
     "biased, and "
     "have no known error"},
    {"alloc", NULL, 0, ALL, BOTH, SXS_LATE_FULL, ""},
    {"locks", NULL, 0, FIRST_WITH_EVENTS - 1, BOTH, SXS_LATE_NO,
     "runtimes before .NET 5 do not report waits for locks to a profiler"},
    {"locks", NULL, 0, ALL, BOTH, SXS_LATE_FULL, ""},
    {"heap", is_at_exit, 0, ALL, BOTH, SXS_LATE_NO,
     "at-exit must be set when the program starts: the code that ends it may be compiled already"},
    {"heap", NULL, 0, ALL, BOTH, SXS_LATE_PARTLY,
     "static fields of types that were loaded before are not named"},
    {"native", NULL, 0, ALL, ATTACH, SXS_LATE_NO,
     "libsxsprof-malloc.so must be preloaded when the program starts"},
    {"native", NULL, 0, ALL, REQUEST, SXS_LATE_PARTLY, "what was allocated before is not known"},
    {"instrument", is_without_rules, 0, ALL, ATTACH, SXS_LATE_NO,
     "it needs rules: --tool instrument:config=FILE, with an absolute path"},
    {"instrument", NULL, 0, ALL, BOTH, SXS_LATE_PARTLY,
     "copies of methods that were inlined into precompiled code stay as they are, types that were "
     "loaded before are not named in traced values, and the runtime cannot be detached afterwards"},
    {"calls", NULL, 0, ALL, BOTH, SXS_LATE_NO,
     "a runtime accepts enter and leave hooks only when it starts; rules with <count/>, as --tool "
     "instrument:config=FILE, count calls in one that runs"},
};

enum sxs_late_result sxs_late_start(enum sxs_late_way way, const char *tool, const char *options,
                                    unsigned major, const char **why)
{
    const char  *none = NULL;
    const char **text = why ? why : &none;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *r = &rows[i];
        if (strcmp(r->tool, tool) == 0 && major >= r->least && major <= r->most &&
            (r->ways >> way & 1) && (!r->fits || r->fits(options ? options : ""))) {
            *text = r->why;
            return r->result;
        }
    }
    *text = "there is no such tool";
    return SXS_LATE_NO;
}
