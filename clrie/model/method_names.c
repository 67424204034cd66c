/* SPDX-License-Identifier: MIT */
/* method_names.c - IMethodInfo2: names and attributes of a method. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/buffer.h"
#include "base/text/utf8.h"
#include "clrie/model/method_internal.h"
#include "clrie/object/strings.h"
#include "instr/metadata/compressed.h"

#define TABLE(token) ((token) >> 24)
enum { METHOD_DEF = 0x06, MEMBER_REF = 0x0a };
enum { NAME_UNITS = 1024, NAME_SIZE = 3 * NAME_UNITS };

HRESULT clrie_method_alive(const struct clrie_method *method)
{
    return atomic_load(&method->module->is_unloaded) ? E_FAIL : S_OK;
}

/* ---- reading metadata ------------------------------------------------------------------------- */

static HRESULT read_definition(struct clrie_method *m, IMetaDataImport2 *import, mdToken token,
                               WCHAR *name, ULONG *n)
{
    mdToken parent = 0;
    HRESULT hr;
    m->definition = token;
    switch (TABLE(token)) {
    case METHOD_DEF:
        return import->vtbl->GetMethodProps(import, token, &m->owner, name, NAME_UNITS, n,
                                            &m->attributes, &m->sig, &m->sig_size, &m->rva,
                                            &m->impl);
    case MEMBER_REF:
        return import->vtbl->GetMemberRefProps(import, token, &m->owner, name, NAME_UNITS, n,
                                               &m->sig, &m->sig_size);
    default: break;
    }
    hr = import->vtbl->GetMethodSpecProps(import, token, &parent, NULL, NULL);
    if (FAILED(hr))
        return hr;
    if (TABLE(parent) != METHOD_DEF && TABLE(parent) != MEMBER_REF)
        return E_FAIL;
    return read_definition(m, import, parent, name, n);
}

HRESULT clrie_method_read_attributes(struct clrie_method *method)
{
    WCHAR             wide[NAME_UNITS] = {0};
    char              text[NAME_SIZE + 1];
    ULONG             n = 0;
    IMetaDataImport2 *import;
    HRESULT           hr = clrie_method_alive(method);
    if (FAILED(hr) || method->has_attributes)
        return hr;
    import = clrie_module_import(method->module);
    if (!import)
        return E_FAIL;
    hr = read_definition(method, import, method->token, wide, &n);
    import->vtbl->Release(import);
    if (FAILED(hr))
        return hr;
    sxs_utf8_of(wide, NAME_UNITS, text, sizeof(text));
    method->name = strdup(text);
    if (!method->name)
        return E_OUTOFMEMORY;
    method->has_attributes = 1;
    return S_OK;
}

/* The number of type arguments in the signature of a MethodSpec. */
static HRESULT count_arguments(struct clrie_method *method, IMetaDataImport2 *import)
{
    const uint8_t *sig = NULL;
    ULONG          size = 0;
    HRESULT        hr = import->vtbl->GetMethodSpecProps(import, method->token, NULL, &sig, &size);
    if (FAILED(hr))
        return hr;
    if (size < 2 || !sxs_compressed_read(sig + 1, sig + size, &method->n_generics))
        return E_FAIL;
    return S_OK;
}

static HRESULT count_in_metadata(struct clrie_method *method)
{
    IMetaDataImport2 *import = clrie_module_import(method->module);
    HCORENUM          list = NULL;
    mdGenericParam    some[4];
    ULONG             n = 0;
    HRESULT           hr = S_OK;
    if (!import)
        return E_FAIL;
    if (TABLE(method->token) != METHOD_DEF && TABLE(method->token) != MEMBER_REF) {
        hr = count_arguments(method, import);
    } else {
        while (import->vtbl->EnumGenericParams(import, &list, method->token, some, ARRAY_LEN(some),
                                               &n) == S_OK &&
               n)
            method->n_generics += n;
        import->vtbl->CloseEnum(import, list);
    }
    import->vtbl->Release(import);
    return hr;
}

HRESULT clrie_method_read_generics(struct clrie_method *method)
{
    ICorProfilerInfo10 *info = clrie_model_info(method->module->model);
    ULONG32             n = 0;
    HRESULT             hr = clrie_method_alive(method);
    if (FAILED(hr) || method->has_generics)
        return hr;
    if (!info)
        return E_FAIL;
    if (method->function) {
        hr = info->vtbl->GetFunctionInfo2(info, method->function, 0, NULL, NULL, NULL, 0, &n, NULL);
        method->n_generics = n;
    } else {
        method->n_generics = 0;
        hr = count_in_metadata(method);
    }
    if (SUCCEEDED(hr))
        method->has_generics = 1;
    return hr;
}

/* Appends `<!!0,!!1>`. */
static HRESULT add_parameters(struct clrie_method *method)
{
    size_t          size = strlen(method->name) + 3 + 13 * (size_t)method->n_generics;
    char           *full = malloc(size + 4);
    struct sxs_text t;
    if (!full)
        return E_OUTOFMEMORY;
    t = sxs_text_in(full, size + 4);
    sxs_text_put(&t, method->name);
    for (uint32_t i = 0; i < method->n_generics; i++)
        sxs_text_putf(&t, "%s!!%u", i ? "," : "<", (unsigned)i);
    sxs_text_put(&t, ">");
    free(method->name);
    method->name = full;
    return S_OK;
}

HRESULT clrie_method_read_name(struct clrie_method *method)
{
    HRESULT hr = clrie_method_alive(method);
    if (method->has_full_name)
        return S_OK;
    if (SUCCEEDED(hr))
        hr = clrie_method_read_attributes(method);
    if (SUCCEEDED(hr))
        hr = clrie_method_read_generics(method);
    if (SUCCEEDED(hr) && method->n_generics && method->n_generics <= UINT16_MAX)
        hr = add_parameters(method);
    if (SUCCEEDED(hr))
        method->has_full_name = 1;
    return hr;
}

/* ---- names ------------------------------------------------------------------------------------ */

HRESULT clrie_method_GetName(struct clrie_method *self, BSTR *pbstrName)
{
    HRESULT hr = clrie_method_read_name(self);
    *pbstrName = NULL;
    return FAILED(hr) ? hr : clrie_string_hand_out(self->name, pbstrName);
}

/* *text: the name of the declaring type and a dot, or "" when the type has no name. To be freed. */
static HRESULT type_prefix(struct clrie_method *method, char **text)
{
    BSTR   type = NULL;
    size_t n;
    *text = NULL;
    if (FAILED(clrie_module_type_name(&method->module->types, method->owner, &type)) || !type) {
        *text = strdup("");
        return *text ? S_OK : E_OUTOFMEMORY;
    }
    n = clrie_string_length(type);
    *text = malloc(3 * n + 8);
    if (*text) {
        size_t end = sxs_utf8_of(type, n, *text, 3 * n + 6);
        memcpy(*text + end, n ? "." : "", 2 - (n == 0));
    }
    clrie_string_free(type);
    return *text ? S_OK : E_OUTOFMEMORY;
}

HRESULT clrie_method_GetFullName(struct clrie_method *self, BSTR *pbstrFullName)
{
    HRESULT hr = clrie_method_read_name(self);
    char   *prefix, *full;
    *pbstrFullName = NULL;
    if (SUCCEEDED(hr))
        hr = type_prefix(self, &prefix);
    if (FAILED(hr))
        return hr;
    full = malloc(strlen(prefix) + strlen(self->name) + 1);
    hr = E_OUTOFMEMORY;
    if (full) {
        strcpy(full, prefix);
        strcat(full, self->name);
        hr = clrie_string_hand_out(full, pbstrFullName);
    }
    free(full);
    free(prefix);
    return hr;
}

HRESULT clrie_method_GetGenericParameterCount(struct clrie_method *self, DWORD *pCount)
{
    HRESULT hr = clrie_method_read_generics(self);
    if (SUCCEEDED(hr))
        *pCount = self->n_generics;
    return hr;
}

/* Is the name @text, or, when @is_prefix, does it begin with @text? */
static HRESULT is_named(struct clrie_method *self, const char *text, int is_prefix, BOOL *out)
{
    HRESULT hr = clrie_method_read_name(self);
    if (SUCCEEDED(hr))
        *out = is_prefix ? strncmp(self->name, text, strlen(text)) == 0
                         : strcmp(self->name, text) == 0;
    return hr;
}

HRESULT clrie_method_GetIsPropertyGetter(struct clrie_method *self, BOOL *pbValue)
{
    return is_named(self, "get_", 1, pbValue);
}

/* CLRIE tests the prefix of a getter here, too. */
HRESULT clrie_method_GetIsPropertySetter(struct clrie_method *self, BOOL *pbValue)
{
    return is_named(self, "get_", 1, pbValue);
}

HRESULT clrie_method_GetIsFinalizer(struct clrie_method *self, BOOL *pbValue)
{
    return is_named(self, "Finalize", 0, pbValue);
}

HRESULT clrie_method_GetIsConstructor(struct clrie_method *self, BOOL *pbValue)
{
    return is_named(self, ".ctor", 0, pbValue);
}

HRESULT clrie_method_GetIsStaticConstructor(struct clrie_method *self, BOOL *pbValue)
{
    return is_named(self, ".cctor", 0, pbValue);
}

/* ---- attributes ------------------------------------------------------------------------------- */

/* CLRIE tests bits, although the access is a number in the low three bits: a method that is internal
 * is both public and private. */
static HRESULT has_bit(struct clrie_method *self, DWORD bit, BOOL *out)
{
    HRESULT hr = clrie_method_read_attributes(self);
    if (SUCCEEDED(hr))
        *out = (self->attributes & bit) != 0;
    return hr;
}

HRESULT clrie_method_GetIsStatic(struct clrie_method *self, BOOL *pbValue)
{
    return has_bit(self, mdStatic, pbValue);
}

HRESULT clrie_method_GetIsPublic(struct clrie_method *self, BOOL *pbValue)
{
    return has_bit(self, mdPublic, pbValue);
}

HRESULT clrie_method_GetIsPrivate(struct clrie_method *self, BOOL *pbValue)
{
    return has_bit(self, mdPrivate, pbValue);
}

HRESULT clrie_method_GetAttributes(struct clrie_method *self, DWORD *pCorMethodAttr)
{
    HRESULT hr = clrie_method_read_attributes(self);
    if (SUCCEEDED(hr))
        *pCorMethodAttr = self->attributes;
    return hr;
}

HRESULT clrie_method_GetCodeRva(struct clrie_method *self, DWORD *pRva)
{
    HRESULT hr = clrie_method_read_attributes(self);
    if (SUCCEEDED(hr))
        *pRva = self->rva;
    return hr;
}

HRESULT clrie_method_MethodImplFlags(struct clrie_method *self, UINT *pCorMethodImpl)
{
    HRESULT hr = clrie_method_read_attributes(self);
    if (SUCCEEDED(hr))
        *pCorMethodImpl = self->impl;
    return hr;
}
