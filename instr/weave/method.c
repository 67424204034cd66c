/* SPDX-License-Identifier: MIT */
#include "instr/weave/method.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instr/il/effect.h"
#include "instr/metadata/signature.h"
#include "instr/metadata/signature_write.h"
#include "instr/weave/callee.h"
#include "rejit/rejit.h"

enum {
    METHOD_ABSTRACT = 0x0400,
    METHOD_PINVOKE = 0x2000,
    IMPL_CODE_MASK = 0x0003, /* 0 under this mask: IL */
    IMPL_UNMANAGED = 0x0004,
    IMPL_INTERNAL_CALL = 0x1000,
};
#define MAX_NODES  1024
#define MAX_LOCALS 4096 /* bytes of the signature of the locals */

void sxs_method_set_why(struct sxs_method *m, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(m->why, sizeof(m->why), fmt, args);
    va_end(args);
}

/* How a call through @token changes the evaluation stack: called by the IL library. */
static int find_effect(void *context, enum sxs_il_opcode opcode, uint32_t token,
                       struct sxs_il_effect *out)
{
    const struct sxs_method *m = context;
    return sxs_callee_effect(m->tokens.import, opcode, token, out);
}

/* ---- reading ---------------------------------------------------------------------------------- */

static int describe_method(struct sxs_method *m)
{
    IMetaDataImport2   *imp = m->tokens.import;
    struct sxs_il_arity arity;
    ULONG               size = 0, rva = 0;
    DWORD               flags = 0, impl = 0;
    HRESULT hr = imp->vtbl->GetMethodProps(imp, m->token, &m->owner, NULL, 0, NULL, &flags, &m->sig,
                                           &size, &rva, &impl);
    if (FAILED(hr))
        return sxs_method_fail(m, "its metadata cannot be read (0x%08x)", (unsigned)hr);
    m->flags = flags;
    m->impl = impl;
    m->sig_size = size;
    if (flags & METHOD_ABSTRACT)
        return sxs_method_fail(m, "it is abstract");
    if ((flags & METHOD_PINVOKE) || (impl & (IMPL_CODE_MASK | IMPL_UNMANAGED | IMPL_INTERNAL_CALL)))
        return sxs_method_fail(m, "it is not IL");
    if (sxs_il_method_arity(m->sig, m->sig_size, &arity) != 0)
        return sxs_method_fail(m, "its signature is no method's");
    m->has_this = arity.has_this;
    m->il = (struct sxs_il_method){.n_args = (uint16_t)(arity.n_parameters + arity.has_this),
                                   .returns = arity.returns,
                                   .effect = find_effect,
                                   .context = m};
    return 0;
}

/* *sig: the signature of the body's locals, NULL when it has none. */
static int locals_of(struct sxs_method *m, const uint8_t **sig, ULONG *size)
{
    IMetaDataImport2 *imp = m->tokens.import;
    *sig = NULL;
    *size = 0;
    if (!m->body->locals)
        return 0;
    return FAILED(imp->vtbl->GetSigFromToken(imp, m->body->locals, sig, size)) ? -1 : 0;
}

static int read_body(struct sxs_method *m)
{
    LPCBYTE        bytes = NULL;
    ULONG          size = 0, locals_size;
    const uint8_t *locals;
    int            n = 0;
    sxs_module     module = m->tokens.module;
    HRESULT        hr = S_OK;
    if (!sxs_rejit_get_input(module, m->token, &bytes, &size))
        hr = sxs_info_GetILFunctionBody(module.rt, module, m->token, &bytes, &size);
    if (FAILED(hr) || !bytes)
        return sxs_method_fail(m, "the runtime gives no body of it (0x%08x)", (unsigned)hr);
    if (sxs_il_read(m->body, bytes, size, &m->error))
        return sxs_method_fail(m, "its body cannot be read: %s", m->error.text);
    if (locals_of(m, &locals, &locals_size) ||
        (locals && (n = sxs_il_local_count(locals, locals_size)) < 0))
        return sxs_method_fail(m, "the signature of its locals cannot be read");
    m->il.n_locals = (uint16_t)n;
    if (sxs_il_check(m->body, &m->il, &m->error))
        return sxs_method_fail(m, "its body is not valid: %s", m->error.text);
    return 0;
}

int sxs_method_open(struct sxs_method *m, sxs_module module, mdToken token)
{
    HRESULT hr;
    m->token = token;
    m->has_result_local = 0;
    m->why[0] = '\0';
    if (!m->body)
        m->body = sxs_il_new();
    if (!m->body)
        return sxs_method_fail(m, "no memory");
    hr = sxs_tokens_open(&m->tokens, module);
    if (FAILED(hr))
        return sxs_method_fail(m, "its module's metadata cannot be read (0x%08x)", (unsigned)hr);
    return describe_method(m) || read_body(m) ? -1 : 0;
}

HRESULT sxs_method_close(struct sxs_method *m)
{
    return sxs_tokens_close(&m->tokens);
}

void sxs_method_free(struct sxs_method *m)
{
    sxs_il_free(m->body);
    m->body = NULL;
}

/* ---- locals ----------------------------------------------------------------------------------- */

int sxs_method_add_locals(struct sxs_method *m, const uint8_t *types, size_t size, unsigned n)
{
    struct sxs_il_tokens tokens = sxs_tokens_table(&m->tokens);
    const uint8_t       *old;
    ULONG                old_size;
    uint8_t              sig[MAX_LOCALS];
    size_t               used;
    uint16_t             first;
    uint32_t             token = 0;
    if (locals_of(m, &old, &old_size))
        return sxs_method_fail(m, "the signature of its locals cannot be read");
    used = sxs_il_add_locals(old, old_size, types, size, n, sig, sizeof(sig), &first);
    if (!used || used > sizeof(sig))
        return sxs_method_fail(m, "it has too many locals");
    if (tokens.signature(tokens.context, sig, used, &token))
        return sxs_method_fail(m, "%s", m->tokens.error);
    m->body->locals = token;
    m->il.n_locals = (uint16_t)(first + n);
    sxs_il_set_changed(m->body);
    return first;
}

int sxs_method_result(struct sxs_method *m)
{
    struct sxs_sig_node nodes[MAX_NODES];
    struct sxs_sig      sig;
    uint8_t             bytes[1024];
    size_t              size;
    int                 local;
    if (!m->il.returns)
        return 0;
    if (m->has_result_local)
        return m->result_local;
    if (sxs_sig_parse(SXS_SIG_METHOD, m->sig, m->sig_size, nodes, MAX_NODES, &sig))
        return sxs_method_fail(m, "the type of its result cannot be read");
    size = sxs_sig_write(SXS_SIG_TYPE, &sig, bytes, sizeof(bytes));
    if (!size || size > sizeof(bytes))
        return sxs_method_fail(m, "the type of its result is too long");
    local = sxs_method_add_locals(m, bytes, size, 1);
    if (local >= 0) {
        m->result_local = (uint16_t)local;
        m->has_result_local = 1;
    }
    return local;
}

int sxs_method_write(struct sxs_method *m, const uint8_t **bytes, size_t *size)
{
    if (sxs_il_check(m->body, &m->il, &m->error))
        return sxs_method_fail(m, "the new body would not be valid: %s", m->error.text);
    if (sxs_il_write(m->body, bytes, size, &m->error))
        return sxs_method_fail(m, "the new body cannot be written: %s", m->error.text);
    return 0;
}
