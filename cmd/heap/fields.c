/* SPDX-License-Identifier: MIT */
#include "cmd/heap/fields.h"

struct sxs_heap_field sxs_heap_field_of(const struct sxs_heap_graph *g, uint32_t object, uint32_t k)
{
    uint32_t refs = g->first[object + 1] - g->first[object] - sxs_heap_n_dependent(g, object);
    return sxs_heap_fields_find(g->fields, object, k - g->first[object], refs, g->size[object]);
}
