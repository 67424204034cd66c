/* SPDX-License-Identifier: MIT */
/* instr/il/write.c - turn instructions and clauses into bytes: choose the size of each branch, lay
 * out the code, and choose the forms of the header and the sections. */
#include <string.h>

#include "instr/il/internal.h"

#define FAT_SECTION_MAX ((1u << 24) - 1)

struct il_writer {
    struct sxs_il_body  *body;
    struct sxs_il_error *error;
    uint8_t             *at;
    uint32_t             code_size;
};

/* ---- layout ---------------------------------------------------------------------------------- */

/* The opcodes of the short forms, br.s to blt.un.s, and of the long forms, br to blt.un, differ by
 * a constant; leave and leave.s differ by one. */
unsigned sxs_il_written_opcode(const struct sxs_il_insn *insn)
{
    unsigned op = insn->opcode;
    int      is_long = sxs_il_info(insn)->operand == SXS_IL_OPERAND_BRANCH4;
    if (!insn->width || is_long == (insn->width == 4))
        return op;
    if (op == SXS_IL_LEAVE || op == SXS_IL_LEAVE_S)
        return op ^ SXS_IL_LEAVE ^ SXS_IL_LEAVE_S;
    return is_long ? op - (SXS_IL_BR - SXS_IL_BR_S) : op + (SXS_IL_BR - SXS_IL_BR_S);
}

static uint32_t operand_size(const struct sxs_il_insn *insn)
{
    const struct sxs_il_opcode_info *info = sxs_il_info(insn);
    if (info->operand == SXS_IL_OPERAND_SWITCH)
        return insn->targets ? 4 + 4 * insn->targets->n : 4;
    return insn->width ? insn->width : info->size;
}

uint32_t sxs_il_length(const struct sxs_il_insn *insn)
{
    return (insn->opcode >= 0x100 ? 2 : 1) + operand_size(insn);
}

/* A branch begins with its shortest form, unless it was read in the long form or keeps its form. */
static void set_first_width(const struct sxs_il_body *body, struct sxs_il_insn *insn)
{
    int is_long = sxs_il_info(insn)->operand == SXS_IL_OPERAND_BRANCH4;
    if (sxs_il_is_branch(insn))
        insn->width = is_long && (body->keep_forms || insn->old_offset != SXS_IL_NONE) ? 4 : 1;
}

static int check_targets(const struct il_writer *w, const struct sxs_il_insn *insn)
{
    if (insn->opcode == SXS_IL_SWITCH) {
        if (!insn->targets)
            return sxs_il_fail(w->error, SXS_IL_EINVALID, sxs_il_old_offset(insn),
                               "a switch without targets");
        for (uint32_t i = 0; i < insn->targets->n; i++)
            if (!sxs_il_target(insn->targets->targets[i]))
                return sxs_il_fail(w->error, SXS_IL_EINVALID, sxs_il_old_offset(insn),
                                   "a switch goes nowhere");
        return SXS_IL_OK;
    }
    if (!sxs_il_is_branch(insn))
        return SXS_IL_OK;
    if (!sxs_il_target(insn->target))
        return sxs_il_fail(w->error, SXS_IL_EINVALID, sxs_il_old_offset(insn), "%s goes nowhere",
                           sxs_il_info(insn)->name);
    return SXS_IL_OK;
}

static int give_offsets(struct il_writer *w)
{
    uint64_t at = 0;
    for (struct sxs_il_insn *i = w->body->first; i; i = i->next) {
        i->offset = (uint32_t)at;
        at += sxs_il_length(i);
        if (at > INT32_MAX)
            return sxs_il_fail(w->error, SXS_IL_ERANGE, sxs_il_old_offset(i), "too much code");
    }
    w->code_size = (uint32_t)at;
    return SXS_IL_OK;
}

/* Makes short branches long where the distance needs it. Returns nonzero if any became long. */
static int grow_body(struct sxs_il_body *body)
{
    int grown = 0;
    for (struct sxs_il_insn *i = body->first; i; i = i->next) {
        const struct sxs_il_insn *to = i->width == 1 ? sxs_il_target(i->target) : NULL;
        int64_t                   distance;
        if (!to)
            continue;
        distance = (int64_t)to->offset - (i->offset + 2);
        if (distance != (int8_t)distance) {
            i->width = 4;
            grown = 1;
        }
    }
    return grown;
}

/* Repeats until no branch becomes long. This ends because no branch becomes short again. */
static int lay_out(struct il_writer *w)
{
    int err = SXS_IL_OK;
    for (struct sxs_il_insn *i = w->body->first; i; i = i->next)
        set_first_width(w->body, i);
    do {
        err = give_offsets(w);
    } while (!err && grow_body(w->body));
    if (!err)
        w->body->stale = 0;
    return err;
}

void sxs_il_offsets(struct sxs_il_body *body)
{
    struct il_writer w = {.body = body};
    if (body->stale)
        lay_out(&w);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void put_value(struct il_writer *w, uint64_t value, unsigned size)
{
    memcpy(w->at, &value, size);
    w->at += size;
}

static void put_insn(struct il_writer *w, const struct sxs_il_insn *insn)
{
    uint32_t size = operand_size(insn);
    unsigned op = sxs_il_written_opcode(insn);
    uint32_t next = insn->offset + (op >= 0x100 ? 2 : 1) + size;
    if (op >= 0x100)
        *w->at++ = 0xfe;
    *w->at++ = (uint8_t)op;
    if (insn->width) {
        put_value(w, (uint64_t)sxs_il_target(insn->target)->offset - next, size);
    } else if (op == SXS_IL_SWITCH) {
        put_value(w, insn->targets->n, 4);
        for (uint32_t i = 0; i < insn->targets->n; i++)
            put_value(w, (uint64_t)sxs_il_target(insn->targets->targets[i])->offset - next, 4);
    } else {
        put_value(w, insn->bits, size);
    }
}

/* ---- clauses --------------------------------------------------------------------------------- */

/* Computes the six fields of a fat clause. */
static int clause_fields(struct il_writer *w, const struct sxs_il_clause *c, uint32_t f[6])
{
    struct sxs_il_insn *tries = sxs_il_target(c->try_first);
    struct sxs_il_insn *try_end = sxs_il_end_target(c->try_last);
    struct sxs_il_insn *handler = sxs_il_target(c->handler_first);
    struct sxs_il_insn *handler_end = sxs_il_end_target(c->handler_last);
    struct sxs_il_insn *filter = sxs_il_target(c->filter_first);
    uint32_t            end = w->code_size;
    if (!tries || !try_end || !handler || !handler_end || (c->kind == SXS_IL_FILTER && !filter))
        return sxs_il_fail(w->error, SXS_IL_EINVALID, SXS_IL_NONE, "a clause lacks a part");
    f[0] = c->kind;
    f[1] = tries->offset;
    f[2] = (try_end->next ? try_end->next->offset : end) - f[1];
    f[3] = handler->offset;
    f[4] = (handler_end->next ? handler_end->next->offset : end) - f[3];
    f[5] = c->kind == SXS_IL_CATCH ? c->token : c->kind == SXS_IL_FILTER ? filter->offset : 0;
    return SXS_IL_OK;
}

static int fits_small(const uint32_t f[6])
{
    return f[1] <= UINT16_MAX && f[2] <= UINT8_MAX && f[3] <= UINT16_MAX && f[4] <= UINT8_MAX;
}

/* Computes the fields of all clauses, six for each, into @fields. *fat: nonzero when a small
 * section cannot hold them. */
static int find_fields(struct il_writer *w, uint32_t (*fields)[6], int *fat)
{
    uint32_t n = w->body->n_clauses;
    *fat = w->body->had_fat_sections || 4 + n * SMALL_CLAUSE > UINT8_MAX;
    for (uint32_t i = 0; i < n; i++) {
        int err = clause_fields(w, &w->body->clauses[i], fields[i]);
        if (err)
            return err;
        *fat |= !fits_small(fields[i]);
    }
    if (n > (FAT_SECTION_MAX - 4) / FAT_CLAUSE)
        return sxs_il_fail(w->error, SXS_IL_ERANGE, SXS_IL_NONE, "%u clauses are too many", n);
    return SXS_IL_OK;
}

static void put_section(struct il_writer *w, uint32_t (*fields)[6], int fat)
{
    static const unsigned small[] = {2, 2, 1, 2, 1, 4};
    uint32_t              n = w->body->n_clauses;
    *w->at++ = SECTION_CLAUSES | (fat ? SECTION_FAT : 0);
    put_value(w, 4 + n * (fat ? FAT_CLAUSE : SMALL_CLAUSE), 3);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned f = 0; f < 6; f++)
            put_value(w, fields[i][f], fat ? 4 : small[f]);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int is_tiny(const struct il_writer *w)
{
    const struct sxs_il_body *b = w->body;
    return !b->was_fat && w->code_size <= TINY_CODE_MAX && b->max_stack <= TINY_STACK &&
           !b->locals && !b->init_locals && !b->n_clauses;
}

static void put_header(struct il_writer *w)
{
    const struct sxs_il_body *b = w->body;
    if (is_tiny(w)) {
        *w->at++ = (uint8_t)(TINY | w->code_size << 2);
        return;
    }
    put_value(w,
              FAT | (b->n_clauses ? MORE_SECTIONS : 0) | (b->init_locals ? INIT_LOCALS : 0) |
                  FAT_WORDS << 12,
              2);
    put_value(w, b->max_stack, 2);
    put_value(w, w->code_size, 4);
    put_value(w, b->locals, 4);
}

/* Allocates room for the bytes of the body in their largest form. */
static uint8_t *make_room(struct il_writer *w, uint32_t (**fields)[6])
{
    size_t n = w->body->n_clauses;
    *fields = sxs_il_alloc(w->body, n * sizeof(**fields));
    if (!*fields)
        return NULL;
    return sxs_il_alloc(w->body, FAT_HEADER + w->code_size + 3 + (n ? 4 + n * FAT_CLAUSE : 0));
}

int sxs_il_write(struct sxs_il_body *body, const uint8_t **bytes, size_t *size,
                 struct sxs_il_error *error)
{
    struct il_writer w = {.body = body, .error = error};
    uint32_t(*fields)[6];
    uint8_t *begin;
    int      err, fat;
    if (body->unchecked)
        return sxs_il_fail(error, SXS_IL_EUNCHECKED, SXS_IL_NONE, "changed and not checked since");
    if (!body->first)
        return sxs_il_fail(error, SXS_IL_EINVALID, SXS_IL_NONE, "no code");
    for (const struct sxs_il_insn *i = body->first; i; i = i->next) {
        err = check_targets(&w, i);
        if (err)
            return err;
    }
    err = lay_out(&w);
    if (err)
        return err;
    begin = make_room(&w, &fields);
    if (!begin)
        return sxs_il_fail(error, SXS_IL_ENOMEM, SXS_IL_NONE, "no memory");
    err = find_fields(&w, fields, &fat);
    if (err)
        return err;
    w.at = begin;
    put_header(&w);
    for (const struct sxs_il_insn *i = body->first; i; i = i->next)
        put_insn(&w, i);
    if (body->n_clauses) {
        while ((w.at - begin) & 3)
            *w.at++ = 0;
        put_section(&w, fields, fat);
    }
    *bytes = begin;
    *size = (size_t)(w.at - begin);
    return SXS_IL_OK;
}
