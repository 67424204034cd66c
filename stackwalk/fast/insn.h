/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/insn.h - decodes x86-64 instructions: their length and their effect on the
 * stack. */
#ifndef SXS_STACKWALK_FAST_INSN_H
#define SXS_STACKWALK_FAST_INSN_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum sxs_insn_kind {
    SXS_INSN_OTHER,
    SXS_INSN_PUSH,    /* reg: DWARF number of the register */
    SXS_INSN_POP,     /* reg */
    SXS_INSN_ADJUST,  /* rsp += value: add, sub, lea rsp, [rsp + n] */
    SXS_INSN_SET_RSP, /* rsp = rbp + value */
    SXS_INSN_SET_RBP, /* rbp = rsp + value */
    SXS_INSN_LEAVE,
    SXS_INSN_RET,
    SXS_INSN_CALL,
    SXS_INSN_JUMP,     /* unconditional, direct; target: next instruction + value */
    SXS_INSN_JUMP_FAR, /* unconditional, indirect; value is nonzero for a marked tail call */
    SXS_INSN_TRAP,     /* int3, ud2, hlt: execution does not continue after it */
};

#define SXS_DWARF_NO_REG 255 /* reg of a push of an immediate or of memory */

struct sxs_insn {
    uint8_t            length; /* bytes, 1 to 15; 0: not an instruction, or incomplete */
    uint8_t            reg;
    enum sxs_insn_kind kind;
    int32_t            value;
};

/**
 * sxs_insn_read - decode the instruction at @code, of which @size bytes are available.
 * Signal-safe. */
SXS_SIGSAFE struct sxs_insn sxs_insn_read(const uint8_t *code, size_t size);

/**
 * sxs_insn_call_before - whether the @size bytes at @code end with a call instruction.
 * @code + @size is the address that may be a return address. 8 bytes are always enough.
 * Signal-safe. */
SXS_SIGSAFE int sxs_insn_call_before(const uint8_t *code, size_t size);

#endif
