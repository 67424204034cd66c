/* SPDX-License-Identifier: MIT */
/* edit.c - the changes of a graph: insert, replace, remove. */
#include "clrie/graph/internal.h"

/* An instruction of @graph's list, to insert at or to remove. */
static HRESULT take_present(struct clrie_graph *graph, IInstruction *face,
                            struct clrie_instruction **out)
{
    HRESULT hr = clrie_instruction_take(face, out);
    if (FAILED(hr))
        return hr;
    return (*out)->graph == graph && (*out)->body == graph->body && (*out)->insn->listed
               ? S_OK
               : E_UNEXPECTED;
}

/* An instruction that is in no graph. */
static HRESULT take_free(IInstruction *face, struct clrie_instruction **out)
{
    HRESULT hr = clrie_instruction_take(face, out);
    if (FAILED(hr))
        return hr;
    if ((*out)->graph)
        return E_UNEXPECTED;
    (*out)->heir = NULL;
    return S_OK;
}

/* NULL is found before anything else. */
static HRESULT take_both(struct clrie_graph *graph, IInstruction *at_face, IInstruction *face,
                         struct clrie_instruction **at, struct clrie_instruction **fresh)
{
    HRESULT hr;
    if (!at_face || !face)
        return E_POINTER;
    hr = take_present(graph, at_face, at);
    if (SUCCEEDED(hr))
        hr = take_free(face, fresh);
    return SUCCEEDED(hr) ? clrie_enter_body(graph, *fresh) : hr;
}

/* Directly before @at: between a prefix and its instruction, too. */
static void link_before(struct clrie_graph *graph, struct clrie_instruction *at,
                        struct clrie_instruction *fresh)
{
    if (at->insn->prev)
        sxs_il_insert_after(graph->body, at->insn->prev, fresh->insn);
    else
        sxs_il_insert_before(graph->body, at->insn, fresh->insn);
    fresh->graph = graph;
}

/* Out of the list. Branches to it stay; when it is not inserted again, they mean its successor. */
static void unlink_instruction(struct clrie_graph *graph, struct clrie_instruction *i)
{
    i->heir = NULL;
    if (i->insn->listed)
        sxs_il_remove(graph->body, i->insn);
    i->removed = 1;
    i->graph = NULL;
    graph->has_unlisted = 1;
}

HRESULT clrie_graph_InsertBefore(struct clrie_graph *self, IInstruction *pInstructionOrig,
                                 IInstruction *pInstructionNew)
{
    struct clrie_instruction *at, *fresh;
    HRESULT                   hr = take_both(self, pInstructionOrig, pInstructionNew, &at, &fresh);
    if (SUCCEEDED(hr))
        link_before(self, at, fresh);
    return hr;
}

/* InsertAfter(NULL): the instructions that were in the list leave it. They are not marked removed and
 * stay in the graph: they cannot be inserted again before they are removed. */
static HRESULT drop_list(struct clrie_graph *graph)
{
    struct sxs_il_insn *i;
    for (i = graph->body->first; i; i = i->next)
        if (!clrie_instruction_of(graph, graph->body, i))
            return E_OUTOFMEMORY;
    while (graph->body->first)
        sxs_il_remove(graph->body, graph->body->first);
    graph->has_unlisted = 1;
    return S_OK;
}

HRESULT clrie_graph_InsertAfter(struct clrie_graph *self, IInstruction *pInstructionOrig,
                                IInstruction *pInstructionNew)
{
    struct clrie_instruction *at = NULL, *fresh;
    HRESULT                   hr;
    if (pInstructionOrig) {
        hr = take_both(self, pInstructionOrig, pInstructionNew, &at, &fresh);
    } else {
        hr = take_free(pInstructionNew, &fresh);
        if (SUCCEEDED(hr))
            hr = clrie_enter_body(self, fresh);
        if (SUCCEEDED(hr))
            hr = drop_list(self);
    }
    if (FAILED(hr))
        return hr;
    if (at)
        sxs_il_insert_after(self->body, at->insn, fresh->insn);
    else
        sxs_il_append(self->body, fresh->insn);
    fresh->graph = self;
    return S_OK;
}

static HRESULT move_all(struct clrie_graph *graph, struct clrie_instruction *from,
                        struct clrie_instruction *to)
{
    HRESULT hr = clrie_retarget(graph, from, to);
    return SUCCEEDED(hr) ? clrie_clauses_update(graph, from, to) : hr;
}

HRESULT clrie_graph_InsertBeforeAndRetargetOffsets(struct clrie_graph *self,
                                                   IInstruction       *pInstructionOrig,
                                                   IInstruction       *pInstructionNew)
{
    struct clrie_instruction *at, *fresh;
    HRESULT                   hr = take_both(self, pInstructionOrig, pInstructionNew, &at, &fresh);
    if (FAILED(hr))
        return hr;
    link_before(self, at, fresh);
    return move_all(self, at, fresh);
}

HRESULT clrie_graph_Replace(struct clrie_graph *self, IInstruction *pInstructionOrig,
                            IInstruction *pInstructionNew)
{
    struct clrie_instruction *at, *fresh;
    HRESULT                   hr = take_both(self, pInstructionOrig, pInstructionNew, &at, &fresh);
    if (FAILED(hr))
        return hr;
    link_before(self, at, fresh);
    unlink_instruction(self, at);
    at->insn->prev = fresh->insn->prev; /* the neighbour that it had */
    at->heir = fresh->insn;
    at->next = at->insn->next;
    at->insn->next = fresh->insn;
    return move_all(self, at, fresh);
}

HRESULT clrie_graph_Remove(struct clrie_graph *self, IInstruction *pInstructionOrig)
{
    struct clrie_instruction *i, *heir;
    struct sxs_il_insn       *next, *prev;
    HRESULT                   hr = clrie_instruction_take(pInstructionOrig, &i);
    if (FAILED(hr))
        return hr;
    if (i->graph != self || i->body != self->body)
        return E_UNEXPECTED;
    if (!i->insn->listed) { /* left the list by InsertAfter(NULL) */
        unlink_instruction(self, i);
        return S_OK;
    }
    next = i->insn->next;
    prev = i->insn->prev;
    unlink_instruction(self, i);
    if (!self->method)
        return S_OK;
    if (!next && !prev)
        return E_FAIL; /* nothing is left that clauses could go to; it is removed nevertheless */
    heir = clrie_instruction_of(self, self->body, next ? next : prev);
    return heir ? clrie_clauses_update(self, i, heir) : E_OUTOFMEMORY;
}

HRESULT clrie_graph_RemoveAll(struct clrie_graph *self)
{
    struct sxs_il_insn *i;
    while ((i = self->body->first)) {
        struct clrie_instruction *object = clrie_user(i);
        sxs_il_remove(self->body, i);
        i->next = i->prev = NULL;
        if (object && object->insn == i) {
            object->removed = 1;
            object->graph = NULL;
        }
        self->has_unlisted = 1;
    }
    if (self->method)
        clrie_clauses_remove_all(self);
    return S_OK;
}
