/* SPDX-License-Identifier: MIT */
/* instr/il/check.c - check whether a JIT would accept a body: first each instruction where it
 * stands, then the stack height along every path. */
#include <string.h>

#include "instr/il/internal.h"

struct checker {
    struct sxs_il_body         *body;
    const struct sxs_il_method *method;
    struct sxs_il_error        *error;
    struct sxs_il_regions       regions;
    struct sxs_il_insn        **todo; /* height known; successors not visited yet */
    uint32_t                    n_todo;
    uint16_t                    max_stack;
};

#define BAD(c, insn, ...) \
    sxs_il_fail((c)->error, SXS_IL_EINVALID, sxs_il_old_offset(insn), __VA_ARGS__)

static const char *name_of(const struct sxs_il_insn *insn)
{
    return sxs_il_info(insn)->name ? sxs_il_info(insn)->name : "an unused opcode";
}

static int ends_way(const struct sxs_il_insn *insn)
{
    unsigned flow = sxs_il_info(insn)->flow;
    return flow == SXS_IL_FLOW_BRANCH || flow == SXS_IL_FLOW_RETURN || flow == SXS_IL_FLOW_THROW ||
           insn->opcode == SXS_IL_JMP;
}

static int is_leave(const struct sxs_il_insn *insn)
{
    return insn->opcode == SXS_IL_LEAVE || insn->opcode == SXS_IL_LEAVE_S;
}

/* ---- places ---------------------------------------------------------------------------------- */

static const struct sxs_il_region *innermost(const struct checker *c, const struct sxs_il_insn *insn)
{
    return insn->region ? &c->regions.all[insn->region - 1] : NULL;
}

static unsigned clause_kind(const struct checker *c, const struct sxs_il_region *r)
{
    return c->body->clauses[r->clause].kind;
}

static int is_in_catch(const struct checker *c, const struct sxs_il_insn *insn)
{
    const struct sxs_il_region *r;
    for (uint16_t n = insn->region; n; n = r->parent) {
        r = &c->regions.all[n - 1];
        if (r->kind == SXS_IL_IN_HANDLER &&
            (clause_kind(c, r) == SXS_IL_CATCH || clause_kind(c, r) == SXS_IL_FILTER))
            return 1;
    }
    return 0;
}

static int is_in_handler(const struct checker *c, const struct sxs_il_insn *insn)
{
    for (uint16_t n = insn->region; n; n = c->regions.all[n - 1].parent)
        if (c->regions.all[n - 1].kind != SXS_IL_IN_TRY)
            return 1;
    return 0;
}

static int check_return(struct checker *c, const struct sxs_il_insn *insn)
{
    const struct sxs_il_region *r = innermost(c, insn);
    switch (insn->opcode) {
    case SXS_IL_RET:
    case SXS_IL_JMP: return r ? BAD(c, insn, "%s within a try block or a handler", name_of(insn)) : 0;
    case SXS_IL_ENDFINALLY:
        if (!r || r->kind != SXS_IL_IN_HANDLER ||
            (clause_kind(c, r) != SXS_IL_FINALLY && clause_kind(c, r) != SXS_IL_FAULT))
            return BAD(c, insn, "endfinally outside of a finally or fault handler");
        return SXS_IL_OK;
    case SXS_IL_ENDFILTER:
        if (!r || r->kind != SXS_IL_IN_FILTER || r->last != insn)
            return BAD(c, insn, "endfilter that does not end a filter");
        return SXS_IL_OK;
    case SXS_IL_RETHROW:
        return is_in_catch(c, insn) ? 0 : BAD(c, insn, "rethrow outside of a catch handler");
    case SXS_IL_LOCALLOC:
        return is_in_handler(c, insn) ? BAD(c, insn, "localloc within a handler or filter") : 0;
    default: return SXS_IL_OK;
    }
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Returns the number of the argument or local that @insn uses. */
static int64_t variable_of(const struct sxs_il_insn *insn, int *is_local)
{
    unsigned op = insn->opcode;
    *is_local = (op >= SXS_IL_LDLOC_0 && op <= SXS_IL_STLOC_3) ||
                (op >= SXS_IL_LDLOC_S && op <= SXS_IL_STLOC_S) ||
                (op >= SXS_IL_LDLOC && op <= SXS_IL_STLOC);
    if (op >= SXS_IL_LDARG_0 && op <= SXS_IL_STLOC_3)
        return (op - SXS_IL_LDARG_0) & 3;
    return sxs_il_info(insn)->operand == SXS_IL_OPERAND_VAR1 ||
                   sxs_il_info(insn)->operand == SXS_IL_OPERAND_VAR2
               ? insn->i
               : -1;
}

static int check_variable(struct checker *c, const struct sxs_il_insn *insn)
{
    int     is_local;
    int64_t number = variable_of(insn, &is_local);
    if (number < 0 || (number > UINT8_MAX && sxs_il_info(insn)->operand == SXS_IL_OPERAND_VAR1))
        return BAD(c, insn, "%s of %lld, which it cannot hold", name_of(insn), (long long)number);
    if (number >= (is_local ? c->method->n_locals : c->method->n_args))
        return BAD(c, insn, "%s of %s %lld, and there are %u", name_of(insn),
                   is_local ? "local" : "argument", (long long)number,
                   is_local ? c->method->n_locals : c->method->n_args);
    return SXS_IL_OK;
}

static int is_call(const struct sxs_il_insn *insn)
{
    return insn->opcode == SXS_IL_CALL || insn->opcode == SXS_IL_CALLVIRT ||
           insn->opcode == SXS_IL_CALLI;
}

static int reads_memory(const struct sxs_il_insn *insn)
{
    unsigned op = insn->opcode;
    return (op >= SXS_IL_LDIND_I1 && op <= SXS_IL_STIND_R8) || op == SXS_IL_STIND_I ||
           op == SXS_IL_LDFLD || op == SXS_IL_STFLD || op == SXS_IL_LDSFLD || op == SXS_IL_STSFLD ||
           op == SXS_IL_LDOBJ || op == SXS_IL_STOBJ || op == SXS_IL_INITBLK || op == SXS_IL_CPBLK;
}

static int check_prefix(struct checker *c, const struct sxs_il_insn *prefix)
{
    const struct sxs_il_insn *insn = prefix->next;
    int                       ok;
    for (; insn && sxs_il_is_prefix(insn); insn = insn->next)
        if (insn->opcode == prefix->opcode)
            return BAD(c, prefix, "%s twice before one instruction", name_of(prefix));
    if (!insn)
        return BAD(c, prefix, "%s at the end of the code", name_of(prefix));
    switch (prefix->opcode) {
    case SXS_IL_TAILCALL:
        ok = is_call(insn) && insn->next && insn->next->opcode == SXS_IL_RET;
        break;
    case SXS_IL_CONSTRAINED:
        ok = insn->opcode == SXS_IL_CALLVIRT || insn->opcode == SXS_IL_CALL ||
             insn->opcode == SXS_IL_LDFTN;
        break;
    case SXS_IL_READONLY:
        ok = insn->opcode == SXS_IL_LDELEMA || insn->opcode == SXS_IL_CALL ||
             insn->opcode == SXS_IL_CALLVIRT;
        break;
    case SXS_IL_UNALIGNED:
        if (prefix->i != 1 && prefix->i != 2 && prefix->i != 4)
            return BAD(c, prefix, "unaligned. of %lld: 1, 2 or 4", (long long)prefix->i);
        ok = reads_memory(insn) && insn->opcode != SXS_IL_LDSFLD && insn->opcode != SXS_IL_STSFLD;
        break;
    default: ok = reads_memory(insn); break;
    }
    return ok ? SXS_IL_OK : BAD(c, prefix, "%s before %s", name_of(prefix), name_of(insn));
}

/* ---- control flow ---------------------------------------------------------------------------- */

static int check_way(struct checker *c, const struct sxs_il_insn *from,
                     const struct sxs_il_insn *to)
{
    if (!to)
        return BAD(c, from, "%s goes nowhere", name_of(from));
    if (!to->listed)
        return BAD(c, from, "%s goes to an instruction that is not in the code", name_of(from));
    if (RARE(from->region != to->region || is_leave(from)) &&
        !sxs_il_may_go(c->body, &c->regions, from, to, is_leave(from)))
        return BAD(c, from, "%s crosses the bounds of a block", name_of(from));
    return SXS_IL_OK;
}

/* Checks a branch target, which must not be between a prefix and its instruction. */
static int check_target(struct checker *c, const struct sxs_il_insn *from, struct sxs_il_insn *target)
{
    const struct sxs_il_insn *to = sxs_il_target(target);
    if (to && to->prev && RARE(sxs_il_is_prefix(to->prev)))
        return BAD(c, from, "%s goes between a prefix and its instruction", name_of(from));
    return check_way(c, from, to);
}

static int check_ways(struct checker *c, const struct sxs_il_insn *insn)
{
    int err = SXS_IL_OK;
    if (insn->opcode == SXS_IL_SWITCH) {
        if (!insn->targets)
            return BAD(c, insn, "a switch without targets");
        for (uint32_t i = 0; !err && i < insn->targets->n; i++)
            err = check_target(c, insn, insn->targets->targets[i]);
    } else if (sxs_il_is_branch(insn)) {
        if (is_leave(insn) && !insn->region)
            return BAD(c, insn, "%s outside of any block", name_of(insn));
        err = check_target(c, insn, insn->target);
    }
    if (err || ends_way(insn))
        return err;
    if (!insn->next)
        return BAD(c, insn, "the code goes on beyond its end");
    return RARE(insn->region != insn->next->region) ? check_way(c, insn, insn->next) : SXS_IL_OK;
}

/* Checks that a number that the caller may have set fits the operand. */
static int check_operand(struct checker *c, const struct sxs_il_insn *insn, unsigned operand)
{
    if (operand == SXS_IL_OPERAND_I1 ? insn->i != (int8_t)insn->i : insn->i != (int32_t)insn->i)
        return BAD(c, insn, "%s of %lld, which it cannot hold", name_of(insn), (long long)insn->i);
    return SXS_IL_OK;
}

static int check_insn(struct checker *c, const struct sxs_il_insn *insn)
{
    const struct sxs_il_opcode_info *info = sxs_il_info(insn);
    int                              err = SXS_IL_OK;
    if (RARE(!info->name))
        return BAD(c, insn, "no such opcode: 0x%03x", insn->opcode);
    if (info->operand == SXS_IL_OPERAND_VAR1 || info->operand == SXS_IL_OPERAND_VAR2 ||
        (insn->opcode >= SXS_IL_LDARG_0 && insn->opcode <= SXS_IL_STLOC_3))
        err = check_variable(c, insn);
    else if (info->flow == SXS_IL_FLOW_PREFIX)
        err = check_prefix(c, insn);
    else if (info->operand == SXS_IL_OPERAND_I1 || info->operand == SXS_IL_OPERAND_I4)
        err = check_operand(c, insn, info->operand);
    else
        err = check_return(c, insn);
    return err ? err : check_ways(c, insn);
}

/* ---- stack heights --------------------------------------------------------------------------- */

static int effect_of(struct checker *c, const struct sxs_il_insn *insn, struct sxs_il_effect *e)
{
    const struct sxs_il_opcode_info *info = sxs_il_info(insn);
    if (info->pops >= 0 && info->pushes >= 0) {
        *e = (struct sxs_il_effect){(uint16_t)info->pops, (uint16_t)info->pushes};
        return SXS_IL_OK;
    }
    if (insn->opcode == SXS_IL_RET) {
        *e = (struct sxs_il_effect){c->method->returns != 0, 0};
        return SXS_IL_OK;
    }
    if (!c->method->effect ||
        c->method->effect(c->method->context, (enum sxs_il_opcode)insn->opcode, insn->token, e) != 0)
        return BAD(c, insn, "%s 0x%08x: its signature is not known", name_of(insn), insn->token);
    return SXS_IL_OK;
}

/* Notes that control reaches @to with @height values on the stack. @to NULL: there is no
 * instruction (check_ways() has already refused such code). @from NULL: reached by an exception, or
 * at entry. */
static int reach_insn(struct checker *c, const struct sxs_il_insn *from, struct sxs_il_insn *to,
                      unsigned height)
{
    if (!to)
        return sxs_il_fail(c->error, SXS_IL_EINVALID, SXS_IL_NONE,
                           "the code goes on beyond its end");
    if (to->height == SXS_IL_UNREACHABLE) {
        to->height = (uint16_t)height;
        c->todo[c->n_todo++] = to;
    } else if (to->height != height) {
        return BAD(c, to, "reached with %u values on the stack by %s and with %u otherwise", height,
                   from ? name_of(from) : "an exception", to->height);
    }
    return SXS_IL_OK;
}

static int check_height(struct checker *c, const struct sxs_il_insn *insn, unsigned left)
{
    const struct sxs_il_region *r = innermost(c, insn);
    if (RARE(r && r->kind == SXS_IL_IN_TRY && r->first == insn && insn->height))
        return BAD(c, insn, "a try block is entered with %u values on the stack", insn->height);
    if ((insn->opcode == SXS_IL_RET || insn->opcode == SXS_IL_JMP ||
         insn->opcode == SXS_IL_ENDFILTER || insn->opcode == SXS_IL_LOCALLOC) &&
        left != (insn->opcode == SXS_IL_LOCALLOC))
        return BAD(c, insn, "%s leaves values on the stack", name_of(insn));
    return SXS_IL_OK;
}

static int go_on(struct checker *c, struct sxs_il_insn *insn, unsigned height)
{
    int err = SXS_IL_OK;
    if (is_leave(insn))
        height = 0;
    if (insn->opcode == SXS_IL_SWITCH) {
        for (uint32_t i = 0; !err && i < insn->targets->n; i++)
            err = reach_insn(c, insn, sxs_il_target(insn->targets->targets[i]), height);
    } else if (sxs_il_is_branch(insn)) {
        err = reach_insn(c, insn, sxs_il_target(insn->target), height);
    }
    if (!err && !ends_way(insn))
        err = reach_insn(c, insn, insn->next, height);
    return err;
}

static int is_tail_call(const struct sxs_il_insn *insn)
{
    if (!is_call(insn))
        return 0;
    while (insn->prev && sxs_il_is_prefix(insn->prev)) {
        insn = insn->prev;
        if (insn->opcode == SXS_IL_TAILCALL)
            return 1;
    }
    return 0;
}

static int step_insn(struct checker *c, struct sxs_il_insn *insn)
{
    struct sxs_il_effect e;
    unsigned             height;
    int                  err = effect_of(c, insn, &e);
    if (err)
        return err;
    if (insn->height < e.pops)
        return BAD(c, insn, "%s takes %u values, and there are %u", name_of(insn), e.pops,
                   insn->height);
    if (RARE(insn->height > e.pops && is_tail_call(insn)))
        return BAD(c, insn, "tail. %s leaves values on the stack", name_of(insn));
    height = insn->height - e.pops + e.pushes;
    if (height >= SXS_IL_UNREACHABLE)
        return BAD(c, insn, "too many values on the stack");
    if (height > c->max_stack)
        c->max_stack = (uint16_t)height;
    err = check_height(c, insn, height);
    return err ? err : go_on(c, insn, height);
}

/* Handlers and filters are reached by exceptions, with the exception on the stack except for
 * finally and fault handlers. */
static int reach_handlers(struct checker *c)
{
    int err = SXS_IL_OK;
    for (uint32_t i = 0; !err && i < c->body->n_clauses; i++) {
        const struct sxs_il_clause *clause = &c->body->clauses[i];
        unsigned height = clause->kind == SXS_IL_CATCH || clause->kind == SXS_IL_FILTER;
        if (height > c->max_stack)
            c->max_stack = (uint16_t)height;
        err = reach_insn(c, NULL, sxs_il_target(clause->handler_first), height);
        if (!err && clause->kind == SXS_IL_FILTER)
            err = reach_insn(c, NULL, sxs_il_target(clause->filter_first), height);
    }
    return err;
}

static int check_heights(struct checker *c)
{
    int err;
    for (struct sxs_il_insn *i = c->body->first; i; i = i->next)
        i->height = SXS_IL_UNREACHABLE;
    err = reach_insn(c, NULL, c->body->first, 0);
    if (!err)
        err = reach_handlers(c);
    while (!err && c->n_todo)
        err = step_insn(c, c->todo[--c->n_todo]);
    return err;
}

int sxs_il_check(struct sxs_il_body *body, const struct sxs_il_method *method,
                 struct sxs_il_error *error)
{
    struct checker c = {.body = body, .method = method, .error = error};
    uint32_t       n = sxs_il_number(body);
    int            err;
    if (!n)
        return sxs_il_fail(error, SXS_IL_EINVALID, SXS_IL_NONE, "no code");
    c.todo = sxs_il_alloc(body, n * sizeof(c.todo[0]));
    if (!c.todo)
        return sxs_il_fail(error, SXS_IL_ENOMEM, SXS_IL_NONE, "no memory");
    err = sxs_il_find_regions(body, &c.regions, error);
    for (const struct sxs_il_insn *i = body->first; !err && i; i = i->next)
        err = check_insn(&c, i);
    if (!err)
        err = check_heights(&c);
    if (!err && !body->changed && c.max_stack > body->max_stack)
        err = sxs_il_fail(error, SXS_IL_EINVALID, SXS_IL_NONE, "needs a stack of %u and has %u",
                          c.max_stack, body->max_stack);
    if (err)
        return err;
    if (body->changed)
        body->max_stack = c.max_stack;
    body->unchecked = 0;
    return SXS_IL_OK;
}
