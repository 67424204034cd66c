/* SPDX-License-Identifier: MIT */
/* factory.c - IInstructionFactory: instructions that are in no graph, and graphs of byte streams. */
#include "clrie/graph/internal.h"

struct clrie_factory {
    CLRIE_OBJECT(2);
};
const uint32_t clrie_factory_size = sizeof(struct clrie_factory);

struct clrie_factory *clrie_factory_new(void)
{
    return clrie_new(&clrie_factory);
}

void clrie_factory_end(struct clrie_object *object)
{
    (void)object;
}

/* Stores the object and its only reference in @out. */
static HRESULT make(const struct clrie_class *class, ILOrdinalOpcode opcode, IInstruction **out,
                    struct clrie_instruction **made)
{
    struct clrie_opcode op;
    *out = NULL;
    if (opcode < 0 || clrie_opcode((unsigned)opcode, &op, NULL) != 0)
        return E_INVALIDARG;
    *made = clrie_instruction_new(class, (unsigned)opcode);
    if (!*made)
        return E_OUTOFMEMORY;
    *out = clrie_instruction_face(*made);
    return S_OK;
}

/* As CLRIE, takes an operand whose size is not that of the opcode's. The operand is 0 then. */
static HRESULT make_operand(ILOrdinalOpcode opcode, const void *operand, uint32_t size,
                            IInstruction **out)
{
    struct clrie_instruction *i;
    HRESULT                   hr = make(&clrie_operand_instruction, opcode, out, &i);
    if (SUCCEEDED(hr))
        (void)clrie_set_operand(i->insn, operand, size);
    return hr;
}

HRESULT clrie_factory_CreateInstruction(struct clrie_factory *self, ILOrdinalOpcode opcode,
                                        IInstruction **ppInstruction)
{
    struct clrie_instruction *i;
    (void)self;
    return make(&clrie_instruction, opcode, ppInstruction, &i);
}

HRESULT clrie_factory_CreateByteOperandInstruction(struct clrie_factory *self,
                                                   ILOrdinalOpcode opcode, BYTE operand,
                                                   IInstruction **ppInstruction)
{
    (void)self;
    return make_operand(opcode, &operand, sizeof(operand), ppInstruction);
}

HRESULT clrie_factory_CreateUShortOperandInstruction(struct clrie_factory *self,
                                                     ILOrdinalOpcode opcode, USHORT operand,
                                                     IInstruction **ppInstruction)
{
    (void)self;
    return make_operand(opcode, &operand, sizeof(operand), ppInstruction);
}

HRESULT clrie_factory_CreateIntOperandInstruction(struct clrie_factory *self,
                                                  ILOrdinalOpcode opcode, INT32 operand,
                                                  IInstruction **ppInstruction)
{
    (void)self;
    return make_operand(opcode, &operand, sizeof(operand), ppInstruction);
}

HRESULT clrie_factory_CreateLongOperandInstruction(struct clrie_factory *self,
                                                   ILOrdinalOpcode opcode, INT64 operand,
                                                   IInstruction **ppInstruction)
{
    (void)self;
    return make_operand(opcode, &operand, sizeof(operand), ppInstruction);
}

HRESULT clrie_factory_CreateFloatOperandInstruction(struct clrie_factory *self,
                                                    ILOrdinalOpcode opcode, float operand,
                                                    IInstruction **ppInstruction)
{
    (void)self;
    return make_operand(opcode, &operand, sizeof(operand), ppInstruction);
}

HRESULT clrie_factory_CreateDoubleOperandInstruction(struct clrie_factory *self,
                                                     ILOrdinalOpcode opcode, double operand,
                                                     IInstruction **ppInstruction)
{
    (void)self;
    return make_operand(opcode, &operand, sizeof(operand), ppInstruction);
}

HRESULT clrie_factory_CreateTokenOperandInstruction(struct clrie_factory *self,
                                                    ILOrdinalOpcode opcode, mdToken operand,
                                                    IInstruction **ppInstruction)
{
    (void)self;
    return make_operand(opcode, &operand, sizeof(operand), ppInstruction);
}

/* ---- branches --------------------------------------------------------------------------------- */

/* Sets target @n of @i, which *out is the only reference of. */
static HRESULT connect(struct clrie_instruction *i, uint32_t n, IInstruction *target,
                       IInstruction **out)
{
    struct clrie_instruction *to;
    HRESULT                   hr = clrie_instruction_take(target, &to);
    if (SUCCEEDED(hr))
        hr = clrie_set_target(i, n, to);
    if (FAILED(hr)) {
        clrie_unref(&i->object);
        *out = NULL;
    }
    return hr;
}

HRESULT clrie_factory_CreateBranchInstruction(struct clrie_factory *self, ILOrdinalOpcode opcode,
                                              IInstruction  *pBranchTarget,
                                              IInstruction **ppInstruction)
{
    struct clrie_instruction *i;
    HRESULT                   hr = make(&clrie_branch_instruction, opcode, ppInstruction, &i);
    (void)self;
    if (FAILED(hr) || !pBranchTarget)
        return hr;
    return connect(i, 0, pBranchTarget, ppInstruction);
}

/* More targets than this cannot be written: the code would be larger than 2 GB. */
enum { MAX_TARGETS = INT32_MAX / 4 };

HRESULT clrie_factory_CreateSwitchInstruction(struct clrie_factory *self, ILOrdinalOpcode opcode,
                                              DWORD cBranchTargets, IInstruction **ppBranchTargets,
                                              IInstruction **ppInstruction)
{
    struct clrie_instruction *i;
    HRESULT                   hr;
    (void)self;
    *ppInstruction = NULL;
    if (cBranchTargets && !ppBranchTargets)
        return E_POINTER;
    if (cBranchTargets > MAX_TARGETS)
        return E_INVALIDARG;
    hr = make(&clrie_switch_instruction, opcode, ppInstruction, &i);
    if (FAILED(hr))
        return hr;
    hr = clrie_set_target_count(i, cBranchTargets);
    if (FAILED(hr)) {
        clrie_unref(&i->object);
        *ppInstruction = NULL;
    }
    for (DWORD t = 0; SUCCEEDED(hr) && t < cBranchTargets; t++)
        hr = connect(i, t, ppBranchTargets[t], ppInstruction);
    return hr;
}

/* ---- shortest forms --------------------------------------------------------------------------- */

HRESULT clrie_factory_CreateLoadConstInstruction(struct clrie_factory *self, int value,
                                                 IInstruction **ppInstruction)
{
    int8_t small = (int8_t)value;
    (void)self;
    if (value >= -1 && value <= 8)
        return make_operand(SXS_IL_LDC_I4_0 + value, NULL, 0, ppInstruction);
    if (value > 8 && value <= INT8_MAX) /* negative numbers always have the long form */
        return make_operand(SXS_IL_LDC_I4_S, &small, sizeof(small), ppInstruction);
    return make_operand(SXS_IL_LDC_I4, &value, sizeof(value), ppInstruction);
}

/* @zero: the opcode for number 0, which those for 1 to 3 follow; 0: there are none. */
static HRESULT make_variable(unsigned zero, unsigned narrow, unsigned wide, USHORT number,
                             IInstruction **out)
{
    uint8_t small = (uint8_t)number;
    if (zero && number <= 3)
        return make_operand((ILOrdinalOpcode)(zero + number), NULL, 0, out);
    if (number <= UINT8_MAX)
        return make_operand((ILOrdinalOpcode)narrow, &small, sizeof(small), out);
    return make_operand((ILOrdinalOpcode)wide, &number, sizeof(number), out);
}

HRESULT clrie_factory_CreateLoadLocalInstruction(struct clrie_factory *self, USHORT index,
                                                 IInstruction **ppInstruction)
{
    (void)self;
    return make_variable(SXS_IL_LDLOC_0, SXS_IL_LDLOC_S, SXS_IL_LDLOC, index, ppInstruction);
}

HRESULT clrie_factory_CreateLoadLocalAddressInstruction(struct clrie_factory *self, USHORT index,
                                                        IInstruction **ppInstruction)
{
    (void)self;
    return make_variable(0, SXS_IL_LDLOCA_S, SXS_IL_LDLOCA, index, ppInstruction);
}

HRESULT clrie_factory_CreateStoreLocalInstruction(struct clrie_factory *self, USHORT index,
                                                  IInstruction **ppInstruction)
{
    (void)self;
    return make_variable(SXS_IL_STLOC_0, SXS_IL_STLOC_S, SXS_IL_STLOC, index, ppInstruction);
}

HRESULT clrie_factory_CreateLoadArgInstruction(struct clrie_factory *self, USHORT index,
                                               IInstruction **ppInstruction)
{
    (void)self;
    return make_variable(SXS_IL_LDARG_0, SXS_IL_LDARG_S, SXS_IL_LDARG, index, ppInstruction);
}

HRESULT clrie_factory_CreateLoadArgAddressInstruction(struct clrie_factory *self, USHORT index,
                                                      IInstruction **ppInstruction)
{
    (void)self;
    return make_variable(0, SXS_IL_LDARGA_S, SXS_IL_LDARGA, index, ppInstruction);
}

/* ---- byte streams ----------------------------------------------------------------------------- */

HRESULT clrie_factory_DecodeInstructionByteStream(struct clrie_factory *self, DWORD cbMethod,
                                                  LPCBYTE             instructionBytes,
                                                  IInstructionGraph **ppInstructionGraph)
{
    struct clrie_graph *graph;
    HRESULT             hr;
    (void)self;
    *ppInstructionGraph = NULL;
    if (!instructionBytes)
        return E_POINTER;
    hr = clrie_graph_decode(instructionBytes, cbMethod, &graph);
    if (SUCCEEDED(hr))
        *ppInstructionGraph = clrie_face(&graph->object, 0);
    return hr;
}
