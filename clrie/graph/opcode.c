/* SPDX-License-Identifier: MIT */
/* opcode.c - opcodes as the interface describes them, from the table of the IL library. */
#include <stdio.h>

#include "clrie/graph/internal.h"

enum { FIRST_PREFIX = 0xf8, PREFIXREF = 0xff };

static const uint8_t operand_types[] = {
    [SXS_IL_OPERAND_NONE] = ILOperandType_None,     [SXS_IL_OPERAND_I1] = ILOperandType_Byte,
    [SXS_IL_OPERAND_I4] = ILOperandType_Int,        [SXS_IL_OPERAND_I8] = ILOperandType_Long,
    [SXS_IL_OPERAND_R4] = ILOperandType_Single,     [SXS_IL_OPERAND_R8] = ILOperandType_Double,
    [SXS_IL_OPERAND_VAR1] = ILOperandType_Byte,     [SXS_IL_OPERAND_VAR2] = ILOperandType_UShort,
    [SXS_IL_OPERAND_BRANCH1] = ILOperandType_Byte,  [SXS_IL_OPERAND_BRANCH4] = ILOperandType_Int,
    [SXS_IL_OPERAND_SWITCH] = ILOperandType_Switch,
};

static ILOperandType operand_type(unsigned operand)
{
    return operand >= SXS_IL_OPERAND_METHOD ? ILOperandType_Token
                                            : (ILOperandType)operand_types[operand];
}

/* Opcodes that the IL library does not know have names, too. Two opcodes have names of their own. */
static const char *name_of(unsigned opcode, char name[16])
{
    if (opcode == SXS_IL_LDELEM)
        return "ldelem.any";
    if (opcode == SXS_IL_STELEM)
        return "stelem.any";
    if (sxs_il_opcodes[opcode].name)
        return sxs_il_opcodes[opcode].name;
    if (opcode == PREFIXREF)
        return "prefixref";
    if (opcode < FIRST_PREFIX || opcode > PREFIXREF)
        return "unused";
    snprintf(name, 16, "prefix%u", PREFIXREF - opcode);
    return name;
}

/* The form of the same instruction with an operand of another size. */
static unsigned alternate_of(unsigned op)
{
    if (op >= SXS_IL_BR_S && op <= SXS_IL_BLT_UN_S)
        return op + (SXS_IL_BR - SXS_IL_BR_S);
    if (op >= SXS_IL_BR && op <= SXS_IL_BLT_UN)
        return op - (SXS_IL_BR - SXS_IL_BR_S);
    if (op >= SXS_IL_LDARG_S && op <= SXS_IL_STLOC_S)
        return op + (SXS_IL_LDARG - SXS_IL_LDARG_S);
    if (op >= SXS_IL_LDARG && op <= SXS_IL_STLOC)
        return op - (SXS_IL_LDARG - SXS_IL_LDARG_S);
    switch (op) {
    case SXS_IL_LEAVE: return SXS_IL_LEAVE_S;
    case SXS_IL_LEAVE_S: return SXS_IL_LEAVE;
    case SXS_IL_LDC_I4: return SXS_IL_LDC_I4_S;
    case SXS_IL_LDC_I4_S: return SXS_IL_LDC_I4;
    default: return Cee_Invalid;
    }
}

static InstructionTerminationType end_of(unsigned op)
{
    switch (op) {
    case SXS_IL_BREAK: return TerminationType_Trap;
    case SXS_IL_SWITCH: return TerminationType_Switch;
    case SXS_IL_RET:
    case SXS_IL_ENDFINALLY:
    case SXS_IL_ENDFILTER: return TerminationType_Return;
    case SXS_IL_CALL:
    case SXS_IL_JMP:
    case SXS_IL_NEWOBJ: return TerminationType_Call;
    case SXS_IL_CALLI:
    case SXS_IL_CALLVIRT: return TerminationType_IndirectCall;
    case SXS_IL_THROW:
    case SXS_IL_RETHROW: return TerminationType_Throw;
    default: break;
    }
    switch (sxs_il_opcodes[op].flow) {
    case SXS_IL_FLOW_BRANCH: return TerminationType_Branch;
    case SXS_IL_FLOW_CONDITIONAL: return TerminationType_ConditionalBranch;
    default: return TerminationType_FallThrough;
    }
}

int clrie_opcode(unsigned opcode, struct clrie_opcode *out, char name[16])
{
    const struct sxs_il_opcode_info *info;
    if (opcode >= SXS_IL_N_OPCODES)
        return -1;
    info = &sxs_il_opcodes[opcode];
    *out = (struct clrie_opcode){
        .name = name ? name_of(opcode, name) : NULL,
        .opcode_length = opcode >= 0x100 ? 2 : 1,
        .operand_length = info->operand == SXS_IL_OPERAND_SWITCH ? -1 : (int8_t)info->size,
        .operand_type = operand_type(info->operand),
        .alternate = (ILOrdinalOpcode)alternate_of(opcode),
        .flags =
            !info->name ? ILOpcodeFlag_Unused
            : info->operand == SXS_IL_OPERAND_BRANCH1 || info->operand == SXS_IL_OPERAND_BRANCH4
                ? ILOpcodeFlag_Branch
                : ILOpcodeFlag_None,
        .ends = end_of(opcode),
        .is_call = opcode == SXS_IL_CALL || opcode == SXS_IL_CALLI || opcode == SXS_IL_CALLVIRT,
    };
    return 0;
}
