/* SPDX-License-Identifier: MIT */
/** instr/il/text.h - write method bodies in ilasm's syntax. Pure functions. */
#ifndef SXS_INSTR_IL_TEXT_H
#define SXS_INSTR_IL_TEXT_H

#include "include/sxs_il.h"
#include "instr/metadata/text.h"

/** Functions of the caller that write what a token stands for. Both return 0, or -1 when the token
 *  is not known; it is then written as a number. */
struct sxs_il_names {
    /** Write the operand @token of @opcode in ilasm's spelling. */
    int (*put)(void *context, struct sxs_text *t, enum sxs_il_opcode opcode, uint32_t token);
    /** Write the types in the locals' signature @token: `type V_0, type V_1`. */
    int (*put_locals)(void *context, struct sxs_text *t, uint32_t token);
    void *context;
};

/** sxs_il_put_insn - write one instruction without a label: `br.s IL_0012`. Labels are named by the
 *  offsets in the code last read or written. @names: NULL: write tokens as numbers. */
void sxs_il_put_insn(struct sxs_text *t, const struct sxs_il_insn *insn,
                     const struct sxs_il_names *names);

/** sxs_il_put_body - write .maxstack, .locals, the instructions with labels, and a .try line for
 *  each clause. Each line begins with @indent. */
void sxs_il_put_body(struct sxs_text *t, const struct sxs_il_body *body, const char *indent,
                     const struct sxs_il_names *names);

#endif
