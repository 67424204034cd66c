/* SPDX-License-Identifier: MIT */
#include "instr/il/effect.h"

#include <string.h>

#include "instr/metadata/compressed.h"

enum {
    CALL_KIND = 0x0f,
    CALL_FIELD = 0x06,
    CALL_LOCALS = 0x07,
    CALL_GENERIC = 0x10,
    CALL_HAS_THIS = 0x20,
    CALL_EXPLICIT_THIS = 0x40,
    TYPE_VOID = 0x01,
    TYPE_REQUIRED_MODIFIER = 0x1f,
    TYPE_OPTIONAL_MODIFIER = 0x20,
};

struct code_cursor {
    const uint8_t *at, *end;
    int            bad;
};

static uint32_t read_byte(struct code_cursor *c)
{
    if (c->at >= c->end) {
        c->bad = 1;
        return 0;
    }
    return *c->at++;
}

static uint32_t read_compressed(struct code_cursor *c)
{
    uint32_t value;
    unsigned size = sxs_compressed_read(c->at, c->end, &value);
    if (!size)
        c->bad = 1;
    c->at += size;
    return value;
}

int sxs_il_method_arity(const uint8_t *signature, size_t size, struct sxs_il_arity *arity)
{
    struct code_cursor c = {signature, signature + size, 0};
    uint32_t           call = read_byte(&c), n, type;
    if ((call & CALL_KIND) == CALL_FIELD || (call & CALL_KIND) == CALL_LOCALS)
        return -1;
    if (call & CALL_GENERIC)
        read_compressed(&c);
    n = read_compressed(&c);
    while ((type = read_byte(&c)) == TYPE_REQUIRED_MODIFIER || type == TYPE_OPTIONAL_MODIFIER)
        read_compressed(&c);
    if (c.bad || n > UINT16_MAX - 2)
        return -1;
    arity->n_parameters = (uint16_t)n;
    arity->has_this = (call & (CALL_HAS_THIS | CALL_EXPLICIT_THIS)) == CALL_HAS_THIS;
    arity->returns = type != TYPE_VOID;
    return 0;
}

int sxs_il_local_count(const uint8_t *signature, size_t size)
{
    struct code_cursor c = {signature, signature + size, 0};
    uint32_t           n;
    if (read_byte(&c) != CALL_LOCALS)
        return -1;
    n = read_compressed(&c);
    return c.bad || n > UINT16_MAX ? -1 : (int)n;
}

/* Appends as many bytes as fit into @room, but adds all of @size to *used. */
static void append_bytes(uint8_t *out, size_t room, size_t *used, const uint8_t *bytes, size_t size)
{
    if (*used < room && size)
        memcpy(out + *used, bytes, size < room - *used ? size : room - *used);
    *used += size;
}

size_t sxs_il_add_locals(const uint8_t *old, size_t size, const uint8_t *types, size_t types_size,
                         uint32_t n, uint8_t *out, size_t room, uint16_t *first)
{
    struct code_cursor c = {old, old + size, 0};
    uint8_t            head[5] = {CALL_LOCALS};
    uint32_t           n_old = 0;
    size_t             used = 0;
    if (size) {
        if (read_byte(&c) != CALL_LOCALS)
            return 0;
        n_old = read_compressed(&c);
    }
    if (c.bad || n_old > UINT16_MAX || n > UINT16_MAX - n_old)
        return 0;
    if (first)
        *first = (uint16_t)n_old;
    append_bytes(out, room, &used, head, 1 + sxs_compressed_write(head + 1, n_old + n));
    append_bytes(out, room, &used, c.at, (size_t)(c.end - c.at));
    append_bytes(out, room, &used, types, types_size);
    return used;
}

int sxs_il_call_effect(const uint8_t *signature, size_t size, enum sxs_il_opcode opcode,
                       struct sxs_il_effect *effect)
{
    struct sxs_il_arity s;
    if (sxs_il_method_arity(signature, size, &s) != 0)
        return -1;
    if (opcode == SXS_IL_NEWOBJ) {
        *effect = (struct sxs_il_effect){s.n_parameters, 1};
        return 0;
    }
    effect->pops = (uint16_t)(s.n_parameters + s.has_this + (opcode == SXS_IL_CALLI));
    effect->pushes = s.returns;
    return 0;
}
