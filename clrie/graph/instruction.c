/* SPDX-License-Identifier: MIT */
/* instruction.c - objects of instructions: IInstruction and IOperandInstruction. */
#include <stdlib.h>
#include <string.h>

#include "clrie/graph/internal.h"
#include "clrie/object/strings.h"

const uint32_t clrie_instruction_size = sizeof(struct clrie_instruction);

static const struct clrie_class *const classes[] = {&clrie_instruction, &clrie_operand_instruction,
                                                    &clrie_branch_instruction,
                                                    &clrie_switch_instruction};

/* ---- objects ---------------------------------------------------------------------------------- */

struct clrie_instruction *clrie_instruction_new(const struct clrie_class *class, unsigned opcode)
{
    struct clrie_instruction *i = clrie_new(class);
    if (!i)
        return NULL;
    i->insn = &i->own;
    i->own.opcode = (uint16_t)opcode;
    i->own.old_offset = i->own.offset = SXS_IL_NONE;
    i->generation = Generation_New;
    return i;
}

void clrie_instruction_end(struct clrie_object *object)
{
    struct clrie_instruction *i = (struct clrie_instruction *)object;
    uint32_t                  n = clrie_target_count(i);
    for (uint32_t t = 0; i->out && t < n; t++)
        clrie_set_target(i, t, NULL); /* does not allocate */
    while (i->in) {                   /* weak ones only */
        struct clrie_instruction *from = i->in->from;
        for (uint32_t t = 0; t < clrie_target_count(from); t++)
            if (from->out[t] && from->out[t]->to == i)
                clrie_set_target(from, t, NULL);
    }
    if (i->out != &i->branch_edge)
        free(i->out);
}

int clrie_graph_hold(struct clrie_graph *graph, struct clrie_instruction *i)
{
    if (graph->n_held == graph->held_room) {
        uint32_t                   room = graph->held_room ? 2 * graph->held_room : 16;
        struct clrie_instruction **more = realloc(graph->held, room * sizeof(*more));
        if (!more)
            return -1;
        graph->held = more;
        graph->held_room = room;
    }
    clrie_hold(&i->object);
    graph->held[graph->n_held++] = i;
    return 0;
}

static const struct clrie_class *class_of(const struct sxs_il_insn *insn)
{
    switch (sxs_il_opcodes[insn->opcode].operand) {
    case SXS_IL_OPERAND_NONE: return &clrie_instruction;
    case SXS_IL_OPERAND_SWITCH: return &clrie_switch_instruction;
    case SXS_IL_OPERAND_BRANCH1:
    case SXS_IL_OPERAND_BRANCH4: return &clrie_branch_instruction;
    default: return &clrie_operand_instruction;
    }
}

struct clrie_instruction *clrie_instruction_of(struct clrie_graph *graph, struct sxs_il_body *body,
                                               struct sxs_il_insn *insn)
{
    struct clrie_instruction *i;
    if (!insn || insn->user)
        return insn ? insn->user : NULL;
    i = clrie_instruction_new(class_of(insn), insn->opcode);
    if (!i)
        return NULL;
    i->insn = insn;
    i->body = body;
    i->home = graph;
    i->graph = insn->listed ? graph : NULL;
    i->removed = !insn->listed;
    if (insn->old_offset != SXS_IL_NONE) {
        i->generation = body == graph->before ? Generation_Original : graph->generation;
        i->original_offset = i->generation == Generation_New ? 0 : insn->old_offset;
        i->origin = insn;
        i->origin_body = body;
        i->origin_graph = graph;
    }
    if (clrie_graph_hold(graph, i) == 0)
        insn->user = i;
    clrie_unref(&i->object);
    return insn->user;
}

HRESULT clrie_instruction_hand_out(struct clrie_graph *graph, struct sxs_il_body *body,
                                   struct sxs_il_insn *insn, HRESULT none, IInstruction **out)
{
    struct clrie_instruction *i = clrie_instruction_of(graph, body, insn);
    *out = NULL;
    if (!i)
        return insn ? E_OUTOFMEMORY : none;
    return clrie_hand_out(&i->object, 0, (void **)out);
}

HRESULT clrie_instruction_take(IInstruction *face, struct clrie_instruction **out)
{
    if (!face)
        return E_POINTER;
    *out = (struct clrie_instruction *)clrie_object_of(face, classes, 4);
    return *out ? S_OK : E_INVALIDARG;
}

/* ---- what the opcode says --------------------------------------------------------------------- */

static struct clrie_opcode opcode_of(const struct clrie_instruction *i, char *name)
{
    struct clrie_opcode op = {0};
    clrie_opcode(i->insn->opcode, &op, name);
    return op;
}

HRESULT clrie_instruction_GetOpCodeName(struct clrie_instruction *self, BSTR *pbstrName)
{
    char name[16];
    return clrie_string_hand_out(opcode_of(self, name).name, pbstrName);
}

HRESULT clrie_instruction_GetOpCode(struct clrie_instruction *self, ILOrdinalOpcode *pOpCode)
{
    *pOpCode = self->insn->opcode;
    return S_OK;
}

HRESULT clrie_instruction_GetAlternateOrdinalOpcode(struct clrie_instruction *self,
                                                    ILOrdinalOpcode          *pOpCode)
{
    *pOpCode = opcode_of(self, NULL).alternate;
    return S_OK;
}

/* 0 for a switch, whatever its number of targets: CLRIE adds 1 and -1. */
HRESULT clrie_instruction_GetInstructionLength(struct clrie_instruction *self, DWORD *pdwLength)
{
    struct clrie_opcode op = opcode_of(self, NULL);
    *pdwLength = (DWORD)(op.opcode_length + op.operand_length);
    return S_OK;
}

HRESULT clrie_instruction_GetOpcodeFlags(struct clrie_instruction *self, ILOpcodeFlags *pFlags)
{
    *pFlags = opcode_of(self, NULL).flags;
    return S_OK;
}

HRESULT clrie_instruction_GetOpcodeLength(struct clrie_instruction *self, DWORD *pdwLength)
{
    *pdwLength = opcode_of(self, NULL).opcode_length;
    return S_OK;
}

HRESULT clrie_instruction_GetOperandType(struct clrie_instruction *self, ILOperandType *pType)
{
    *pType = opcode_of(self, NULL).operand_type;
    return S_OK;
}

HRESULT clrie_instruction_GetOperandLength(struct clrie_instruction *self, DWORD *pdwLength)
{
    struct clrie_opcode op = opcode_of(self, NULL);
    *pdwLength = (DWORD)(op.operand_length < 0 ? 0 : op.operand_length);
    if (self->object.class == &clrie_switch_instruction)
        *pdwLength = 4 + 4 * clrie_target_count(self);
    return S_OK;
}

HRESULT clrie_instruction_GetIsBranch(struct clrie_instruction *self, BOOL *pbValue)
{
    *pbValue = opcode_of(self, NULL).flags == ILOpcodeFlag_Branch;
    return S_OK;
}

HRESULT clrie_instruction_GetIsSwitch(struct clrie_instruction *self, BOOL *pbValue)
{
    *pbValue = self->insn->opcode == SXS_IL_SWITCH;
    return S_OK;
}

HRESULT clrie_instruction_GetIsCallInstruction(struct clrie_instruction *self, BOOL *pbValue)
{
    *pbValue = opcode_of(self, NULL).is_call;
    return S_OK;
}

HRESULT clrie_instruction_GetTerminationType(struct clrie_instruction   *self,
                                             InstructionTerminationType *pTerminationType)
{
    *pTerminationType = opcode_of(self, NULL).ends;
    return S_OK;
}

HRESULT clrie_instruction_GetIsFallThrough(struct clrie_instruction *self, BOOL *pbIsFallThrough)
{
    *pbIsFallThrough = opcode_of(self, NULL).ends == TerminationType_FallThrough;
    return S_OK;
}

/* ---- place and history ------------------------------------------------------------------------ */

/* Of an instruction in a list: its present offset. Otherwise the last one that it had, or 0. */
HRESULT clrie_instruction_GetOffset(struct clrie_instruction *self, DWORD *pdwOffset)
{
    const struct sxs_il_insn *insn = self->insn;
    if (self->body) {
        const struct sxs_il_insn *now = sxs_il_target(clrie_current(self));
        sxs_il_offsets(self->body);
        insn = now ? now : insn; /* of a removed one: where branches to it go */
    }
    *pdwOffset = insn->offset == SXS_IL_NONE ? 0 : insn->offset;
    return S_OK;
}

HRESULT clrie_instruction_GetOriginalOffset(struct clrie_instruction *self, DWORD *pdwOffset)
{
    *pdwOffset = self->original_offset;
    return S_OK;
}

HRESULT clrie_instruction_GetIsNew(struct clrie_instruction *self, BOOL *pbValue)
{
    *pbValue = self->generation == Generation_New;
    return S_OK;
}

HRESULT clrie_instruction_GetIsRemoved(struct clrie_instruction *self, BOOL *pbValue)
{
    *pbValue = self->removed;
    return S_OK;
}

HRESULT clrie_instruction_GetInstructionGeneration(struct clrie_instruction *self,
                                                   InstructionGeneration    *pInstructionGeneration)
{
    *pInstructionGeneration = self->generation;
    return S_OK;
}

/* A removed instruction still knows the neighbours that it had. */
HRESULT clrie_instruction_GetNextInstruction(struct clrie_instruction *self,
                                             IInstruction            **ppNextInstruction)
{
    return clrie_instruction_hand_out(self->home, self->body,
                                      self->heir ? self->next : self->insn->next, E_FAIL,
                                      ppNextInstruction);
}

HRESULT clrie_instruction_GetPreviousInstruction(struct clrie_instruction *self,
                                                 IInstruction            **ppPrevInstruction)
{
    return clrie_instruction_hand_out(self->home, self->body, self->insn->prev, E_FAIL,
                                      ppPrevInstruction);
}

HRESULT clrie_instruction_GetOriginalNextInstruction(struct clrie_instruction *self,
                                                     IInstruction            **ppNextInstruction)
{
    struct sxs_il_insn *next =
        self->origin ? sxs_il_old_next(self->origin_body, self->origin) : NULL;
    return clrie_instruction_hand_out(self->origin_graph, self->origin_body, next, E_FAIL,
                                      ppNextInstruction);
}

HRESULT clrie_instruction_GetOriginalPreviousInstruction(struct clrie_instruction *self,
                                                         IInstruction **ppPrevInstruction)
{
    struct sxs_il_insn *prev =
        self->origin ? sxs_il_old_prev(self->origin_body, self->origin) : NULL;
    return clrie_instruction_hand_out(self->origin_graph, self->origin_body, prev, E_FAIL,
                                      ppPrevInstruction);
}

/* ---- operands --------------------------------------------------------------------------------- */

int clrie_set_operand(struct sxs_il_insn *insn, const void *bytes, uint32_t size)
{
    const struct sxs_il_opcode_info *info = &sxs_il_opcodes[insn->opcode];
    if (!size || info->size != size || info->operand == SXS_IL_OPERAND_BRANCH1 ||
        info->operand == SXS_IL_OPERAND_BRANCH4)
        return -1;
    insn->bits = 0;
    memcpy(&insn->bits, bytes, size);
    if (info->operand == SXS_IL_OPERAND_I1)
        insn->i = (int8_t)insn->i;
    if (info->operand == SXS_IL_OPERAND_I4)
        insn->i = (int32_t)insn->i;
    return 0;
}

HRESULT clrie_instruction_GetOperandValue(struct clrie_instruction *self, DWORD dwSize,
                                          BYTE *pBytes)
{
    uint32_t size = sxs_il_opcodes[self->insn->opcode].size;
    if (!size || dwSize < size)
        return E_FAIL;
    memcpy(pBytes, &self->insn->bits, size);
    return S_OK;
}

HRESULT clrie_instruction_SetOperandValue(struct clrie_instruction *self, DWORD dwSize,
                                          BYTE *pBytes)
{
    struct sxs_il_insn was = *self->insn;
    if (!pBytes)
        return E_POINTER;
    if (clrie_set_operand(self->insn, pBytes, dwSize) != 0)
        return E_FAIL;
    if (self->body && was.bits != self->insn->bits)
        sxs_il_set_changed(self->body);
    return S_OK;
}
