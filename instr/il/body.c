/* SPDX-License-Identifier: MIT */
/* instr/il/body.c - insert, remove and replace instructions and clauses, and keep branches and
 * clauses pointing at the right instructions. */
#include <string.h>

#include "instr/il/internal.h"

/* ---- removed instructions -------------------------------------------------------------------- */

/* A removed instruction keeps the `next` and `prev` that it had. In a replaced instruction, both
 * are the replacement. */
struct sxs_il_insn *sxs_il_target(struct sxs_il_insn *insn)
{
    while (insn && insn->removed)
        insn = insn->next;
    return insn;
}

struct sxs_il_insn *sxs_il_end_target(struct sxs_il_insn *insn)
{
    while (insn && insn->removed)
        insn = insn->prev;
    return insn;
}

uint32_t sxs_il_old_offset(const struct sxs_il_insn *insn)
{
    while (insn && insn->old_offset == SXS_IL_NONE)
        insn = insn->prev;
    return insn ? insn->old_offset : SXS_IL_NONE;
}

void sxs_il_set_changed(struct sxs_il_body *body)
{
    body->changed = body->unchecked = body->stale = 1;
}

/* ---- new instructions ------------------------------------------------------------------------ */

struct sxs_il_insn *sxs_il_insn(struct sxs_il_body *body, enum sxs_il_opcode opcode)
{
    struct sxs_il_insn *insn;
    if ((unsigned)opcode >= SXS_IL_N_OPCODES || !sxs_il_opcodes[opcode].name)
        return NULL;
    insn = sxs_il_alloc(body, sizeof(*insn));
    if (!insn)
        return NULL;
    memset(insn, 0, sizeof(*insn));
    insn->opcode = (uint16_t)opcode;
    insn->old_offset = insn->offset = SXS_IL_NONE;
    insn->height = SXS_IL_UNREACHABLE;
    insn->writer = body->writer;
    return insn;
}

struct sxs_il_insn *sxs_il_int(struct sxs_il_body *body, enum sxs_il_opcode opcode, int64_t i)
{
    struct sxs_il_insn *insn = sxs_il_insn(body, opcode);
    if (insn)
        insn->i = i;
    return insn;
}

struct sxs_il_insn *sxs_il_token(struct sxs_il_body *body, enum sxs_il_opcode opcode, uint32_t token)
{
    struct sxs_il_insn *insn = sxs_il_insn(body, opcode);
    if (insn)
        insn->bits = token;
    return insn;
}

struct sxs_il_insn *sxs_il_branch(struct sxs_il_body *body, enum sxs_il_opcode opcode,
                                  struct sxs_il_insn *target)
{
    struct sxs_il_insn *insn = sxs_il_insn(body, opcode);
    if (insn)
        insn->target = target;
    return insn;
}

struct sxs_il_insn *sxs_il_switch(struct sxs_il_body *body, uint32_t n)
{
    struct sxs_il_insn *insn = sxs_il_insn(body, SXS_IL_SWITCH);
    size_t              size = sizeof(struct sxs_il_switch) + n * sizeof(struct sxs_il_insn *);
    if (!insn)
        return NULL;
    insn->targets = sxs_il_alloc(body, size);
    if (!insn->targets)
        return NULL;
    memset(insn->targets, 0, size);
    insn->targets->n = n;
    return insn;
}

struct sxs_il_insn *sxs_il_ldc(struct sxs_il_body *body, int32_t value)
{
    if (value >= -1 && value <= 8)
        return sxs_il_insn(body, (enum sxs_il_opcode)(SXS_IL_LDC_I4_0 + value));
    return sxs_il_int(body, value == (int8_t)value ? SXS_IL_LDC_I4_S : SXS_IL_LDC_I4, value);
}

/* @zero: the opcode for variable 0, which the opcodes for 1, 2 and 3 follow; SXS_IL_NOP: there are
 * no such opcodes. */
static struct sxs_il_insn *make_variable_insn(struct sxs_il_body *body, enum sxs_il_opcode zero,
                                              enum sxs_il_opcode narrow, enum sxs_il_opcode wide,
                                              uint16_t number)
{
    if (zero != SXS_IL_NOP && number <= 3)
        return sxs_il_insn(body, (enum sxs_il_opcode)(zero + number));
    return sxs_il_int(body, number <= UINT8_MAX ? narrow : wide, number);
}

struct sxs_il_insn *sxs_il_ldarg(struct sxs_il_body *body, uint16_t number)
{
    return make_variable_insn(body, SXS_IL_LDARG_0, SXS_IL_LDARG_S, SXS_IL_LDARG, number);
}

struct sxs_il_insn *sxs_il_ldloc(struct sxs_il_body *body, uint16_t number)
{
    return make_variable_insn(body, SXS_IL_LDLOC_0, SXS_IL_LDLOC_S, SXS_IL_LDLOC, number);
}

struct sxs_il_insn *sxs_il_stloc(struct sxs_il_body *body, uint16_t number)
{
    return make_variable_insn(body, SXS_IL_STLOC_0, SXS_IL_STLOC_S, SXS_IL_STLOC, number);
}

struct sxs_il_insn *sxs_il_ldloca(struct sxs_il_body *body, uint16_t number)
{
    return make_variable_insn(body, SXS_IL_NOP, SXS_IL_LDLOCA_S, SXS_IL_LDLOCA, number);
}

/* ---- the list -------------------------------------------------------------------------------- */

struct sxs_il_insn *sxs_il_with_prefixes(struct sxs_il_insn *insn)
{
    while (insn->prev && sxs_il_info(insn->prev)->flow == SXS_IL_FLOW_PREFIX)
        insn = insn->prev;
    return insn;
}

/* Links @insn before @before; NULL: at the end. */
static struct sxs_il_insn *link_before(struct sxs_il_body *body, struct sxs_il_insn *before,
                                       struct sxs_il_insn *insn)
{
    if (!insn)
        return NULL;
    insn->next = before;
    insn->prev = before ? before->prev : body->last;
    *(insn->prev ? &insn->prev->next : &body->first) = insn;
    *(before ? &before->prev : &body->last) = insn;
    insn->removed = 0;
    insn->listed = 1;
    sxs_il_set_changed(body);
    return insn;
}

struct sxs_il_insn *sxs_il_insert_before(struct sxs_il_body *body, struct sxs_il_insn *at,
                                         struct sxs_il_insn *insn)
{
    return link_before(body, sxs_il_with_prefixes(at), insn);
}

struct sxs_il_insn *sxs_il_insert_after(struct sxs_il_body *body, struct sxs_il_insn *at,
                                        struct sxs_il_insn *insn)
{
    return link_before(body, at->next, insn);
}

struct sxs_il_insn *sxs_il_append(struct sxs_il_body *body, struct sxs_il_insn *insn)
{
    return link_before(body, NULL, insn);
}

static void unlink_insn(struct sxs_il_body *body, struct sxs_il_insn *insn)
{
    *(insn->prev ? &insn->prev->next : &body->first) = insn->next;
    *(insn->next ? &insn->next->prev : &body->last) = insn->prev;
    insn->removed = 1;
    insn->listed = 0;
    sxs_il_set_changed(body);
}

void sxs_il_remove(struct sxs_il_body *body, struct sxs_il_insn *insn)
{
    unlink_insn(body, insn);
}

void sxs_il_replace(struct sxs_il_body *body, struct sxs_il_insn *insn, struct sxs_il_insn *with)
{
    link_before(body, insn, with);
    unlink_insn(body, insn);
    insn->next = insn->prev = with;
}

static void move_switch(struct sxs_il_switch *s, const struct sxs_il_insn *from,
                        struct sxs_il_insn *to)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (sxs_il_target(s->targets[i]) == from)
            s->targets[i] = to;
}

static void move_clauses(struct sxs_il_body *body, const struct sxs_il_insn *from,
                         struct sxs_il_insn *to)
{
    for (uint32_t i = 0; i < body->n_clauses; i++) {
        struct sxs_il_clause *c = &body->clauses[i];
        struct sxs_il_insn  **firsts[] = {&c->try_first, &c->handler_first, &c->filter_first};
        for (unsigned f = 0; f < sizeof(firsts) / sizeof(firsts[0]); f++)
            if (sxs_il_target(*firsts[f]) == from)
                *firsts[f] = to;
    }
}

void sxs_il_move_targets(struct sxs_il_body *body, struct sxs_il_insn *from, struct sxs_il_insn *to,
                         int clauses)
{
    const struct sxs_il_insn *end = to;
    while (end && end != from)
        end = end->next;
    for (struct sxs_il_insn *i = body->first; i; i = i->next) {
        if (i == to && end)
            i = from; /* instructions inserted before @from keep their targets */
        if (i->opcode == SXS_IL_SWITCH && i->targets)
            move_switch(i->targets, from, to);
        else if (sxs_il_is_branch(i) && sxs_il_target(i->target) == from)
            i->target = to;
    }
    if (clauses)
        move_clauses(body, from, to);
    sxs_il_set_changed(body);
}

/* ---- the code that was read ------------------------------------------------------------------ */

struct sxs_il_insn *sxs_il_old_next(const struct sxs_il_body *body, const struct sxs_il_insn *insn)
{
    if (insn->old_offset == SXS_IL_NONE || insn == &body->old[body->n_old - 1])
        return NULL;
    return &body->old[insn - body->old + 1];
}

struct sxs_il_insn *sxs_il_old_prev(const struct sxs_il_body *body, const struct sxs_il_insn *insn)
{
    if (insn->old_offset == SXS_IL_NONE || insn == body->old)
        return NULL;
    return &body->old[insn - body->old - 1];
}

struct sxs_il_insn *sxs_il_old_at(const struct sxs_il_body *body, uint32_t offset)
{
    uint32_t low = 0, high = body->n_old;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (body->old[middle].old_offset == offset)
            return &body->old[middle];
        if (body->old[middle].old_offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- clauses --------------------------------------------------------------------------------- */

struct sxs_il_clause *sxs_il_add_clause(struct sxs_il_body *body, uint32_t position)
{
    struct sxs_il_clause *c;
    if (body->n_clauses == body->clauses_room) {
        uint32_t room = body->clauses_room * 2 + 4;
        c = sxs_il_alloc(body, room * sizeof(*c));
        if (!c)
            return NULL;
        if (body->n_clauses)
            memcpy(c, body->clauses, body->n_clauses * sizeof(*c));
        body->clauses = c;
        body->clauses_room = room;
    }
    if (position > body->n_clauses)
        position = body->n_clauses;
    c = &body->clauses[position];
    memmove(c + 1, c, (body->n_clauses - position) * sizeof(*c));
    memset(c, 0, sizeof(*c));
    body->n_clauses++;
    sxs_il_set_changed(body);
    return c;
}

void sxs_il_remove_clause(struct sxs_il_body *body, uint32_t position)
{
    struct sxs_il_clause *c = &body->clauses[position];
    memmove(c, c + 1, (body->n_clauses - position - 1) * sizeof(*c));
    body->n_clauses--;
    sxs_il_set_changed(body);
}

/* ---- the map --------------------------------------------------------------------------------- */

size_t sxs_il_map(const struct sxs_il_body *body, struct sxs_il_map *map, size_t room)
{
    size_t n = 0;
    for (uint32_t i = 0; i < body->n_old; i++) {
        const struct sxs_il_insn *insn = sxs_il_target(&body->old[i]);
        if (insn && n < room)
            map[n] = (struct sxs_il_map){body->old[i].old_offset, insn->offset};
        n += insn != NULL;
    }
    return n;
}
