/* SPDX-License-Identifier: MIT */
/* type.c - IType and the interfaces of its kinds. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "clrie/object/enumerator.h"
#include "clrie/object/strings.h"
#include "clrie/types/types_internal.h"

struct clrie_type {
    CLRIE_OBJECT(3);
    struct clrie_types_module   *module; /* with a reference of its module */
    struct clrie_element         what;
    _Atomic(struct clrie_type *) related; /* one reference; made when first asked for */
    uint8_t                     *bytes;   /* owned, or `few` */
    uint32_t                     size;
    uint8_t                      few[20];
};
const uint32_t clrie_type_size = sizeof(struct clrie_type);

/* ---- making ----------------------------------------------------------------------------------- */

static const struct clrie_class *class_of(CorElementType element)
{
    switch (element) {
    case ELEMENT_TYPE_CLASS:
    case ELEMENT_TYPE_VALUETYPE: return &clrie_token_type;
    case ELEMENT_TYPE_PTR:
    case ELEMENT_TYPE_BYREF:
    case ELEMENT_TYPE_SZARRAY:
    case ELEMENT_TYPE_ARRAY:
    case ELEMENT_TYPE_GENERICINST: return &clrie_composite_type;
    case ELEMENT_TYPE_VAR:
    case ELEMENT_TYPE_MVAR: return &clrie_generic_parameter_type;
    default: return &clrie_type;
    }
}

struct clrie_type *clrie_type_new(struct clrie_types_module  *module,
                                  const struct clrie_element *what, const uint8_t *bytes,
                                  uint32_t size)
{
    struct clrie_type *type = clrie_new(class_of(what->element));
    if (!type)
        return NULL;
    type->bytes = size <= sizeof(type->few) ? type->few : malloc(size);
    if (!type->bytes) {
        clrie_unref(&type->object);
        return NULL;
    }
    memcpy(type->bytes, bytes, size);
    type->size = size;
    type->what = *what;
    type->module = module;
    module->info->vtbl->AddRef(module->info);
    return type;
}

void clrie_type_end(struct clrie_object *object)
{
    struct clrie_type *type = (struct clrie_type *)object;
    struct clrie_type *related = atomic_load(&type->related);
    if (related)
        clrie_unref(&related->object);
    if (type->bytes != type->few)
        free(type->bytes);
    if (type->module)
        type->module->info->vtbl->Release(type->module->info);
}

IType *clrie_type_face(struct clrie_type *type)
{
    return clrie_face(&type->object, CLRIE_FACE_type_IType);
}

HRESULT clrie_type_read(struct clrie_types_module *module, const uint8_t **at, const uint8_t *end,
                        struct clrie_type **out)
{
    struct clrie_bytes   bytes = {NULL, 0, 0};
    struct clrie_element what;
    HRESULT              hr = clrie_encode_type(at, end, &bytes, &what);
    *out = NULL;
    if (SUCCEEDED(hr)) {
        *out = clrie_type_new(module, &what, bytes.bytes, bytes.n);
        hr = *out ? S_OK : E_OUTOFMEMORY;
    }
    clrie_bytes_free(&bytes);
    return hr;
}

/* ---- several types ---------------------------------------------------------------------------- */

/* The objects of a list that is being made. */
struct objects {
    void   **faces; /* with a reference of each */
    uint32_t n, room;
};

static HRESULT add_object(struct objects *all, struct clrie_object *object)
{
    if (!object)
        return E_OUTOFMEMORY;
    if (all->n == all->room) {
        uint32_t room = all->room ? 2 * all->room : 8;
        void   **faces = realloc(all->faces, room * sizeof(*faces));
        if (!faces) {
            clrie_unref(object);
            return E_OUTOFMEMORY;
        }
        all->faces = faces;
        all->room = room;
    }
    all->faces[all->n++] = clrie_face(object, 0);
    return S_OK;
}

HRESULT clrie_types_read(struct clrie_types_module *module, const uint8_t **at, const uint8_t *end,
                         uint32_t n, struct clrie_object *(*make)(struct clrie_type *type),
                         const struct clrie_class *class, struct clrie_object **out)
{
    struct objects       all = {NULL, 0, 0};
    struct clrie_element what;
    HRESULT              hr = S_OK;
    for (uint32_t i = 0; i < n && SUCCEEDED(hr); i++) {
        struct clrie_type *type;
        if (!out) {
            hr = clrie_encode_type(at, end, NULL, &what);
            continue;
        }
        hr = clrie_type_read(module, at, end, &type);
        if (SUCCEEDED(hr))
            hr = add_object(&all, make ? make(type) : (struct clrie_object *)type);
    }
    if (out) {
        *out = SUCCEEDED(hr) ? clrie_enumerator_new(class, all.faces, all.n) : NULL;
        if (SUCCEEDED(hr) && !*out)
            hr = E_OUTOFMEMORY;
    }
    for (uint32_t i = 0; i < all.n; i++)
        ((IUnknown *)all.faces[i])->vtbl->Release(all.faces[i]);
    free(all.faces);
    return hr;
}

HRESULT clrie_method_signature_read(struct clrie_types_module *module, const uint8_t *bytes,
                                    uint32_t size, struct clrie_type **result,
                                    struct clrie_object **parameters)
{
    const uint8_t           *at = bytes, *end = bytes + size;
    struct clrie_method_head head;
    struct clrie_type       *type = NULL;
    HRESULT                  hr = clrie_method_head_read(&at, end, &head);
    if (SUCCEEDED(hr))
        hr = clrie_type_read(module, &at, end, &type);
    if (SUCCEEDED(hr))
        hr = clrie_types_read(module, &at, end, head.n_parameters, clrie_parameter_new,
                              &clrie_parameter_list, parameters);
    if (result && SUCCEEDED(hr))
        *result = type;
    else
        clrie_unref((struct clrie_object *)type);
    return hr;
}

/* ---- IType ------------------------------------------------------------------------------------ */

HRESULT clrie_type_AddToSignature(struct clrie_type *self, ISignatureBuilder *pSignatureBuilder)
{
    if (!pSignatureBuilder)
        return E_POINTER;
    return pSignatureBuilder->vtbl->AddData(pSignatureBuilder, self->bytes, self->size);
}

HRESULT clrie_type_GetCorElementType(struct clrie_type *self, CorElementType *pCorType)
{
    *pCorType = self->what.element;
    return S_OK;
}

HRESULT clrie_type_IsPrimitive(struct clrie_type *self, BOOL *pIsPrimitive)
{
    CorElementType element = self->what.element;
    *pIsPrimitive =
        element <= ELEMENT_TYPE_STRING || element == ELEMENT_TYPE_I || element == ELEMENT_TYPE_U;
    return S_OK;
}

HRESULT clrie_type_IsArray(struct clrie_type *self, BOOL *pIsArray)
{
    *pIsArray =
        self->what.element == ELEMENT_TYPE_ARRAY || self->what.element == ELEMENT_TYPE_SZARRAY;
    return S_OK;
}

/* CLRIE's answer for all types. */
HRESULT clrie_type_IsClass(struct clrie_type *self, BOOL *pIsClass)
{
    (void)self;
    *pIsClass = 0;
    return S_OK;
}

static const char *name_of(CorElementType element)
{
    static const char *const names[] = {
        [ELEMENT_TYPE_VOID] = "VOID",     [ELEMENT_TYPE_BOOLEAN] = "BOOLEAN",
        [ELEMENT_TYPE_CHAR] = "CHAR",     [ELEMENT_TYPE_I1] = "I1",
        [ELEMENT_TYPE_U1] = "U1",         [ELEMENT_TYPE_I2] = "I2",
        [ELEMENT_TYPE_U2] = "U2",         [ELEMENT_TYPE_I4] = "I4",
        [ELEMENT_TYPE_U4] = "U4",         [ELEMENT_TYPE_I8] = "I8",
        [ELEMENT_TYPE_U8] = "U8",         [ELEMENT_TYPE_R4] = "R4",
        [ELEMENT_TYPE_R8] = "R8",         [ELEMENT_TYPE_STRING] = "STRING",
        [ELEMENT_TYPE_PTR] = "PTR",       [ELEMENT_TYPE_BYREF] = "BYREF",
        [ELEMENT_TYPE_VAR] = "VAR",       [ELEMENT_TYPE_ARRAY] = "ARRAY",
        [ELEMENT_TYPE_MVAR] = "MVAR",     [ELEMENT_TYPE_GENERICINST] = "GENERICINST",
        [ELEMENT_TYPE_I] = "I",           [ELEMENT_TYPE_TYPEDBYREF] = "TYPEDBYREF",
        [ELEMENT_TYPE_U] = "U",           [ELEMENT_TYPE_FNPTR] = "FNPTR",
        [ELEMENT_TYPE_OBJECT] = "OBJECT", [ELEMENT_TYPE_SZARRAY] = "SZARRAY"};
    return (size_t)element < ARRAY_LEN(names) && names[element] ? names[element] : "INVALID";
}

HRESULT clrie_type_GetName(struct clrie_type *self, BSTR *pbstrName)
{
    *pbstrName = NULL;
    if (class_of(self->what.element) == &clrie_token_type)
        return self->module->type_name(self->module, self->what.value, pbstrName);
    return clrie_string_hand_out(name_of(self->what.element), pbstrName);
}

/* ---- kinds of types --------------------------------------------------------------------------- */

HRESULT clrie_type_GetToken(struct clrie_type *self, mdToken *pToken)
{
    *pToken = self->what.value;
    return S_OK;
}

HRESULT clrie_type_GetOwningModule(struct clrie_type *self, IModuleInfo **ppModuleInfo)
{
    *ppModuleInfo = self->module->info;
    self->module->info->vtbl->AddRef(self->module->info);
    return S_OK;
}

HRESULT clrie_type_GetRelatedType(struct clrie_type *self, IType **ppType)
{
    struct clrie_type *related = atomic_load(&self->related), *fresh = NULL;
    const uint8_t     *at;
    HRESULT            hr = S_OK;
    *ppType = NULL;
    if (!related) {
        hr = clrie_related_type(self->bytes, self->size, &at);
        if (SUCCEEDED(hr))
            hr = clrie_type_read(self->module, &at, self->bytes + self->size, &fresh);
        if (FAILED(hr))
            return hr;
        if (atomic_compare_exchange_strong(&self->related, &related, fresh))
            related = fresh;
        else
            clrie_unref(&fresh->object);
    }
    return clrie_hand_out(&related->object, CLRIE_FACE_type_IType, (void **)ppType);
}

HRESULT clrie_type_GetPosition(struct clrie_type *self, ULONG *pPosition)
{
    *pPosition = self->what.value;
    return S_OK;
}
