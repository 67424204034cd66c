/* SPDX-License-Identifier: MIT */
#include "cmd/output/runtime_pairs.h"

#include "cmd/output/must.h"
#include "runtime_facts/version.h"

#include <string.h>

/* The partner of a runtime that gets none, because its own partner does not have the function. */
#define NOT_FREE UINT32_MAX

/* What two runtimes must have in common to be paired. */
enum level { SAME_RUNTIME, SAME_VERSION, SAME_MINOR, ANY, N_LEVELS };

/* Compares two runtimes for the order of the lists. Returns 0 when both have @level in common. */
static int compare(const struct sxs_paired_runtime *x, const struct sxs_paired_runtime *y,
                   enum level level)
{
    if (level == ANY)
        return 0;
    for (int i = 0; i < 2; i++)
        if (x->minor[i] != y->minor[i])
            return x->minor[i] > y->minor[i] ? -1 : 1;
    if (level == SAME_MINOR)
        return 0;
    int order = strverscmp(y->version, x->version);
    if (!order)
        order = strcmp(y->version, x->version);
    if (order || level == SAME_VERSION)
        return order;
    return (x->number > y->number) - (x->number < y->number);
}

static struct sxs_paired_runtime make_runtime(const char *version, uint32_t number)
{
    struct sxs_paired_runtime r = {.version = version, .number = number};
    struct sxs_release        release = {0};
    if (sxs_release_parse(version, &release)) {
        r.minor[0] = release.major;
        r.minor[1] = release.minor;
    }
    return r;
}

static int by_age(const void *a, const void *b)
{
    return compare(a, b, SAME_RUNTIME);
}

int sxs_runtime_newest_first(const char *a, const char *b)
{
    const struct sxs_paired_runtime x = make_runtime(a, 0), y = make_runtime(b, 0);
    return compare(&x, &y, SAME_VERSION);
}

void sxs_runtime_pairs_add(struct sxs_runtime_pairs *p, int side, const char *version,
                           uint32_t number)
{
    SXS_GROW(p->of[side], p->n[side], p->cap[side]);
    p->of[side][p->n[side]++] = make_runtime(version, number);
}

uint32_t sxs_runtime_pairs_find(const struct sxs_runtime_pairs *p, int side, const char *version,
                                uint32_t number)
{
    const struct sxs_paired_runtime  key = make_runtime(version, number);
    const struct sxs_paired_runtime *found =
        bsearch(&key, p->of[side], p->n[side], sizeof(key), by_age);
    return found ? (uint32_t)(found - p->of[side]) : 0;
}

/* Pairs what has @level in common and is not paired yet. Both lists are in the order of compare(), so
 * that those with something in common follow each other. */
static void pair_level(const struct sxs_runtime_pairs *p, const struct sxs_runtimes_of of[2],
                       enum level level)
{
    for (size_t i = 0, k = 0; i < of[0].n && k < of[1].n;) {
        int order = of[0].partner[i] ? -1
                    : of[1].partner[k]
                        ? 1
                        : compare(&p->of[0][of[0].all[i]], &p->of[1][of[1].all[k]], level);
        if (order == 0) {
            of[0].partner[i] = (uint32_t)k + 1;
            of[1].partner[k] = (uint32_t)i + 1;
        }
        i += order <= 0;
        k += order >= 0;
    }
}

/* Returns the position + 1 of @runtime in a list; 0: it is not there. */
static uint32_t position_of(const struct sxs_runtimes_of *of, uint32_t runtime)
{
    size_t lo = 0, hi = of->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (of->all[mid] < runtime)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < of->n && of->all[lo] == runtime ? (uint32_t)lo + 1 : 0;
}

/* Pairs what is not paired yet, by all levels. */
static void pair_levels(const struct sxs_runtime_pairs *p, const struct sxs_runtimes_of of[2])
{
    for (enum level level = SAME_RUNTIME; level < N_LEVELS; level++)
        pair_level(p, of, level);
}

void sxs_runtime_pairs_choose(const struct sxs_runtime_pairs *p, const struct sxs_runtimes_of of[2])
{
    const int spare = p->n[1] > p->n[0]; /* the side with the runtimes that have no partner */
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < of[side].n; i++) {
            uint32_t partner = p->of[side][of[side].all[i]].partner;
            of[side].partner[i] = partner ? position_of(&of[!side], partner - 1) : 0;
            if (side == spare && partner && !of[side].partner[i])
                of[side].partner[i] = NOT_FREE;
        }
    pair_levels(p, of);
    for (size_t i = 0; i < of[spare].n; i++)
        if (of[spare].partner[i] == NOT_FREE)
            of[spare].partner[i] = 0;
}

/* Sorts the runtimes of one side and drops those that are there twice. */
static void sort_unique(struct sxs_runtime_pairs *p, int side)
{
    size_t kept = 0;
    if (p->n[side])
        qsort(p->of[side], p->n[side], sizeof(*p->of[side]), by_age);
    for (size_t i = 0; i < p->n[side]; i++)
        if (!kept || by_age(&p->of[side][kept - 1], &p->of[side][i]) != 0)
            p->of[side][kept++] = p->of[side][i];
    p->n[side] = kept;
}

void sxs_runtime_pairs_match(struct sxs_runtime_pairs *p)
{
    struct sxs_runtimes_of of[2];
    uint32_t              *all[2];
    for (int side = 0; side < 2; side++) {
        sort_unique(p, side);
        all[side] = sxs_must_zeroed(p->n[side], sizeof(*all[side]));
        for (size_t i = 0; i < p->n[side]; i++) {
            all[side][i] = (uint32_t)i;
            p->of[side][i].partner = 0;
        }
        of[side] = (struct sxs_runtimes_of){
            all[side], sxs_must_zeroed(p->n[side], sizeof(*of[side].partner)), p->n[side]};
    }
    pair_levels(p, of);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < p->n[side]; i++)
            p->of[side][i].partner = of[side].partner[i];
        free(of[side].partner);
        free(all[side]);
    }
}

const char *sxs_runtime_pair_version(const char *before, const char *now, char *buf, size_t size)
{
    if (before && now && strcmp(before, now) != 0)
        snprintf(buf, size, "%s -> %s", before, now);
    else
        snprintf(buf, size, "%s", now ? now : before ? before : "");
    return buf;
}

void sxs_runtime_pairs_free(struct sxs_runtime_pairs *p)
{
    for (int side = 0; side < 2; side++)
        free(p->of[side]);
    memset(p, 0, sizeof(*p));
}
