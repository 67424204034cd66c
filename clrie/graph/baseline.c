/* SPDX-License-Identifier: MIT */
/* baseline.c - IInstructionGraph::CreateBaseline: other code in place of the original code. */
#include <stdlib.h>
#include <string.h>

#include "clrie/graph/internal.h"

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void *copy(const void *from, size_t size)
{
    void *to = size ? malloc(size) : NULL;
    return to ? memcpy(to, from, size) : NULL;
}

/* Everything that can fail happens before the graph is changed. */
static HRESULT read_baseline(struct clrie_graph *graph, const uint8_t *code, size_t size,
                             struct sxs_il_body **out)
{
    struct sxs_il_body *body = sxs_il_new();
    int                 err = body ? sxs_il_read_code(body, code, size, NULL) : SXS_IL_ENOMEM;
    if (err) {
        sxs_il_free(body);
        return err == SXS_IL_ENOMEM ? E_OUTOFMEMORY : E_FAIL;
    }
    body->locals = graph->body->locals;
    body->keep_forms = body->was_fat = body->had_fat_sections = body->init_locals = 1;
    sxs_il_set_changed(body);
    *out = body;
    return S_OK;
}

HRESULT clrie_graph_CreateBaseline(struct clrie_graph *self, LPCBYTE pCodeBase, LPCBYTE pEndOfCode,
                                   DWORD       originalToBaselineCorIlMapSize,
                                   COR_IL_MAP *originalToBaselineCorIlMap,
                                   DWORD       baselineSequencePointSize,
                                   DWORD      *baselineSequencePointList)
{
    uint32_t            n_map = originalToBaselineCorIlMapSize, n = baselineSequencePointSize;
    struct sxs_il_body *body;
    COR_IL_MAP         *map;
    uint32_t           *points;
    HRESULT             hr;
    if (!pCodeBase || !pEndOfCode)
        return E_POINTER;
    if (pCodeBase >= pEndOfCode)
        return E_INVALIDARG;
    if ((n_map && !originalToBaselineCorIlMap) || (n && !baselineSequencePointList))
        return E_POINTER;
    if (self->before)
        return E_UNEXPECTED;
    if (!self->method || !self->method->can_set_baseline)
        return E_FAIL;
    hr = read_baseline(self, pCodeBase, (size_t)(pEndOfCode - pCodeBase), &body);
    if (FAILED(hr))
        return hr;
    map = copy(originalToBaselineCorIlMap, n_map * sizeof(*map));
    points = copy(baselineSequencePointList, n * sizeof(*points));
    if ((n_map && !map) || (n && !points)) {
        free(map);
        free(points);
        sxs_il_free(body);
        return E_OUTOFMEMORY;
    }
    if (n)
        qsort(points, n, sizeof(*points), by_number);
    clrie_graph_RemoveAll(self);
    self->before = self->body;
    self->body = body;
    self->generation = Generation_Baseline;
    self->has_unlisted = 0;
    self->baseline_map = map;
    self->n_baseline_map = n_map;
    self->points = points;
    self->n_points = n;
    return S_OK;
}

HRESULT clrie_graph_HasBaselineBeenSet(struct clrie_graph *self, BOOL *pHasBaselineBeenSet)
{
    *pHasBaselineBeenSet = self->before != NULL;
    return S_OK;
}
