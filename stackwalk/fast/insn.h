/* SPDX-License-Identifier: MIT */
/** insn.h - x86-64 instructions: how long they are, and what they do to the stack. */
#ifndef SXS_SAMPLER_INSN_H
#define SXS_SAMPLER_INSN_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum sxs_insn_kind {
    SXS_INSN_OTHER,
    SXS_INSN_PUSH,    /* reg: DWARF number */
    SXS_INSN_POP,     /* reg */
    SXS_INSN_ADJUST,  /* rsp += value: add, sub, lea rsp, [rsp + n] */
    SXS_INSN_SET_RSP, /* rsp = rbp + value */
    SXS_INSN_SET_RBP, /* rbp = rsp + value */
    SXS_INSN_LEAVE,
    SXS_INSN_RET,
    SXS_INSN_CALL,
    SXS_INSN_JUMP,     /* unconditional, direct: goes to the next instruction + value */
    SXS_INSN_JUMP_FAR, /* unconditional, indirect; value nonzero: marked as a tail call */
    SXS_INSN_TRAP,     /* int3, ud2, hlt: nothing comes after it */
};

#define SXS_DWARF_NO_REG 255 /* of a push whose value is no register */

struct sxs_insn {
    uint8_t            length; /* bytes, 1 to 15; 0: not an instruction, or cut off */
    uint8_t            reg;
    enum sxs_insn_kind kind;
    int32_t            value;
};

/** sxs_insn_read - decodes the instruction at @code, of which @size bytes are there. Signal-safe.
 */
SXS_SIGSAFE struct sxs_insn sxs_insn_read(const uint8_t *code, size_t size);

/**
 * sxs_insn_call_before - whether the @size bytes at @code, which end at a would-be return address,
 * end in a call instruction. 8 bytes are enough to know. Signal-safe.
 */
SXS_SIGSAFE int sxs_insn_call_before(const uint8_t *code, size_t size);

#endif
