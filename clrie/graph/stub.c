/* SPDX-License-Identifier: MIT */
/* stub.c - stands for the graph folder until it is there. Weak, so that the real functions win. */
#include "clrie/graph/graph.h"

#define WEAK __attribute__((weak))

WEAK HRESULT clrie_graph_new(struct clrie_graph_method *method, const uint8_t *bytes, size_t size,
                             struct clrie_graph **out)
{
    (void)method, (void)bytes, (void)size;
    *out = NULL;
    return E_NOTIMPL;
}

WEAK struct sxs_il_body *clrie_graph_body(struct clrie_graph *graph)
{
    (void)graph;
    return NULL;
}

WEAK struct clrie_section *clrie_graph_section(struct clrie_graph *graph)
{
    (void)graph;
    return NULL;
}

WEAK HRESULT clrie_graph_check(struct clrie_graph *graph, char *why, size_t room)
{
    (void)graph, (void)why, (void)room;
    return E_NOTIMPL;
}

WEAK HRESULT clrie_graph_write(struct clrie_graph *graph, struct clrie_written *out)
{
    (void)graph, (void)out;
    return E_NOTIMPL;
}

WEAK struct clrie_single_return *clrie_single_return_new(int (*add_local)(void *, int *),
                                                         void *context)
{
    (void)add_local, (void)context;
    return NULL;
}

WEAK struct clrie_factory *clrie_factory_new(void)
{
    return NULL;
}

WEAK void clrie_graph_free(struct clrie_graph *graph)
{
    (void)graph;
}

WEAK HRESULT clrie_graph_max_stack(struct clrie_graph *graph, uint32_t *out)
{
    (void)graph;
    *out = 0;
    return E_NOTIMPL;
}
