/* SPDX-License-Identifier: MIT */
/* facts.c - the table of runtime facts. facts.h explains the columns. */
#include "runtime_facts/facts.h"

#include "runtime_facts/version.h"

#include <stdio.h>

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* By version. What a row does not name is false. */
static const struct sxs_runtime_facts rows[] = {
    {.major = 3, .info = 11, .has_rejit_race = true},
    {.major = 4, .info = 4, .has_rejit_race = true, .refuses_old_profilers = true},
    {.major = 5, .info = 12, .has_rejit_race = true},
    {.major = 6, .info = 12, .has_rejit_race = true},
    {.major = 7, .info = 13, .has_rejit_race = true},
    {.major = 8,
     .info = 14,
     .is_tested = true,
     .profiles_by_default = true,
     .aggressive_is_tier_1 = true,
     .has_rejit_race = true,
     .allocation_events = SXS_ALLOCATION_TICKS,
     .has_kestrel_routes = true},
    {.major = 9,
     .info = 15,
     .is_tested = true,
     .profiles_by_default = true,
     .has_filter_race = true,
     .allocation_events = SXS_ALLOCATION_TICKS,
     .has_kestrel_routes = true},
    {.major = 10,
     .info = 15,
     .is_tested = true,
     .profiles_by_default = true,
     .has_filter_race = true,
     .takes_optimization_late = true,
     .allocation_events = SXS_ALLOCATION_SAMPLES,
     .leaves_out_boxed = true,
     .names_constructor_waits = true,
     .has_kestrel_routes = true},
};

const struct sxs_runtime_facts *sxs_facts_row(size_t i)
{
    return i < N_ROWS ? &rows[i] : NULL;
}

const struct sxs_runtime_facts *sxs_facts_newest(void)
{
    return &rows[N_ROWS - 1];
}

const struct sxs_runtime_facts *sxs_facts_of_major(unsigned major)
{
    size_t i = 0;
    while (i + 1 < N_ROWS && rows[i + 1].major <= major)
        i++;
    return &rows[i];
}

const struct sxs_runtime_facts *sxs_facts_of(const char *text)
{
    struct sxs_release r;
    sxs_release_parse(text, &r);
    return sxs_facts_of_major(r.major);
}

const struct sxs_runtime_facts *sxs_facts_of_info(unsigned info)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].info >= info)
            return &rows[i];
    return sxs_facts_newest();
}

const char *sxs_facts_versions(bool (*has)(const struct sxs_runtime_facts *f), bool wanted,
                               char out[SXS_FACTS_VERSIONS])
{
    unsigned first = 0, last = 0;
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!rows[i].is_tested || has(&rows[i]) != wanted)
            continue;
        first = first ? first : rows[i].major;
        last = rows[i].major;
    }
    if (first == last)
        snprintf(out, SXS_FACTS_VERSIONS, "%u", first);
    else
        snprintf(out, SXS_FACTS_VERSIONS, first + 1 == last ? "%u and %u" : "%u to %u", first,
                 last);
    return out;
}

bool sxs_facts_know(const char *text)
{
    struct sxs_release r;
    return !sxs_release_parse(text, &r) || r.major <= sxs_facts_newest()->major;
}
