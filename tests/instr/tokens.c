/* SPDX-License-Identifier: MIT */
/* tokens.c - a hash table of tokens. Key: a letter for the kind, the owner's token, a name, a signature. */
#include "tests/instr/tokens.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *alike;
    uint32_t      token;
    size_t        size;
    char          key[];
};

#define LISTS (1u << 18)

struct tokens {
    const struct sxs_metadata *md;
    struct entry              *lists[LISTS];
    char                      *key; /* key that is being built */
    size_t                     size, room;
};

/* ---- keys ------------------------------------------------------------------------------------- */

static void add_bytes(struct tokens *t, const void *bytes, size_t size)
{
    if (t->size + size > t->room) {
        t->room = 2 * (t->size + size);
        t->key = realloc(t->key, t->room);
        if (!t->key)
            exit(1);
    }
    if (size)
        memcpy(t->key + t->size, bytes, size);
    t->size += size;
}

static void add_text(struct tokens *t, const char *text)
{
    add_bytes(t, text, strlen(text) + 1);
}

static void begin(struct tokens *t, char kind, uint32_t owner)
{
    t->size = 0;
    add_bytes(t, &kind, 1);
    add_bytes(t, &owner, sizeof(owner));
}

static struct entry **list_of(struct tokens *t)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < t->size; i++)
        hash = (hash ^ (uint8_t)t->key[i]) * 16777619u;
    return &t->lists[hash % LISTS];
}

static int find(struct tokens *t, uint32_t *token)
{
    for (const struct entry *e = *list_of(t); e; e = e->alike)
        if (e->size == t->size && !memcmp(e->key, t->key, t->size)) {
            *token = e->token;
            return 0;
        }
    return -1;
}

/* Adds a token with the key t->key. Keeps the earlier token if the key exists. */
static void put(struct tokens *t, uint32_t token)
{
    struct entry **list = list_of(t), *e;
    uint32_t       known;
    if (find(t, &known) == 0)
        return;
    e = malloc(sizeof(*e) + t->size);
    if (!e)
        exit(1);
    e->alike = *list;
    e->token = token;
    e->size = t->size;
    memcpy(e->key, t->key, t->size);
    *list = e;
}

/* ---- tokens of an assembly -------------------------------------------------------------------- */

static const char *text_of(const struct tokens *t, enum sxs_table table, uint32_t row, unsigned column)
{
    return sxs_md_string(t->md, sxs_md_cell(t->md, table, row, column));
}

/* Writes `Namespace.Outer/Inner` to @out. Returns the scope of the outermost type. */
static uint32_t full_name(const struct tokens *t, uint32_t token, char *out, size_t size)
{
    enum sxs_table table = (enum sxs_table)(token >> 24);
    uint32_t       row = token & 0xffffff, scope = 0, outer = 0;
    const char    *name = text_of(t, table, row, 1), *space = text_of(t, table, row, 2);
    char           within[4096];
    if (table == SXS_TABLE_TYPE_DEF) {
        outer = sxs_md_enclosing(t->md, token);
    } else {
        scope = sxs_md_cell(t->md, table, row, SXS_TYPE_REF_SCOPE);
        outer = scope >> 24 == SXS_TABLE_TYPE_REF ? scope : 0;
    }
    if (outer)
        scope = full_name(t, outer, within, sizeof(within));
    snprintf(out, size, "%s%s%s%s%s", outer ? within : "", outer ? "/" : "", space, *space ? "." : "",
             name);
    return scope;
}

static void put_types(struct tokens *t, enum sxs_table table)
{
    char name[8192];
    for (uint32_t row = 1; row <= sxs_md_rows(t->md, table); row++) {
        uint32_t scope = full_name(t, sxs_token(table, row), name, sizeof(name));
        uint32_t in = scope & 0xffffff;
        begin(t, 'T', 0);
        add_text(t, scope >> 24 == SXS_TABLE_ASSEMBLY_REF
                        ? text_of(t, SXS_TABLE_ASSEMBLY_REF, in, SXS_ASSEMBLY_REF_NAME)
                    : scope >> 24 == SXS_TABLE_MODULE_REF
                        ? text_of(t, SXS_TABLE_MODULE_REF, in, SXS_MODULE_REF_NAME)
                        : "");
        add_text(t, name);
        put(t, sxs_token(table, row));
    }
}

static void put_signatures(struct tokens *t, enum sxs_table table, char kind)
{
    for (uint32_t row = 1; row <= sxs_md_rows(t->md, table); row++) {
        struct sxs_blob b = sxs_md_signature(t->md, sxs_token(table, row));
        begin(t, kind, 0);
        add_bytes(t, b.at, b.size);
        put(t, sxs_token(table, row));
    }
}

static void put_members(struct tokens *t, enum sxs_table table, unsigned name)
{
    for (uint32_t row = 1; row <= sxs_md_rows(t->md, table); row++) {
        uint32_t        token = sxs_token(table, row);
        struct sxs_blob b = sxs_md_signature(t->md, token);
        uint32_t        owner = table == SXS_TABLE_MEMBER_REF
                                    ? sxs_md_cell(t->md, table, row, SXS_MEMBER_REF_PARENT)
                                    : sxs_md_owner(t->md, token);
        if (owner >> 24 == SXS_TABLE_METHOD_DEF) /* with a variable list */
            owner = sxs_md_owner(t->md, owner);
        begin(t, 'M', owner == sxs_token(SXS_TABLE_TYPE_DEF, 1) ? 0 : owner);
        add_text(t, text_of(t, table, row, name));
        add_bytes(t, b.at, b.size);
        put(t, token);
    }
}

static void put_method_specs(struct tokens *t)
{
    for (uint32_t row = 1; row <= sxs_md_rows(t->md, SXS_TABLE_METHOD_SPEC); row++) {
        struct sxs_blob b = sxs_md_blob(t->md, sxs_md_cell(t->md, SXS_TABLE_METHOD_SPEC, row,
                                                           SXS_METHOD_SPEC_INSTANTIATION));
        begin(t, 'I', sxs_md_cell(t->md, SXS_TABLE_METHOD_SPEC, row, SXS_METHOD_SPEC_METHOD));
        add_bytes(t, b.at, b.size);
        put(t, sxs_token(SXS_TABLE_METHOD_SPEC, row));
    }
}

/* Adds every string of the heap: a length, the bytes of the string, and a final byte. */
static void put_strings(struct tokens *t)
{
    const uint8_t *heap = t->md->user_strings.at;
    for (size_t at = 1; at < t->md->user_strings.size;) {
        struct sxs_blob b = sxs_md_user_string(t->md, 0x70000000u | (uint32_t)at);
        size_t          head = heap[at] < 0x80 ? 1 : heap[at] < 0xc0 ? 2 : 4;
        begin(t, 'U', 0);
        add_bytes(t, b.at, b.size);
        put(t, 0x70000000u | (uint32_t)at);
        at += head + b.size + (head > 1 || heap[at] ? 1 : 0);
    }
}

struct tokens *tokens_new(const struct sxs_metadata *md)
{
    struct tokens *t = calloc(1, sizeof(*t));
    if (!t)
        exit(1);
    t->md = md;
    put_types(t, SXS_TABLE_TYPE_DEF);
    put_types(t, SXS_TABLE_TYPE_REF);
    put_signatures(t, SXS_TABLE_TYPE_SPEC, 'S');
    put_signatures(t, SXS_TABLE_STAND_ALONE_SIG, 'G');
    put_members(t, SXS_TABLE_METHOD_DEF, SXS_METHOD_DEF_NAME);
    put_members(t, SXS_TABLE_FIELD, SXS_FIELD_NAME);
    put_members(t, SXS_TABLE_MEMBER_REF, SXS_MEMBER_REF_NAME);
    put_method_specs(t);
    put_strings(t);
    return t;
}

void tokens_free(struct tokens *t)
{
    for (size_t i = 0; i < LISTS; i++)
        for (struct entry *e = t->lists[i], *next; e; e = next) {
            next = e->alike;
            free(e);
        }
    free(t->key);
    free(t);
}

/* ---- callbacks of the assembler --------------------------------------------------------------- */

static int type(void *context, const char *assembly, const char *name, uint32_t *token)
{
    begin(context, 'T', 0);
    add_text(context, assembly ? assembly : "");
    add_text(context, name);
    return find(context, token);
}

static int by_bytes(struct tokens *t, char kind, uint32_t owner, const void *bytes, size_t size,
                    uint32_t *token)
{
    begin(t, kind, owner);
    add_bytes(t, bytes, size);
    return find(t, token);
}

static int type_spec(void *context, const uint8_t *sig, size_t size, uint32_t *token)
{
    return by_bytes(context, 'S', 0, sig, size, token);
}

static int member(void *context, uint32_t owner, const char *name, const uint8_t *sig, size_t size,
                  uint32_t *token)
{
    begin(context, 'M', owner);
    add_text(context, name);
    add_bytes(context, sig, size);
    return find(context, token);
}

static int method_spec(void *context, uint32_t method, const uint8_t *sig, size_t size,
                       uint32_t *token)
{
    return by_bytes(context, 'I', method, sig, size, token);
}

static int signature(void *context, const uint8_t *sig, size_t size, uint32_t *token)
{
    return by_bytes(context, 'G', 0, sig, size, token);
}

static int string(void *context, const uint16_t *units, size_t n, uint32_t *token)
{
    return by_bytes(context, 'U', 0, units, 2 * n, token);
}

struct sxs_il_tokens tokens_ask(struct tokens *t)
{
    return (struct sxs_il_tokens){type, type_spec, member, method_spec, signature, string, t, NULL};
}
