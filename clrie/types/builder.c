/* SPDX-License-Identifier: MIT */
/* builder.c - ISignatureBuilder. */
#include <string.h>

#include "clrie/types/types_internal.h"
#include "instr/metadata/compressed.h"

struct clrie_signature_builder {
    CLRIE_OBJECT(1);
    struct clrie_bytes bytes;
};
const uint32_t clrie_signature_builder_size = sizeof(struct clrie_signature_builder);

enum { SIGNED_LIMIT = 0x10000000 };

struct clrie_signature_builder *clrie_signature_builder_new(void)
{
    return clrie_new(&clrie_signature_builder);
}

void clrie_signature_builder_end(struct clrie_object *object)
{
    clrie_bytes_free(&((struct clrie_signature_builder *)object)->bytes);
}

/* Numbers that have no compressed form make CLRIE write outside of its buffer. */
HRESULT clrie_signature_builder_Add(struct clrie_signature_builder *self, DWORD value)
{
    return clrie_bytes_put_number(&self->bytes, value);
}

HRESULT clrie_signature_builder_AddSignedInt(struct clrie_signature_builder *self, LONG value)
{
    uint8_t bytes[SXS_COMPRESSED_SIZE];
    if (value < -SIGNED_LIMIT || value >= SIGNED_LIMIT)
        return E_INVALIDARG;
    return clrie_bytes_put(&self->bytes, bytes, sxs_compressed_write_signed(bytes, value));
}

HRESULT clrie_signature_builder_AddToken(struct clrie_signature_builder *self, mdToken token)
{
    return clrie_bytes_put_token(&self->bytes, token);
}

HRESULT clrie_signature_builder_AddElementType(struct clrie_signature_builder *self,
                                               CorElementType                  type)
{
    uint8_t byte = (uint8_t)type;
    return clrie_bytes_put(&self->bytes, &byte, 1);
}

HRESULT clrie_signature_builder_AddData(struct clrie_signature_builder *self, const BYTE *pData,
                                        DWORD cbSize)
{
    if (!pData && cbSize)
        return E_POINTER;
    return clrie_bytes_put(&self->bytes, pData, cbSize);
}

HRESULT clrie_signature_builder_AddSignature(struct clrie_signature_builder *self,
                                             ISignatureBuilder              *pSignature)
{
    const BYTE *bytes = NULL;
    DWORD       size = 0;
    HRESULT     hr;
    if (!pSignature)
        return E_POINTER;
    hr = pSignature->vtbl->GetCorSignaturePtr(pSignature, &bytes);
    if (SUCCEEDED(hr))
        hr = pSignature->vtbl->GetSize(pSignature, &size);
    return FAILED(hr) ? hr : clrie_signature_builder_AddData(self, bytes, size);
}

HRESULT clrie_signature_builder_Clear(struct clrie_signature_builder *self)
{
    clrie_bytes_free(&self->bytes);
    return S_OK;
}

HRESULT clrie_signature_builder_GetSize(struct clrie_signature_builder *self, DWORD *pcbSize)
{
    *pcbSize = self->bytes.n;
    return S_OK;
}

HRESULT clrie_signature_builder_GetCorSignature(struct clrie_signature_builder *self,
                                                DWORD cbBuffer, BYTE *pCorSignature,
                                                DWORD *pcbSignature)
{
    if (pCorSignature && cbBuffer < self->bytes.n)
        return E_INVALIDARG;
    if (pCorSignature && self->bytes.n)
        memcpy(pCorSignature, self->bytes.bytes, self->bytes.n);
    if (pcbSignature)
        *pcbSignature = self->bytes.n;
    return S_OK;
}

HRESULT clrie_signature_builder_GetCorSignaturePtr(struct clrie_signature_builder *self,
                                                   const BYTE                    **ppSignature)
{
    *ppSignature = self->bytes.bytes;
    return self->bytes.bytes ? S_OK : S_FALSE;
}
