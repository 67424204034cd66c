/* SPDX-License-Identifier: MIT */
#include "cmd/report/space.h"

#include "cmd/output/must.h"

#include <string.h>

void sxs_space_add(struct sxs_space *s, const struct sxs_extent *e)
{
    SXS_GROW(s->all, s->n, s->cap);
    s->all[s->n++] = *e;
}

static int by_lo(const void *a, const void *b)
{
    const struct sxs_extent *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return (x->t0 > y->t0) - (x->t0 < y->t0);
}

/* Returns how many of the sealed extents begin before @address. */
static size_t n_before(const struct sxs_space *s, uint64_t address)
{
    size_t lo = 0, hi = s->n_sealed;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->all[mid].lo < address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Merges the sealed extents with @young, which are sorted copies of the new ones: from the end, so
 * that the sealed ones can stay in their array. */
static void merge_young(struct sxs_space *s, const struct sxs_extent *young, size_t n)
{
    size_t old = s->n_sealed, at = s->n;
    while (n) {
        if (old && by_lo(&s->all[old - 1], &young[n - 1]) > 0)
            s->all[--at] = s->all[--old];
        else
            s->all[--at] = young[--n];
    }
}

bool sxs_space_seal(struct sxs_space *s)
{
    size_t             n = s->n - s->n_sealed;
    bool               covers = false;
    uint64_t           max = 0;
    struct sxs_extent *young;
    if (!n && s->max_hi)
        return false;
    young = sxs_must_zeroed(n, sizeof(*young));
    if (n)
        memcpy(young, s->all + s->n_sealed, n * sizeof(*young));
    qsort(young, n, sizeof(*young), by_lo);
    for (size_t i = 0; i < n && !covers; i++) {
        size_t before = n_before(s, young[i].hi);
        covers = before && s->max_hi[before - 1] > young[i].lo;
    }
    merge_young(s, young, n);
    free(young);
    s->n_sealed = s->n;
    s->max_hi = sxs_must(reallocarray(s->max_hi, s->n ? s->n : 1, sizeof(*s->max_hi)));
    for (size_t i = 0; i < s->n; i++) {
        max = s->all[i].hi > max ? s->all[i].hi : max;
        s->max_hi[i] = max;
    }
    return covers;
}

void sxs_space_end_module(struct sxs_space *s, uint64_t lo, uint64_t time)
{
    for (size_t i = n_before(s, lo); i < s->n && s->all[i].lo == lo; i++) {
        struct sxs_extent *e = &s->all[i];
        if (!e->is_code && e->t0 <= time && time < e->t1)
            e->t1 = time;
    }
}

/* Returns true when @e is a better result for @time than @best: present before future before
 * past. */
static bool is_better(const struct sxs_extent *e, const struct sxs_extent *best, uint64_t time)
{
    if (!best)
        return true;
    int rank_e = e->t0 > time ? 1 : e->t1 > time ? 2 : 0;
    int rank_best = best->t0 > time ? 1 : best->t1 > time ? 2 : 0;
    if (rank_e != rank_best)
        return rank_e > rank_best;
    if (rank_e == 1)
        return e->t0 < best->t0;
    return e->t0 > best->t0 || (e->t0 == best->t0 && e->is_code && !best->is_code);
}

const struct sxs_extent *sxs_space_find(const struct sxs_space *s, uint64_t address, uint64_t time,
                                        bool *varies)
{
    const struct sxs_extent *best = NULL;
    size_t                   lo = 0, hi = s->n;
    *varies = false;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->all[mid].lo <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo-- > 0 && s->max_hi[lo] > address) {
        const struct sxs_extent *e = &s->all[lo];
        if (e->hi <= address)
            continue;
        if (best)
            *varies |= e->what != best->what || e->tier != best->tier ||
                       e->is_code != best->is_code;
        if (is_better(e, best, time))
            best = e;
    }
    return best;
}

void sxs_space_free(struct sxs_space *s)
{
    free(s->all);
    free(s->max_hi);
    memset(s, 0, sizeof(*s));
}
