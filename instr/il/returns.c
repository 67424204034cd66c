/* SPDX-License-Identifier: MIT */
/* instr/il/returns.c - give a method a single exit, find all its exits, or wrap it in a try
 * block. */
#include <string.h>

#include "instr/il/internal.h"

struct returns {
    struct sxs_il_body         *body;
    const struct sxs_il_method *method;
    struct sxs_il_error        *error;
    enum sxs_il_opcode          way;  /* br, or leave when there is a try block */
    struct sxs_il_insn         *exit; /* NULL until the first ret is found */
    uint16_t                    local;
};

static int no_memory(struct sxs_il_error *error)
{
    return sxs_il_fail(error, SXS_IL_ENOMEM, SXS_IL_NONE, "no memory");
}

/* Makes the nop at which the exit begins. Branches can go to it before it is in the list. */
static int make_exit(struct returns *r)
{
    if (!r->exit)
        r->exit = sxs_il_insn(r->body, SXS_IL_NOP);
    return r->exit ? SXS_IL_OK : no_memory(r->error);
}

/* Removes the prefix tail. from a call before @ret, because @ret no longer follows the call. */
static void drop_tail_prefix(struct sxs_il_body *body, struct sxs_il_insn *ret)
{
    struct sxs_il_insn *i = ret->prev;
    if (!i || sxs_il_info(i)->flow != SXS_IL_FLOW_CALL)
        return;
    while (i->prev && sxs_il_info(i->prev)->flow == SXS_IL_FLOW_PREFIX) {
        i = i->prev;
        if (i->opcode == SXS_IL_TAILCALL) {
            sxs_il_remove(body, i);
            return;
        }
    }
}

static int end_here(struct returns *r, struct sxs_il_insn *ret)
{
    struct sxs_il_insn *way;
    if (make_exit(r) != SXS_IL_OK)
        return SXS_IL_ENOMEM;
    drop_tail_prefix(r->body, ret);
    way = sxs_il_branch(r->body, r->way, r->exit);
    if (!way)
        return no_memory(r->error);
    if (r->method->returns) {
        struct sxs_il_insn *store = sxs_il_stloc(r->body, r->local);
        if (!store)
            return no_memory(r->error);
        sxs_il_replace(r->body, ret, store);
        sxs_il_insert_after(r->body, store, way);
    } else {
        sxs_il_replace(r->body, ret, way);
    }
    return SXS_IL_OK;
}

/* Replaces `jmp METHOD` by ldarg 0, ldarg 1..., call METHOD, ret. Returns the ret in *ret. */
static int call_instead(struct returns *r, struct sxs_il_insn *jmp, struct sxs_il_insn **ret)
{
    struct sxs_il_insn *call = sxs_il_token(r->body, SXS_IL_CALL, jmp->token);
    *ret = sxs_il_insn(r->body, SXS_IL_RET);
    if (!call || !*ret)
        return no_memory(r->error);
    sxs_il_insert_after(r->body, jmp, call);
    sxs_il_insert_after(r->body, call, *ret);
    for (uint16_t i = r->method->n_args; i-- > 0;) {
        if (!sxs_il_insert_after(r->body, jmp, sxs_il_ldarg(r->body, i)))
            return no_memory(r->error);
    }
    sxs_il_remove(r->body, jmp); /* branches to it now go to the first of these */
    return SXS_IL_OK;
}

static int redirect_returns(struct returns *r)
{
    struct sxs_il_insn *i, *next;
    int                 err = SXS_IL_OK;
    for (i = r->body->first; !err && i; i = next) {
        next = i->next;
        if (i->opcode == SXS_IL_JMP)
            err = call_instead(r, i, &i);
        if (!err && i->opcode == SXS_IL_RET)
            err = end_here(r, i);
    }
    return err;
}

static int append_exit(struct returns *r)
{
    if (!r->exit)
        return SXS_IL_OK;
    sxs_il_append(r->body, r->exit);
    if (r->method->returns && !sxs_il_append(r->body, sxs_il_ldloc(r->body, r->local)))
        return no_memory(r->error);
    return sxs_il_append(r->body, sxs_il_insn(r->body, SXS_IL_RET)) ? SXS_IL_OK
                                                                    : no_memory(r->error);
}

int sxs_il_single_return(struct sxs_il_body *body, const struct sxs_il_method *method, uint16_t local,
                         struct sxs_il_insn **exit, struct sxs_il_error *error)
{
    struct returns r = {body, method, error, SXS_IL_BR, NULL, local};
    int            err = redirect_returns(&r);
    if (!err)
        err = append_exit(&r);
    *exit = r.exit;
    return err;
}

/* ---- all exits ------------------------------------------------------------------------------- */

struct exits {
    struct sxs_il_body   *body;
    struct sxs_il_error  *error;
    uint8_t              *meant; /* indexed by `index`: a branch goes to the instruction */
    struct sxs_il_insn  **nops;  /* by number of the exit: the nop before it */
    struct sxs_il_insn  **ways;  /* by number of the exit: branches to it shall go to its nop */
    uint32_t              n;
};

/* If @insn is an exit, returns its first prefix, or @insn when it has none; else NULL. */
static struct sxs_il_insn *way_out(struct sxs_il_insn *insn)
{
    struct sxs_il_insn *i;
    if (insn->opcode == SXS_IL_RET || insn->opcode == SXS_IL_JMP)
        return insn;
    for (i = insn; i->prev && sxs_il_is_prefix(i->prev); i = i->prev)
        if (i->prev->opcode == SXS_IL_TAILCALL)
            return sxs_il_with_prefixes(insn);
    return NULL;
}

static void mark_exit(struct exits *e, struct sxs_il_insn *insn)
{
    insn = sxs_il_target(insn);
    if (insn && insn->listed)
        e->meant[insn->index] = 1;
}

static void mark_targets(struct exits *e)
{
    for (struct sxs_il_insn *i = e->body->first; i; i = i->next) {
        if (i->opcode == SXS_IL_SWITCH)
            for (uint32_t t = 0; i->targets && t < i->targets->n; t++)
                mark_exit(e, i->targets->targets[t]);
        else if (sxs_il_is_branch(i))
            mark_exit(e, i->target);
    }
}

static struct sxs_il_insn *add_exit(struct exits *e, struct sxs_il_insn *way)
{
    struct sxs_il_insn *nop =
        sxs_il_insert_before(e->body, way, sxs_il_insn(e->body, SXS_IL_NOP));
    e->nops[e->n] = nop;
    e->ways[e->n++] = way;
    return nop;
}

/* @ret follows a call with tail. and must stay there. Branches to it get a ret of their own after
 * it, with a nop. Returns the new ret. */
static struct sxs_il_insn *split_ret(struct exits *e, struct sxs_il_insn *ret)
{
    struct sxs_il_insn *own =
        sxs_il_insert_after(e->body, ret, sxs_il_insn(e->body, SXS_IL_RET));
    if (!own || !add_exit(e, own))
        return NULL;
    e->ways[e->n - 1] = ret; /* branches go to @ret still; retarget_exits() changes them */
    return own;
}

static int add_exits(struct exits *e)
{
    struct sxs_il_insn *i, *way;
    for (i = e->body->first; i; i = i->next) {
        way = way_out(i);
        if (!way)
            continue;
        if (!add_exit(e, way))
            return no_memory(e->error);
        if (i->opcode == SXS_IL_RET || i->opcode == SXS_IL_JMP || !i->next ||
            i->next->opcode != SXS_IL_RET)
            continue;
        i = i->next;
        if (e->meant[i->index] && !(i = split_ret(e, i)))
            return no_memory(e->error);
    }
    return SXS_IL_OK;
}

static struct sxs_il_insn *nop_of(const struct exits *e, struct sxs_il_insn *target)
{
    struct sxs_il_insn *way = sxs_il_target(target);
    return way && way->index < e->n && e->ways[way->index] == way ? e->nops[way->index] : target;
}

/* Makes branches to an exit go to its nop. `index` of each exit is set to the number of the exit,
 * so that finding the nop takes constant time. */
static void retarget_exits(struct exits *e)
{
    for (struct sxs_il_insn *i = e->body->first; i; i = i->next)
        i->index = UINT32_MAX;
    for (uint32_t i = 0; i < e->n; i++)
        e->ways[i]->index = i;
    for (struct sxs_il_insn *i = e->body->first; i; i = i->next) {
        if (i->opcode == SXS_IL_SWITCH)
            for (uint32_t t = 0; i->targets && t < i->targets->n; t++)
                i->targets->targets[t] = nop_of(e, i->targets->targets[t]);
        else if (sxs_il_is_branch(i))
            i->target = nop_of(e, i->target);
    }
}

int sxs_il_exits(struct sxs_il_body *body, struct sxs_il_insn ***exits, uint32_t *n,
                 struct sxs_il_error *error)
{
    struct exits e = {.body = body, .error = error};
    uint32_t     n_insns = sxs_il_number(body);
    int          err;
    e.meant = sxs_il_alloc(body, n_insns + 1);
    e.nops = sxs_il_alloc(body, (n_insns + 1) * sizeof(e.nops[0]));
    e.ways = sxs_il_alloc(body, (n_insns + 1) * sizeof(e.ways[0]));
    if (!e.meant || !e.nops || !e.ways)
        return no_memory(error);
    memset(e.meant, 0, n_insns + 1);
    mark_targets(&e);
    err = add_exits(&e);
    if (err)
        return err;
    retarget_exits(&e);
    *exits = e.nops;
    *n = e.n;
    return SXS_IL_OK;
}

/* ---- wrapping -------------------------------------------------------------------------------- */

int sxs_il_wrap(struct sxs_il_body *body, const struct sxs_il_method *method, uint16_t local,
                uint32_t caught, struct sxs_il_wrap *wrap, struct sxs_il_error *error)
{
    struct returns        r = {body, method, error, SXS_IL_LEAVE, NULL, local};
    struct sxs_il_clause *clause;
    int                   err = redirect_returns(&r);
    if (err)
        return err;
    wrap->body = body->first;
    clause = sxs_il_add_clause(body, body->n_clauses);
    if (!clause)
        return no_memory(error);
    clause->kind = SXS_IL_CATCH;
    clause->token = caught;
    clause->try_first = body->first;
    clause->try_last = body->last;
    wrap->handler = sxs_il_append(body, sxs_il_insn(body, SXS_IL_NOP));
    wrap->pop = sxs_il_append(body, sxs_il_insn(body, SXS_IL_POP));
    wrap->rethrow = sxs_il_append(body, sxs_il_insn(body, SXS_IL_RETHROW));
    if (!wrap->handler || !wrap->pop || !wrap->rethrow)
        return no_memory(error);
    clause->handler_first = wrap->handler;
    clause->handler_last = wrap->rethrow;
    wrap->exit = r.exit;
    return append_exit(&r);
}
