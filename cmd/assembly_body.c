/* SPDX-License-Identifier: MIT */
#include "cmd/assembly_body.h"

#include "instr/il/effect.h"

static int find_effect(void *context, enum sxs_il_opcode opcode, uint32_t token,
                       struct sxs_il_effect *e)
{
    struct sxs_blob b = sxs_md_signature(context, token);
    return sxs_il_call_effect(b.at, b.size, opcode, e);
}

int sxs_assembly_check_body(struct sxs_metadata *md, struct sxs_il_body *body, uint32_t token,
                            struct sxs_il_error *error)
{
    struct sxs_blob      sig = sxs_md_signature(md, token), locals;
    struct sxs_il_arity  arity = {0};
    struct sxs_il_method method = {.effect = find_effect, .context = md};
    int                  n;
    sxs_il_method_arity(sig.at, sig.size, &arity);
    method.n_args = (uint16_t)(arity.n_parameters + arity.has_this);
    method.returns = arity.returns;
    if (body->locals) {
        locals = sxs_md_signature(md, body->locals);
        n = sxs_il_local_count(locals.at, locals.size);
        method.n_locals = (uint16_t)(n < 0 ? 0 : n);
    }
    return sxs_il_check(body, &method, error);
}
