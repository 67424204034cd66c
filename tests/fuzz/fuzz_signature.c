/* SPDX-License-Identifier: MIT */
/* fuzz_signature.c - bytes as signatures: what is one is written, and read back as the same. See fuzz.h.
 * The first byte of the input says which kind. */
#include "tests/fuzz/fuzz.h"

#include "instr/il/effect.h"
#include "instr/metadata/signature_text.h"
#include "instr/metadata/signature_write.h"

#define NODES_MAX 2048

static void put_token(void *context, struct sxs_text *t, uint32_t token)
{
    (void)context;
    sxs_text_putf(t, "T%08x", token);
}

static void as_text(enum sxs_sig_kind kind, const struct sxs_sig *s)
{
    static char                    bytes[4096];
    const struct sxs_il_type_names names = {put_token, NULL};
    struct sxs_text                t = sxs_text_counted(bytes, roll(sizeof(bytes)));
    sxs_sig_put_convention(&t, s->convention);
    if (kind != SXS_SIG_LOCALS)
        sxs_sig_put_type(&t, s, s->result, &names);
    sxs_sig_put_parameters(&t, s, &names);
}

static void as_arity(const uint8_t *bytes, size_t size, const struct sxs_sig *s)
{
    struct sxs_il_arity  arity;
    struct sxs_il_effect e;
    if (sxs_il_method_arity(bytes, size, &arity) != 0)
        return;
    MUST(arity.n_parameters == s->n_params);
    MUST(sxs_il_call_effect(bytes, size, SXS_IL_CALLI, &e) == 0);
    MUST(e.pops == s->n_params + arity.has_this + 1);
}

/* Whatever becomes of a locals' signature: more locals, and the old ones as they were. */
static void as_locals(const uint8_t *bytes, size_t size, uint32_t n_params)
{
    static const uint8_t types[] = {0x08, 0x0e};
    static uint8_t       out[1u << 18];
    struct sxs_sig_node  nodes[NODES_MAX];
    struct sxs_sig       s;
    uint16_t             first;
    size_t n = sxs_il_add_locals(bytes, size, types, sizeof(types), 2, out, sizeof(out), &first);
    if (!n || n > sizeof(out))
        return;
    MUST(first == n_params);
    MUST(sxs_il_local_count(out, n) == first + 2);
    if (sxs_sig_parse(SXS_SIG_LOCALS, out, n, nodes, NODES_MAX, &s) == 0)
        MUST(s.n_params == first + 2u);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct sxs_sig_node nodes[NODES_MAX], again[NODES_MAX];
    static uint8_t             out[1u << 18], second[1u << 18];
    enum sxs_sig_kind          kind = (enum sxs_sig_kind)(size ? bytes[0] % 5 : 0);
    struct sxs_sig             a, b;
    size_t                     n;
    if (!size)
        return 0;
    bytes++;
    size--;
    if (kind == SXS_SIG_LOCALS)
        as_locals(bytes, 0, 0);
    if (sxs_sig_parse(kind, bytes, size, nodes, NODES_MAX, &a) != 0) {
        struct sxs_il_arity arity;
        sxs_il_method_arity(bytes, size, &arity);
        sxs_il_local_count(bytes, size);
        return 0;
    }
    fuzz_whole++;
    as_text(kind, &a);
    n = sxs_sig_write(kind, &a, out, sizeof(out));
    MUST(n && n <= sizeof(out));
    MUST(sxs_sig_parse(kind, out, n, again, NODES_MAX, &b) == 0);
    MUST(a.n_nodes == b.n_nodes && !memcmp(nodes, again, a.n_nodes * sizeof(nodes[0])));
    MUST(a.convention == b.convention && a.n_params == b.n_params && a.n_generic == b.n_generic);
    MUST(sxs_sig_write(kind, &b, second, sizeof(second)) == n && !memcmp(out, second, n));
    if (kind == SXS_SIG_METHOD)
        as_arity(out, n, &a);
    if (kind == SXS_SIG_LOCALS)
        as_locals(out, n, a.n_params);
    return 0;
}

#ifndef SXS_LIBFUZZER
static size_t put_number(uint8_t *out)
{
    out[0] = (uint8_t)roll(0x80);
    if (roll(4))
        return 1;
    out[0] = (uint8_t)(0x80 | roll(0x40));
    out[1] = (uint8_t)roll(256);
    if (roll(2))
        return 2;
    out[0] = (uint8_t)(0xc0 | roll(0x40));
    out[2] = (uint8_t)roll(256);
    out[3] = (uint8_t)roll(256);
    return 4;
}

static size_t put_type(uint8_t *out, unsigned depth)
{
    static const uint8_t plain[] = {1, 2, 8, 10, 13, 14, 0x16, 0x18, 0x1c};
    static const uint8_t outer[] = {0x0f, 0x10, 0x1d, 0x45, 0x1f, 0x20, 0x14, 0x15, 0x1b, 0x11, 0x12, 0x13,
                                    0x1e, 0x21, 0x22};
    uint8_t *p = out;
    if (depth > 6 || roll(3) == 0) {
        *p = plain[roll(sizeof(plain))];
        return 1;
    }
    *p++ = outer[roll(sizeof(outer))];
    switch (p[-1]) {
    case 0x11: case 0x12: case 0x13: case 0x1e: return (size_t)(p + put_number(p) - out);
    case 0x1f: case 0x20: p += put_number(p); break;
    case 0x21: return 9;
    case 0x22: p += 9; break;
    case 0x15:
        *p++ = 0x12;
        p += put_number(p);
        *p++ = (uint8_t)(1 + roll(3));
        for (uint8_t n = p[-1]; n-- > 0;)
            p += put_type(p, depth + 2);
        return (size_t)(p - out);
    case 0x1b:
        *p++ = (uint8_t)roll(6);
        *p++ = (uint8_t)roll(3);
        for (unsigned n = p[-1] + 1u; n-- > 0;)
            p += put_type(p, depth + 2);
        return (size_t)(p - out);
    default: break;
    }
    p += put_type(p, depth + 1);
    if (out[0] == 0x14) {
        *p++ = (uint8_t)(1 + roll(3));
        for (int lists = 2; lists-- > 0;) {
            *p++ = (uint8_t)roll(3);
            for (uint8_t n = p[-1]; n-- > 0;)
                p += put_number(p);
        }
    }
    return (size_t)(p - out);
}

static size_t fuzz_make(uint8_t *out)
{
    static const uint8_t first[] = {0x00, 0x06, 0x07, 0x08, 0};
    uint8_t             *p = out;
    uint8_t              kind = (uint8_t)roll(5), n = (uint8_t)roll(5);
    memset(out, 0, 256);
    *p++ = kind;
    if (kind != SXS_SIG_TYPE)
        *p++ = (uint8_t)(first[kind] | (kind == SXS_SIG_METHOD ? (roll(2) << 5 | roll(6)) : 0));
    if (kind != SXS_SIG_TYPE && kind != SXS_SIG_FIELD)
        *p++ = n;
    if (kind != SXS_SIG_LOCALS)
        p += put_type(p, 0);
    for (; n-- > 0 && kind != SXS_SIG_TYPE && kind != SXS_SIG_FIELD;) {
        if (roll(6) == 0)
            *p++ = 0x41;
        p += put_type(p, 0);
    }
    return roll(2) ? (size_t)(p - out) : fuzz_mutate(out, (size_t)(p - out));
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "signatures");
}
#endif
