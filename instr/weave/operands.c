/* SPDX-License-Identifier: MIT */
#include "instr/weave/operands.h"

#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"
#include "instr/metadata/signature_write.h"
#include "manager/module_info.h"

#define STRING_DATA  12 /* offset of the first character in a string object, in 64-bit processes */
#define TABLE(token) ((token) >> 24)
enum { TYPE_REF = 0x01, TYPE_DEF = 0x02 };

/* ---- choosing --------------------------------------------------------------------------------- */

int sxs_operands_add(struct sxs_method *m, struct sxs_operands *o, enum sxs_operand_kind kind,
                     uint16_t number, uint32_t node)
{
    if (o->n == SXS_OPERANDS_MAX)
        return sxs_method_fail(m, "more than %u values for one call", SXS_OPERANDS_MAX);
    o->all[o->n++] = (struct sxs_operand){kind, number, node};
    return 0;
}

static int add_argument(struct sxs_method *m, struct sxs_operands *o, uint32_t index)
{
    uint32_t node = o->sig.params;
    for (uint32_t i = 0; i < index && node != SXS_SIG_NONE; i++)
        node = o->nodes[node].next;
    if (node == SXS_SIG_NONE)
        return sxs_method_fail(m, "it has no argument %u", index);
    return sxs_operands_add(m, o, SXS_OPERAND_ARGUMENT, (uint16_t)(index + m->has_this), node);
}

/* Writes the name of argument @number (`this` counts), or as in "argument 0" when metadata has no
 * name for it. */
static void name_of(const struct sxs_method *m, uint32_t number, char *out, size_t size)
{
    IMetaDataImport2 *imp = m->tokens.import;
    WCHAR             wide[512] = {0};
    mdParamDef        param = 0;
    ULONG             n = 0, index = number - m->has_this;
    snprintf(out, size, "argument %u", (unsigned)index);
    if (SUCCEEDED(imp->vtbl->GetParamForMethodIndex(imp, m->token, index + 1, &param)) &&
        SUCCEEDED(imp->vtbl->GetParamProps(imp, param, NULL, NULL, wide, ARRAY_LEN(wide), &n, NULL,
                                           NULL, NULL, NULL)) &&
        wide[0])
        sxs_utf8_of(wide, ARRAY_LEN(wide), out, size);
}

static int add_named(struct sxs_method *m, struct sxs_operands *o, const char *name)
{
    for (uint32_t i = 0; i < o->sig.n_params; i++) {
        char text[1024];
        name_of(m, i + m->has_this, text, sizeof(text));
        if (strcmp(text, name) == 0)
            return add_argument(m, o, i);
    }
    return sxs_method_fail(m, "it has no argument \"%.60s\"", name);
}

static int choose_argument(struct sxs_method *m, struct sxs_operands *o,
                           const struct sxs_argument *a)
{
    switch (a->kind) {
    case SXS_ARGUMENT_THIS:
        if (!m->has_this)
            return sxs_method_fail(m, "it is static: there is no this");
        return sxs_operands_add(m, o, SXS_OPERAND_THIS, 0, SXS_SIG_NONE);
    case SXS_ARGUMENT_INDEX: return add_argument(m, o, a->index);
    case SXS_ARGUMENT_NAME: return add_named(m, o, a->name);
    default: break;
    }
    for (uint32_t i = 0; i < o->sig.n_params; i++)
        if (add_argument(m, o, i))
            return -1;
    return 0;
}

int sxs_operands_choose(struct sxs_method *m, const struct sxs_action *a, struct sxs_operands *o)
{
    o->n = 0;
    if (sxs_sig_parse(SXS_SIG_METHOD, m->sig, m->sig_size, o->nodes, SXS_OPERAND_NODES, &o->sig))
        return sxs_method_fail(m, "its signature cannot be read");
    for (uint32_t i = 0; i < a->n_arguments; i++)
        if (choose_argument(m, o, &a->arguments[i]))
            return -1;
    return 0;
}

/* ---- pushing ---------------------------------------------------------------------------------- */

static uint8_t element_of(const struct sxs_operands *o, const struct sxs_operand *operand)
{
    switch (operand->kind) {
    case SXS_OPERAND_THIS:
    case SXS_OPERAND_OBJECT: return SXS_ELEMENT_OBJECT;
    case SXS_OPERAND_NUMBER: return SXS_ELEMENT_I;
    default: return o->nodes[sxs_sig_plain(&o->sig, operand->node)].element;
    }
}

static int load_operand(struct sxs_emit *e, const struct sxs_operand *operand)
{
    struct sxs_il_body *body = e->m->body;
    int in_argument = operand->kind == SXS_OPERAND_ARGUMENT || operand->kind == SXS_OPERAND_THIS;
    return sxs_emit(e, in_argument ? sxs_il_ldarg(body, operand->number)
                                   : sxs_il_ldloc(body, operand->number));
}

uint8_t sxs_native_element(uint8_t element)
{
    switch (element) {
    case SXS_ELEMENT_BOOLEAN: return SXS_ELEMENT_U1;
    case SXS_ELEMENT_CHAR: return SXS_ELEMENT_U2;
    case SXS_ELEMENT_PTR:
    case SXS_ELEMENT_FNPTR: return SXS_ELEMENT_I;
    case SXS_ELEMENT_I:
    case SXS_ELEMENT_U: return element;
    default: return element >= SXS_ELEMENT_I1 && element <= SXS_ELEMENT_R8 ? element : 0;
    }
}

/* Emits IL that stores a string in a pinned local, and pushes the address of its first character. A
 * null reference becomes 0. */
static int push_text(struct sxs_emit *e, const struct sxs_operand *operand)
{
    static const uint8_t pinned[] = {SXS_ELEMENT_PINNED, SXS_ELEMENT_STRING};
    struct sxs_il_body  *body = e->m->body;
    struct sxs_il_insn  *end = sxs_il_insn(body, SXS_IL_NOP);
    int                  local = sxs_method_add_locals(e->m, pinned, sizeof(pinned), 1);
    if (local < 0 || load_operand(e, operand) || sxs_emit(e, sxs_il_stloc(body, (uint16_t)local)) ||
        sxs_emit(e, sxs_il_ldloc(body, (uint16_t)local)) ||
        sxs_emit(e, sxs_il_insn(body, SXS_IL_CONV_I)) ||
        sxs_emit(e, sxs_il_insn(body, SXS_IL_DUP)) ||
        sxs_emit(e, sxs_il_branch(body, SXS_IL_BRFALSE, end)) ||
        sxs_emit(e, sxs_il_ldc(body, STRING_DATA)) || sxs_emit(e, sxs_il_insn(body, SXS_IL_ADD)))
        return -1;
    return sxs_emit(e, end);
}

/* Objects and structs are refused because a garbage collection can move objects, and objects that
 * structs refer to, while native code runs. */
static int refuse_native(struct sxs_method *m, const struct sxs_operands *o,
                         const struct sxs_operand *operand, uint8_t type)
{
    char        name[128] = "this";
    const char *kind = "an object";
    if (operand->kind == SXS_OPERAND_ARGUMENT)
        name_of(m, operand->number, name, sizeof(name));
    else if (operand->kind == SXS_OPERAND_RESULT)
        snprintf(name, sizeof(name), "the result");
    if (type == SXS_ELEMENT_GENERICINST)
        type = o->nodes[o->nodes[sxs_sig_plain(&o->sig, operand->node)].child].element;
    if (type == SXS_ELEMENT_VALUETYPE)
        kind = "a value type";
    else if (type == SXS_ELEMENT_VAR || type == SXS_ELEMENT_MVAR)
        kind = "of a type parameter";
    else if (type == SXS_ELEMENT_BYREF)
        kind = "by reference";
    else if (type == SXS_ELEMENT_SZARRAY || type == SXS_ELEMENT_ARRAY)
        kind = "an array";
    return sxs_method_fail(m,
                           "%.100s, %s, cannot be handed to native code: it takes numbers and "
                           "strings",
                           name, kind);
}

int sxs_operand_native(struct sxs_emit *e, const struct sxs_operands *o,
                       const struct sxs_operand *operand, uint8_t *element)
{
    uint8_t type = element_of(o, operand);
    *element = SXS_ELEMENT_I;
    if (type == SXS_ELEMENT_STRING)
        return push_text(e, operand);
    *element = sxs_native_element(type);
    if (!*element)
        return refuse_native(e->m, o, operand, type);
    return load_operand(e, operand);
}

/* Whether the type is a ref struct, which cannot be boxed: the runtime would not compile a method
 * that boxes one. Returns 1 also when the type cannot be read. */
static int is_stack_only(const struct sxs_method *m, uint32_t token)
{
    static const char *const known[] = {"System.Span`1", "System.ReadOnlySpan`1",
                                        "System.ArgIterator", "System.RuntimeArgumentHandle"};
    IMetaDataImport2        *imp = m->tokens.import;
    WCHAR                    wide[512] = {0};
    char                     name[1024];
    ULONG                    n = 0;
    if (TABLE(token) == TYPE_DEF)
        return sxs_import_has_attribute(imp, token,
                                        u"System.Runtime.CompilerServices.IsByRefLikeAttribute");
    if (FAILED(imp->vtbl->GetTypeRefProps(imp, token, NULL, wide, ARRAY_LEN(wide), &n)))
        return 1;
    sxs_utf8_of(wide, ARRAY_LEN(wide), name, sizeof(name));
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(name, known[i]) == 0)
            return 1;
    return 0;
}

static int may_box(const struct sxs_method *m, const struct sxs_sig *sig, uint32_t node)
{
    uint8_t  element = sig->nodes[node].element;
    uint32_t open = element == SXS_ELEMENT_GENERICINST ? sig->nodes[node].child : node;
    if (element == SXS_ELEMENT_PTR || element == SXS_ELEMENT_FNPTR ||
        element == SXS_ELEMENT_TYPEDBYREF || element == SXS_ELEMENT_VOID)
        return 0;
    return sig->nodes[open].element != SXS_ELEMENT_VALUETYPE ||
           !is_stack_only(m, sig->nodes[open].value);
}

/* Emits IL that boxes the value on the stack. A reference to a variable is replaced by the
 * variable's value first. */
static int push_boxed(struct sxs_emit *e, const struct sxs_operands *o, uint32_t node)
{
    struct sxs_il_tokens tokens = sxs_tokens_table(&e->m->tokens);
    struct sxs_sig       sig = o->sig;
    uint8_t              bytes[1024];
    size_t               size;
    uint32_t             token;
    int                  by_ref;
    node = sxs_sig_plain(&sig, node);
    by_ref = sig.nodes[node].element == SXS_ELEMENT_BYREF;
    if (by_ref)
        node = sxs_sig_plain(&sig, sig.nodes[node].child);
    sig.result = node;
    if (!may_box(e->m, &sig, node))
        return sxs_method_fail(e->m, "a pointer or a ref struct cannot be handed to managed code");
    size = sxs_sig_write(SXS_SIG_TYPE, &sig, bytes, sizeof(bytes));
    if (!size || size > sizeof(bytes))
        return sxs_method_fail(e->m, "a type is too long");
    if (tokens.type_spec(tokens.context, bytes, size, &token))
        return sxs_method_fail(e->m, "%s", e->m->tokens.error);
    if (by_ref && sxs_emit(e, sxs_il_token(e->m->body, SXS_IL_LDOBJ, token)))
        return -1;
    return sxs_emit(e, sxs_il_token(e->m->body, SXS_IL_BOX, token));
}

int sxs_operands_of_struct(const struct sxs_method *m)
{
    IMetaDataImport2 *imp = m->tokens.import;
    WCHAR             wide[64] = {0};
    char              name[256];
    mdToken           extends = 0;
    ULONG             n = 0;
    if (FAILED(imp->vtbl->GetTypeDefProps(imp, m->owner, NULL, 0, NULL, NULL, &extends)))
        return 1;
    if (TABLE(extends) == TYPE_DEF)
        imp->vtbl->GetTypeDefProps(imp, extends, wide, ARRAY_LEN(wide), &n, NULL, NULL);
    else if (TABLE(extends) == TYPE_REF)
        imp->vtbl->GetTypeRefProps(imp, extends, NULL, wide, ARRAY_LEN(wide), &n);
    sxs_utf8_of(wide, ARRAY_LEN(wide), name, sizeof(name));
    return strcmp(name, "System.ValueType") == 0 || strcmp(name, "System.Enum") == 0;
}

int sxs_operand_managed(struct sxs_emit *e, const struct sxs_operands *o,
                        const struct sxs_operand *operand, uint8_t wanted)
{
    uint8_t type = element_of(o, operand);
    if (operand->kind == SXS_OPERAND_THIS && sxs_operands_of_struct(e->m))
        return sxs_method_fail(e->m, "this is a struct: it cannot be handed over");
    if (load_operand(e, operand))
        return -1;
    if (type == wanted)
        return 0;
    if (wanted != SXS_ELEMENT_OBJECT)
        return sxs_method_fail(e->m, "a value's type is not that of the helper's parameter, nor is "
                                     "that object");
    return operand->node == SXS_SIG_NONE ? 0 : push_boxed(e, o, operand->node);
}
