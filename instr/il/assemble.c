/* SPDX-License-Identifier: MIT */
/* instr/il/assemble.c - turn lines of text into instructions. A label may be used before it is
 * defined. */
#include "instr/il/assemble.h"
#include "instr/il/assembler.h"

#include <string.h>

#include "base/hash.h"
#include "instr/metadata/signature_write.h"

#define LOCALS_MAX UINT16_MAX

static char *copy_name(struct assembler *a, const char *name)
{
    size_t size = strlen(name) + 1;
    char  *text = sxs_il_alloc(a->body, size);
    if (text)
        memcpy(text, name, size);
    else
        sxs_lex_fail(lexer_of(a), "no memory");
    return text;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static struct label **list_of(struct assembler *a, const char *name)
{
    uint64_t hash = sxs_hash_text(SXS_HASH_START, name);
    return &a->lists[(hash ^ hash >> 32) % LABEL_LISTS];
}

static struct label *find_label(struct assembler *a, const char *name)
{
    struct label **list = list_of(a, name), *l;
    for (l = *list; l; l = l->alike)
        if (!strcmp(l->name, name))
            return l;
    l = sxs_il_alloc(a->body, sizeof(*l));
    if (l)
        *l = (struct label){.name = copy_name(a, name), .stand = sxs_il_insn(a->body, SXS_IL_NOP)};
    if (!l || !l->name || !l->stand) {
        sxs_lex_fail(lexer_of(a), "no memory");
        return NULL;
    }
    l->stand->removed = 1;
    l->alike = *list;
    l->older = a->latest;
    *list = a->latest = l;
    return l;
}

struct sxs_il_insn *sxs_il_take_label(struct assembler *a, int meant)
{
    struct label *l;
    if (lexer_of(a)->kind != SXS_WORD_NAME) {
        sxs_lex_fail(lexer_of(a), "expected a label");
        return NULL;
    }
    l = find_label(a, lexer_of(a)->name);
    sxs_lex_next(lexer_of(a));
    if (!l)
        return NULL;
    l->meant |= (uint8_t)meant;
    return l->stand;
}

/* Is the current word the definition of a label, `NAME:`? `NAME::` is none. */
static int is_label(const struct sxs_lexer *l)
{
    return l->kind == SXS_WORD_NAME && l->at[0] == ':' && l->at[1] != ':';
}

static int place_label(struct assembler *a)
{
    struct label *l = find_label(a, lexer_of(a)->name);
    if (!l)
        return lexer_of(a)->status;
    if (l->placed)
        return sxs_lex_fail(lexer_of(a), "label %s stands twice", l->name);
    l->placed = 1;
    l->stand->prev = a->fragment->last;
    l->stand->next = NULL;
    l->waiting = a->waiting;
    a->waiting = l;
    sxs_lex_next(lexer_of(a));
    return sxs_lex_expect(lexer_of(a), ":");
}

/* Appends @insn to the fragment. Labels that wait for an instruction now mean @insn. */
static void append_insn(struct assembler *a, struct sxs_il_insn *insn)
{
    struct sxs_il_fragment *f = a->fragment;
    insn->prev = f->last;
    *(f->last ? &f->last->next : &f->first) = insn;
    f->last = insn;
    for (; a->waiting; a->waiting = a->waiting->waiting)
        a->waiting->stand->next = insn;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Returns the opcode with this name, or -1. ilasm also spells endfinally as endfault. */
static int find_opcode(const char *name)
{
    if (!strcmp(name, "endfault"))
        return SXS_IL_ENDFINALLY;
    for (int i = 0; i < SXS_IL_N_OPCODES; i++)
        if (sxs_il_opcodes[i].name && !strcmp(sxs_il_opcodes[i].name, name))
            return i;
    return -1;
}

static int take_insn(struct assembler *a)
{
    int                 opcode = lexer_of(a)->quoted ? -1 : find_opcode(lexer_of(a)->name);
    struct sxs_il_insn *insn;
    if (opcode < 0)
        return sxs_lex_fail(lexer_of(a), "no such instruction: %s", lexer_of(a)->name);
    insn = sxs_il_insn(a->body, (enum sxs_il_opcode)opcode);
    if (!insn)
        return sxs_lex_fail(lexer_of(a), "no memory");
    sxs_lex_next(lexer_of(a));
    if (sxs_il_take_operand(a, insn) != 0)
        return lexer_of(a)->status;
    append_insn(a, insn);
    return SXS_IL_OK;
}

static int name_local(struct assembler *a, uint32_t n)
{
    if (n == a->locals_room) {
        uint32_t room = 2 * n + 16;
        char   **more = sxs_il_alloc(a->body, room * sizeof(*more));
        if (!more)
            return sxs_lex_fail(lexer_of(a), "no memory");
        if (n)
            memcpy(more, a->locals, n * sizeof(*more));
        a->locals = more;
        a->locals_room = room;
    }
    a->locals[n] = NULL;
    if (lexer_of(a)->kind == SXS_WORD_NAME) {
        a->locals[n] = copy_name(a, lexer_of(a)->name);
        sxs_lex_next(lexer_of(a));
    }
    return lexer_of(a)->status;
}

static int take_local(struct assembler *a, uint8_t *bytes, size_t size)
{
    struct sxs_parser *p = &a->parser;
    size_t             used = a->fragment->locals_size, more;
    uint32_t           n = a->fragment->n_locals;
    p->sig = (struct sxs_sig){.nodes = p->nodes, .cap = SXS_PARSE_NODES};
    p->sig.result = sxs_parse_type(p);
    if (lexer_of(a)->status)
        return lexer_of(a)->status;
    more = sxs_sig_write(SXS_SIG_TYPE, &p->sig, bytes + used, size - used);
    if (!more || more > size - used || n == LOCALS_MAX)
        return sxs_lex_fail(lexer_of(a), "too many locals");
    a->fragment->locals_size += more;
    a->fragment->n_locals++;
    return name_local(a, n);
}

/* `.locals [init] (TYPE [NAME], ...)`. The buffer is large enough for the signature because a type
 * takes fewer bytes there than as text. */
static int take_locals(struct assembler *a)
{
    size_t   size = 2 * strlen(lexer_of(a)->word) + 16;
    uint8_t *bytes = sxs_il_alloc(a->body, size);
    if (!bytes)
        return sxs_lex_fail(lexer_of(a), "no memory");
    if (a->fragment->locals)
        return sxs_lex_fail(lexer_of(a), ".locals stands twice");
    a->fragment->locals = bytes;
    a->fragment->init_locals = (uint8_t)sxs_lex_take(lexer_of(a), "init");
    if (sxs_lex_expect(lexer_of(a), "(") != 0 || sxs_lex_take(lexer_of(a), ")"))
        return lexer_of(a)->status;
    do {
        if (take_local(a, bytes, size) != 0)
            return lexer_of(a)->status;
    } while (sxs_lex_take(lexer_of(a), ","));
    sxs_il_give_back(a->body, bytes, size, a->fragment->locals_size);
    return sxs_lex_expect(lexer_of(a), ")");
}

/* ---- clauses --------------------------------------------------------------------------------- */

static struct sxs_il_clause *new_clause(struct assembler *a)
{
    struct sxs_il_fragment *f = a->fragment;
    if (f->n_clauses == a->clauses_room) {
        uint32_t              room = 2 * a->clauses_room + 4;
        struct sxs_il_clause *more = sxs_il_alloc(a->body, room * sizeof(*more));
        if (!more)
            return NULL;
        if (f->n_clauses)
            memcpy(more, f->clauses, f->n_clauses * sizeof(*more));
        f->clauses = more;
        a->clauses_room = room;
    }
    memset(&f->clauses[f->n_clauses], 0, sizeof(f->clauses[0]));
    return &f->clauses[f->n_clauses++];
}

/* `LABEL to LABEL`. The second label is after the range; the `prev` of its stand-in instruction is
 * the last instruction of the range. */
static int take_range(struct assembler *a, struct sxs_il_insn **first, struct sxs_il_insn **last)
{
    *first = sxs_il_take_label(a, 1);
    if (!*first || sxs_lex_expect(lexer_of(a), "to") != 0)
        return lexer_of(a)->status;
    *last = sxs_il_take_label(a, 0);
    return lexer_of(a)->status;
}

static int take_caught(struct assembler *a, uint32_t *token)
{
    int64_t number;
    if (lexer_of(a)->kind != SXS_WORD_NUMBER)
        return sxs_parse_type_token(&a->parser, token);
    if (sxs_lex_integer(lexer_of(a), &number) != 0)
        return lexer_of(a)->status;
    *token = (uint32_t)number;
    return SXS_IL_OK;
}

/* `.try L1 to L2 catch TYPE | filter L | finally | fault handler L3 to L4` */
static int take_clause(struct assembler *a)
{
    struct sxs_il_clause *c = new_clause(a);
    if (!c)
        return sxs_lex_fail(lexer_of(a), "no memory");
    if (take_range(a, &c->try_first, &c->try_last) != 0)
        return lexer_of(a)->status;
    if (sxs_lex_take(lexer_of(a), "catch")) {
        c->kind = SXS_IL_CATCH;
        if (take_caught(a, &c->token) != 0)
            return lexer_of(a)->status;
    } else if (sxs_lex_take(lexer_of(a), "filter")) {
        c->kind = SXS_IL_FILTER;
        c->filter_first = sxs_il_take_label(a, 1);
    } else if (sxs_lex_take(lexer_of(a), "finally")) {
        c->kind = SXS_IL_FINALLY;
    } else if (sxs_lex_take(lexer_of(a), "fault")) {
        c->kind = SXS_IL_FAULT;
    } else {
        return sxs_lex_fail(lexer_of(a), "expected catch, filter, finally or fault");
    }
    if (sxs_lex_expect(lexer_of(a), "handler") != 0)
        return lexer_of(a)->status;
    return take_range(a, &c->handler_first, &c->handler_last);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int take_line(struct assembler *a)
{
    int64_t max_stack;
    while (is_label(lexer_of(a)))
        if (place_label(a) != 0)
            return lexer_of(a)->status;
    if (lexer_of(a)->kind != SXS_WORD_NAME)
        return lexer_of(a)->status;             /* a line with labels only */
    if (sxs_lex_take(lexer_of(a), ".maxstack")) /* ignored: the checker computes the value */
        return sxs_lex_integer(lexer_of(a), &max_stack);
    if (sxs_lex_take(lexer_of(a), ".locals"))
        return take_locals(a);
    if (sxs_lex_take(lexer_of(a), ".try"))
        return take_clause(a);
    if (take_insn(a) != 0)
        return lexer_of(a)->status;
    /* a prefix and its instruction may share a line */
    return sxs_il_info(a->fragment->last)->flow == SXS_IL_FLOW_PREFIX &&
                   lexer_of(a)->kind == SXS_WORD_NAME
               ? take_insn(a)
               : SXS_IL_OK;
}

static int take_lines(struct assembler *a)
{
    while (lexer_of(a)->kind != SXS_WORD_END) {
        if (lexer_of(a)->kind != SXS_WORD_LINE && take_line(a) != 0)
            return lexer_of(a)->status;
        if (lexer_of(a)->kind != SXS_WORD_LINE && lexer_of(a)->kind != SXS_WORD_END)
            return sxs_lex_fail(lexer_of(a), "expected the end of the line");
        sxs_lex_next(lexer_of(a));
    }
    return lexer_of(a)->status;
}

/* Checks that all labels are defined. If a branch goes to a label after the last instruction, or a
 * range begins there, appends a nop: otherwise nothing would stand for the label in the body. */
static int end_labels(struct assembler *a)
{
    struct sxs_il_insn *nop = NULL;
    for (const struct label *l = a->latest; l; l = l->older)
        if (!l->placed)
            return sxs_lex_fail(lexer_of(a), "label %s stands nowhere", l->name);
    for (const struct label *l = a->waiting; l && !nop; l = l->waiting)
        if (l->meant && !(nop = sxs_il_insn(a->body, SXS_IL_NOP)))
            return sxs_lex_fail(lexer_of(a), "no memory");
    if (nop)
        append_insn(a, nop);
    return SXS_IL_OK;
}

int sxs_il_assemble(struct sxs_il_body *body, const struct sxs_il_source *source,
                    struct sxs_il_fragment *fragment, struct sxs_il_error *error)
{
    struct assembler *a = sxs_il_alloc(body, sizeof(*a));
    memset(fragment, 0, sizeof(*fragment));
    if (!a)
        return sxs_il_fail(error, SXS_IL_ENOMEM, SXS_IL_NONE, "no memory");
    memset(a, 0, sizeof(*a));
    a->body = body;
    a->source = source;
    a->fragment = fragment;
    a->parser.tokens = source->tokens;
    a->parser.lex.body = body;
    a->parser.lex.error = error;
    sxs_lex_begin(lexer_of(a), source->text);
    if (take_lines(a) != 0 || end_labels(a) != 0)
        return lexer_of(a)->status;
    return SXS_IL_OK;
}
