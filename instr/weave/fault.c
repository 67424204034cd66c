/* SPDX-License-Identifier: MIT */
#include "instr/weave/fault.h"

/* Turns the catch block that sxs_il_wrap() made into a fault block. */
static void make_fault(struct sxs_method *m, struct sxs_il_wrap *wrap)
{
    struct sxs_il_clause *clause = &m->body->clauses[m->body->n_clauses - 1];
    struct sxs_il_insn   *end = sxs_il_insn(m->body, SXS_IL_ENDFINALLY);
    clause->kind = SXS_IL_FAULT;
    clause->token = 0;
    sxs_il_remove(m->body, wrap->pop);
    if (end)
        sxs_il_replace(m->body, wrap->rethrow, end);
    wrap->rethrow = end;
}

int sxs_fault_wrap(struct sxs_method *m, struct sxs_il_wrap *wrap)
{
    int result = sxs_method_result(m);
    if (result < 0)
        return -1;
    if (sxs_il_wrap(m->body, &m->il, (uint16_t)result, 0, wrap, &m->error))
        return sxs_method_fail(m, "it cannot be wrapped: %s", m->error.text);
    make_fault(m, wrap);
    return wrap->rethrow ? 0 : sxs_method_fail(m, "no memory");
}

/* Changes the body to
 *     .try {
 *         .try { the method } filter { stloc thrown; ldc.i4.0; endfilter } { pop; rethrow }
 *     } fault { ... } */
int sxs_fault_keep(struct sxs_method *m, uint16_t thrown)
{
    struct sxs_il_body   *body = m->body;
    struct sxs_il_clause *inner = sxs_il_add_clause(body, body->n_clauses - 1), *outer;
    struct sxs_il_insn   *at, *filter, *handler;
    if (!inner)
        return sxs_method_fail(m, "no memory");
    outer = inner + 1;
    at = outer->try_last;
    inner->kind = SXS_IL_FILTER;
    inner->try_first = outer->try_first;
    inner->try_last = at;
    at = filter = sxs_il_insert_after(body, at, sxs_il_stloc(body, thrown));
    at = at ? sxs_il_insert_after(body, at, sxs_il_ldc(body, 0)) : NULL;
    at = at ? sxs_il_insert_after(body, at, sxs_il_insn(body, SXS_IL_ENDFILTER)) : NULL;
    at = handler = at ? sxs_il_insert_after(body, at, sxs_il_insn(body, SXS_IL_POP)) : NULL;
    at = at ? sxs_il_insert_after(body, at, sxs_il_insn(body, SXS_IL_RETHROW)) : NULL;
    if (!at)
        return sxs_method_fail(m, "no memory");
    inner->filter_first = filter;
    inner->handler_first = handler;
    inner->handler_last = at;
    outer->try_last = at;
    body->init_locals = 1;
    return 0;
}
