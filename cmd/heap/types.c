/* SPDX-License-Identifier: MIT */
#include "cmd/heap/types.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"

static void add_pinned(const struct sxs_heap_graph *g, struct sxs_heap_sum *sums)
{
    uint32_t last = SXS_NO_OBJECT;
    for (uint32_t i = 0; i < g->n_roots; i++) {
        const struct sxs_heap_root *r = &g->roots[i];
        if (!(r->flags & SXS_HEAP_ROOT_PINNED) || r->object == last)
            continue;
        last = r->object;
        sums[g->type[last]].pinned++;
    }
}

struct sxs_heap_sum *sxs_heap_sums(const struct sxs_heap_graph      *g,
                                   const struct sxs_heap_dominators *d,
                                   const struct sxs_heap_paths *p, uint64_t *by_kind)
{
    struct sxs_heap_sum *sums = sxs_must_zeroed(g->n_types, sizeof(*sums));
    uint64_t            *retained = sxs_must_zeroed(g->n_types, sizeof(*retained));
    for (uint32_t i = 0; i < g->n; i++) {
        struct sxs_heap_sum *sum = &sums[g->type[i]];
        sum->objects++;
        sum->bytes += g->size[i];
        sum->by_generation[g->generation[i]]++;
        if (d->of[i] == SXS_NOT_REACHED) {
            sum->not_reached++;
            sum->retained += g->size[i];
        }
    }
    sxs_heap_retained(g, d, p, retained, by_kind);
    for (uint32_t i = 0; i < g->n_types; i++)
        sums[i].retained += retained[i];
    free(retained);
    add_pinned(g, sums);
    return sums;
}

/* ---- order ---- */

struct ranked_type {
    const char *name;
    uint64_t    bytes;
    uint32_t    type;
};

static int by_bytes(const void *a, const void *b)
{
    const struct ranked_type *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->name, y->name);
}

uint32_t *sxs_heap_types_by_bytes(const struct sxs_heap_snapshot *s, const struct sxs_heap_graph *g,
                                  const struct sxs_heap_sum *sums)
{
    struct ranked_type *all = sxs_must_zeroed(g->n_types, sizeof(*all));
    uint32_t           *order = sxs_must_zeroed(g->n_types, sizeof(*order));
    for (uint32_t i = 0; i < g->n_types; i++)
        all[i] = (struct ranked_type){sxs_heap_type_name(s, g, i), sums[i].bytes, i};
    qsort(all, g->n_types, sizeof(*all), by_bytes);
    for (uint32_t i = 0; i < g->n_types; i++)
        order[i] = all[i].type;
    free(all);
    return order;
}

/* ---- roots ---- */

static int by_roots(const void *a, const void *b)
{
    const struct sxs_heap_root_sum *x = a, *y = b;
    if (x->roots != y->roots)
        return x->roots < y->roots ? 1 : -1;
    return (x->kind * 256 + x->flags) - (y->kind * 256 + y->flags);
}

struct sxs_heap_root_sum *sxs_heap_root_sums(const struct sxs_heap_graph *g,
                                             const uint64_t *by_kind, size_t *n)
{
    static const uint8_t      shown = (uint8_t)~SXS_HEAP_ROOT_INTERIOR;
    struct sxs_heap_root_sum *all = NULL;
    size_t                    cap = 0, k;
    *n = 0;
    for (uint32_t i = 0; i < g->n_roots; i++) {
        const struct sxs_heap_root *r = &g->roots[i], *before = i ? r - 1 : NULL;
        uint8_t                     flags = r->flags & shown;
        for (k = 0; k < *n && (all[k].kind != r->kind || all[k].flags != flags); k++)
            ;
        if (k == *n) {
            SXS_GROW(all, *n, cap);
            all[(*n)++] = (struct sxs_heap_root_sum){
                .kind = r->kind, .flags = flags, .kept = by_kind[sxs_heap_kind(r)]};
        }
        all[k].roots++;
        if (before && before->object == r->object && before->kind == r->kind &&
            (before->flags & shown) == flags)
            continue;
        all[k].objects++;
        all[k].bytes += g->size[r->object];
    }
    if (*n)
        qsort(all, *n, sizeof(*all), by_roots);
    return all;
}
