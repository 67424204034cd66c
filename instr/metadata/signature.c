/* SPDX-License-Identifier: MIT */
#include "instr/metadata/signature.h"

#include <string.h>

#include "instr/metadata/compressed.h"

#define NESTING_MAX 32   /* levels of types within types; more are refused */
#define COUNT_MAX   UINT16_MAX /* of parameters, arguments, dimensions or locals */

enum { CONVENTION_KIND = 0x0f, CONVENTION_GENERIC = 0x10 };
enum { KIND_VARARG = 0x05, KIND_FIELD = 0x06, KIND_LOCALS = 0x07, KIND_PROPERTY = 0x08, KIND_UNMANAGED = 0x09 };

/* A reader with a sticky error: after the first error all reads return 0, so that callers need not
 * check each read. */
struct sig_reader {
    const uint8_t  *at, *end;
    struct sxs_sig *sig;
    int             bad; /* 0, or the value for sxs_sig_parse() to return */
    unsigned        depth;
};

static void set_error(struct sig_reader *r, int why)
{
    if (!r->bad)
        r->bad = why;
}

static uint8_t u8(struct sig_reader *r)
{
    if (r->bad || r->at >= r->end) {
        set_error(r, -1);
        return 0;
    }
    return *r->at++;
}

/* @size: receives the number of bytes. */
static uint32_t read_compressed(struct sig_reader *r, unsigned *size)
{
    uint32_t value = 0;
    *size = r->bad ? 0 : sxs_compressed_read(r->at, r->end, &value);
    if (!*size)
        set_error(r, -1);
    r->at += *size;
    return value;
}

static uint32_t read_number(struct sig_reader *r)
{
    unsigned size;
    return read_compressed(r, &size);
}

static uint32_t signed_number(struct sig_reader *r)
{
    unsigned size;
    uint32_t coded = read_compressed(r, &size);
    return (uint32_t)sxs_compressed_signed(coded, size);
}

static uint32_t read_count(struct sig_reader *r)
{
    uint32_t n = read_number(r);
    if (n > COUNT_MAX)
        set_error(r, -1);
    return r->bad ? 0 : n;
}

static uint32_t type_token(struct sig_reader *r)
{
    uint32_t coded = read_number(r), token = r->bad ? 0 : sxs_coded_type(coded);
    if (!token)
        set_error(r, -1);
    return token;
}

static uint64_t read_handle(struct sig_reader *r)
{
    uint64_t value = 0;
    if (r->bad || (size_t)(r->end - r->at) < sizeof(value)) {
        set_error(r, -1);
        return 0;
    }
    memcpy(&value, r->at, sizeof(value));
    r->at += sizeof(value);
    return value;
}

static uint32_t new_node(struct sig_reader *r, uint8_t element)
{
    struct sxs_sig *s = r->sig;
    if (s->n_nodes == s->cap)
        set_error(r, -2);
    if (r->bad)
        return SXS_SIG_NONE;
    s->nodes[s->n_nodes] = (struct sxs_sig_node){
        .element = element, .child = SXS_SIG_NONE, .next = SXS_SIG_NONE};
    return s->n_nodes++;
}

static uint32_t read_type(struct sig_reader *r);

/* Appends @child to the children of @parent. *last: the last child; SXS_SIG_NONE: none yet. */
static void adopt_child(struct sig_reader *r, uint32_t parent, uint32_t *last, uint32_t child)
{
    struct sxs_sig_node *nodes = r->sig->nodes;
    if (r->bad || child == SXS_SIG_NONE)
        return;
    if (*last == SXS_SIG_NONE)
        nodes[parent].child = child;
    else
        nodes[*last].next = child;
    *last = child;
    nodes[parent].n++;
}

static void adopt_number(struct sig_reader *r, uint32_t parent, uint32_t *last, uint8_t element,
                         uint32_t value)
{
    uint32_t node = new_node(r, element);
    if (node != SXS_SIG_NONE)
        r->sig->nodes[node].value = value;
    adopt_child(r, parent, last, node);
}

static void read_array(struct sig_reader *r, uint32_t node)
{
    uint32_t last = SXS_SIG_NONE, n;
    adopt_child(r, node, &last, read_type(r));
    n = read_count(r);
    if (!n)
        set_error(r, -1);
    if (!r->bad)
        r->sig->nodes[node].value = n;
    for (n = read_count(r); n && !r->bad; n--)
        adopt_number(r, node, &last, SXS_ELEMENT_SIZE, read_number(r));
    for (n = read_count(r); n && !r->bad; n--)
        adopt_number(r, node, &last, SXS_ELEMENT_BOUND, signed_number(r));
}

static void read_generic(struct sig_reader *r, uint32_t node)
{
    uint32_t last = SXS_SIG_NONE, open = read_type(r), n;
    if (!r->bad) {
        uint8_t element = r->sig->nodes[open].element;
        if (element != SXS_ELEMENT_CLASS && element != SXS_ELEMENT_VALUETYPE &&
            element != SXS_ELEMENT_INTERNAL)
            set_error(r, -1);
    }
    adopt_child(r, node, &last, open);
    n = read_count(r);
    if (!n)
        set_error(r, -1);
    for (; n && !r->bad; n--)
        adopt_child(r, node, &last, read_type(r));
}

/* Reads @n parameters. @first, @last: the ends of the list so far. One sentinel is allowed. */
static void read_params(struct sig_reader *r, uint32_t n, uint32_t *first, uint32_t *last)
{
    int sentinels = 0;
    while (n && !r->bad) {
        int      is_sentinel = r->at < r->end && *r->at == SXS_ELEMENT_SENTINEL;
        uint32_t node;
        if (is_sentinel) {
            r->at++;
            node = new_node(r, SXS_ELEMENT_SENTINEL);
            if (sentinels++)
                set_error(r, -1);
        } else {
            node = read_type(r);
            n--;
        }
        if (r->bad)
            return;
        if (*last == SXS_SIG_NONE)
            *first = node;
        else
            r->sig->nodes[*last].next = node;
        *last = node;
    }
}

/* Reads a sentinel after the last parameter, which a call without variable arguments may have. */
static void read_last_sentinel(struct sig_reader *r, uint32_t *first, uint32_t last)
{
    uint32_t node;
    if (r->at >= r->end || *r->at != SXS_ELEMENT_SENTINEL)
        return;
    for (node = *first; node != SXS_SIG_NONE; node = r->sig->nodes[node].next)
        if (r->sig->nodes[node].element == SXS_ELEMENT_SENTINEL)
            return;
    node = new_node(r, SXS_ELEMENT_SENTINEL);
    if (r->bad)
        return;
    *(last == SXS_SIG_NONE ? first : &r->sig->nodes[last].next) = node;
}

static void read_function_pointer(struct sig_reader *r, uint32_t node)
{
    uint8_t  convention = u8(r);
    uint32_t n, first, last, generic = 0;
    if ((convention & CONVENTION_KIND) >= KIND_FIELD &&
        (convention & CONVENTION_KIND) != KIND_UNMANAGED)
        set_error(r, -1);
    if (convention & CONVENTION_GENERIC)
        generic = read_count(r);
    n = read_count(r);
    first = last = read_type(r);
    read_params(r, n, &first, &last);
    if (r->bad)
        return;
    r->sig->nodes[node].value = convention;
    r->sig->nodes[node].generic = (uint8_t)(generic < 255 ? generic : 255);
    r->sig->nodes[node].child = first;
    for (uint32_t at = first; at != SXS_SIG_NONE; at = r->sig->nodes[at].next)
        r->sig->nodes[node].n++;
}

static void adopt_one(struct sig_reader *r, uint32_t node)
{
    uint32_t last = SXS_SIG_NONE;
    adopt_child(r, node, &last, read_type(r));
}

static void set_value(struct sig_reader *r, uint32_t node, uint32_t value)
{
    if (!r->bad)
        r->sig->nodes[node].value = value;
}

static void set_handle(struct sig_reader *r, uint32_t node, uint64_t value)
{
    if (!r->bad)
        r->sig->nodes[node].handle = value;
}

static void read_rest(struct sig_reader *r, uint8_t element, uint32_t node)
{
    switch (element) {
    case SXS_ELEMENT_VALUETYPE:
    case SXS_ELEMENT_CLASS: set_value(r, node, type_token(r)); break;
    case SXS_ELEMENT_VAR:
    case SXS_ELEMENT_MVAR: set_value(r, node, read_number(r)); break;
    case SXS_ELEMENT_PTR:
    case SXS_ELEMENT_BYREF:
    case SXS_ELEMENT_SZARRAY:
    case SXS_ELEMENT_PINNED: adopt_one(r, node); break;
    case SXS_ELEMENT_CMOD_REQD:
    case SXS_ELEMENT_CMOD_OPT:
        set_value(r, node, type_token(r));
        adopt_one(r, node);
        break;
    case SXS_ELEMENT_CMOD_INTERNAL:
        set_value(r, node, u8(r));
        set_handle(r, node, read_handle(r));
        adopt_one(r, node);
        break;
    case SXS_ELEMENT_INTERNAL: set_handle(r, node, read_handle(r)); break;
    case SXS_ELEMENT_ARRAY: read_array(r, node); break;
    case SXS_ELEMENT_GENERICINST: read_generic(r, node); break;
    case SXS_ELEMENT_FNPTR: read_function_pointer(r, node); break;
    default:
        if (!(element >= SXS_ELEMENT_VOID && element <= SXS_ELEMENT_STRING) &&
            element != SXS_ELEMENT_TYPEDBYREF && element != SXS_ELEMENT_I &&
            element != SXS_ELEMENT_U && element != SXS_ELEMENT_OBJECT)
            set_error(r, -1);
    }
}

static uint32_t read_type(struct sig_reader *r)
{
    uint8_t  element = u8(r);
    uint32_t node = new_node(r, element);
    if (++r->depth > NESTING_MAX)
        set_error(r, -1);
    if (!r->bad)
        read_rest(r, element, node);
    r->depth--;
    return r->bad ? SXS_SIG_NONE : node;
}

/* ---- whole signatures ------------------------------------------------------------------------ */

static int kind_fits(enum sxs_sig_kind kind, uint8_t convention)
{
    unsigned k = convention & CONVENTION_KIND;
    switch (kind) {
    case SXS_SIG_FIELD: return k == KIND_FIELD;
    case SXS_SIG_LOCALS: return k == KIND_LOCALS;
    case SXS_SIG_PROPERTY: return k == KIND_PROPERTY;
    default: return k < KIND_FIELD || k == KIND_UNMANAGED;
    }
}

int sxs_sig_parse(enum sxs_sig_kind kind, const uint8_t *bytes, size_t size,
                  struct sxs_sig_node *nodes, uint32_t cap, struct sxs_sig *out)
{
    struct sig_reader r = {.at = bytes, .end = bytes ? bytes + size : bytes, .sig = out};
    uint32_t          last = SXS_SIG_NONE;
    *out = (struct sxs_sig){
        .nodes = nodes, .cap = cap, .result = SXS_SIG_NONE, .params = SXS_SIG_NONE};
    if (kind != SXS_SIG_TYPE) {
        out->convention = u8(&r);
        if (!kind_fits(kind, out->convention))
            set_error(&r, -1);
    }
    if (kind == SXS_SIG_METHOD && (out->convention & CONVENTION_GENERIC))
        out->n_generic = read_count(&r);
    if (kind == SXS_SIG_METHOD || kind == SXS_SIG_PROPERTY || kind == SXS_SIG_LOCALS)
        out->n_params = read_count(&r);
    if (kind != SXS_SIG_LOCALS)
        out->result = read_type(&r);
    read_params(&r, out->n_params, &out->params, &last);
    if (kind == SXS_SIG_METHOD && (out->convention & CONVENTION_KIND) == KIND_VARARG && !r.bad)
        read_last_sentinel(&r, &out->params, last);
    out->size = bytes ? (size_t)(r.at - bytes) : 0;
    return r.bad;
}

uint32_t sxs_sig_plain(const struct sxs_sig *sig, uint32_t at)
{
    while (at < sig->n_nodes &&
           (sig->nodes[at].element == SXS_ELEMENT_CMOD_REQD ||
            sig->nodes[at].element == SXS_ELEMENT_CMOD_OPT ||
            sig->nodes[at].element == SXS_ELEMENT_CMOD_INTERNAL ||
            sig->nodes[at].element == SXS_ELEMENT_PINNED))
        at = sig->nodes[at].child;
    return at;
}
