/* SPDX-License-Identifier: MIT */
/* method_locals.c - IMethodInfo2: signature, types and local variables. */
#include <string.h>

#include "clrie/model/method_internal.h"
#include "clrie/object/strings.h"
#include "instr/il/effect.h"

/* Headers of method bodies, ECMA-335 II.25.4. */
enum { FORMAT_MASK = 3, TINY = 2, FAT = 3, FAT_SIZE = 12, FAT_LOCALS = 8 };

/* ---- header ----------------------------------------------------------------------------------- */

HRESULT clrie_method_read_header(struct clrie_method *method)
{
    const uint8_t *bytes;
    uint32_t       size;
    HRESULT        hr;
    if (method->has_header)
        return S_OK;
    hr = clrie_module_body(method->module, method->token, method->use, &bytes, &size);
    if (FAILED(hr))
        return hr;
    method->locals_token = 0;
    if (!size)
        return E_FAIL;
    if ((bytes[0] & FORMAT_MASK) != TINY) {
        if ((bytes[0] & FORMAT_MASK) != FAT || size < FAT_SIZE)
            return E_FAIL;
        memcpy(&method->locals_token, bytes + FAT_LOCALS, sizeof(method->locals_token));
    }
    method->has_header = 1;
    return S_OK;
}

HRESULT clrie_method_GetLocalVarSigToken(struct clrie_method *self, mdToken *pToken)
{
    HRESULT hr = clrie_method_read_header(self);
    if (SUCCEEDED(hr))
        *pToken = self->locals_token;
    return hr;
}

HRESULT clrie_method_SetLocalVarSigToken(struct clrie_method *self, mdToken token)
{
    HRESULT hr = clrie_method_read_header(self);
    if (SUCCEEDED(hr))
        self->locals_token = token;
    return hr;
}

/* ---- locals ----------------------------------------------------------------------------------- */

static HRESULT load_header(struct clrie_object *owner)
{
    struct clrie_method *method = (struct clrie_method *)owner;
    HRESULT              hr = clrie_method_alive(method);
    return FAILED(hr) ? hr : clrie_method_read_header(method);
}

HRESULT clrie_method_locals_of(struct clrie_method *method, int is_original,
                               struct clrie_locals **out)
{
    struct clrie_locals **slot = is_original ? &method->original_locals : &method->locals;
    if (!*slot)
        *slot = clrie_locals_new(&method->module->types, &method->object, &method->locals_token,
                                 is_original, load_header);
    *out = *slot;
    return *slot ? S_OK : E_OUTOFMEMORY;
}

static HRESULT locals_out(struct clrie_method *method, int is_original,
                          ILocalVariableCollection **out)
{
    struct clrie_locals *locals;
    HRESULT              hr = clrie_method_locals_of(method, is_original, &locals);
    *out = NULL;
    return FAILED(hr) ? hr
                      : clrie_hand_out((struct clrie_object *)locals,
                                       CLRIE_FACE_locals_ILocalVariableCollection2, (void **)out);
}

HRESULT clrie_method_GetLocalVariables(struct clrie_method       *self,
                                       ILocalVariableCollection **ppLocalVariables)
{
    return locals_out(self, 0, ppLocalVariables);
}

HRESULT clrie_method_GetOriginalLocalVariables(struct clrie_method       *self,
                                               ILocalVariableCollection **ppLocalVariables)
{
    return locals_out(self, 1, ppLocalVariables);
}

uint32_t clrie_method_n_locals(struct clrie_method *method)
{
    const uint8_t *sig;
    uint32_t       size;
    int            n;
    if (method->locals)
        return clrie_locals_count(method->locals);
    if (!method->has_header || !method->locals_token ||
        FAILED(method->module->types.signature(&method->module->types, method->locals_token, &sig,
                                               &size)))
        return 0;
    n = sxs_il_local_count(sig, size);
    return n < 0 ? 0 : (uint32_t)n;
}

int clrie_method_add_result_local(void *context, int *returns)
{
    struct clrie_method *method = context;
    struct clrie_locals *locals;
    struct clrie_type   *type = NULL;
    CorElementType       element = 0;
    DWORD                number = 0;
    HRESULT              hr = clrie_method_read_attributes(method);
    *returns = 1;
    if (SUCCEEDED(hr))
        hr = clrie_method_signature_read(&method->module->types, method->sig, method->sig_size,
                                         &type, NULL);
    if (FAILED(hr))
        return -1;
    clrie_type_GetCorElementType(type, &element);
    if (element != ELEMENT_TYPE_VOID && element != ELEMENT_TYPE_BYREF) {
        hr = clrie_method_locals_of(method, 0, &locals);
        if (SUCCEEDED(hr))
            hr = clrie_locals_AddLocal(locals, clrie_type_face(type), &number);
    } else {
        *returns = 0;
    }
    clrie_unref((struct clrie_object *)type);
    return FAILED(hr) ? -1 : (int)number;
}

/* ---- signature and types ---------------------------------------------------------------------- */

/* Stores the types of the signature; either pointer may be NULL. */
static HRESULT types_out(struct clrie_method *method, IType **result,
                         IEnumMethodParameters **parameters)
{
    struct clrie_type   *type = NULL;
    struct clrie_object *list = NULL;
    HRESULT              hr = clrie_method_read_attributes(method);
    if (SUCCEEDED(hr))
        hr = clrie_method_signature_read(&method->module->types, method->sig, method->sig_size,
                                         result ? &type : NULL, parameters ? &list : NULL);
    if (result)
        *result = SUCCEEDED(hr) ? clrie_type_face(type) : NULL;
    if (parameters)
        *parameters = SUCCEEDED(hr) ? clrie_face(list, 0) : NULL;
    return hr;
}

HRESULT clrie_method_GetReturnType(struct clrie_method *self, IType **ppType)
{
    return types_out(self, ppType, NULL);
}

HRESULT clrie_method_GetParameters(struct clrie_method *self, IEnumMethodParameters **pMethodArgs)
{
    return types_out(self, NULL, pMethodArgs);
}

/* A value type is sealed, not abstract, and derived from System.ValueType or System.Enum. */
static int is_value_type(struct clrie_method *method)
{
    IMetaDataImport2 *import = clrie_module_import(method->module);
    DWORD             flags = 0;
    mdToken           base = 0;
    BSTR              name = NULL;
    HRESULT           hr = E_FAIL;
    int               is = 0;
    if (!import)
        return -1;
    hr = import->vtbl->GetTypeDefProps(import, method->owner, NULL, 0, NULL, &flags, &base);
    import->vtbl->Release(import);
    if (FAILED(hr))
        return -1;
    if (!(flags & tdInterface) && !(flags & tdAbstract) && flags & tdSealed && base &&
        SUCCEEDED(clrie_module_type_name(&method->module->types, base, &name)))
        is = clrie_wide_is(name, u"System.ValueType") || clrie_wide_is(name, u"System.Enum");
    clrie_string_free(name);
    return is;
}

/* S_OK and NULL when the type cannot be read, as CLRIE answers. */
HRESULT clrie_method_GetDeclaringType(struct clrie_method *self, IType **ppType)
{
    struct clrie_object *creator;
    int                  is;
    HRESULT              hr = E_FAIL;
    *ppType = NULL;
    if (FAILED(clrie_method_read_attributes(self)) || (is = is_value_type(self)) < 0)
        return S_OK;
    hr = clrie_module_creator(self->module, &creator);
    return FAILED(hr)
               ? hr
               : clrie_type_creator_FromToken((struct clrie_type_creator *)creator,
                                              is ? ELEMENT_TYPE_VALUETYPE : ELEMENT_TYPE_CLASS,
                                              self->owner, ppType);
}

HRESULT clrie_method_GetCorSignature(struct clrie_method *self, DWORD cbBuffer, BYTE *pCorSignature,
                                     DWORD *pcbSignature)
{
    HRESULT hr = clrie_method_read_attributes(self);
    if (SUCCEEDED(hr)) /* CLRIE reads the types, too, and fails when it does not know one */
        hr = clrie_method_signature_read(&self->module->types, self->sig, self->sig_size, NULL,
                                         NULL);
    if (FAILED(hr))
        return hr;
    *pcbSignature = self->sig_size;
    if (!pCorSignature)
        return S_FALSE;
    if (cbBuffer < self->sig_size)
        return E_FAIL;
    memcpy(pCorSignature, self->sig, self->sig_size);
    return S_OK;
}
