/* SPDX-License-Identifier: MIT */
/* instr/il/fragment.c - insert fragments into a body's list, and copy them. */
#include "instr/il/fragment.h"

#include "instr/il/internal.h"

int sxs_il_insert_fragment(struct sxs_il_body *body, struct sxs_il_insn *at,
                           const struct sxs_il_fragment *f)
{
    struct sxs_il_insn *next, *last = NULL;
    if (at)
        at = sxs_il_with_prefixes(at);
    for (struct sxs_il_insn *i = f->first; i; i = next) {
        next = i->next;
        if (last) /* not before @at: that would go before a prefix inserted last */
            sxs_il_insert_after(body, last, i);
        else if (at)
            sxs_il_insert_before(body, at, i);
        else
            sxs_il_append(body, i);
        last = i;
    }
    for (uint32_t i = f->n_clauses; i-- > 0;) {
        struct sxs_il_clause *c = sxs_il_add_clause(body, 0);
        if (!c)
            return SXS_IL_ENOMEM;
        *c = f->clauses[i];
    }
    return SXS_IL_OK;
}

/* ---- copies ---------------------------------------------------------------------------------- */

struct copier {
    struct sxs_il_body           *body;
    const struct sxs_il_fragment *from;
    struct sxs_il_fragment       *to;
    struct sxs_il_insn          **copies; /* indexed by `index` of the originals */
    uint32_t                      n;
};

/* Returns the copy of the instruction that @insn means, or @insn itself when that instruction is
 * not in the fragment. @backwards: @insn is the last instruction of a range. */
static struct sxs_il_insn *copy_of(const struct copier *c, struct sxs_il_insn *insn, int backwards)
{
    struct sxs_il_insn *i = insn;
    while (i && i->removed)
        i = backwards ? i->prev : i->next;
    return i && i->index < c->n && !i->listed ? c->copies[i->index] : insn;
}

static int copy_insn(struct copier *c, const struct sxs_il_insn *from)
{
    struct sxs_il_fragment *to = c->to;
    struct sxs_il_insn     *insn = sxs_il_insn(c->body, (enum sxs_il_opcode)from->opcode);
    if (!insn)
        return SXS_IL_ENOMEM;
    insn->bits = from->bits;
    insn->user = from->user;
    insn->writer = from->writer;
    insn->prev = to->last;
    *(to->last ? &to->last->next : &to->first) = insn;
    to->last = insn;
    c->copies[from->index] = insn;
    return SXS_IL_OK;
}

static int copy_switch(struct copier *c, struct sxs_il_insn *insn)
{
    const struct sxs_il_switch *from = insn->targets;
    size_t                      size = sizeof(*from) + from->n * sizeof(from->targets[0]);
    insn->targets = sxs_il_alloc(c->body, size);
    if (!insn->targets)
        return SXS_IL_ENOMEM;
    insn->targets->n = from->n;
    for (uint32_t i = 0; i < from->n; i++)
        insn->targets->targets[i] = copy_of(c, from->targets[i], 0);
    return SXS_IL_OK;
}

static int copy_targets(struct copier *c)
{
    int err = SXS_IL_OK;
    for (struct sxs_il_insn *i = c->to->first; !err && i; i = i->next) {
        if (i->opcode == SXS_IL_SWITCH && i->targets)
            err = copy_switch(c, i);
        else if (sxs_il_is_branch(i))
            i->target = copy_of(c, i->target, 0);
    }
    return err;
}

static int copy_clauses(struct copier *c)
{
    const struct sxs_il_fragment *from = c->from;
    if (!from->n_clauses)
        return SXS_IL_OK;
    c->to->clauses = sxs_il_alloc(c->body, from->n_clauses * sizeof(from->clauses[0]));
    if (!c->to->clauses)
        return SXS_IL_ENOMEM;
    for (uint32_t i = 0; i < from->n_clauses; i++) {
        const struct sxs_il_clause *f = &from->clauses[i];
        c->to->clauses[i] = (struct sxs_il_clause){
            f->kind, f->token,
            copy_of(c, f->try_first, 0), copy_of(c, f->try_last, 1),
            copy_of(c, f->handler_first, 0), copy_of(c, f->handler_last, 1),
            f->filter_first ? copy_of(c, f->filter_first, 0) : NULL};
    }
    return SXS_IL_OK;
}

int sxs_il_copy_fragment(struct sxs_il_body *body, const struct sxs_il_fragment *from,
                         struct sxs_il_fragment *to)
{
    struct copier c = {body, from, to, NULL, 0};
    int           err = SXS_IL_OK;
    *to = *from;
    to->first = to->last = NULL;
    to->clauses = NULL;
    for (struct sxs_il_insn *i = from->first; i; i = i->next)
        i->index = c.n++;
    c.copies = sxs_il_alloc(body, (c.n + 1) * sizeof(c.copies[0]));
    if (!c.copies)
        return SXS_IL_ENOMEM;
    for (const struct sxs_il_insn *i = from->first; !err && i; i = i->next)
        err = copy_insn(&c, i);
    if (!err)
        err = copy_targets(&c);
    return err ? err : copy_clauses(&c);
}
