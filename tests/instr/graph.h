/* SPDX-License-Identifier: MIT */
/** graph.h - compares two method bodies: instructions, operands, clauses. Forms of branches are ignored. */
#ifndef SXS_TESTS_INSTR_GRAPH_H
#define SXS_TESTS_INSTR_GRAPH_H

#include "instr/il/internal.h"

/* Returns the long form of a branch, and every other opcode unchanged. */
static inline unsigned long_form(const struct sxs_il_insn *i)
{
    if (i->opcode == SXS_IL_LEAVE_S)
        return SXS_IL_LEAVE;
    return sxs_il_info(i)->operand == SXS_IL_OPERAND_BRANCH1 ? i->opcode + (SXS_IL_BR - SXS_IL_BR_S)
                                                             : i->opcode;
}

static inline int same_target(struct sxs_il_insn *a, struct sxs_il_insn *b, int end)
{
    a = end ? sxs_il_end_target(a) : sxs_il_target(a);
    b = end ? sxs_il_end_target(b) : sxs_il_target(b);
    return !a == !b && (!a || a->index == b->index);
}

static inline int same_operand(const struct sxs_il_insn *a, const struct sxs_il_insn *b)
{
    if (sxs_il_is_branch(a))
        return same_target(a->target, b->target, 0);
    if (a->opcode != SXS_IL_SWITCH)
        return sxs_il_info(a)->operand == SXS_IL_OPERAND_NONE || a->bits == b->bits;
    if (a->targets->n != b->targets->n)
        return 0;
    for (uint32_t i = 0; i < a->targets->n; i++)
        if (!same_target(a->targets->targets[i], b->targets->targets[i], 0))
            return 0;
    return 1;
}

static inline int same_clause(const struct sxs_il_clause *a, const struct sxs_il_clause *b)
{
    return a->kind == b->kind && (a->kind != SXS_IL_CATCH || a->token == b->token) &&
           same_target(a->try_first, b->try_first, 0) && same_target(a->try_last, b->try_last, 1) &&
           same_target(a->handler_first, b->handler_first, 0) &&
           same_target(a->handler_last, b->handler_last, 1) &&
           (a->kind != SXS_IL_FILTER || same_target(a->filter_first, b->filter_first, 0));
}

static inline int same_graph(struct sxs_il_body *a, struct sxs_il_body *b)
{
    struct sxs_il_insn *i = a->first, *j = b->first;
    if (sxs_il_number(a) != sxs_il_number(b) || a->n_clauses != b->n_clauses ||
        a->max_stack > b->max_stack || a->locals != b->locals || a->init_locals != b->init_locals)
        return 0; /* max_stack of @b may be larger, because a tiny header implies 8 */
    for (; i; i = i->next, j = j->next)
        if (long_form(i) != long_form(j) || !same_operand(i, j))
            return 0;
    for (uint32_t c = 0; c < a->n_clauses; c++)
        if (!same_clause(&a->clauses[c], &b->clauses[c]))
            return 0;
    return 1;
}

#endif
