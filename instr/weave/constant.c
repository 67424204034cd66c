/* SPDX-License-Identifier: MIT */
#include "instr/weave/constant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/text/utf8.h"
#include "instr/metadata/signature.h"
#include "instr/metadata/signature_write.h"

#define MAX_NODES 1024

static int refuse_constant(struct sxs_method *m, const char *text, const char *type)
{
    return sxs_method_fail(m, "\"%.60s\" is no %s, the type of its result", text, type);
}

static int emit_integer(struct sxs_emit *e, const char *text, uint8_t type)
{
    static const struct {
        int64_t  low;
        uint64_t high;
    } ranges[] = {
        [SXS_ELEMENT_CHAR] = {0, UINT16_MAX}, [SXS_ELEMENT_I1] = {INT8_MIN, INT8_MAX},
        [SXS_ELEMENT_U1] = {0, UINT8_MAX},    [SXS_ELEMENT_I2] = {INT16_MIN, INT16_MAX},
        [SXS_ELEMENT_U2] = {0, UINT16_MAX},   [SXS_ELEMENT_I4] = {INT32_MIN, INT32_MAX},
        [SXS_ELEMENT_U4] = {0, UINT32_MAX},   [SXS_ELEMENT_I8] = {INT64_MIN, INT64_MAX},
        [SXS_ELEMENT_U8] = {0, UINT64_MAX},   [SXS_ELEMENT_I] = {INT64_MIN, INT64_MAX},
        [SXS_ELEMENT_U] = {0, UINT64_MAX},
    };
    struct sxs_il_body *body = e->m->body;
    int                 negative = text[0] == '-';
    int wide = type == SXS_ELEMENT_I8 || type == SXS_ELEMENT_U8 || type == SXS_ELEMENT_I ||
               type == SXS_ELEMENT_U;
    char    *end;
    uint64_t v;
    errno = 0;
    v = negative ? (uint64_t)strtoll(text, &end, sxs_integer_base(text))
                 : strtoull(text, &end, sxs_integer_base(text));
    if (errno || end == text || *end ||
        (negative ? (int64_t)v < ranges[type].low : v > ranges[type].high))
        return refuse_constant(e->m, text, "integer in the range of");
    if (!wide)
        return sxs_emit(e, sxs_il_ldc(body, (int32_t)v));
    if (sxs_emit(e, sxs_il_int(body, SXS_IL_LDC_I8, (int64_t)v)))
        return -1;
    if (type == SXS_ELEMENT_I || type == SXS_ELEMENT_U)
        return sxs_emit(e, sxs_il_insn(body, SXS_IL_CONV_I));
    return 0;
}

static int emit_real(struct sxs_emit *e, const char *text)
{
    struct sxs_il_insn *insn = sxs_il_insn(e->m->body, SXS_IL_LDC_R8);
    char               *end;
    double              v = sxs_strtod(text, &end);
    if (end == text || *end)
        return refuse_constant(e->m, text, "number,");
    if (insn)
        memcpy(&insn->bits, &v, sizeof(v));
    return sxs_emit(e, insn);
}

static int emit_boolean(struct sxs_emit *e, const char *text)
{
    int yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "0") != 0)
        return refuse_constant(e->m, text, "truth value,");
    return sxs_emit(e, sxs_il_ldc(e->m->body, yes));
}

static int emit_string(struct sxs_emit *e, const char *text)
{
    struct sxs_il_tokens tokens = sxs_tokens_table(&e->m->tokens);
    size_t               cap = strlen(text) + 4, n;
    uint16_t            *wide = calloc(cap, sizeof(*wide));
    uint32_t             token;
    int                  err;
    if (!wide)
        return sxs_method_fail(e->m, "no memory");
    n = sxs_utf16_of(text, wide, cap);
    err = tokens.string(tokens.context, wide, n, &token)
              ? sxs_method_fail(e->m, "%s", e->m->tokens.error)
              : sxs_emit(e, sxs_il_token(e->m->body, SXS_IL_LDSTR, token));
    free(wide);
    return err;
}

/* Emits the default value of any type: it loads a local that is never written. */
static int default_value(struct sxs_emit *e, const struct sxs_sig *sig)
{
    uint8_t bytes[1024];
    size_t  size = sxs_sig_write(SXS_SIG_TYPE, sig, bytes, sizeof(bytes));
    int     local;
    if (!size || size > sizeof(bytes))
        return sxs_method_fail(e->m, "the type of its result is too long");
    if (sig->nodes[sxs_sig_plain(sig, sig->result)].element == SXS_ELEMENT_BYREF)
        return sxs_method_fail(e->m, "a reference to a variable has no default");
    local = sxs_method_add_locals(e->m, bytes, size, 1);
    if (local < 0)
        return -1;
    e->m->body->init_locals = 1;
    return sxs_emit(e, sxs_il_ldloc(e->m->body, (uint16_t)local));
}

int sxs_emit_constant(struct sxs_emit *e, const char *text)
{
    struct sxs_sig_node nodes[MAX_NODES];
    struct sxs_sig      sig;
    uint8_t             type;
    if (sxs_sig_parse(SXS_SIG_METHOD, e->m->sig, e->m->sig_size, nodes, MAX_NODES, &sig))
        return sxs_method_fail(e->m, "the type of its result cannot be read");
    if (!text)
        return default_value(e, &sig);
    type = nodes[sxs_sig_plain(&sig, sig.result)].element;
    if (type == SXS_ELEMENT_BOOLEAN)
        return emit_boolean(e, text);
    if ((type >= SXS_ELEMENT_CHAR && type <= SXS_ELEMENT_U8) || type == SXS_ELEMENT_I ||
        type == SXS_ELEMENT_U)
        return emit_integer(e, text, type);
    if (type == SXS_ELEMENT_R4 || type == SXS_ELEMENT_R8)
        return emit_real(e, text);
    if (type == SXS_ELEMENT_STRING)
        return emit_string(e, text);
    if (strcmp(text, "null") == 0 && (type == SXS_ELEMENT_CLASS || type == SXS_ELEMENT_OBJECT ||
                                      type == SXS_ELEMENT_SZARRAY || type == SXS_ELEMENT_ARRAY))
        return sxs_emit(e, sxs_il_insn(e->m->body, SXS_IL_LDNULL));
    return sxs_method_fail(e->m, "its result's type has no constant \"%.60s\"", text);
}
