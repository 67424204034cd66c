/* SPDX-License-Identifier: MIT */
/* instr/il/operands.c - read the operand of an instruction: numbers, labels, variables, and names
 * that stand for tokens. */
#include "instr/il/assembler.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"

/* ---- operands -------------------------------------------------------------------------------- */

static int take_switch(struct assembler *a, struct sxs_il_insn *insn)
{
    struct sxs_il_switch *s = NULL;
    uint32_t              n = 0, room = 0;
    if (sxs_lex_expect(lexer_of(a), "(") != 0)
        return lexer_of(a)->status;
    do {
        if (!s || n == room) {
            struct sxs_il_switch *more;
            room = 2 * room + 16;
            more = sxs_il_alloc(a->body, sizeof(*s) + room * sizeof(s->targets[0]));
            if (!more)
                return sxs_lex_fail(lexer_of(a), "no memory");
            if (n)
                memcpy(more->targets, s->targets, n * sizeof(s->targets[0]));
            s = more;
        }
        if (!n && sxs_lex_is(lexer_of(a), ")"))
            break;
        s->targets[n] = sxs_il_take_label(a, 1);
        if (!s->targets[n++])
            return lexer_of(a)->status;
    } while (sxs_lex_take(lexer_of(a), ","));
    s->n = n;
    insn->targets = s;
    return sxs_lex_expect(lexer_of(a), ")");
}

static int take_variable(struct assembler *a, struct sxs_il_insn *insn)
{
    int is_local = strstr(sxs_il_info(insn)->name, "loc") != NULL;
    if (lexer_of(a)->kind == SXS_WORD_NAME && is_local)
        for (uint32_t i = 0; i < a->fragment->n_locals; i++)
            if (a->locals[i] && !strcmp(a->locals[i], lexer_of(a)->name)) {
                insn->i = a->source->first_local + i;
                sxs_lex_next(lexer_of(a));
                return lexer_of(a)->status;
            }
    if (lexer_of(a)->kind == SXS_WORD_NAME)
        return sxs_lex_fail(lexer_of(a), "no %s %s", is_local ? "local" : "argument",
                            lexer_of(a)->name);
    return sxs_lex_integer(lexer_of(a), &insn->i);
}

/* Checks that the number fits the operand. Changes the short form of a variable's opcode to the
 * long form if the number needs it. */
static int fit_operand(struct assembler *a, struct sxs_il_insn *insn)
{
    unsigned op = insn->opcode, operand = sxs_il_info(insn)->operand;
    if (operand == SXS_IL_OPERAND_VAR1 && insn->i > UINT8_MAX)
        insn->opcode = (uint16_t)(op - SXS_IL_LDARG_S + SXS_IL_LDARG);
    if ((operand == SXS_IL_OPERAND_VAR1 || operand == SXS_IL_OPERAND_VAR2) &&
        (insn->i < 0 || insn->i > UINT16_MAX))
        return sxs_lex_fail(lexer_of(a), "no such number of a variable");
    if (operand == SXS_IL_OPERAND_I1 && op == SXS_IL_UNALIGNED)
        insn->i = (int8_t)insn->i;
    if (operand == SXS_IL_OPERAND_I1 && insn->i != (int8_t)insn->i)
        return sxs_lex_fail(lexer_of(a), "more than a byte holds");
    if (operand == SXS_IL_OPERAND_I4) {
        if (insn->i < INT32_MIN || insn->i > UINT32_MAX)
            return sxs_lex_fail(lexer_of(a), "more than four bytes hold");
        insn->i = (int32_t)insn->i;
    }
    return lexer_of(a)->status;
}

/* Takes a floating-point number, or its bytes: (00 00 C0 7F). */
static int take_float(struct assembler *a, struct sxs_il_insn *insn)
{
    int    narrow = sxs_il_info(insn)->operand == SXS_IL_OPERAND_R4;
    char  *end;
    double wide;
    float  f;
    if (lexer_of(a)->kind != SXS_WORD_NUMBER) {
        const char *at = lexer_of(a)->at;
        if (!sxs_lex_is(lexer_of(a), "("))
            return sxs_lex_fail(lexer_of(a), "expected a number");
        insn->bits = 0;
        for (unsigned i = 0; i < (narrow ? 4u : 8u); i++) {
            insn->bits |= (uint64_t)(strtoul(at, &end, 16) & 0xff) << 8 * i;
            if (end == at)
                return sxs_lex_fail(lexer_of(a), "expected bytes");
            at = end;
        }
        lexer_of(a)->at = at;
        sxs_lex_next(lexer_of(a));
        return sxs_lex_expect(lexer_of(a), ")");
    }
    wide = sxs_strtod(lexer_of(a)->word, &end);
    f = sxs_strtof(lexer_of(a)->word, NULL);
    if (end != lexer_of(a)->at)
        return sxs_lex_fail(lexer_of(a), "not a number that can be");
    insn->bits = 0;
    memcpy(&insn->bits, narrow ? (void *)&f : (void *)&wide, narrow ? sizeof(f) : sizeof(wide));
    sxs_lex_next(lexer_of(a));
    return lexer_of(a)->status;
}

/* Is this operand of ldtoken a function pointer type, `method TYPE *(TYPES)`? Otherwise it is a
 * method, `method TYPE OWNER::NAME(TYPES)`, whose types may themselves be function pointers. */
static int is_function_pointer(const struct sxs_lexer *l)
{
    int depth = 0, star = 0;
    if (!sxs_lex_is(l, "method"))
        return 0;
    for (const char *p = l->at; *p && *p != '\n'; p++) {
        depth += strchr("(<[", *p) ? 1 : strchr(")>]", *p) ? -1 : 0;
        if (*p == '\'')
            for (p++; *p && *p != '\'' && *p != '\n'; p++)
                p += *p == '\\' && p[1];
        else if (depth == 0 && *p == '*')
            star |= p[1 + strspn(p + 1, " \t")] == '(';
        else if (depth == 0 && p[0] == ':' && p[1] == ':')
            return 0;
        if (!*p)
            break;
    }
    return star;
}

static int take_token(struct assembler *a, struct sxs_il_insn *insn)
{
    struct sxs_parser *p = &a->parser;
    const char        *begin = lexer_of(a)->word;
    uint32_t           token = 0;
    int                err;
    if (lexer_of(a)->kind == SXS_WORD_NUMBER) {
        err = sxs_lex_integer(lexer_of(a), &insn->i);
        insn->bits = (uint32_t)insn->i;
        return err;
    }
    switch (sxs_il_info(insn)->operand) {
    case SXS_IL_OPERAND_METHOD: err = sxs_parse_method(p, &token); break;
    case SXS_IL_OPERAND_FIELD: err = sxs_parse_field(p, &token); break;
    case SXS_IL_OPERAND_SIGNATURE: err = sxs_parse_call_site(p, &token); break;
    case SXS_IL_OPERAND_STRING: err = sxs_parse_string(p, &token); break;
    case SXS_IL_OPERAND_TOKEN:
        if (!is_function_pointer(lexer_of(a)) && sxs_lex_take(lexer_of(a), "method"))
            err = sxs_parse_method(p, &token);
        else if (sxs_lex_take(lexer_of(a), "field"))
            err = sxs_parse_field(p, &token);
        else
            err = sxs_parse_type_token(p, &token);
        break;
    default: err = sxs_parse_type_token(p, &token); break;
    }
    insn->bits = token;
    if (!err && p->tokens->use &&
        p->tokens->use(p->tokens->context, (enum sxs_il_opcode)insn->opcode, token) != 0)
        return sxs_lex_fail_at(lexer_of(a), begin, "not for %s", sxs_il_info(insn)->name);
    return err;
}

int sxs_il_take_operand(struct assembler *a, struct sxs_il_insn *insn)
{
    int err;
    switch (sxs_il_info(insn)->operand) {
    case SXS_IL_OPERAND_NONE: return SXS_IL_OK;
    case SXS_IL_OPERAND_I1:
    case SXS_IL_OPERAND_I4:
    case SXS_IL_OPERAND_I8:
        err = sxs_lex_integer(lexer_of(a), &insn->i);
        return err ? err : fit_operand(a, insn);
    case SXS_IL_OPERAND_R4:
    case SXS_IL_OPERAND_R8: return take_float(a, insn);
    case SXS_IL_OPERAND_VAR1:
    case SXS_IL_OPERAND_VAR2: err = take_variable(a, insn); return err ? err : fit_operand(a, insn);
    case SXS_IL_OPERAND_BRANCH1:
    case SXS_IL_OPERAND_BRANCH4: insn->target = sxs_il_take_label(a, 1); return lexer_of(a)->status;
    case SXS_IL_OPERAND_SWITCH: return take_switch(a, insn);
    default: return take_token(a, insn);
    }
}
