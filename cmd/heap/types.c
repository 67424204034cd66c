/* SPDX-License-Identifier: MIT */
#include "cmd/heap/types.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"

/* The tree of dominators in preorder. Every subtree is a range of positions. */
struct preorder {
    uint32_t *object; /* by position */
    uint32_t *below;  /* by object: number of objects that it dominates, itself included */
};

static struct preorder preorder_of(const struct sxs_heap_graph      *g,
                                   const struct sxs_heap_dominators *d)
{
    struct preorder p = {sxs_must_zeroed(d->n, sizeof(*p.object)),
                         sxs_must_zeroed(g->n, sizeof(*p.below))};
    uint32_t       *next = sxs_must_zeroed(g->n, sizeof(*next)); /* next free position below it */
    uint32_t        top = 0;
    for (uint32_t i = d->n; i-- > 0;) {
        uint32_t object = d->order[i];
        p.below[object]++;
        if (d->of[object] != SXS_NO_OBJECT)
            p.below[d->of[object]] += p.below[object];
    }
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t  object = d->order[i], dominator = d->of[object];
        uint32_t *from = dominator == SXS_NO_OBJECT ? &top : &next[dominator];
        p.object[*from] = object;
        next[object] = *from + 1;
        *from += p.below[object];
    }
    free(next);
    return p;
}

/* Adds the retained size of each object that no object of the same type dominates. The subtree of
 * such an object is a range of positions; objects of its type in that range are left out. */
static void add_retained(const struct sxs_heap_graph *g, const struct sxs_heap_dominators *d,
                         struct sxs_heap_sum *sums)
{
    struct preorder p = preorder_of(g, d);
    uint32_t       *end = sxs_must_zeroed(g->n_types, sizeof(*end)); /* of the last such range */
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t object = p.object[i], type = g->type[object];
        if (i < end[type])
            continue;
        end[type] = i + p.below[object];
        sums[type].retained += d->retained[object];
    }
    free(end);
    free(p.object);
    free(p.below);
}

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
                                   const struct sxs_heap_dominators *d)
{
    struct sxs_heap_sum *sums = sxs_must_zeroed(g->n_types, sizeof(*sums));
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
    add_retained(g, d, sums);
    add_pinned(g, sums);
    return sums;
}

/* ---- order ---- */

struct ranked {
    const char *name;
    uint64_t    bytes;
    uint32_t    type;
};

static int by_bytes(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->name, y->name);
}

uint32_t *sxs_heap_types_by_bytes(const struct sxs_heap_snapshot *s, const struct sxs_heap_graph *g,
                                  const struct sxs_heap_sum *sums)
{
    struct ranked *all = sxs_must_zeroed(g->n_types, sizeof(*all));
    uint32_t      *order = sxs_must_zeroed(g->n_types, sizeof(*order));
    for (uint32_t i = 0; i < g->n_types; i++)
        all[i] = (struct ranked){sxs_heap_type_name(s, g, i), sums[i].bytes, i};
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

struct sxs_heap_root_sum *sxs_heap_root_sums(const struct sxs_heap_graph *g, size_t *n)
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
            all[(*n)++] = (struct sxs_heap_root_sum){.kind = r->kind, .flags = flags};
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
