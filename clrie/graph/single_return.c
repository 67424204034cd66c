/* SPDX-License-Identifier: MIT */
/* single_return.c - ISingleRetDefaultInstrumentation2: all returns of a method become branches to
 * one return at its end. */
#include <stdlib.h>

#include "clrie/graph/internal.h"

struct clrie_single_return {
    CLRIE_OBJECT(1);
    struct clrie_graph       *graph; /* with a reference; NULL: not initialized */
    struct clrie_instruction *exit;  /* held; NULL: nothing was changed */
    int (*add_local)(void *context, int *returns);
    void *context;
};
const uint32_t clrie_single_return_size = sizeof(struct clrie_single_return);

struct clrie_single_return *clrie_single_return_new(int (*add_local)(void *context, int *returns),
                                                    void *context)
{
    struct clrie_single_return *s = clrie_new(&clrie_single_return);
    if (s) {
        s->add_local = add_local;
        s->context = context;
    }
    return s;
}

void clrie_single_return_end(struct clrie_object *object)
{
    struct clrie_single_return *s = (struct clrie_single_return *)object;
    if (s->exit)
        clrie_unhold(&s->exit->object);
    if (s->graph)
        clrie_unref(&s->graph->object);
}

HRESULT clrie_single_return_Initialize(struct clrie_single_return *self,
                                       IInstructionGraph          *pInstructionGraph)
{
    static const struct clrie_class *const class[] = {&clrie_graph};
    struct clrie_graph *graph;
    if (!pInstructionGraph)
        return E_POINTER;
    graph = (struct clrie_graph *)clrie_object_of(pInstructionGraph, class, 1);
    if (!graph)
        return E_INVALIDARG;
    clrie_ref(&graph->object);
    if (self->graph)
        clrie_unref(&self->graph->object);
    self->graph = graph;
    return S_OK;
}

HRESULT clrie_single_return_GetBranchTargetInstruction(struct clrie_single_return *self,
                                                       IInstruction              **pInstruction)
{
    return clrie_hand_out(self->exit ? &self->exit->object : NULL, 0, (void **)pInstruction);
}

/* ---- the change ------------------------------------------------------------------------------- */

static int is_call(const struct sxs_il_insn *insn)
{
    return insn->opcode == SXS_IL_CALL || insn->opcode == SXS_IL_CALLI ||
           insn->opcode == SXS_IL_CALLVIRT;
}

/* A ret that follows a call with the prefix tail. must stay, with a pop between them, too. */
static int can_replace(const struct sxs_il_insn *ret)
{
    const struct sxs_il_insn *i = ret->prev;
    if (i && i->opcode == SXS_IL_POP)
        i = i->prev;
    if (!i || !is_call(i))
        return 1;
    for (i = i->prev; i && sxs_il_opcodes[i->opcode].flow == SXS_IL_FLOW_PREFIX; i = i->prev)
        if (i->opcode == SXS_IL_TAILCALL)
            return 0;
    return 1;
}

/* Makes an instruction with a local's number, in the form of 4 bytes, or a branch. */
static struct clrie_instruction *make(unsigned opcode, uint16_t local,
                                      struct clrie_instruction *target)
{
    const struct clrie_class *class = target                 ? &clrie_branch_instruction
                                      : opcode == SXS_IL_RET ? &clrie_instruction
                                                             : &clrie_operand_instruction;
    struct clrie_instruction *i = clrie_instruction_new(class, opcode);
    if (i && class == &clrie_operand_instruction)
        i->insn->i = local;
    if (i && target && FAILED(clrie_set_target(i, 0, target))) {
        clrie_unref(&i->object);
        return NULL;
    }
    return i;
}

typedef HRESULT change(struct clrie_graph *, IInstruction *, IInstruction *);

/* Applies @how to @at and a new instruction. Returns the instruction, which the graph holds, or NULL. */
static struct clrie_instruction *put(struct clrie_graph *graph, change *how,
                                     struct clrie_instruction *at, unsigned opcode, uint16_t local,
                                     struct clrie_instruction *target)
{
    struct clrie_instruction *i = make(opcode, local, target);
    HRESULT                   hr = E_OUTOFMEMORY;
    if (i) {
        hr = how(graph, clrie_instruction_face(at), clrie_instruction_face(i));
        clrie_unref(&i->object);
    }
    return SUCCEEDED(hr) ? i : NULL;
}

static HRESULT redirect(struct clrie_single_return *s, struct clrie_instruction **rets, uint32_t n,
                        int returns, uint16_t local)
{
    struct clrie_graph       *graph = s->graph;
    struct clrie_instruction *last = clrie_instruction_of(graph, graph->body, graph->body->last);
    struct clrie_instruction *exit =
        last ? put(graph, clrie_graph_InsertAfter, last, SXS_IL_RET, 0, NULL) : NULL;
    if (exit && returns)
        exit =
            put(graph, clrie_graph_InsertBeforeAndRetargetOffsets, exit, SXS_IL_LDLOC, local, NULL);
    if (!exit)
        return E_OUTOFMEMORY;
    for (uint32_t i = 0; i < n; i++) {
        struct clrie_instruction *br = put(graph, clrie_graph_Replace, rets[i], SXS_IL_BR, 0, exit);
        if (!br || (returns && !put(graph, clrie_graph_InsertBeforeAndRetargetOffsets, br,
                                    SXS_IL_STLOC, local, NULL)))
            return E_OUTOFMEMORY;
    }
    clrie_hold(&exit->object);
    if (s->exit)
        clrie_unhold(&s->exit->object);
    s->exit = exit;
    return S_OK;
}

/* Collects the rets that can be replaced into an array that the caller frees; NULL without memory. */
static struct clrie_instruction **find_rets(struct clrie_graph *graph, uint32_t *n)
{
    struct clrie_instruction **rets;
    uint32_t                   room = 1;
    for (struct sxs_il_insn *i = graph->body->first; i; i = i->next)
        room += i->opcode == SXS_IL_RET;
    rets = calloc(room, sizeof(struct clrie_instruction *));
    *n = 0;
    for (struct sxs_il_insn *i = graph->body->first; rets && i; i = i->next) {
        if (i->opcode != SXS_IL_RET || !can_replace(i))
            continue;
        rets[*n] = clrie_instruction_of(graph, graph->body, i);
        if (!rets[(*n)++]) {
            free(rets);
            return NULL;
        }
    }
    return rets;
}

HRESULT clrie_single_return_ApplySingleRetDefaultInstrumentation(struct clrie_single_return *self)
{
    struct clrie_graph        *graph = self->graph;
    struct clrie_instruction **rets;
    uint32_t                   n;
    int                        returns = 1, local = 0;
    HRESULT                    hr = S_OK;
    if (!graph)
        return E_UNEXPECTED;
    if (!graph->method)
        return E_FAIL;
    rets = find_rets(graph, &n);
    if (!rets)
        return E_OUTOFMEMORY;
    if (n > 1) {
        local = self->add_local ? self->add_local(self->context, &returns) : -1;
        hr = returns && (local < 0 || local > UINT16_MAX)
                 ? E_FAIL
                 : redirect(self, rets, n, returns, (uint16_t)local);
    }
    free(rets);
    return hr;
}
