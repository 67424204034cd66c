/* SPDX-License-Identifier: MIT */
/* instr/metadata/signature_write.c - build trees of signature nodes, and write trees as bytes, also
 * those that sxs_sig_parse() made. */
#include "instr/metadata/signature_write.h"

#include <string.h>

#include "instr/metadata/compressed.h"

struct sig_writer {
    const struct sxs_sig *sig;
    uint8_t              *bytes;
    size_t                size, used; /* used: bytes needed so far; may exceed size */
    int                   bad;
};

/* ---- trees ----------------------------------------------------------------------------------- */

uint32_t sxs_sig_add(struct sxs_sig *sig, uint8_t element, uint32_t value, uint32_t child)
{
    if (sig->n_nodes == sig->cap)
        return SXS_SIG_NONE;
    sig->nodes[sig->n_nodes] = (struct sxs_sig_node){.element = element,
                                                     .n = child != SXS_SIG_NONE,
                                                     .value = value,
                                                     .child = child,
                                                     .next = SXS_SIG_NONE};
    return sig->n_nodes++;
}

uint32_t sxs_sig_append(struct sxs_sig *sig, uint32_t list, uint32_t node)
{
    uint32_t last = list;
    if (list == SXS_SIG_NONE)
        return node;
    while (sig->nodes[last].next != SXS_SIG_NONE)
        last = sig->nodes[last].next;
    sig->nodes[last].next = node;
    return list;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void put_byte(struct sig_writer *w, uint32_t v)
{
    if (w->used < w->size)
        w->bytes[w->used] = (uint8_t)v;
    w->used++;
}

static void put_bytes(struct sig_writer *w, const uint8_t *bytes, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        put_byte(w, bytes[i]);
}

static void put_number(struct sig_writer *w, uint32_t v)
{
    uint8_t bytes[SXS_COMPRESSED_SIZE];
    if (v > SXS_COMPRESSED_MAX)
        w->bad = 1;
    put_bytes(w, bytes, sxs_compressed_write(bytes, v));
}

static void put_signed(struct sig_writer *w, int32_t v)
{
    uint8_t bytes[SXS_COMPRESSED_SIZE];
    if (v < -0x10000000 || v >= 0x10000000)
        w->bad = 1;
    put_bytes(w, bytes, sxs_compressed_write_signed(bytes, v));
}

static void put_token(struct sig_writer *w, uint32_t token)
{
    uint32_t coded = sxs_code_type(token);
    if (coded > SXS_COMPRESSED_MAX)
        w->bad = 1;
    put_number(w, coded);
}

static void put_type(struct sig_writer *w, uint32_t node);

static void put_types(struct sig_writer *w, uint32_t first)
{
    for (uint32_t n = first; n != SXS_SIG_NONE; n = w->sig->nodes[n].next)
        put_type(w, n);
}

static uint32_t count_nodes(const struct sig_writer *w, uint32_t first, uint8_t but)
{
    uint32_t n = 0;
    for (; first != SXS_SIG_NONE; first = w->sig->nodes[first].next)
        n += w->sig->nodes[first].element != but;
    return n;
}

static void put_dimensions(struct sig_writer *w, uint32_t first, uint8_t element)
{
    uint32_t n = 0;
    for (uint32_t i = first; i != SXS_SIG_NONE; i = w->sig->nodes[i].next)
        n += w->sig->nodes[i].element == element;
    put_number(w, n);
    for (uint32_t i = first; i != SXS_SIG_NONE; i = w->sig->nodes[i].next)
        if (w->sig->nodes[i].element == element && element == SXS_ELEMENT_SIZE)
            put_number(w, w->sig->nodes[i].value);
        else if (w->sig->nodes[i].element == element)
            put_signed(w, (int32_t)w->sig->nodes[i].value);
}

static void put_function(struct sig_writer *w, const struct sxs_sig_node *f)
{
    uint32_t parameters = w->sig->nodes[f->child].next;
    put_byte(w, f->value);
    if (f->value & 0x10)
        put_number(w, f->generic);
    put_number(w, count_nodes(w, parameters, SXS_ELEMENT_SENTINEL));
    put_types(w, f->child);
}

static void put_handle(struct sig_writer *w, uint64_t handle)
{
    for (unsigned i = 0; i < sizeof(handle); i++)
        put_byte(w, (uint32_t)(handle >> 8 * i));
}

static void put_type(struct sig_writer *w, uint32_t node)
{
    const struct sxs_sig_node *n = &w->sig->nodes[node];
    put_byte(w, n->element);
    switch (n->element) {
    case SXS_ELEMENT_PTR:
    case SXS_ELEMENT_BYREF:
    case SXS_ELEMENT_PINNED:
    case SXS_ELEMENT_SZARRAY: put_type(w, n->child); break;
    case SXS_ELEMENT_VALUETYPE:
    case SXS_ELEMENT_CLASS: put_token(w, n->value); break;
    case SXS_ELEMENT_VAR:
    case SXS_ELEMENT_MVAR: put_number(w, n->value); break;
    case SXS_ELEMENT_CMOD_REQD:
    case SXS_ELEMENT_CMOD_OPT:
        put_token(w, n->value);
        put_type(w, n->child);
        break;
    case SXS_ELEMENT_ARRAY:
        put_type(w, n->child);
        put_number(w, n->value);
        put_dimensions(w, w->sig->nodes[n->child].next, SXS_ELEMENT_SIZE);
        put_dimensions(w, w->sig->nodes[n->child].next, SXS_ELEMENT_BOUND);
        break;
    case SXS_ELEMENT_GENERICINST:
        put_type(w, n->child);
        put_number(w, count_nodes(w, w->sig->nodes[n->child].next, 0));
        put_types(w, w->sig->nodes[n->child].next);
        break;
    case SXS_ELEMENT_FNPTR: put_function(w, n); break;
    case SXS_ELEMENT_INTERNAL: put_handle(w, n->handle); break;
    case SXS_ELEMENT_CMOD_INTERNAL:
        put_byte(w, n->value);
        put_handle(w, n->handle);
        put_type(w, n->child);
        break;
    default: break;
    }
}

size_t sxs_sig_write(enum sxs_sig_kind kind, const struct sxs_sig *sig, uint8_t *bytes, size_t size)
{
    struct sig_writer w = {sig, bytes, size, 0, 0};
    if (kind != SXS_SIG_TYPE)
        put_byte(&w, sig->convention);
    if (kind == SXS_SIG_METHOD && sig->convention & 0x10)
        put_number(&w, sig->n_generic);
    if (kind == SXS_SIG_METHOD || kind == SXS_SIG_LOCALS || kind == SXS_SIG_PROPERTY)
        put_number(&w, sig->n_params);
    if (kind != SXS_SIG_LOCALS)
        put_type(&w, sig->result);
    if (kind == SXS_SIG_METHOD || kind == SXS_SIG_LOCALS || kind == SXS_SIG_PROPERTY)
        put_types(&w, sig->params);
    return w.bad ? 0 : w.used;
}
