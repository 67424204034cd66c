/* SPDX-License-Identifier: MIT */
/* instr/il/read.c - turn bytes into instructions and clauses. The bytes are untrusted: every offset
 * and size is checked before use. */
#include <string.h>

#include "instr/il/internal.h"

struct il_reader {
    struct sxs_il_body  *body;
    const uint8_t       *code;
    uint32_t             code_size;
    uint32_t            *at; /* by offset in the code: 1 + index of the instruction; 0: none */
    struct sxs_il_error *error;
};

static uint16_t u16(const uint8_t *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof(v));
    return v;
}

static uint32_t u32(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof(v));
    return v;
}

static uint64_t u64(const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof(v));
    return v;
}

#define BAD(r, at, ...) sxs_il_fail((r)->error, SXS_IL_EMALFORMED, at, __VA_ARGS__)

/* ---- instructions ---------------------------------------------------------------------------- */

static int read_switch(struct il_reader *r, struct sxs_il_insn *insn, uint32_t at, uint32_t *size)
{
    struct sxs_il_switch *s;
    uint32_t              n = u32(r->code + at), left = (r->code_size - at - 4) / 4;
    if (n > left)
        return BAD(r, insn->offset, "a switch of %u targets goes beyond the code", n);
    s = sxs_il_alloc(r->body, sizeof(*s) + n * sizeof(s->targets[0]));
    if (!s)
        return sxs_il_fail(r->error, SXS_IL_ENOMEM, insn->offset, "no memory");
    s->n = n;
    insn->targets = s;
    *size = 4 + 4 * n;
    return SXS_IL_OK;
}

/* Leaves the target of a branch as a distance in `i` until find_targets() resolves it, when all
 * instructions are known. */
static int read_operand(struct il_reader *r, struct sxs_il_insn *insn, uint32_t at, uint32_t *size)
{
    const uint8_t *p = r->code + at;
    switch (sxs_il_info(insn)->operand) {
    case SXS_IL_OPERAND_NONE: return SXS_IL_OK;
    case SXS_IL_OPERAND_I1:
    case SXS_IL_OPERAND_BRANCH1: insn->i = (int8_t)*p; return SXS_IL_OK;
    case SXS_IL_OPERAND_VAR1: insn->i = *p; return SXS_IL_OK;
    case SXS_IL_OPERAND_VAR2: insn->i = u16(p); return SXS_IL_OK;
    case SXS_IL_OPERAND_I4:
    case SXS_IL_OPERAND_BRANCH4: insn->i = (int32_t)u32(p); return SXS_IL_OK;
    case SXS_IL_OPERAND_I8:
    case SXS_IL_OPERAND_R8: insn->bits = u64(p); return SXS_IL_OK;
    case SXS_IL_OPERAND_SWITCH: return read_switch(r, insn, at, size);
    default: insn->bits = u32(p); return SXS_IL_OK;
    }
}

static int read_insn(struct il_reader *r, struct sxs_il_insn *insn, uint32_t at, uint32_t *next)
{
    uint32_t                         opcode = r->code[at], begin = at++, size;
    const struct sxs_il_opcode_info *info;
    int                              err;
    if (opcode == 0xfe && at < r->code_size)
        opcode = 0x100u + r->code[at++];
    info = &sxs_il_opcodes[opcode < SXS_IL_N_OPCODES ? opcode : 0xff];
    if (!info->name)
        return BAD(r, begin, "no such opcode: %02x", opcode < 0x100 ? opcode : opcode + 0xfd00);
    size = info->operand == SXS_IL_OPERAND_SWITCH ? 4 : info->size;
    if (r->code_size - at < size)
        return BAD(r, begin, "%s goes beyond the code", info->name);
    insn->old_offset = insn->offset = begin;
    insn->opcode = (uint16_t)opcode;
    insn->height = SXS_IL_UNREACHABLE;
    insn->removed = insn->width = 0;
    insn->listed = 1;
    insn->region = insn->writer = 0;
    insn->user = NULL;
    err = read_operand(r, insn, at, &size);
    *next = at + size;
    return err;
}

static struct sxs_il_insn *insn_at(const struct il_reader *r, int64_t offset)
{
    if (offset < 0 || offset >= r->code_size || !r->at[offset])
        return NULL;
    return &r->body->old[r->at[offset] - 1];
}

static int read_insns(struct il_reader *r)
{
    struct sxs_il_body *body = r->body;
    size_t              room = r->code_size * sizeof(struct sxs_il_insn);
    uint32_t            n = 0;
    r->at = sxs_il_alloc(body, r->code_size * sizeof(r->at[0]));
    body->old = r->at ? sxs_il_alloc(body, room) : NULL;
    if (!body->old)
        return sxs_il_fail(r->error, SXS_IL_ENOMEM, 0, "no memory");
    memset(r->at, 0, r->code_size * sizeof(r->at[0]));
    for (uint32_t at = 0; at < r->code_size; n++) {
        struct sxs_il_insn *insn = &body->old[n];
        uint32_t            begin = at;
        int                 err = read_insn(r, insn, at, &at);
        if (err)
            return err;
        r->at[begin] = n + 1;
        insn->index = n;
        insn->prev = n ? insn - 1 : NULL;
        insn->next = insn + 1;
    }
    sxs_il_give_back(body, body->old, room, n * sizeof(struct sxs_il_insn));
    body->n_old = n;
    body->first = body->old;
    body->last = &body->old[n - 1];
    body->last->next = NULL;
    return SXS_IL_OK;
}

static int find_switch_targets(struct il_reader *r, struct sxs_il_insn *insn, uint32_t next)
{
    struct sxs_il_switch *s = insn->targets;
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t to = (int64_t)next + (int32_t)u32(r->code + next - 4 * (s->n - i));
        s->targets[i] = insn_at(r, to);
        if (!s->targets[i])
            return BAD(r, insn->offset, "a switch goes to 0x%llx, where no instruction begins",
                       (unsigned long long)to);
    }
    return SXS_IL_OK;
}

static int find_targets(struct il_reader *r)
{
    for (struct sxs_il_insn *insn = r->body->first; insn; insn = insn->next) {
        uint32_t next = insn->next ? insn->next->offset : r->code_size;
        if (insn->opcode == SXS_IL_SWITCH) {
            int err = find_switch_targets(r, insn, next);
            if (err)
                return err;
        } else if (sxs_il_is_branch(insn)) {
            int64_t to = (int64_t)next + insn->i;
            insn->target = insn_at(r, to);
            if (!insn->target)
                return BAD(r, insn->offset, "%s goes to 0x%llx, where no instruction begins",
                           sxs_il_info(insn)->name, (unsigned long long)to);
        }
    }
    return SXS_IL_OK;
}

/* ---- clauses --------------------------------------------------------------------------------- */

static int read_range(struct il_reader *r, uint32_t begin, uint32_t size,
                      struct sxs_il_insn **first, struct sxs_il_insn **last)
{
    uint64_t            end = (uint64_t)begin + size;
    struct sxs_il_insn *after = insn_at(r, (int64_t)end);
    *first = insn_at(r, begin);
    *last = end == r->code_size ? r->body->last : after ? after->prev : NULL;
    if (!size || !*first || !*last)
        return BAD(r, begin, "a clause's range 0x%x, 0x%llx is not one of instructions", begin,
                   (unsigned long long)end);
    return SXS_IL_OK;
}

/* @p: the six fields of a fat clause; a small clause was converted. */
static int read_clause(struct il_reader *r, const uint32_t p[6])
{
    struct sxs_il_body  *body = r->body;
    struct sxs_il_clause c = {.kind = p[0]};
    int                  err;
    if (c.kind != SXS_IL_CATCH && c.kind != SXS_IL_FILTER && c.kind != SXS_IL_FINALLY &&
        c.kind != SXS_IL_FAULT)
        return BAD(r, p[1], "no such kind of clause: 0x%x", c.kind);
    err = read_range(r, p[1], p[2], &c.try_first, &c.try_last);
    if (!err)
        err = read_range(r, p[3], p[4], &c.handler_first, &c.handler_last);
    if (err)
        return err;
    if (c.kind == SXS_IL_CATCH)
        c.token = p[5];
    if (c.kind == SXS_IL_FILTER) {
        c.filter_first = insn_at(r, p[5]);
        if (!c.filter_first || p[5] >= p[3])
            return BAD(r, p[5], "a filter at 0x%x does not begin before its handler", p[5]);
    }
    body->clauses[body->n_clauses++] = c;
    return SXS_IL_OK;
}

/* Makes room for @n more clauses. The room at least doubles, because each clause may have a section
 * of its own. */
static int more_clauses(struct il_reader *r, uint32_t n)
{
    struct sxs_il_body   *body = r->body;
    struct sxs_il_clause *more;
    uint32_t              room = body->n_clauses + n;
    if (room <= body->clauses_room)
        return SXS_IL_OK;
    if (room < 2 * body->clauses_room)
        room = 2 * body->clauses_room;
    more = sxs_il_alloc(body, room * sizeof(*more));
    if (!more)
        return sxs_il_fail(r->error, SXS_IL_ENOMEM, 0, "no memory");
    if (body->n_clauses)
        memcpy(more, body->clauses, body->n_clauses * sizeof(*more));
    body->clauses = more;
    body->clauses_room = room;
    return SXS_IL_OK;
}

static int read_clauses(struct il_reader *r, const uint8_t *p, uint32_t size, int fat)
{
    uint32_t n = size / (fat ? FAT_CLAUSE : SMALL_CLAUSE);
    int      err = more_clauses(r, n);
    for (uint32_t i = 0; !err && i < n; i++) {
        const uint8_t *c = p + 4 + i * (fat ? FAT_CLAUSE : SMALL_CLAUSE);
        uint32_t       fields[6];
        if (fat)
            memcpy(fields, c, sizeof(fields));
        else
            memcpy(fields, (uint32_t[6]){u16(c), u16(c + 2), c[4], u16(c + 5), c[7], u32(c + 8)},
                   sizeof(fields));
        err = read_clause(r, fields);
    }
    return err;
}

/* @at: the first section. @end: the end of the bytes. Some compilers leave the four bytes of a
 * section's header out of its size. The runtime accepts that, and so does this function. */
static int read_sections(struct il_reader *r, const uint8_t *at, const uint8_t *end)
{
    int more = 1;
    while (more) {
        uint32_t size, needed;
        int      fat, err = SXS_IL_OK;
        if (end - at < 4)
            return BAD(r, r->code_size, "a section lies beyond the body");
        fat = at[0] & SECTION_FAT;
        more = at[0] & SECTION_MORE;
        size = fat ? u32(at) >> 8 : at[1];
        needed = (at[0] & SECTION_KIND) != SECTION_CLAUSES
                     ? size
                     : 4 + size / (fat ? FAT_CLAUSE : SMALL_CLAUSE) *
                               (uint32_t)(fat ? FAT_CLAUSE : SMALL_CLAUSE);
        if (needed < 4 || needed > (size_t)(end - at))
            return BAD(r, r->code_size, "a section of %u bytes goes beyond the body", needed);
        if ((at[0] & SECTION_KIND) == SECTION_CLAUSES) {
            err = read_clauses(r, at, size, fat);
            r->body->had_fat_sections |= fat != 0;
        }
        if (err)
            return err;
        needed = (needed + 3) & ~3u;
        if (more && needed > (size_t)(end - at))
            return BAD(r, r->code_size, "a section lies beyond the body");
        at += more ? needed : 0;
    }
    return SXS_IL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int read_header(struct il_reader *r, const uint8_t *bytes, size_t size, unsigned *flags)
{
    struct sxs_il_body *body = r->body;
    *flags = 0;
    if (size && (bytes[0] & FORMAT_MASK) == TINY) {
        r->code = bytes + 1;
        r->code_size = bytes[0] >> 2;
        body->max_stack = TINY_STACK;
    } else if (size >= FAT_HEADER && (bytes[0] & 7) == FAT && bytes[1] >> 4 == FAT_WORDS) {
        *flags = u16(bytes);
        body->was_fat = 1;
        body->init_locals = (*flags & INIT_LOCALS) != 0;
        body->max_stack = u16(bytes + 2);
        body->locals = u32(bytes + 8);
        r->code = bytes + FAT_HEADER;
        r->code_size = u32(bytes + 4);
    } else {
        return BAD(r, SXS_IL_NONE, "no header of a method body");
    }
    if (!r->code_size || r->code_size > size - (size_t)(r->code - bytes))
        return BAD(r, SXS_IL_NONE, "code of %u bytes in a body of %zu", r->code_size, size);
    return SXS_IL_OK;
}

int sxs_il_read_code(struct sxs_il_body *body, const uint8_t *bytes, size_t size,
                     struct sxs_il_error *error)
{
    struct il_reader r = {.body = body, .code = bytes, .code_size = (uint32_t)size, .error = error};
    int              err = SXS_IL_OK;
    sxs_il_clear(body);
    body->max_stack = TINY_STACK;
    if (size > INT32_MAX)
        err = sxs_il_fail(error, SXS_IL_ERANGE, SXS_IL_NONE, "too much code");
    else if (size)
        err = read_insns(&r);
    if (!err && size)
        err = find_targets(&r);
    if (err)
        sxs_il_clear(body);
    return err;
}

int sxs_il_read(struct sxs_il_body *body, const uint8_t *bytes, size_t size,
                struct sxs_il_error *error)
{
    struct il_reader r = {.body = body, .error = error};
    unsigned         flags;
    int              err;
    sxs_il_clear(body);
    err = read_header(&r, bytes, size, &flags);
    if (!err)
        err = read_insns(&r);
    if (!err)
        err = find_targets(&r);
    if (!err && flags & MORE_SECTIONS) {
        size_t after = (FAT_HEADER + (size_t)r.code_size + 3) & ~(size_t)3;
        if (after > size)
            err = BAD(&r, r.code_size, "a section lies beyond the body");
        else
            err = read_sections(&r, bytes + after, bytes + size);
    }
    if (err)
        sxs_il_clear(body);
    return err;
}
