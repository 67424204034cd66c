/* SPDX-License-Identifier: MIT */
#include "instr/il/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "instr/il/internal.h"

/* ---- operands -------------------------------------------------------------------------------- */

static void put_label(struct sxs_text *t, struct sxs_il_insn *insn)
{
    insn = sxs_il_target(insn);
    if (insn)
        sxs_text_putf(t, "IL_%04x", insn->offset);
    else
        sxs_text_put(t, "nowhere");
}

static void put_switch(struct sxs_text *t, const struct sxs_il_switch *s)
{
    sxs_text_put(t, "(");
    for (uint32_t i = 0; i < s->n; i++) {
        if (i)
            sxs_text_put(t, ", ");
        put_label(t, s->targets[i]);
    }
    sxs_text_put(t, ")");
}

/* Writes enough digits to read back the same number, or the bytes of infinities and NaNs. */
static void put_float(struct sxs_text *t, uint64_t bits, size_t size)
{
    float  narrow;
    double wide;
    memcpy(&narrow, &bits, sizeof(narrow));
    memcpy(&wide, &bits, sizeof(wide));
    if (size == 4 && isfinite(narrow)) {
        sxs_text_putf(t, "%#.9g", (double)narrow);
    } else if (size == 8 && isfinite(wide)) {
        sxs_text_putf(t, "%#.17g", wide);
    } else {
        sxs_text_put(t, "(");
        for (size_t i = 0; i < size; i++)
            sxs_text_putf(t, i ? " %02X" : "%02X", (unsigned)(bits >> 8 * i & 0xff));
        sxs_text_put(t, ")");
    }
}

static void put_operand(struct sxs_text *t, const struct sxs_il_insn *insn,
                        const struct sxs_il_names *names)
{
    switch (sxs_il_info(insn)->operand) {
    case SXS_IL_OPERAND_I1:
    case SXS_IL_OPERAND_I4:
    case SXS_IL_OPERAND_I8:
    case SXS_IL_OPERAND_VAR1:
    case SXS_IL_OPERAND_VAR2: sxs_text_putf(t, "%" PRId64, insn->i); break;
    case SXS_IL_OPERAND_R4: put_float(t, insn->bits, 4); break;
    case SXS_IL_OPERAND_R8: put_float(t, insn->bits, 8); break;
    case SXS_IL_OPERAND_BRANCH1:
    case SXS_IL_OPERAND_BRANCH4: put_label(t, insn->target); break;
    case SXS_IL_OPERAND_SWITCH: put_switch(t, insn->targets); break;
    default:
        if (!names || names->put(names->context, t, (enum sxs_il_opcode)insn->opcode, insn->token))
            sxs_text_putf(t, "0x%08x", insn->token);
        break;
    }
}

void sxs_il_put_insn(struct sxs_text *t, const struct sxs_il_insn *insn,
                     const struct sxs_il_names *names)
{
    const struct sxs_il_opcode_info *info = &sxs_il_opcodes[sxs_il_written_opcode(insn)];
    if (info->operand == SXS_IL_OPERAND_NONE) {
        sxs_text_put(t, info->name);
        return;
    }
    sxs_text_putf(t, "%-10s ", info->name);
    put_operand(t, insn, names);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void put_end_label(struct sxs_text *t, const struct sxs_il_body *body,
                          struct sxs_il_insn *last)
{
    last = sxs_il_end_target(last);
    if (last && last->next)
        put_label(t, last->next);
    else
        sxs_text_put(t, body->last ? "IL_END" : "nowhere");
}

static void put_clause(struct sxs_text *t, const struct sxs_il_body *body,
                       const struct sxs_il_clause *c, const struct sxs_il_names *names)
{
    sxs_text_put(t, ".try ");
    put_label(t, c->try_first);
    sxs_text_put(t, " to ");
    put_end_label(t, body, c->try_last);
    if (c->kind == SXS_IL_CATCH) {
        sxs_text_put(t, " catch ");
        if (!names || names->put(names->context, t, SXS_IL_CASTCLASS, c->token))
            sxs_text_putf(t, "0x%08x", c->token);
    } else if (c->kind == SXS_IL_FILTER) {
        sxs_text_put(t, " filter ");
        put_label(t, c->filter_first);
    } else {
        sxs_text_put(t, c->kind == SXS_IL_FINALLY ? " finally" : " fault");
    }
    sxs_text_put(t, " handler ");
    put_label(t, c->handler_first);
    sxs_text_put(t, " to ");
    put_end_label(t, body, c->handler_last);
    sxs_text_put(t, "\n");
}

static void put_locals(struct sxs_text *t, const struct sxs_il_body *body, const char *indent,
                       const struct sxs_il_names *names)
{
    if (!body->locals)
        return;
    sxs_text_putf(t, "%s.locals %s(", indent, body->init_locals ? "init " : "");
    if (!names || names->put_locals(names->context, t, body->locals))
        sxs_text_putf(t, "0x%08x", body->locals);
    sxs_text_put(t, ")\n");
}

/* Does a range of a clause end at the end of the code, so that a label is needed there? */
static int names_end(const struct sxs_il_body *body)
{
    for (uint32_t i = 0; i < body->n_clauses; i++)
        if (sxs_il_end_target(body->clauses[i].handler_last) == body->last ||
            sxs_il_end_target(body->clauses[i].try_last) == body->last)
            return 1;
    return 0;
}

void sxs_il_put_body(struct sxs_text *t, const struct sxs_il_body *body, const char *indent,
                     const struct sxs_il_names *names)
{
    sxs_text_putf(t, "%s.maxstack %u\n", indent, body->max_stack);
    put_locals(t, body, indent, names);
    for (const struct sxs_il_insn *i = body->first; i; i = i->next) {
        sxs_text_putf(t, "%sIL_%04x: ", indent, i->offset);
        sxs_il_put_insn(t, i, names);
        sxs_text_put(t, "\n");
    }
    if (names_end(body))
        sxs_text_putf(t, "%sIL_END:\n", indent);
    for (uint32_t i = 0; i < body->n_clauses; i++) {
        sxs_text_put(t, indent);
        put_clause(t, body, &body->clauses[i], names);
    }
}
