/* SPDX-License-Identifier: MIT */
/* locals.c - ILocalVariableCollection2, IMethodLocal and IMethodParameter. */
#include <stdlib.h>
#include <string.h>

#include "clrie/object/enumerator.h"
#include "clrie/types/types_internal.h"

/* ---- a local or a parameter ------------------------------------------------------------------- */

struct clrie_local {
    CLRIE_OBJECT(2);
    struct clrie_type *type; /* one reference */
};
const uint32_t clrie_local_size = sizeof(struct clrie_local);

struct clrie_parameter {
    CLRIE_OBJECT(2);
    struct clrie_type *type; /* one reference */
};
const uint32_t clrie_parameter_size = sizeof(struct clrie_parameter);

struct clrie_object *clrie_local_new(struct clrie_type *type)
{
    struct clrie_local *local = clrie_new(&clrie_local);
    if (!local)
        clrie_unref((struct clrie_object *)type);
    else
        local->type = type;
    return (struct clrie_object *)local;
}

struct clrie_object *clrie_parameter_new(struct clrie_type *type)
{
    struct clrie_parameter *parameter = clrie_new(&clrie_parameter);
    if (!parameter)
        clrie_unref((struct clrie_object *)type);
    else
        parameter->type = type;
    return (struct clrie_object *)parameter;
}

void clrie_local_end(struct clrie_object *object)
{
    clrie_unref((struct clrie_object *)((struct clrie_local *)object)->type);
}

void clrie_parameter_end(struct clrie_object *object)
{
    clrie_unref((struct clrie_object *)((struct clrie_parameter *)object)->type);
}

HRESULT clrie_local_GetType(struct clrie_local *self, IType **ppType)
{
    return clrie_hand_out((struct clrie_object *)self->type, CLRIE_FACE_type_IType,
                          (void **)ppType);
}

HRESULT clrie_parameter_GetType(struct clrie_parameter *self, IType **ppType)
{
    return clrie_hand_out((struct clrie_object *)self->type, CLRIE_FACE_type_IType,
                          (void **)ppType);
}

/* ---- the collection --------------------------------------------------------------------------- */

enum { MAX_LOCALS = UINT16_MAX, MIN_SIGNATURE = 2 };

struct clrie_locals {
    CLRIE_OBJECT(1);
    struct clrie_types_module *module;
    mdSignature               *token;
    HRESULT (*load)(struct clrie_object *owner);
    uint8_t            is_original, is_initialized;
    struct clrie_bytes replacement; /* of ReplaceSignature(); empty: none */
    uint32_t           n_old;       /* locals of the signature; valid when is_initialized */
    IType            **added;       /* one reference each */
    uint32_t           n_added, room;
};
const uint32_t clrie_locals_size = sizeof(struct clrie_locals);

struct clrie_locals *clrie_locals_new(struct clrie_types_module *module, struct clrie_object *owner,
                                      mdSignature *token, int is_original,
                                      HRESULT (*load)(struct clrie_object *owner))
{
    struct clrie_locals *locals = clrie_new(&clrie_locals);
    if (!locals)
        return NULL;
    locals->module = module;
    locals->token = token;
    locals->load = load;
    locals->is_original = is_original != 0;
    locals->object.owner = owner;
    return locals;
}

void clrie_locals_free(struct clrie_locals *locals)
{
    if (!locals)
        return;
    locals->object.owner = NULL; /* the only reference of its own is that of clrie_locals_new() */
    clrie_unref(&locals->object);
}

static void drop_added(struct clrie_locals *self)
{
    for (uint32_t i = 0; i < self->n_added; i++)
        self->added[i]->vtbl->Release(self->added[i]);
    free(self->added);
    self->added = NULL;
    self->n_added = self->room = 0;
}

void clrie_locals_end(struct clrie_object *object)
{
    struct clrie_locals *self = (struct clrie_locals *)object;
    drop_added(self);
    clrie_bytes_free(&self->replacement);
}

/* *at, *end: the signature, borrowed; NULL when the method has none. S_FALSE then. */
static HRESULT find_signature(struct clrie_locals *self, const uint8_t **at, const uint8_t **end)
{
    uint32_t size = self->replacement.n;
    HRESULT  hr = S_OK;
    *at = self->replacement.bytes;
    if (!size) {
        if (self->load)
            hr = self->load(self->object.owner);
        if (SUCCEEDED(hr) && *self->token)
            hr = self->module->signature(self->module, *self->token, at, &size);
    }
    if (FAILED(hr))
        return hr;
    if (!*at || size < MIN_SIGNATURE) {
        *at = *end = NULL;
        return S_FALSE;
    }
    *end = *at + size;
    return S_OK;
}

/* Reads the signature; @out receives its types as bytes and may be NULL. */
static HRESULT read_signature(struct clrie_locals *self, struct clrie_bytes *out, uint32_t *n)
{
    const uint8_t       *at, *end;
    struct clrie_element what;
    HRESULT              hr = find_signature(self, &at, &end);
    *n = 0;
    if (hr != S_OK)
        return hr;
    hr = clrie_locals_head_read(&at, end, n);
    for (uint32_t i = 0; i < *n && SUCCEEDED(hr); i++)
        hr = clrie_encode_type(&at, end, out, &what);
    return hr;
}

HRESULT clrie_locals_Initialize(struct clrie_locals *self)
{
    uint32_t n;
    HRESULT  hr;
    if (self->is_initialized)
        return S_FALSE;
    hr = read_signature(self, NULL, &n);
    if (FAILED(hr))
        return hr;
    self->n_old = n;
    self->is_initialized = 1;
    return hr;
}

uint32_t clrie_locals_count(struct clrie_locals *locals)
{
    const uint8_t *at, *end;
    uint32_t       n = 0;
    if (locals->is_initialized)
        return locals->n_old + locals->n_added;
    if (find_signature(locals, &at, &end) != S_OK || FAILED(clrie_locals_head_read(&at, end, &n)))
        return 0;
    return n;
}

/* Returns S_FALSE when Initialize() did, as CLRIE does: from the second call on. */
HRESULT clrie_locals_GetCount(struct clrie_locals *self, DWORD *pdwCount)
{
    HRESULT hr = clrie_locals_Initialize(self);
    if (SUCCEEDED(hr))
        *pdwCount = self->n_old + self->n_added;
    return hr;
}

static HRESULT keep_type(struct clrie_locals *self, IType *type)
{
    static const struct clrie_class *const classes[] = {&clrie_type, &clrie_token_type, &clrie_composite_type, &clrie_generic_parameter_type};
    IType                                 *checked = NULL;
    if (!clrie_object_of(type, classes, sizeof(classes) / sizeof(classes[0])))
        return E_INVALIDARG;
    if (self->n_old + self->n_added >= MAX_LOCALS)
        return E_INVALIDARG;
    if (self->n_added == self->room) {
        uint32_t room = self->room ? 2 * self->room : 4;
        IType  **added = realloc(self->added, room * sizeof(*added));
        if (!added)
            return E_OUTOFMEMORY;
        self->added = added;
        self->room = room;
    }
    if (FAILED(type->vtbl->QueryInterface(type, &IID_IType, (void **)&checked)) || !checked)
        return E_INVALIDARG;
    self->added[self->n_added++] = checked;
    return S_OK;
}

HRESULT clrie_locals_AddLocal(struct clrie_locals *self, IType *pType, DWORD *pIndex)
{
    HRESULT hr;
    if (!pType)
        return E_POINTER;
    hr = clrie_locals_Initialize(self);
    if (SUCCEEDED(hr))
        hr = self->is_original ? E_FAIL : keep_type(self, pType);
    if (SUCCEEDED(hr) && pIndex)
        *pIndex = self->n_old + self->n_added - 1;
    return hr;
}

HRESULT clrie_locals_ReplaceSignature(struct clrie_locals *self, const BYTE *pSignature,
                                      DWORD dwSigSize)
{
    HRESULT hr;
    if (self->is_original || self->is_initialized)
        return E_FAIL;
    if (!pSignature)
        return E_POINTER;
    if (dwSigSize < MIN_SIGNATURE || !(pSignature[0] & IMAGE_CEE_CS_CALLCONV_LOCAL_SIG))
        return E_INVALIDARG;
    clrie_bytes_free(&self->replacement);
    hr = clrie_bytes_put(&self->replacement, pSignature, dwSigSize);
    if (SUCCEEDED(hr))
        hr = clrie_locals_Initialize(self);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- signatures ------------------------------------------------------------------------------- */

static HRESULT build(struct clrie_locals *self, ISignatureBuilder *builder)
{
    struct clrie_bytes old = {NULL, 0, 0};
    uint32_t           n;
    HRESULT            hr = read_signature(self, &old, &n);
    if (SUCCEEDED(hr))
        hr = builder->vtbl->Add(builder, IMAGE_CEE_CS_CALLCONV_LOCAL_SIG);
    if (SUCCEEDED(hr))
        hr = builder->vtbl->Add(builder, n + self->n_added);
    if (SUCCEEDED(hr))
        hr = builder->vtbl->AddData(builder, old.bytes, old.n);
    for (uint32_t i = 0; i < self->n_added && SUCCEEDED(hr); i++)
        hr = self->added[i]->vtbl->AddToSignature(self->added[i], builder);
    clrie_bytes_free(&old);
    return hr;
}

HRESULT clrie_locals_GetCorSignature(struct clrie_locals *self, ISignatureBuilder **ppSignature)
{
    struct clrie_signature_builder *builder;
    HRESULT                         hr = clrie_locals_Initialize(self);
    *ppSignature = NULL;
    if (FAILED(hr))
        return hr;
    builder = clrie_signature_builder_new();
    if (!builder)
        return E_OUTOFMEMORY;
    *ppSignature =
        clrie_face((struct clrie_object *)builder, CLRIE_FACE_signature_builder_ISignatureBuilder);
    hr = build(self, *ppSignature);
    if (SUCCEEDED(hr))
        return S_OK;
    clrie_unref((struct clrie_object *)builder);
    *ppSignature = NULL;
    return hr;
}

HRESULT clrie_locals_CommitSignature(struct clrie_locals *self)
{
    ISignatureBuilder *builder = NULL;
    const BYTE        *bytes = NULL;
    DWORD              size = 0;
    mdSignature        token = 0;
    HRESULT            hr;
    if (!self->is_initialized || (!self->n_added && !self->replacement.n))
        return S_FALSE;
    if (self->is_original)
        return E_FAIL;
    hr = self->load ? self->load(self->object.owner) : S_OK;
    if (SUCCEEDED(hr))
        hr = clrie_locals_GetCorSignature(self, &builder);
    if (FAILED(hr))
        return hr;
    builder->vtbl->GetSize(builder, &size);
    builder->vtbl->GetCorSignaturePtr(builder, &bytes);
    hr = self->module->token(self->module, bytes, size, &token);
    builder->vtbl->Release(builder);
    if (FAILED(hr))
        return hr;
    *self->token = token;
    drop_added(self);
    clrie_bytes_free(&self->replacement);
    self->n_old = 0;
    self->is_initialized = 0;
    return S_OK;
}

/* Lists the locals of the signature, without those that were added. */
HRESULT clrie_locals_GetEnum(struct clrie_locals *self, IEnumMethodLocals **ppEnumMethodLocals)
{
    const uint8_t       *at, *end;
    struct clrie_object *list = NULL;
    uint32_t             n = 0;
    HRESULT              hr = clrie_locals_Initialize(self);
    *ppEnumMethodLocals = NULL;
    if (SUCCEEDED(hr))
        hr = find_signature(self, &at, &end);
    if (hr == S_OK)
        hr = clrie_locals_head_read(&at, end, &n);
    if (SUCCEEDED(hr))
        hr = clrie_types_read(self->module, &at, end, n, clrie_local_new, &clrie_local_list, &list);
    if (FAILED(hr))
        return hr;
    *ppEnumMethodLocals = clrie_face(list, 0);
    return S_OK;
}
