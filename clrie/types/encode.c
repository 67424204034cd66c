/* SPDX-License-Identifier: MIT */
/* encode.c - types as bytes of signatures. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "clrie/types/types_internal.h"
#include "instr/metadata/compressed.h"
#include "instr/metadata/signature_write.h"

enum { FEW_NODES = 48, MAX_NODES = 1 << 18, MAX_BYTES = 1 << 26 };

/* ---- bytes ------------------------------------------------------------------------------------ */

HRESULT clrie_bytes_put(struct clrie_bytes *b, const void *bytes, uint32_t n)
{
    uint8_t *fresh;
    uint32_t room;
    if (!n)
        return S_OK;
    if (n > MAX_BYTES || b->n > MAX_BYTES - n)
        return E_OUTOFMEMORY;
    if (b->room - b->n >= n) {
        memmove(b->bytes + b->n, bytes, n);
        b->n += n;
        return S_OK;
    }
    room = 2 * (b->n + n) + 16;
    fresh = malloc(room);
    if (!fresh)
        return E_OUTOFMEMORY;
    if (b->n)
        memcpy(fresh, b->bytes, b->n);
    memcpy(fresh + b->n, bytes, n);
    free(b->bytes);
    b->bytes = fresh;
    b->n += n;
    b->room = room;
    return S_OK;
}

HRESULT clrie_bytes_put_number(struct clrie_bytes *b, uint32_t number)
{
    uint8_t bytes[SXS_COMPRESSED_SIZE];
    if (number > SXS_COMPRESSED_MAX)
        return E_INVALIDARG;
    return clrie_bytes_put(b, bytes, sxs_compressed_write(bytes, number));
}

/* CLRIE writes a token of a table that holds no types as if it were a type definition. */
HRESULT clrie_bytes_put_token(struct clrie_bytes *b, mdToken token)
{
    uint32_t coded = sxs_code_type(token);
    return clrie_bytes_put_number(b, coded == UINT32_MAX ? (token & 0xffffff) << 2 : coded);
}

void clrie_bytes_free(struct clrie_bytes *b)
{
    free(b->bytes);
    *b = (struct clrie_bytes){NULL, 0, 0};
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* A parsed type, with its nodes. */
struct tree {
    struct sxs_sig       sig;
    struct sxs_sig_node  few[FEW_NODES];
    struct sxs_sig_node *many; /* owned; NULL: `few` was enough */
};

/* Parses with as many nodes as the type needs. */
static int parse_tree(struct tree *t, const uint8_t *bytes, size_t size)
{
    uint32_t cap = FEW_NODES;
    int      bad;
    t->many = NULL;
    bad = sxs_sig_parse(SXS_SIG_TYPE, bytes, size, t->few, FEW_NODES, &t->sig);
    while (bad == -2 && cap < MAX_NODES) {
        cap *= 8;
        free(t->many);
        t->many = malloc(cap * sizeof(t->many[0]));
        if (!t->many)
            return -2;
        bad = sxs_sig_parse(SXS_SIG_TYPE, bytes, size, t->many, cap, &t->sig);
    }
    return bad;
}

/* Why the bytes are no type: E_INVALIDARG when they are cut, that is, when they would be one with
 * more bytes after them; else E_NOTIMPL. */
static HRESULT reason_of(const uint8_t *bytes, size_t size)
{
    enum { MORE = 256, MOST = 4096 };
    uint8_t     *longer;
    struct tree *t;
    int          bad = -1;
    if (!size)
        return E_INVALIDARG;
    if (size > MOST)
        return E_NOTIMPL;
    longer = malloc(size + MORE);
    t = malloc(sizeof(*t));
    if (longer && t) {
        memcpy(longer, bytes, size);
        memset(longer + size, SXS_ELEMENT_VOID, MORE);
        bad = parse_tree(t, longer, size + MORE);
        free(t->many);
    }
    free(longer);
    free(t);
    return bad ? E_NOTIMPL : E_INVALIDARG;
}

/* Elements that only a runtime writes into signatures of its own. */
static int is_private(const struct sxs_sig *sig)
{
    for (uint32_t i = 0; i < sig->n_nodes; i++)
        if (sig->nodes[i].element == SXS_ELEMENT_INTERNAL ||
            sig->nodes[i].element == SXS_ELEMENT_CMOD_INTERNAL)
            return 1;
    return 0;
}

/* Puts PINNED before the modifiers of the type: one PINNED, then all modifiers in their order. */
static void put_pinned_first(struct sxs_sig *sig)
{
    uint32_t pinned = SXS_SIG_NONE, plain = sxs_sig_plain(sig, sig->result);
    uint32_t first = SXS_SIG_NONE, last = SXS_SIG_NONE;
    for (uint32_t at = sig->result; at != plain; at = sig->nodes[at].child) {
        if (sig->nodes[at].element == SXS_ELEMENT_PINNED) {
            pinned = at;
        } else if (first == SXS_SIG_NONE) {
            first = at;
            last = at;
        } else {
            sig->nodes[last].child = at;
            last = at;
        }
    }
    if (last != SXS_SIG_NONE)
        sig->nodes[last].child = plain;
    else
        first = plain;
    if (pinned != SXS_SIG_NONE) {
        sig->nodes[pinned].child = first;
        first = pinned;
    }
    sig->result = first;
}

static HRESULT write_tree(struct sxs_sig *sig, struct clrie_bytes *out)
{
    uint8_t few[64], *bytes = few;
    size_t  size = sxs_sig_write(SXS_SIG_TYPE, sig, few, sizeof(few));
    HRESULT hr;
    if (!size || size > MAX_BYTES)
        return E_NOTIMPL;
    if (size > sizeof(few)) {
        bytes = malloc(size);
        if (!bytes)
            return E_OUTOFMEMORY;
        sxs_sig_write(SXS_SIG_TYPE, sig, bytes, size);
    }
    hr = clrie_bytes_put(out, bytes, (uint32_t)size);
    if (bytes != few)
        free(bytes);
    return hr;
}

HRESULT clrie_encode_type(const uint8_t **at, const uint8_t *end, struct clrie_bytes *out,
                          struct clrie_element *what)
{
    static const uint8_t sentinel = SXS_ELEMENT_SENTINEL;
    const uint8_t       *bytes = *at;
    int                  is_behind = bytes < end && *bytes == sentinel;
    struct tree          t;
    HRESULT              hr = S_OK;
    int                  bad;
    bytes += is_behind;
    bad = parse_tree(&t, bytes, (size_t)(end - bytes));
    if (bad)
        hr = bad == -2 ? E_OUTOFMEMORY : reason_of(bytes, (size_t)(end - bytes));
    else if (is_private(&t.sig))
        hr = E_NOTIMPL;
    if (SUCCEEDED(hr)) {
        const struct sxs_sig_node *plain = &t.sig.nodes[sxs_sig_plain(&t.sig, t.sig.result)];
        *at = bytes + t.sig.size;
        *what = (struct clrie_element){plain->element, plain->value};
        put_pinned_first(&t.sig);
    }
    if (SUCCEEDED(hr) && out && is_behind)
        hr = clrie_bytes_put(out, &sentinel, 1);
    if (SUCCEEDED(hr) && out)
        hr = write_tree(&t.sig, out);
    free(t.many);
    return hr;
}

/* Moves *@at past SENTINEL, PINNED, the modifiers and the element of a composite type. */
HRESULT clrie_related_type(const uint8_t *bytes, uint32_t size, const uint8_t **at)
{
    const uint8_t *here = bytes, *end = bytes + size;
    for (; here < end; here++) {
        uint32_t token;
        if (*here == SXS_ELEMENT_SENTINEL || *here == SXS_ELEMENT_PINNED)
            continue;
        if (*here != SXS_ELEMENT_CMOD_REQD && *here != SXS_ELEMENT_CMOD_OPT)
            break;
        here += sxs_compressed_read(here + 1, end, &token);
    }
    if (here + 1 >= end)
        return E_FAIL;
    *at = here + 1;
    return S_OK;
}

/* ---- heads ------------------------------------------------------------------------------------ */

static HRESULT read_number(const uint8_t **at, const uint8_t *end, uint32_t *out)
{
    unsigned size = sxs_compressed_read(*at, end, out);
    *at += size;
    return size ? S_OK : E_UNEXPECTED;
}

HRESULT clrie_method_head_read(const uint8_t **at, const uint8_t *end,
                               struct clrie_method_head *out)
{
    HRESULT hr;
    *out = (struct clrie_method_head){0, 0, 0};
    hr = read_number(at, end, &out->convention);
    if (FAILED(hr))
        return hr;
    switch (out->convention) {
    case IMAGE_CEE_CS_CALLCONV_MAX:
    case IMAGE_CEE_CS_CALLCONV_FIELD:
    case IMAGE_CEE_CS_CALLCONV_GENERICINST:
    case IMAGE_CEE_CS_CALLCONV_LOCAL_SIG:
    case IMAGE_CEE_CS_CALLCONV_PROPERTY: return E_UNEXPECTED;
    default: break;
    }
    if (out->convention & IMAGE_CEE_CS_CALLCONV_GENERIC)
        hr = read_number(at, end, &out->n_generics);
    if (SUCCEEDED(hr))
        hr = read_number(at, end, &out->n_parameters);
    return SUCCEEDED(hr) && *at >= end ? E_UNEXPECTED : hr;
}

HRESULT clrie_locals_head_read(const uint8_t **at, const uint8_t *end, uint32_t *n)
{
    uint32_t convention = 0;
    HRESULT  hr = read_number(at, end, &convention);
    if (FAILED(hr) || convention != IMAGE_CEE_CS_CALLCONV_LOCAL_SIG)
        return E_UNEXPECTED;
    return read_number(at, end, n);
}
