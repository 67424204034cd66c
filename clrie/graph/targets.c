/* SPDX-License-Identifier: MIT */
/* targets.c - where branches and switches go, and how instructions get into a body. */
#include <stdlib.h>
#include <string.h>

#include "clrie/graph/internal.h"

static int is_jump(const struct sxs_il_insn *insn)
{
    unsigned operand = sxs_il_opcodes[insn->opcode].operand;
    return operand == SXS_IL_OPERAND_BRANCH1 || operand == SXS_IL_OPERAND_BRANCH4;
}

static int is_branch(const struct clrie_instruction *i)
{
    return i->object.class == &clrie_branch_instruction;
}

static int is_switch(const struct clrie_instruction *i)
{
    return i->object.class == &clrie_switch_instruction;
}

/* The targets that @insn itself stores. */
static struct sxs_il_insn **plain_targets(struct sxs_il_insn *insn, uint32_t *n)
{
    *n = 0;
    if (insn->opcode == SXS_IL_SWITCH && insn->targets) {
        *n = insn->targets->n;
        return insn->targets->targets;
    }
    *n = is_jump(insn);
    return *n ? &insn->target : NULL;
}

/* Target @n of @i as its instruction stores it. NULL when it stores none: @i is in no body, or its
 * opcode is not what the object claims to be. */
static struct sxs_il_insn **slot_of(const struct clrie_instruction *i, uint32_t n)
{
    uint32_t             count;
    struct sxs_il_insn **slots = i->body ? plain_targets(i->insn, &count) : NULL;
    return slots && (is_branch(i) || is_switch(i)) && n < count ? &slots[n] : NULL;
}

uint32_t clrie_target_count(const struct clrie_instruction *i)
{
    if (!is_switch(i))
        return (uint32_t)is_branch(i);
    return i->body && i->insn->opcode == SXS_IL_SWITCH && i->insn->targets ? i->insn->targets->n
                                                                           : i->n_out;
}

/* ---- edges ------------------------------------------------------------------------------------ */

static void drop_edge(struct clrie_instruction *i, uint32_t n)
{
    struct clrie_edge        *edge = i->out ? i->out[n] : NULL;
    struct clrie_instruction *to;
    if (!edge)
        return;
    to = edge->to;
    i->out[n] = NULL;
    *edge->prev = edge->next;
    if (edge->next)
        edge->next->prev = edge->prev;
    if (edge->strong)
        clrie_unref(&to->object);
    free(edge);
}

static int make_room(struct clrie_instruction *i)
{
    if (!i->out)
        i->out = is_switch(i) ? calloc(clrie_target_count(i), sizeof(struct clrie_edge *))
                              : &i->branch_edge;
    return i->out ? 0 : -1;
}

static HRESULT add_edge(struct clrie_instruction *i, uint32_t n, struct clrie_instruction *to)
{
    struct clrie_edge *edge = make_room(i) == 0 ? malloc(sizeof(*edge)) : NULL;
    if (!edge)
        return E_OUTOFMEMORY;
    *edge = (struct clrie_edge){i, to, to->in, &to->in, !is_branch(to) && !is_switch(to)};
    if (to->in)
        to->in->prev = &edge->next;
    to->in = edge;
    if (edge->strong)
        clrie_ref(&to->object);
    i->out[n] = edge;
    return S_OK;
}

struct clrie_instruction *clrie_target(struct clrie_instruction *i, uint32_t n)
{
    struct sxs_il_insn **slot = slot_of(i, n);
    if (i->out && n < clrie_target_count(i) && i->out[n])
        return i->out[n]->to;
    return slot ? clrie_instruction_of(i->home, i->body, *slot) : NULL;
}

HRESULT clrie_set_target(struct clrie_instruction *i, uint32_t n, struct clrie_instruction *to)
{
    struct sxs_il_insn **slot = slot_of(i, n);
    int                  plain = slot && to && to->body == i->body;
    if (to && !plain && make_room(i) != 0)
        return E_OUTOFMEMORY;
    if (to)
        clrie_ref(&to->object); /* the edge may hold the last reference */
    drop_edge(i, n);
    if (slot) {
        *slot = plain ? to->insn : NULL;
        sxs_il_set_changed(i->body);
    }
    if (to && !plain && FAILED(add_edge(i, n, to))) {
        clrie_unref(&to->object);
        return E_OUTOFMEMORY;
    }
    if (to)
        clrie_unref(&to->object);
    return S_OK;
}

HRESULT clrie_set_target_count(struct clrie_instruction *i, uint32_t n)
{
    struct clrie_edge **out = n ? calloc(n, sizeof(struct clrie_edge *)) : NULL;
    if (n && !out)
        return E_OUTOFMEMORY;
    i->out = out;
    i->n_out = n;
    return S_OK;
}

/* ---- into a body, and out of it --------------------------------------------------------------- */

static void resolve_edge(struct clrie_instruction *i, uint32_t n)
{
    struct clrie_edge   *edge = i->out ? i->out[n] : NULL;
    struct sxs_il_insn **slot = slot_of(i, n);
    if (!edge || !slot || edge->to->body != i->body)
        return;
    *slot = edge->to->insn;
    drop_edge(i, n);
}

/* @i has come into its body: edges from and to it may become plain targets. */
static void resolve_edges(struct clrie_instruction *i)
{
    struct clrie_edge *edge, *next;
    uint32_t           n = i->out ? clrie_target_count(i) : 0;
    for (uint32_t t = 0; t < n; t++)
        resolve_edge(i, t);
    for (edge = i->in; edge; edge = next) {
        struct clrie_instruction *from = edge->from;
        next = edge->next;
        for (uint32_t t = 0; t < clrie_target_count(from); t++)
            if (from->out[t] == edge) {
                resolve_edge(from, t);
                break;
            }
    }
}

/* Every instruction of @body once or twice: those in the list, those that it was read with, and those
 * that are in neither, which have objects. */
typedef HRESULT visitor(struct clrie_graph *graph, struct sxs_il_body *body,
                        struct sxs_il_insn *insn, const void *arg);

/* The object of @insn is now in another body. */
static int has_left(const struct sxs_il_insn *insn)
{
    return insn->user && clrie_user(insn)->insn != insn;
}

static HRESULT visit_all(struct clrie_graph *graph, struct sxs_il_body *body, int unlisted,
                         visitor *visit, const void *arg)
{
    HRESULT  hr = S_OK;
    uint32_t n_held = graph->n_held;
    for (struct sxs_il_insn *i = body->first; SUCCEEDED(hr) && i; i = i->next)
        hr = visit(graph, body, i, arg);
    for (uint32_t i = 0; unlisted && SUCCEEDED(hr) && i < body->n_old; i++)
        if (!body->old[i].listed && !has_left(&body->old[i]))
            hr = visit(graph, body, &body->old[i], arg);
    for (uint32_t i = 0; unlisted && SUCCEEDED(hr) && i < n_held; i++)
        if (graph->held[i]->body == body && !graph->held[i]->insn->listed)
            hr = visit(graph, body, graph->held[i]->insn, arg);
    return hr;
}

struct departure {
    struct clrie_instruction *removed; /* not in the body any more */
    const struct sxs_il_insn *was;     /* its instruction in the body */
};

/* A plain target that leaves the body becomes an edge. */
static HRESULT follow_departure(struct clrie_graph *graph, struct sxs_il_body *body,
                                struct sxs_il_insn *insn, const void *arg)
{
    const struct departure *d = arg;
    uint32_t                n;
    struct sxs_il_insn    **targets = plain_targets(insn, &n);
    for (uint32_t t = 0; targets && insn != d->was && t < n; t++) {
        struct clrie_instruction *i;
        if (targets[t] != d->was)
            continue;
        i = clrie_instruction_of(graph, body, insn);
        if (!i || FAILED(clrie_set_target(i, t, d->removed)))
            return E_OUTOFMEMORY;
    }
    return S_OK;
}

/* Takes opcode, operand and targets of @i out of its body into the object. */
static HRESULT leave_body(struct clrie_instruction *i)
{
    uint32_t                   n = clrie_target_count(i);
    struct clrie_instruction **to = calloc(n ? n : 1, sizeof(struct clrie_instruction *));
    struct clrie_edge        **out = is_switch(i) && n ? calloc(n, sizeof(*out)) : NULL;
    struct departure           d = {i, i->insn};
    struct sxs_il_body        *body = i->body;
    struct clrie_graph        *home = i->home;
    HRESULT                    hr = S_OK;
    if (!to || (is_switch(i) && n && !out)) {
        free(to);
        free(out);
        return E_OUTOFMEMORY;
    }
    for (uint32_t t = 0; t < n; t++) {
        to[t] = clrie_target(i, t);
        if (to[t])
            clrie_ref(&to[t]->object);
        drop_edge(i, t);
    }
    clrie_drop_body(i);
    if (out) {
        free(i->out);
        i->out = out;
        i->n_out = n;
    }
    for (uint32_t t = 0; t < n; t++)
        if (to[t]) {
            if (FAILED(add_edge(i, t, to[t])))
                hr = E_OUTOFMEMORY;
            clrie_unref(&to[t]->object);
        }
    free(to);
    return SUCCEEDED(hr) ? visit_all(home, body, 1, follow_departure, &d) : hr;
}

void clrie_drop_body(struct clrie_instruction *i)
{
    uint32_t count;
    i->own = *i->insn;
    if (plain_targets(i->insn, &count) || i->insn->opcode == SXS_IL_SWITCH)
        i->own.bits = 0;
    if (is_switch(i) && i->insn->opcode == SXS_IL_SWITCH) { /* the targets end with the body */
        for (uint32_t t = 0; i->out && t < clrie_target_count(i); t++)
            drop_edge(i, t);
        free(i->out);
        i->out = NULL;
        i->n_out = 0;
    }
    i->own.prev = i->own.next = NULL;
    i->own.listed = i->own.removed = 0;
    i->own.user = NULL;
    i->own.old_offset = SXS_IL_NONE;
    i->insn = &i->own;
    i->body = NULL;
    i->home = i->graph = NULL;
}

/* A switch object with its opcode: the body has room for its targets. */
static struct sxs_il_insn *make_insn(struct sxs_il_body *body, const struct clrie_instruction *i)
{
    struct sxs_il_insn *insn = is_switch(i) && i->insn->opcode == SXS_IL_SWITCH
                                   ? sxs_il_switch(body, i->n_out)
                                   : sxs_il_insn(body, SXS_IL_NOP);
    uint32_t            count;
    if (!insn || insn->opcode == SXS_IL_SWITCH)
        return insn;
    insn->opcode = i->insn->opcode; /* may be one that has no meaning */
    plain_targets(insn, &count);
    if (!count && insn->opcode != SXS_IL_SWITCH)
        insn->bits = i->insn->bits;
    return insn;
}

HRESULT clrie_enter_body(struct clrie_graph *graph, struct clrie_instruction *i)
{
    struct sxs_il_insn *insn;
    if (i->body == graph->body)
        return S_OK;
    if (i->body && FAILED(leave_body(i)))
        return E_OUTOFMEMORY;
    insn = make_insn(graph->body, i);
    if (!insn || clrie_graph_hold(graph, i) != 0)
        return E_OUTOFMEMORY;
    insn->user = i;
    i->insn = insn;
    i->body = graph->body;
    i->home = graph;
    resolve_edges(i);
    return S_OK;
}

/* ---- changes of all targets ------------------------------------------------------------------- */

struct retargeting {
    const struct clrie_instruction *from, *to;
};

static HRESULT retarget_insn(struct clrie_graph *graph, struct sxs_il_body *body,
                             struct sxs_il_insn *insn, const void *arg)
{
    const struct retargeting *r = arg;
    uint32_t                  n;
    struct sxs_il_insn      **targets = plain_targets(insn, &n);
    (void)graph;
    (void)body;
    for (uint32_t t = 0; targets && insn != r->to->insn && t < n; t++)
        if (targets[t] == r->from->insn)
            targets[t] = r->to->insn;
    return S_OK;
}

HRESULT clrie_retarget(struct clrie_graph *graph, struct clrie_instruction *from,
                       struct clrie_instruction *to)
{
    struct retargeting r = {from, to};
    HRESULT            hr = visit_all(graph, graph->body, graph->has_unlisted, retarget_insn, &r);
    sxs_il_set_changed(graph->body);
    for (struct clrie_edge *edge = from->in, *next; edge; edge = next) {
        struct clrie_instruction *i = edge->from;
        next = edge->next;
        for (uint32_t t = 0; i != to && t < clrie_target_count(i); t++)
            if (i->out[t] == edge) {
                if (FAILED(clrie_set_target(i, t, to)))
                    hr = E_OUTOFMEMORY;
                break;
            }
    }
    return hr;
}

/* ---- IBranchInstruction ----------------------------------------------------------------------- */

HRESULT clrie_instruction_IsShortBranch(struct clrie_instruction *self, BOOL *pbValue)
{
    *pbValue = self->insn->opcode < SXS_IL_BR || self->insn->opcode == SXS_IL_LEAVE_S;
    return S_OK;
}

HRESULT clrie_instruction_ExpandBranch(struct clrie_instruction *self)
{
    struct clrie_opcode op;
    if (sxs_il_opcodes[self->insn->opcode].operand != SXS_IL_OPERAND_BRANCH1)
        return S_OK;
    clrie_opcode(self->insn->opcode, &op, NULL);
    self->insn->opcode = (uint16_t)op.alternate;
    if (self->body)
        sxs_il_set_changed(self->body);
    return S_OK;
}

HRESULT clrie_instruction_GetBranchTarget(struct clrie_instruction *self, IInstruction **ppTarget)
{
    struct clrie_instruction *to = clrie_target(self, 0);
    clrie_hand_out(to ? &to->object : NULL, 0, (void **)ppTarget);
    return to ? S_OK : E_FAIL;
}

HRESULT clrie_instruction_GetTargetOffset(struct clrie_instruction *self, DWORD *pOffset)
{
    struct clrie_instruction *to = clrie_target(self, 0);
    *pOffset = 0;
    return to ? clrie_instruction_GetOffset(to, pOffset) : S_OK;
}

HRESULT clrie_instruction_SetBranchTarget(struct clrie_instruction *self, IInstruction *pTarget)
{
    struct clrie_instruction *to;
    HRESULT                   hr = clrie_instruction_take(pTarget, &to);
    return FAILED(hr) ? hr : clrie_set_target(self, 0, to);
}

/* ---- ISwitchInstruction ----------------------------------------------------------------------- */

HRESULT clrie_switch_GetBranchCount(struct clrie_instruction *self, DWORD *pBranchCount)
{
    *pBranchCount = clrie_target_count(self);
    return S_OK;
}

HRESULT clrie_switch_GetBranchTarget(struct clrie_instruction *self, DWORD index,
                                     IInstruction **ppTarget)
{
    struct clrie_instruction *to =
        index < clrie_target_count(self) ? clrie_target(self, index) : NULL;
    return clrie_hand_out(to ? &to->object : NULL, 0, (void **)ppTarget);
}

HRESULT clrie_switch_GetBranchOffset(struct clrie_instruction *self, DWORD index, DWORD *pdwOffset)
{
    struct clrie_instruction *to;
    if (!pdwOffset)
        return E_POINTER;
    *pdwOffset = 0;
    if (index >= clrie_target_count(self))
        return E_INVALIDARG;
    to = clrie_target(self, index);
    return to ? clrie_instruction_GetOffset(to, pdwOffset) : S_OK;
}

HRESULT clrie_switch_SetBranchTarget(struct clrie_instruction *self, DWORD index,
                                     IInstruction *pTarget)
{
    struct clrie_instruction *to = NULL;
    HRESULT                   hr = pTarget ? clrie_instruction_take(pTarget, &to) : S_OK;
    if (FAILED(hr))
        return hr;
    return index < clrie_target_count(self) ? clrie_set_target(self, index, to) : E_INVALIDARG;
}

HRESULT clrie_switch_RemoveBranchTargetAt(struct clrie_instruction *self, DWORD index)
{
    uint32_t             n = clrie_target_count(self);
    struct sxs_il_insn **slot;
    if (index >= n)
        return E_INVALIDARG;
    slot = slot_of(self, index);
    drop_edge(self, index);
    if (self->out)
        memmove(self->out + index, self->out + index + 1, (n - index - 1) * sizeof(self->out[0]));
    if (self->out)
        self->out[n - 1] = NULL;
    if (slot) {
        memmove(slot, slot + 1, (n - index - 1) * sizeof(*slot));
        self->insn->targets->n--;
        sxs_il_set_changed(self->body);
    } else {
        self->n_out--;
    }
    return S_OK;
}

HRESULT clrie_switch_RemoveBranchTarget(struct clrie_instruction *self, IInstruction *pTarget)
{
    struct clrie_instruction *to;
    HRESULT                   hr = clrie_instruction_take(pTarget, &to);
    if (FAILED(hr))
        return hr;
    for (uint32_t t = clrie_target_count(self); t-- > 0;)
        if (clrie_target(self, t) == to)
            clrie_switch_RemoveBranchTargetAt(self, t);
    return S_OK;
}

HRESULT clrie_switch_ReplaceBranchTarget(struct clrie_instruction *self, IInstruction *pOriginal,
                                         IInstruction *pNew)
{
    struct clrie_instruction *from, *to;
    HRESULT                   hr = clrie_instruction_take(pOriginal, &from);
    if (SUCCEEDED(hr))
        hr = clrie_instruction_take(pNew, &to);
    if (FAILED(hr))
        return hr;
    if (!clrie_target_count(self))
        return E_BOUNDS;
    for (uint32_t t = 0; SUCCEEDED(hr) && t < clrie_target_count(self); t++)
        if (clrie_target(self, t) == from)
            hr = clrie_set_target(self, t, to);
    return hr;
}
