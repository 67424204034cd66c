/* SPDX-License-Identifier: MIT */
/* list.c - the list of instructions of a graph: making and ending it, and finding instructions. */
#include "clrie/graph/graph.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "clrie/graph/internal.h"

const uint32_t clrie_graph_size = sizeof(struct clrie_graph);

/* ---- making and ending ------------------------------------------------------------------------ */

/* The body of a graph that has ended, for the next one: its memory is in the processor's caches. Not
 * that of a long method, which has much memory. NULL: none. */
static _Atomic(struct sxs_il_body *) spare;
enum { MAX_SPARE = 500 /* instructions */ };

static struct sxs_il_body *take_body(void)
{
    struct sxs_il_body *body = atomic_exchange(&spare, NULL);
    return body ? body : sxs_il_new();
}

static void give_body(struct sxs_il_body *body)
{
    if (body && body->n_old <= MAX_SPARE) {
        sxs_il_clear(body);
        body = atomic_exchange(&spare, body);
    }
    sxs_il_free(body);
}

typedef int reader(struct sxs_il_body *body, const uint8_t *bytes, size_t size,
                   struct sxs_il_error *error);

static HRESULT make_graph(reader *read, const uint8_t *bytes, size_t size, struct clrie_graph **out)
{
    struct clrie_graph *graph = clrie_new(&clrie_graph);
    int                 err = SXS_IL_ENOMEM;
    *out = NULL;
    if (!graph)
        return E_OUTOFMEMORY;
    graph->body = take_body();
    if (graph->body)
        err = read(graph->body, bytes, size, NULL);
    if (err) {
        clrie_unref(&graph->object);
        return err == SXS_IL_ENOMEM ? E_OUTOFMEMORY : E_FAIL;
    }
    graph->body->keep_forms = 1;
    sxs_il_set_changed(graph->body); /* the written stack is always computed */
    *out = graph;
    return S_OK;
}

HRESULT clrie_graph_new(struct clrie_graph_method *method, const uint8_t *bytes, size_t size,
                        struct clrie_graph **out)
{
    HRESULT hr = make_graph(sxs_il_read, bytes, size, out);
    if (FAILED(hr))
        return hr;
    (*out)->method = method;
    (*out)->object.owner = method ? method->owner : NULL;
    (*out)->generation = Generation_Original;
    (*out)->body->was_fat = (*out)->body->had_fat_sections = (*out)->body->init_locals = 1;
    return clrie_graph_ExpandBranches(*out);
}

HRESULT clrie_graph_decode(const uint8_t *code, size_t size, struct clrie_graph **out)
{
    HRESULT hr = make_graph(sxs_il_read_code, code, size, out);
    if (SUCCEEDED(hr))
        (*out)->generation = Generation_New;
    return hr;
}

void clrie_graph_end(struct clrie_object *object)
{
    struct clrie_graph *graph = (struct clrie_graph *)object;
    for (uint32_t i = 0; i < graph->n_held; i++) {
        struct clrie_instruction *held = graph->held[i];
        if (held->home == graph)
            clrie_drop_body(held);
        if (held->origin_graph == graph) {
            held->origin = NULL;
            held->origin_graph = NULL;
        }
    }
    clrie_section_free(graph->section);
    for (uint32_t i = 0; i < graph->n_held; i++)
        clrie_unhold(&graph->held[i]->object);
    give_body(graph->body);
    sxs_il_free(graph->before);
    free(graph->held);
    free(graph->baseline_map);
    free(graph->points);
    free(graph->map);
}

void clrie_graph_free(struct clrie_graph *graph)
{
    if (!graph)
        return;
    graph->method = NULL;
    graph->object.owner = NULL;
    clrie_unref(&graph->object);
}

struct sxs_il_body *clrie_graph_body(struct clrie_graph *graph)
{
    return SUCCEEDED(clrie_section_forget(graph)) ? graph->body : NULL;
}

HRESULT clrie_graph_info(struct clrie_graph *graph, IMethodInfo **out)
{
    *out = graph && graph->method ? graph->method->info : NULL;
    if (!*out)
        return E_FAIL;
    (*out)->vtbl->AddRef(*out);
    return S_OK;
}

HRESULT clrie_graph_GetMethodInfo(struct clrie_graph *self, IMethodInfo **ppMethodInfo)
{
    return clrie_graph_info(self, ppMethodInfo);
}

/* ---- finding ---------------------------------------------------------------------------------- */

HRESULT clrie_graph_GetFirstInstruction(struct clrie_graph *self, IInstruction **ppInstruction)
{
    return clrie_instruction_hand_out(self, self->body, self->body->first, S_OK, ppInstruction);
}

HRESULT clrie_graph_GetLastInstruction(struct clrie_graph *self, IInstruction **ppInstruction)
{
    return clrie_instruction_hand_out(self, self->body, self->body->last, S_OK, ppInstruction);
}

/* The first or last instruction that @body was read with. */
static HRESULT hand_out_old(struct clrie_graph *graph, struct sxs_il_body *body, int last,
                            IInstruction **out)
{
    struct sxs_il_insn *insn = body->n_old ? &body->old[last ? body->n_old - 1 : 0] : NULL;
    return clrie_instruction_hand_out(graph, body, insn, E_FAIL, out);
}

HRESULT clrie_graph_GetOriginalFirstInstruction(struct clrie_graph *self,
                                                IInstruction      **ppInstruction)
{
    return hand_out_old(self, self->body, 0, ppInstruction);
}

HRESULT clrie_graph_GetOriginalLastInstruction(struct clrie_graph *self,
                                               IInstruction      **ppInstruction)
{
    return hand_out_old(self, self->body, 1, ppInstruction);
}

HRESULT clrie_graph_GetUninstrumentedFirstInstruction(struct clrie_graph *self,
                                                      IInstruction      **ppInstruction)
{
    *ppInstruction = NULL;
    return self->before ? hand_out_old(self, self->before, 0, ppInstruction) : S_FALSE;
}

HRESULT clrie_graph_GetUninstrumentedLastInstruction(struct clrie_graph *self,
                                                     IInstruction      **ppInstruction)
{
    *ppInstruction = NULL;
    return self->before ? hand_out_old(self, self->before, 1, ppInstruction) : S_FALSE;
}

HRESULT clrie_graph_GetInstructionAtOffset(struct clrie_graph *self, DWORD offset,
                                           IInstruction **ppInstruction)
{
    struct sxs_il_insn *insn;
    sxs_il_offsets(self->body);
    for (insn = self->body->first; insn && insn->offset < offset;)
        insn = insn->next;
    if (insn && insn->offset != offset)
        insn = NULL;
    return clrie_instruction_hand_out(self, self->body, insn, E_FAIL, ppInstruction);
}

/* The original offset of decoded instructions is 0. */
HRESULT clrie_graph_GetInstructionAtOriginalOffset(struct clrie_graph *self, DWORD offset,
                                                   IInstruction **ppInstruction)
{
    struct sxs_il_insn *insn = sxs_il_old_at(self->body, offset);
    if (offset && self->generation == Generation_New)
        insn = NULL;
    return clrie_instruction_hand_out(self, self->body, insn, E_FAIL, ppInstruction);
}

/* With a baseline: offsets of the map that CreateBaseline() was given, at present offsets. */
HRESULT clrie_graph_GetInstructionAtUninstrumentedOffset(struct clrie_graph *self, DWORD dwOffset,
                                                         IInstruction **ppInstruction)
{
    *ppInstruction = NULL;
    if (!self->before)
        return clrie_graph_GetInstructionAtOriginalOffset(self, dwOffset, ppInstruction);
    for (uint32_t i = 0; i < self->n_baseline_map; i++)
        if (self->baseline_map[i].oldOffset == dwOffset)
            return clrie_graph_GetInstructionAtOffset(self, self->baseline_map[i].newOffset,
                                                      ppInstruction);
    return E_FAIL;
}

HRESULT clrie_graph_ExpandBranches(struct clrie_graph *self)
{
    int changed = 0;
    for (struct sxs_il_insn *i = self->body->first; i; i = i->next) {
        struct clrie_opcode op;
        if (sxs_il_opcodes[i->opcode].operand != SXS_IL_OPERAND_BRANCH1)
            continue;
        clrie_opcode(i->opcode, &op, NULL);
        i->opcode = (uint16_t)op.alternate;
        changed = 1;
    }
    if (changed)
        sxs_il_set_changed(self->body);
    return S_OK;
}
