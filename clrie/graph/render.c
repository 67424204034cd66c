/* SPDX-License-Identifier: MIT */
/* render.c - checking a graph and writing it. */
#include <stdio.h>
#include <stdlib.h>

#include "clrie/graph/internal.h"

HRESULT clrie_graph_check(struct clrie_graph *graph, char *why, size_t room)
{
    struct sxs_il_method       none = {0};
    struct sxs_il_error        error = {0};
    struct clrie_graph_method *method = graph->method;
    HRESULT                    hr = clrie_clauses_commit(graph);
    if (room)
        why[0] = '\0';
    if (FAILED(hr))
        return hr;
    if (method && method->refresh)
        method->refresh(method);
    if (sxs_il_check(graph->body, method ? &method->il : &none, &error) == SXS_IL_OK)
        return S_OK;
    if (error.offset == SXS_IL_NONE)
        snprintf(why, room, "%s", error.text);
    else
        snprintf(why, room, "IL_%04x: %s", error.offset, error.text);
    return E_FAIL;
}

/* ---- the stack -------------------------------------------------------------------------------- */

/* What @insn does to a stack of @height values; as far as it is known. */
static uint32_t height_after(const struct clrie_graph_method *method,
                             const struct sxs_il_insn *insn, uint32_t height)
{
    const struct sxs_il_opcode_info *info = &sxs_il_opcodes[insn->opcode];
    struct sxs_il_effect             e = {(uint16_t)(info->pops > 0 ? info->pops : 0),
                                          (uint16_t)(info->pushes > 0 ? info->pushes : 0)};
    if (insn->opcode == SXS_IL_LEAVE || insn->opcode == SXS_IL_LEAVE_S ||
        info->flow == SXS_IL_FLOW_RETURN || info->flow == SXS_IL_FLOW_THROW)
        return 0;
    if ((info->pops < 0 || info->pushes < 0) && method && method->il.effect)
        method->il.effect(method->il.context, (enum sxs_il_opcode)insn->opcode, insn->token, &e);
    return (height > e.pops ? height - e.pops : 0) + e.pushes;
}

static int is_entered_by_exception(const struct sxs_il_body *body, const struct sxs_il_insn *insn)
{
    for (uint32_t i = 0; i < body->n_clauses; i++) {
        const struct sxs_il_clause *c = &body->clauses[i];
        if ((c->kind == SXS_IL_CATCH || c->kind == SXS_IL_FILTER) && c->handler_first == insn)
            return 1;
        if (c->kind == SXS_IL_FILTER && c->filter_first == insn)
            return 1;
    }
    return 0;
}

/* Follows the order of the code and no branches. */
static uint32_t estimate_stack(const struct clrie_graph *graph)
{
    uint32_t height = 0, most = 0;
    for (const struct sxs_il_insn *i = graph->body->first; i; i = i->next) {
        if (is_entered_by_exception(graph->body, i))
            height = 1;
        if (height > most)
            most = height;
        height = height_after(graph->method, i, height);
        if (height > most)
            most = height;
    }
    return most < UINT16_MAX ? most : UINT16_MAX;
}

HRESULT clrie_graph_max_stack(struct clrie_graph *graph, uint32_t *out)
{
    char why[1];
    *out = clrie_graph_check(graph, why, sizeof(why)) == S_OK ? graph->body->max_stack
                                                              : estimate_stack(graph);
    return S_OK;
}

/* ---- the map ---------------------------------------------------------------------------------- */

static int original_offset(const struct clrie_graph *graph, const struct sxs_il_insn *insn,
                           uint32_t *offset)
{
    const struct clrie_instruction *i = clrie_user(insn);
    if (i) {
        *offset = i->original_offset;
        return i->generation != Generation_New;
    }
    *offset = insn->old_offset;
    return insn->old_offset != SXS_IL_NONE && graph->generation != Generation_New;
}

static int is_point(const struct clrie_graph *graph, uint32_t offset)
{
    uint32_t low = 0, high = graph->n_points;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (graph->points[middle] == offset)
            return 1;
        if (graph->points[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* One row for each instruction that is not new. Its new offset is that of the first of the new
 * instructions directly before it, so that inserted code belongs to the line that follows it. */
static HRESULT make_map(struct clrie_graph *graph, uint32_t *n)
{
    const struct sxs_il_insn *first_new = NULL;
    uint32_t                  room = 0, old;
    *n = 0;
    for (const struct sxs_il_insn *i = graph->body->first; i; i = i->next)
        room++;
    free(graph->map);
    graph->map = malloc((room ? room : 1) * sizeof(graph->map[0]));
    if (!graph->map)
        return E_OUTOFMEMORY;
    for (const struct sxs_il_insn *i = graph->body->first; i; i = i->next) {
        if (!original_offset(graph, i, &old)) {
            first_new = first_new ? first_new : i;
            continue;
        }
        if (!graph->n_points || is_point(graph, old))
            graph->map[(*n)++] = (COR_IL_MAP){old, first_new ? first_new->offset : i->offset, 1};
        first_new = NULL;
    }
    return S_OK;
}

HRESULT clrie_graph_write(struct clrie_graph *graph, struct clrie_written *out)
{
    struct sxs_il_error error;
    int                 err = sxs_il_write(graph->body, &out->bytes, &out->size, &error);
    HRESULT             hr;
    if (err)
        return err == SXS_IL_ENOMEM ? E_OUTOFMEMORY : E_FAIL;
    hr = make_map(graph, &out->n_map);
    out->map = graph->map;
    return hr;
}
