/* SPDX-License-Identifier: MIT */
#include "cmd/heap/heap.h"

#include <stdlib.h>

#include "cmd/output/must.h"

static void analyze(const struct sxs_heap_snapshot *s, const struct sxs_heap_graph *g,
                    struct sxs_heap_analysis *a)
{
    uint64_t by_kind[SXS_HEAP_N_KINDS] = {0};
    a->g = g;
    sxs_heap_dominators(g, &a->dominators);
    sxs_heap_paths(g, &a->paths);
    a->sums = sxs_heap_sums(g, &a->dominators, &a->paths, by_kind);
    a->by_bytes = sxs_heap_types_by_bytes(s, g, a->sums);
    a->roots = sxs_heap_root_sums(g, by_kind, &a->n_roots);
    sxs_heap_tree_of_dominators(g, &a->dominators, &a->kept);
    sxs_heap_tree_of_paths(g, &a->paths, &a->reached);
    a->bytes = a->kept.nodes[0].all_bytes;
    a->reached_bytes = a->reached.nodes[0].all_bytes;
}

void sxs_heap_analyze(const struct sxs_heap_snapshot *s, struct sxs_heap_report *out)
{
    out->s = s;
    out->all = sxs_must_zeroed(s->n, sizeof(*out->all));
    for (size_t i = 0; i < s->n; i++)
        analyze(s, &s->graphs[i], &out->all[i]);
}

void sxs_heap_report_free(struct sxs_heap_report *r)
{
    for (size_t i = 0; r->all && i < r->s->n; i++) {
        struct sxs_heap_analysis *a = &r->all[i];
        sxs_heap_dominators_free(&a->dominators);
        sxs_heap_paths_free(&a->paths);
        sxs_heap_tree_free(&a->kept);
        sxs_heap_tree_free(&a->reached);
        free(a->sums);
        free(a->by_bytes);
        free(a->roots);
    }
    free(r->all);
    r->all = NULL;
}

static int by_bytes(const void *a, const void *b)
{
    const struct sxs_heap_way *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

struct sxs_heap_way *sxs_heap_ways(const struct sxs_heap_analysis *a, uint32_t type, size_t *n)
{
    struct sxs_heap_way *all = NULL;
    size_t               cap = 0;
    *n = 0;
    for (uint32_t i = 0; i < a->reached.n; i++) {
        const struct sxs_heap_node *node = &a->reached.nodes[i];
        if (node->what != SXS_HEAP_TYPE || node->number != type)
            continue;
        SXS_GROW(all, *n, cap);
        all[(*n)++] = (struct sxs_heap_way){i, node->n, node->bytes};
    }
    if (*n)
        qsort(all, *n, sizeof(*all), by_bytes);
    return all;
}

const char *sxs_heap_lacking_text(uint64_t bit)
{
    switch (bit) {
    case SXS_HEAP_NO_ROOTS: return "roots";
    case SXS_HEAP_NO_STATICS: return "names of static fields";
    case SXS_HEAP_NO_FROZEN: return "objects outside of the collected heap";
    case SXS_HEAP_NO_REFERENCES: return "references";
    case SXS_HEAP_SOME_TYPES: return "names of some types";
    case SXS_HEAP_NO_BOUNDS: return "generations";
    case SXS_HEAP_SOME_OBJECTS: return "some objects";
    default: return NULL;
    }
}
