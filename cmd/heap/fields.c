/* SPDX-License-Identifier: MIT */
#include "cmd/heap/fields.h"

/* The number of dependent handles of an object, which stand behind its references. */
static uint32_t dependent_of(const struct sxs_heap_graph *g, uint32_t object)
{
    uint32_t low = 0, high = g->n_dependent, n = 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->dependent[middle].primary < object)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + n < g->n_dependent && g->dependent[low + n].primary == object)
        n++;
    return n;
}

struct sxs_heap_field sxs_heap_field_of(const struct sxs_heap_graph *g, uint32_t object, uint32_t k)
{
    uint32_t refs = g->first[object + 1] - g->first[object] - dependent_of(g, object);
    return sxs_heap_fields_find(g->fields, object, k - g->first[object], refs, g->size[object]);
}
