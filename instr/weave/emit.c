/* SPDX-License-Identifier: MIT */
#include "instr/weave/emit.h"

#include "instr/metadata/compressed.h"
#include "instr/metadata/signature.h"

int sxs_emit(struct sxs_emit *e, struct sxs_il_insn *insn)
{
    struct sxs_il_body *body = e->m->body;
    insn = e->at ? sxs_il_insert_before(body, e->at, insn) : sxs_il_append(body, insn);
    return insn ? 0 : sxs_method_fail(e->m, "no memory");
}

int sxs_emit_pointer(struct sxs_emit *e, const void *pointer)
{
    struct sxs_il_body *body = e->m->body;
    return sxs_emit(e, sxs_il_int(body, SXS_IL_LDC_I8, (int64_t)(uintptr_t)pointer)) ||
           sxs_emit(e, sxs_il_insn(body, SXS_IL_CONV_I));
}

size_t sxs_emit_coded(uint8_t *out, uint32_t token)
{
    return sxs_compressed_write(out, sxs_code_type(token));
}

/* Makes the signature: unmanaged modopt(CallConvSuppressGCTransition) modopt(CallConvCdecl) RESULT
 * (ARGUMENTS). The first modifier is left out for calls with a transition. */
static int signature_of(struct sxs_method *m, int transition, uint8_t result,
                        const uint8_t *arguments, unsigned n, uint32_t *token)
{
    static const char *const conventions[] = {
        "System.Runtime.CompilerServices.CallConvSuppressGCTransition",
        "System.Runtime.CompilerServices.CallConvCdecl",
    };
    struct sxs_il_tokens tokens = sxs_tokens_table(&m->tokens);
    uint8_t              sig[64];
    size_t               at = 0;
    sig[at++] = 0x09; /* unmanaged */
    sig[at++] = (uint8_t)n;
    for (size_t i = transition != 0; i < ARRAY_LEN(conventions); i++) {
        uint32_t type;
        if (sxs_tokens_core_type(&m->tokens, conventions[i], &type))
            return sxs_method_fail(m, "%s", m->tokens.error);
        sig[at++] = SXS_ELEMENT_CMOD_OPT;
        at += sxs_emit_coded(sig + at, type);
    }
    sig[at++] = result;
    for (unsigned i = 0; i < n && at < sizeof(sig); i++)
        sig[at++] = arguments[i];
    return tokens.signature(tokens.context, sig, at, token)
               ? sxs_method_fail(m, "%s", m->tokens.error)
               : 0;
}

static int emit_calli(struct sxs_emit *e, int transition, uintptr_t function, uint8_t result,
                      const uint8_t *arguments, unsigned n)
{
    uint32_t token;
    return signature_of(e->m, transition, result, arguments, n, &token) ||
                   sxs_emit_pointer(e, (const void *)function) ||
                   sxs_emit(e, sxs_il_token(e->m->body, SXS_IL_CALLI, token))
               ? -1
               : 0;
}

int sxs_emit_callout(struct sxs_emit *e, uintptr_t function, uint8_t result,
                     const uint8_t *arguments, unsigned n)
{
    return emit_calli(e, 0, function, result, arguments, n);
}

int sxs_emit_native(struct sxs_emit *e, uintptr_t function, uint8_t result,
                    const uint8_t *arguments, unsigned n)
{
    return emit_calli(e, 1, function, result, arguments, n);
}
