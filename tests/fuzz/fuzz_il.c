/* SPDX-License-Identifier: MIT */
/* fuzz_il.c - bytes as method bodies: read, checked, changed at random, checked, written, read again. What the
 * checker takes is written, and read back as the same graph. See fuzz.h.
 * The first eight bytes of the input choose the changes. */
#include "tests/fuzz/fuzz.h"

#include "instr/il/text.h"
#include "tests/instr/graph.h"

#define CHANGES_MAX 24

static struct sxs_il_body *body, *again;

/* What calls do depends on the token alone. */
static int effect(void *context, enum sxs_il_opcode opcode, uint32_t token, struct sxs_il_effect *e)
{
    (void)context;
    e->pops = (uint16_t)(token & 3);
    e->pushes = (uint16_t)(opcode == SXS_IL_NEWOBJ || (token & 4));
    return token & 8 ? -1 : 0;
}

static const struct sxs_il_method method = {.n_args = 4, .n_locals = 4, .returns = 0, .effect = effect};

/* ---- changes ---------------------------------------------------------------------------------- */

static struct sxs_il_insn *any(uint32_t n)
{
    struct sxs_il_insn *i = body->first;
    for (uint64_t at = roll(n < 64 ? n : 64); at-- > 0 && i->next;)
        i = i->next;
    return i;
}

static struct sxs_il_insn *new_insn(uint32_t n)
{
    static const uint8_t plain[] = {SXS_IL_NOP, SXS_IL_NOP, SXS_IL_DUP, SXS_IL_POP, SXS_IL_ADD,
                                    SXS_IL_RET, SXS_IL_LDNULL, SXS_IL_THROW, SXS_IL_BREAK};
    struct sxs_il_insn  *s;
    switch (roll(10)) {
    case 0: return sxs_il_ldc(body, (int32_t)roll(100000) - 50000);
    case 1: return sxs_il_ldarg(body, (uint16_t)roll(5));
    case 2: return sxs_il_stloc(body, (uint16_t)roll(400));
    case 3: return sxs_il_branch(body, SXS_IL_BR, any(n));
    case 4: return sxs_il_branch(body, SXS_IL_BRTRUE_S, any(n));
    case 5:
        return sxs_il_branch(body, SXS_IL_LEAVE, roll(20) ? any(n) : sxs_il_insn(body, SXS_IL_NOP));
    case 6: return sxs_il_token(body, SXS_IL_CALL, 0x0a000000 | (uint32_t)roll(16));
    case 7: return sxs_il_int(body, SXS_IL_LDARG_S, (int64_t)roll(600) - 200);
    case 8:
        s = sxs_il_switch(body, (uint32_t)roll(4));
        for (uint32_t i = 0; i < s->targets->n; i++)
            s->targets->targets[i] = roll(9) ? any(n) : NULL;
        return s;
    default: return sxs_il_insn(body, (enum sxs_il_opcode)plain[roll(sizeof(plain))]);
    }
}

static void add_clause(uint32_t n)
{
    static const uint8_t  kinds[] = {0, 1, 2, 4, 3};
    struct sxs_il_clause *c = sxs_il_add_clause(body, (uint32_t)roll(body->n_clauses + 1));
    MUST(c);
    c->kind = kinds[roll(roll(5) ? 4 : 5)];
    c->try_first = any(n);
    c->try_last = roll(2) ? c->try_first : any(n);
    c->handler_first = roll(9) ? any(n) : sxs_il_insn(body, SXS_IL_NOP);
    c->handler_last = roll(2) ? c->handler_first : any(n);
    if (c->kind == SXS_IL_FILTER)
        c->filter_first = any(n);
}

/* All the list's links hold, and whoever is not in it says so. */
static uint32_t links(void)
{
    const struct sxs_il_insn *prev = NULL;
    uint32_t                  n = 0;
    for (struct sxs_il_insn *i = body->first; i; prev = i, i = i->next, n++) {
        MUST(i->prev == prev && i->listed && !i->removed);
        MUST(sxs_il_target(i) == i && sxs_il_end_target(i) == i);
    }
    MUST(body->last == prev);
    for (uint32_t i = 0; i < body->n_old; i++) {
        const struct sxs_il_insn *t = sxs_il_target(&body->old[i]);
        MUST(body->old[i].listed != body->old[i].removed);
        MUST(!t || t->listed);
        MUST(sxs_il_old_at(body, body->old[i].old_offset) == &body->old[i]);
        MUST(sxs_il_old_next(body, &body->old[i]) == (i + 1 < body->n_old ? &body->old[i + 1] : NULL));
    }
    return n;
}

static void change(uint32_t n, struct sxs_il_insn **gone)
{
    struct sxs_il_insn **exits, *exit_at;
    struct sxs_il_wrap   wrap;
    uint32_t             n_exits;
    switch (roll(16)) {
    case 0: case 1: case 2: sxs_il_insert_before(body, any(n), new_insn(n)); break;
    case 3: case 4: sxs_il_insert_after(body, any(n), new_insn(n)); break;
    case 5: sxs_il_append(body, new_insn(n)); break;
    case 6:
        if (n > 1)
            sxs_il_remove(body, *gone = any(n));
        break;
    case 7: sxs_il_replace(body, any(n), new_insn(n)); break;
    case 8: sxs_il_move_targets(body, any(n), any(n), (int)roll(2)); break;
    case 9: add_clause(n); break;
    case 10:
        if (body->n_clauses)
            sxs_il_remove_clause(body, (uint32_t)roll(body->n_clauses));
        break;
    case 11: MUST(sxs_il_wrap(body, &method, 0, 1, &wrap, NULL) == 0); break;
    case 12: MUST(sxs_il_single_return(body, &method, 0, &exit_at, NULL) == 0); break;
    case 13:
        MUST(sxs_il_exits(body, &exits, &n_exits, NULL) == 0);
        for (uint32_t i = 0; i < n_exits; i++)
            sxs_il_insert_after(body, exits[i], sxs_il_insn(body, SXS_IL_BREAK));
        break;
    case 14:
        if (*gone && (*gone)->removed) /* and back */
            sxs_il_insert_before(body, any(n), *gone);
        *gone = NULL;
        break;
    default: sxs_il_insert_before(body, any(n), sxs_il_int(body, SXS_IL_UNALIGNED, (int64_t)roll(5))); break;
    }
}

/* ---- what must hold --------------------------------------------------------------------------- */

static void as_text(struct sxs_il_body *b)
{
    static char        bytes[1 << 14];
    struct sxs_text    t = sxs_text_counted(bytes, sizeof(bytes));
    sxs_il_put_body(&t, b, " ", NULL);
}

/* The checker's word for it holds. Returns 0 when it was taken. */
static int hold(void)
{
    struct sxs_il_error e = {0};
    struct sxs_il_map   map[8];
    const uint8_t      *bytes, *second;
    uint8_t            *copy;
    size_t              size, more;
    if (sxs_il_check(body, &method, &e) != 0) {
        MUST(e.text[0] && e.status);
        return -1;
    }
    MUST(sxs_il_write(body, &bytes, &size, &e) == 0);
    as_text(body);
    sxs_il_map(body, map, 8);
    copy = malloc(size);
    MUST(copy);
    memcpy(copy, bytes, size);
    MUST(sxs_il_read(again, copy, size, &e) == 0);
    MUST(same_graph(body, again));
    MUST(sxs_il_check(again, &method, &e) == 0);
    MUST(sxs_il_write(again, &second, &more, &e) == 0);
    MUST(more == size && !memcmp(second, copy, size));
    free(copy);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct sxs_il_insn *gone = NULL;
    struct sxs_il_error e = {0};
    if (!body) {
        body = sxs_il_new();
        again = sxs_il_new();
    }
    if (size < 8)
        return 0;
    memcpy(&fuzz_state, bytes, 8);
    fuzz_state |= 1;
    if (sxs_il_read(body, bytes + 8, size - 8, &e) != 0) {
        MUST(e.status && e.text[0] && !body->first);
        return 0;
    }
    as_text(body);
    fuzz_whole += hold() == 0;
    for (uint64_t n = roll(CHANGES_MAX); n-- > 0;) {
        change(links(), &gone);
        if (roll(4) == 0)
            hold();
    }
    links();
    hold();
    return 0;
}

/* ---- inputs ----------------------------------------------------------------------------------- */

#ifndef SXS_LIBFUZZER
static size_t put_insn(uint8_t *out, unsigned size)
{
    static const uint8_t opcodes[] = {0x00, 0x02, 0x03, 0x06, 0x0a, 0x0e, 0x11, 0x14, 0x16, 0x17, 0x1f, 0x20,
                                      0x21, 0x22, 0x23, 0x25, 0x26, 0x28, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x38,
                                      0x39, 0x45, 0x58, 0x6f, 0x73, 0x7a, 0xdc, 0xdd, 0xde, 0xfe};
    static const uint8_t longer[] = {0x01, 0x09, 0x0e, 0x0f, 0x11, 0x12, 0x13, 0x14, 0x16, 0x1a, 0x1e};
    uint8_t op = out[0] = opcodes[roll(sizeof(opcodes))];
    for (int i = 1; i < 16; i++)
        out[i] = roll(2) ? 0 : (uint8_t)roll(size);
    if (op == 0xfe) {
        op = out[1] = longer[roll(sizeof(longer))];
        return 2u + sxs_il_opcodes[0x100 + op].size;
    }
    if (op != SXS_IL_SWITCH)
        return 1u + sxs_il_opcodes[op].size;
    out[1] = (uint8_t)roll(3);
    out[2] = out[3] = out[4] = 0;
    return 5u + 4u * out[1];
}

struct made {
    uint8_t *code, *p;
    uint8_t  clauses[8][12]; /* as small ones */
    unsigned n;
};

/* What leaves the stack as it was. */
static void put_calm(struct made *m)
{
    static const uint8_t calm[][3] = {{1, 0x00, 0}, {2, 0x16, 0x26}, {2, 0x02, 0x26}, {2, 0x2b, 0x00},
                                      {2, 0x02, 0x0a}, {2, 0x03, 0x0a}};
    for (uint64_t n = roll(4); n-- > 0;) {
        const uint8_t *c = calm[roll(sizeof(calm) / sizeof(calm[0]))];
        memcpy(m->p, c + 1, 2);
        m->p += c[0];
    }
    if (roll(12) == 0)
        m->p += put_insn(m->p, 12);
}

static void put_try(struct made *m, unsigned depth)
{
    static const uint8_t kinds[] = {0, 2, 4};
    uint8_t             *begin = m->p, *leave, *handler, kind = kinds[roll(3)], *c;
    put_calm(m);
    if (depth < 3 && roll(2))
        put_try(m, depth + 1);
    *m->p++ = SXS_IL_LEAVE_S;
    leave = m->p++;
    handler = m->p;
    if (kind == SXS_IL_CATCH)
        *m->p++ = SXS_IL_POP;
    put_calm(m);
    *m->p++ = kind == SXS_IL_CATCH ? SXS_IL_LEAVE_S : SXS_IL_ENDFINALLY;
    if (kind == SXS_IL_CATCH)
        *m->p++ = 0;
    *leave = (uint8_t)(m->p - leave - 1);
    if (m->n == 8)
        return;
    c = m->clauses[m->n++];
    memset(c, 0, 12);
    c[0] = kind;
    c[2] = (uint8_t)(begin - m->code);
    c[3] = (uint8_t)((begin - m->code) >> 8);
    c[4] = (uint8_t)(handler - begin);
    c[5] = (uint8_t)(handler - m->code);
    c[6] = (uint8_t)((handler - m->code) >> 8);
    c[7] = (uint8_t)(m->p - handler);
    c[8] = 1;
}

static size_t put_clauses(const struct made *m, uint8_t *out)
{
    uint8_t *p = out;
    while ((p - m->code) & 3)
        *p++ = 0;
    memset(p, 0, 4);
    p[0] = 1;
    p[1] = (uint8_t)(4 + 12 * m->n);
    memcpy(p + 4, m->clauses, 12 * m->n);
    return (size_t)(p + 4 + 12 * m->n - out);
}

/* Most are right before they are mutated. */
static size_t fuzz_make(uint8_t *out)
{
    struct made m = {.code = out + 8 + 12, .p = out + 8 + 12};
    size_t      head = 12, size;
    for (uint64_t n = 1 + roll(roll(8) ? 4 : 90); n-- > 0;)
        if (roll(4) || m.n)
            put_calm(&m);
        else
            put_try(&m, 0);
    *m.p++ = SXS_IL_RET;
    size = (size_t)(m.p - m.code);
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)roll(256);
    if (size < 64 && !m.n && roll(2)) {
        head = 1;
        memmove(out + 9, m.code, size);
        out[8] = (uint8_t)(2 | size << 2);
    } else {
        memset(out + 8, 0, 12);
        out[8] = (uint8_t)(m.n ? 0x1b : 0x13);
        out[9] = 0x30;
        out[10] = 16;
        out[12] = (uint8_t)size;
        out[13] = (uint8_t)(size >> 8);
        size += m.n ? put_clauses(&m, m.p) : 0;
    }
    return roll(3) ? 8 + head + size : fuzz_mutate(out, 8 + head + size);
}

int main(int argc, char **argv)
{
    int err = fuzz_main(argc, argv, "method bodies");
    sxs_il_free(body);
    sxs_il_free(again);
    return err;
}
#endif
