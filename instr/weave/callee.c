/* SPDX-License-Identifier: MIT */
#include "instr/weave/callee.h"

#include "instr/il/effect.h"

#define TABLE(token) ((token) >> 24)
enum { METHOD_DEF = 0x06, MEMBER_REF = 0x0a, STAND_ALONE_SIG = 0x11, METHOD_SPEC = 0x2b };

HRESULT sxs_callee_signature(IMetaDataImport2 *imp, uint32_t token, const uint8_t **sig,
                             ULONG *size)
{
    HRESULT hr;
    mdToken parent = 0;
    ULONG   n = 0;
    switch (TABLE(token)) {
    case METHOD_DEF:
        return imp->vtbl->GetMethodProps(imp, token, NULL, NULL, 0, NULL, NULL, sig, size, NULL,
                                         NULL);
    case MEMBER_REF:
        return imp->vtbl->GetMemberRefProps(imp, token, NULL, NULL, 0, NULL, sig, size);
    case STAND_ALONE_SIG: return imp->vtbl->GetSigFromToken(imp, token, sig, size);
    case METHOD_SPEC:
        hr = imp->vtbl->GetMethodSpecProps(imp, token, &parent, sig, &n);
        if (FAILED(hr) || TABLE(parent) == METHOD_SPEC)
            return E_FAIL;
        return sxs_callee_signature(imp, parent, sig, size);
    default: return E_INVALIDARG;
    }
}

int sxs_callee_effect(IMetaDataImport2 *imp, enum sxs_il_opcode opcode, uint32_t token,
                      struct sxs_il_effect *out)
{
    const uint8_t *sig = NULL;
    ULONG          size = 0;
    if (FAILED(sxs_callee_signature(imp, token, &sig, &size)) || !sig)
        return -1;
    return sxs_il_call_effect(sig, size, opcode, out);
}
