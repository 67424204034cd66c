/* SPDX-License-Identifier: MIT */
/** il_text.h - bodies in ilasm's syntax. Pure functions. */
#ifndef SXS_INSTR_IL_TEXT_H
#define SXS_INSTR_IL_TEXT_H

#include "include/sxs_il.h"
#include "instr/metadata/text.h"

/** What tokens stand for, from whoever has the metadata. */
struct sxs_il_names {
    /** The operand @token of @opcode as ilasm spells it. Returns 0, or -1: not known, the number will do. */
    int (*put)(void *context, struct sxs_il_text *t, enum sxs_il_opcode opcode, uint32_t token);
    /** The types of the locals' signature @token, one `type V_0, type V_1`. */
    int (*put_locals)(void *context, struct sxs_il_text *t, uint32_t token);
    void *context;
};

/** sxs_il_put_insn - one instruction without a label: `br.s IL_0012`. @names: NULL: none. Labels are by the
 *  offsets of the code last read or written. */
void sxs_il_put_insn(struct sxs_il_text *t, const struct sxs_il_insn *insn,
                     const struct sxs_il_names *names);

/** sxs_il_put_body - .maxstack, .locals, instructions with labels, .try lines; each begins with @indent. */
void sxs_il_put_body(struct sxs_il_text *t, const struct sxs_il_body *body, const char *indent,
                     const struct sxs_il_names *names);

#endif
