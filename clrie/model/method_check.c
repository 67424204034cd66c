/* SPDX-License-Identifier: MIT */
/* method_check.c - checks a body that a plug-in has written without a graph. */
#include <stdio.h>

#include "clrie/model/method_internal.h"
#include "include/sxs_il.h"
#include "instr/metadata/signature.h"

enum { N_NODES = 256 };

/* The number of locals that the signature @token has. Returns 0, or -1 when it cannot be read. */
static int count_locals(struct clrie_method *method, mdSignature token, uint16_t *n)
{
    struct sxs_sig_node nodes[N_NODES];
    struct sxs_sig      sig;
    const uint8_t      *bytes;
    uint32_t            size;
    *n = 0;
    if (!(token & 0xffffff))
        return 0;
    if (FAILED(clrie_module_signature(&method->module->types, token, &bytes, &size)))
        return -1;
    if (sxs_sig_parse(SXS_SIG_LOCALS, bytes, size, nodes, N_NODES, &sig))
        *n = UINT16_MAX; /* long or unknown to us: indices of locals are not checked */
    else
        *n = (uint16_t)sig.n_params;
    return 0;
}

static int check(struct clrie_method *method, struct sxs_il_body *body, struct sxs_il_error *error)
{
    struct sxs_il_method il = method->graph_method.il;
    if (count_locals(method, body->locals, &il.n_locals)) {
        snprintf(error->text, sizeof(error->text), "its locals have no signature");
        return SXS_IL_EINVALID;
    }
    return sxs_il_check(body, &il, error);
}

HRESULT clrie_method_check(struct clrie_method *method, const uint8_t *bytes, size_t size,
                           uint32_t *used, char *why, size_t room)
{
    struct sxs_il_error error = {0};
    struct sxs_il_body *body = sxs_il_new();
    const uint8_t      *written;
    size_t              n = 0;
    HRESULT             hr = body ? clrie_method_describe(method) : E_OUTOFMEMORY;
    int                 err = 0;
    snprintf(why, room, "the method is not known");
    if (SUCCEEDED(hr)) {
        err = sxs_il_read(body, bytes, size, &error);
        if (!err)
            err = check(method, body, &error);
        if (!err)
            err = sxs_il_write(body, &written, &n, &error);
        if (err) {
            snprintf(why, room, "%s", error.text);
            hr = E_FAIL;
        }
    }
    *used = (uint32_t)n;
    sxs_il_free(body);
    return hr;
}
