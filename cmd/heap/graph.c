/* SPDX-License-Identifier: MIT */
#include "cmd/heap/graph.h"

#include <stdlib.h>

#include "cmd/heap/slots.h"
#include "session/read/file_read.h"

uint32_t sxs_heap_find(const struct sxs_heap_graph *g, uint64_t address, bool inside)
{
    uint32_t low = 0, high = g->n; /* the first object after @address is in low..high */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->address[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return SXS_NO_OBJECT;
    uint64_t offset = address - g->address[low - 1];
    return offset == 0 || (inside && offset < g->size[low - 1]) ? low - 1 : SXS_NO_OBJECT;
}

uint32_t sxs_heap_root_of(const struct sxs_heap_graph *g, uint32_t object)
{
    uint32_t low = 0, high = g->n_roots;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->roots[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->n_roots && g->roots[low].object == object && sxs_heap_strong(&g->roots[low])
               ? low
               : UINT32_MAX;
}

/* Returns the index of the first dependent handle that does not stand before this one. */
static uint32_t dependent_from(const struct sxs_heap_graph *g, uint64_t primary, uint32_t secondary)
{
    uint32_t low = 0, high = g->n_dependent;
    while (low < high) {
        uint32_t                    middle = low + (high - low) / 2;
        const struct sxs_heap_pair *p = &g->dependent[middle];
        if (p->primary < primary || (p->primary == primary && p->secondary < secondary))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool sxs_heap_is_dependent(const struct sxs_heap_graph *g, uint32_t primary, uint32_t secondary)
{
    uint32_t at = dependent_from(g, primary, secondary);
    return at < g->n_dependent && g->dependent[at].primary == primary &&
           g->dependent[at].secondary == secondary;
}

uint32_t sxs_heap_n_dependent(const struct sxs_heap_graph *g, uint32_t primary)
{
    return dependent_from(g, (uint64_t)primary + 1, 0) - dependent_from(g, primary, 0);
}

const char *sxs_heap_root_text(uint8_t kind, uint8_t flags)
{
    switch (kind) {
    case SXS_HEAP_ROOT_STACK: return flags & SXS_HEAP_ROOT_PINNED ? "stack, pinned" : "stack";
    case SXS_HEAP_ROOT_FINALIZER: return "finalizer queue";
    case SXS_HEAP_ROOT_STATIC: return "static field";
    case SXS_HEAP_ROOT_THREAD_STATIC: return "thread-static field";
    case SXS_HEAP_ROOT_HANDLE:
        return flags & SXS_HEAP_ROOT_WEAK         ? "weak handle"
               : flags & SXS_HEAP_ROOT_PINNED     ? "pinned handle"
               : flags & SXS_HEAP_ROOT_REFCOUNTED ? "ref-counted handle"
                                                  : "strong handle";
    default: return "other";
    }
}

const char *sxs_heap_generation_text(unsigned generation)
{
    static const char *const text[] = {"gen 0", "gen 1", "gen 2", "large", "pinned", "frozen"};
    return generation < SXS_N_GENERATIONS ? text[generation] : "unknown";
}

const char *sxs_heap_trigger_text(uint32_t trigger)
{
    static const char *const text[] = {"unknown",           "a signal",  "the interval",
                                       "the process's end", "its start", "a call"};
    return trigger < sizeof(text) / sizeof(text[0]) ? text[trigger] : text[0];
}

static void free_graph(struct sxs_heap_graph *g)
{
    free(g->address);
    free(g->size);
    free(g->type);
    free(g->generation);
    free(g->first);
    free(g->to);
    free(g->types);
    free(g->roots);
    free(g->dependent);
    sxs_heap_fields_free(g->fields);
}

void sxs_heap_free(struct sxs_heap_snapshot *s)
{
    for (size_t i = 0; i < s->n; i++)
        free_graph(&s->graphs[i]);
    free(s->graphs);
    sxs_strings_free(&s->strings);
    sxs_lines_free(s->problems, s->n_problems);
    *s = (struct sxs_heap_snapshot){0};
}
