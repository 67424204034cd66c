/* SPDX-License-Identifier: MIT */
/* creator.c - ITypeCreator and ISignatureParser. */
#include "clrie/types/types_internal.h"

struct clrie_type_creator {
    CLRIE_OBJECT(3);
    struct clrie_types_module *module; /* borrowed */
};
const uint32_t clrie_type_creator_size = sizeof(struct clrie_type_creator);

struct clrie_type_creator *clrie_type_creator_new(struct clrie_types_module *module)
{
    struct clrie_type_creator *creator = clrie_new(&clrie_type_creator);
    if (creator)
        creator->module = module;
    return creator;
}

void clrie_type_creator_end(struct clrie_object *object)
{
    (void)object;
}

/* ---- ITypeCreator ----------------------------------------------------------------------------- */

static HRESULT type_out(HRESULT hr, struct clrie_type *type, IType **out)
{
    *out = SUCCEEDED(hr) ? clrie_type_face(type) : NULL;
    return hr;
}

HRESULT clrie_type_creator_FromSignature(struct clrie_type_creator *self, DWORD cbBuffer,
                                         const BYTE *pCorSignature, IType **ppType,
                                         DWORD *pdwSigSize)
{
    const uint8_t     *at = pCorSignature;
    struct clrie_type *type = NULL;
    HRESULT            hr;
    *ppType = NULL;
    if (!pCorSignature || !pdwSigSize)
        return E_POINTER;
    *pdwSigSize = 0;
    if (!cbBuffer)
        return E_INVALIDARG;
    hr = clrie_type_read(self->module, &at, at + cbBuffer, &type);
    if (SUCCEEDED(hr))
        *pdwSigSize = (DWORD)(at - pCorSignature);
    return type_out(hr, type, ppType);
}

HRESULT clrie_type_creator_FromCorElement(struct clrie_type_creator *self, CorElementType type,
                                          IType **ppType)
{
    struct clrie_element what = {type, 0};
    uint8_t              byte = (uint8_t)type;
    struct clrie_type   *made;
    *ppType = NULL;
    if (!(type >= ELEMENT_TYPE_VOID && type <= ELEMENT_TYPE_STRING) && type != ELEMENT_TYPE_I &&
        type != ELEMENT_TYPE_U && type != ELEMENT_TYPE_OBJECT)
        return E_NOTIMPL;
    made = clrie_type_new(self->module, &what, &byte, 1);
    return type_out(made ? S_OK : E_OUTOFMEMORY, made, ppType);
}

HRESULT clrie_type_creator_FromToken(struct clrie_type_creator *self, CorElementType type,
                                     mdToken token, IType **ppType)
{
    struct clrie_element what = {type, token};
    struct clrie_bytes   bytes = {NULL, 0, 0};
    uint8_t              byte = (uint8_t)type;
    struct clrie_type   *made = NULL;
    HRESULT              hr;
    *ppType = NULL;
    if (type != ELEMENT_TYPE_CLASS && type != ELEMENT_TYPE_VALUETYPE)
        return E_INVALIDARG;
    hr = clrie_bytes_put(&bytes, &byte, 1);
    if (SUCCEEDED(hr))
        hr = clrie_bytes_put_token(&bytes, token);
    if (SUCCEEDED(hr)) {
        made = clrie_type_new(self->module, &what, bytes.bytes, bytes.n);
        hr = made ? S_OK : E_OUTOFMEMORY;
    }
    clrie_bytes_free(&bytes);
    return type_out(hr, made, ppType);
}

/* ---- ISignatureParser ------------------------------------------------------------------------- */

HRESULT clrie_type_creator_ParseTypeSequence(struct clrie_type_creator *self, const BYTE *pBuffer,
                                             ULONG cbBuffer, ULONG cTypes, IEnumTypes **ppEnumTypes,
                                             ULONG *pcbRead)
{
    const uint8_t       *at = pBuffer;
    struct clrie_object *list = NULL;
    HRESULT              hr;
    if (!pBuffer)
        return E_POINTER;
    if (ppEnumTypes)
        *ppEnumTypes = NULL;
    if (pcbRead)
        *pcbRead = 0;
    hr = clrie_types_read(self->module, &at, at + cbBuffer, cTypes, NULL, &clrie_type_list,
                          ppEnumTypes ? &list : NULL);
    if (FAILED(hr))
        return hr;
    if (ppEnumTypes)
        *ppEnumTypes = clrie_face(list, 0);
    if (pcbRead)
        *pcbRead = (ULONG)(at - pBuffer);
    return S_OK;
}

HRESULT clrie_type_creator_ParseMethodSignature(struct clrie_type_creator *self,
                                                const BYTE *pSignature, ULONG cbSignature,
                                                ULONG *pCallingConvention, IType **ppReturnType,
                                                IEnumTypes **ppEnumParameterTypes,
                                                ULONG *pcGenericTypeParameters, ULONG *pcbRead)
{
    const uint8_t           *at = pSignature;
    struct clrie_method_head head = {IMAGE_CEE_CS_CALLCONV_MAX, 0, 0};
    struct clrie_type       *result = NULL;
    struct clrie_object     *list = NULL;
    HRESULT                  hr = E_POINTER;
    if (pSignature)
        hr = clrie_method_head_read(&at, at + cbSignature, &head);
    if (SUCCEEDED(hr))
        hr = clrie_type_read(self->module, &at, pSignature + cbSignature, &result);
    if (SUCCEEDED(hr))
        hr = clrie_types_read(self->module, &at, pSignature + cbSignature, head.n_parameters, NULL,
                              &clrie_type_list, ppEnumParameterTypes ? &list : NULL);
    if (pCallingConvention && pSignature)
        *pCallingConvention = SUCCEEDED(hr) ? head.convention : IMAGE_CEE_CS_CALLCONV_MAX;
    if (ppReturnType)
        *ppReturnType = SUCCEEDED(hr) ? clrie_type_face(result) : NULL;
    if (ppEnumParameterTypes)
        *ppEnumParameterTypes = SUCCEEDED(hr) ? clrie_face(list, 0) : NULL;
    if (pcGenericTypeParameters)
        *pcGenericTypeParameters = SUCCEEDED(hr) ? head.n_generics : 0;
    if (pcbRead)
        *pcbRead = SUCCEEDED(hr) ? (ULONG)(at - pSignature) : 0;
    if (FAILED(hr) || !ppReturnType)
        clrie_unref((struct clrie_object *)result);
    return hr;
}

HRESULT clrie_type_creator_ParseLocalVarSignature(struct clrie_type_creator *self,
                                                  const BYTE *pSignature, ULONG cbSignature,
                                                  ULONG       *pCallingConvention,
                                                  IEnumTypes **ppEnumTypes, ULONG *pcbRead)
{
    const uint8_t       *at = pSignature;
    struct clrie_object *list = NULL;
    uint32_t             n = 0;
    HRESULT              hr = E_POINTER;
    if (pSignature)
        hr = clrie_locals_head_read(&at, at + cbSignature, &n);
    if (SUCCEEDED(hr))
        hr = clrie_types_read(self->module, &at, pSignature + cbSignature, n, NULL,
                              &clrie_type_list, ppEnumTypes ? &list : NULL);
    if (pCallingConvention && pSignature)
        *pCallingConvention = SUCCEEDED(hr) ? (ULONG)IMAGE_CEE_CS_CALLCONV_LOCAL_SIG
                                            : (ULONG)IMAGE_CEE_CS_CALLCONV_MAX;
    if (ppEnumTypes)
        *ppEnumTypes = SUCCEEDED(hr) ? clrie_face(list, 0) : NULL;
    if (pcbRead)
        *pcbRead = SUCCEEDED(hr) ? (ULONG)(at - pSignature) : 0;
    return hr;
}
