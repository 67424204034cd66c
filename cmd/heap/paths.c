/* SPDX-License-Identifier: MIT */
#include "cmd/heap/paths.h"

#include <stdlib.h>

#include "cmd/output/must.h"

static void reach(struct sxs_heap_paths *p, uint32_t object, uint32_t from, uint32_t by)
{
    if (p->from[object] != SXS_NOT_REACHED)
        return;
    p->from[object] = from;
    p->by[object] = by;
    p->order[p->n++] = object;
}

/* Begins with all objects that a root of @kind refers to. */
static void begin(const struct sxs_heap_graph *g, struct sxs_heap_paths *out, uint8_t kind)
{
    for (uint32_t i = 0; i < g->n_roots; i++)
        if (g->roots[i].kind == kind && sxs_heap_strong(&g->roots[i]))
            reach(out, g->roots[i].object, SXS_NO_OBJECT, 0);
}

void sxs_heap_paths(const struct sxs_heap_graph *g, struct sxs_heap_paths *out)
{
    static const uint8_t kinds[] = {SXS_HEAP_ROOT_STATIC, SXS_HEAP_ROOT_THREAD_STATIC,
                                    SXS_HEAP_ROOT_STACK, SXS_HEAP_ROOT_HANDLE,
                                    SXS_HEAP_ROOT_FINALIZER};
    out->from = sxs_must_zeroed(g->n, sizeof(*out->from));
    out->by = sxs_must_zeroed(g->n, sizeof(*out->by));
    out->order = sxs_must_zeroed(g->n, sizeof(*out->order));
    out->n = 0;
    for (uint32_t i = 0; i < g->n; i++)
        out->from[i] = SXS_NOT_REACHED;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        begin(g, out, kinds[k]);
    for (uint32_t i = 0; i < g->n_roots; i++) /* those of other kinds */
        if (sxs_heap_strong(&g->roots[i]))
            reach(out, g->roots[i].object, SXS_NO_OBJECT, 0);
    for (uint32_t at = 0; at < out->n; at++) {
        uint32_t object = out->order[at];
        for (uint32_t k = g->first[object]; k < g->first[object + 1]; k++)
            reach(out, g->to[k], object, k);
    }
}

void sxs_heap_paths_free(struct sxs_heap_paths *p)
{
    free(p->from);
    free(p->by);
    free(p->order);
    *p = (struct sxs_heap_paths){0};
}
