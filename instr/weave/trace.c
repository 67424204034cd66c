/* SPDX-License-Identifier: MIT */
/*
 * trace.c - emits the IL that records each call of a method, with values.
 *
 * A value is passed to its callout by the address of its variable. Variables lie on the stack, so
 * they do not move, and the runtime updates references in them when a garbage collection moves
 * objects. References are copied into one local, which is cleared afterwards, so that tracing does
 * not keep objects alive.
 */
#include "instr/weave/trace.h"

#include <stdlib.h>

#include "instr/metadata/signature_write.h"
#include "instr/weave/fault.h"
#include "instr/weave/operands.h"
#include "instr/weave/traced.h"

/* The method that IL is emitted for. */
struct tracing {
    struct sxs_method       *m;
    const struct sxs_action *a;
    struct sxs_traced       *t;
    struct sxs_operands      o;
    /* Locals; -1: none yet. The time at entry, a reference for a short time, the exception that
     * leaves the method, a RuntimeTypeHandle. */
    int tick, object, thrown, handle;
    /* For each operand a local; -1: none. */
    int classes[SXS_OPERANDS_MAX]; /* the exact type, if the declared type has type parameters */
    int places[SXS_OPERANDS_MAX];  /* the address in a by-ref argument when the call begins */
    int result_class;              /* local with the exact type of the result; -1: none */
};

/* ---- kinds of values -------------------------------------------------------------------------- */

static uint8_t element_at(const struct tracing *c, uint32_t node)
{
    return c->o.nodes[sxs_sig_plain(&c->o.sig, node)].element;
}

static int is_reference(const struct tracing *c, const struct sxs_operand *operand)
{
    uint32_t node = operand->node;
    if (operand->kind == SXS_OPERAND_THIS)
        return !sxs_operands_of_struct(c->m);
    switch (element_at(c, node)) {
    case SXS_ELEMENT_STRING:
    case SXS_ELEMENT_OBJECT:
    case SXS_ELEMENT_CLASS:
    case SXS_ELEMENT_SZARRAY:
    case SXS_ELEMENT_ARRAY: return 1;
    case SXS_ELEMENT_GENERICINST:
        node = c->o.nodes[sxs_sig_plain(&c->o.sig, node)].child;
        return c->o.nodes[node].element == SXS_ELEMENT_CLASS;
    default: return 0;
    }
}

static int is_by_ref(const struct tracing *c, const struct sxs_operand *operand)
{
    return operand->kind != SXS_OPERAND_THIS &&
           element_at(c, operand->node) == SXS_ELEMENT_BYREF;
}

/* Whether the argument is by reference, and the method may write to it: `ref` and `out`, but not
 * `in`. */
static int may_change(const struct tracing *c, const struct sxs_operand *operand)
{
    const struct sxs_formatter *r = c->t->formatter;
    return is_by_ref(c, operand) &&
           !(r && operand->number < r->n_params && r->params[operand->number].is_in);
}

static int holds_parameter(const struct sxs_sig *sig, uint32_t node)
{
    uint8_t element = sig->nodes[node].element;
    if (element == SXS_ELEMENT_VAR || element == SXS_ELEMENT_MVAR)
        return 1;
    for (uint32_t i = sig->nodes[node].child; i != SXS_SIG_NONE; i = sig->nodes[i].next)
        if (holds_parameter(sig, i))
            return 1;
    return 0;
}

/* ---- locals and loads ------------------------------------------------------------------------- */

/* Adds the local *@number unless it exists. */
static int add_local(struct tracing *c, uint8_t element, int *number)
{
    if (*number < 0)
        *number = sxs_method_add_locals(c->m, &element, 1, 1);
    return *number < 0 ? -1 : 0;
}

static int load_operand(struct sxs_emit *e, const struct sxs_operand *operand)
{
    int in_local = operand->kind == SXS_OPERAND_RESULT;
    return sxs_emit(e, in_local ? sxs_il_ldloc(e->m->body, operand->number)
                                : sxs_il_ldarg(e->m->body, operand->number));
}

static int load_address(struct sxs_emit *e, const struct sxs_operand *operand)
{
    int in_local = operand->kind == SXS_OPERAND_RESULT;
    return sxs_emit(e, in_local ? sxs_il_ldloca(e->m->body, operand->number)
                                : sxs_il_int(e->m->body, SXS_IL_LDARGA, operand->number));
}

/* ---- exact types of values -------------------------------------------------------------------- */

static int type_spec(struct tracing *c, uint32_t node, uint32_t *token)
{
    struct sxs_il_tokens tokens = sxs_tokens_table(&c->m->tokens);
    struct sxs_sig       sig = c->o.sig;
    uint8_t              bytes[1024];
    size_t               size;
    sig.result = node;
    size = sxs_sig_write(SXS_SIG_TYPE, &sig, bytes, sizeof(bytes));
    if (!size || size > sizeof(bytes))
        return sxs_method_fail(c->m, "the type of a value is too long");
    if (tokens.type_spec(tokens.context, bytes, size, token))
        return sxs_method_fail(c->m, "%s", c->m->tokens.error);
    return 0;
}

/* Emits IL that stores the type handle of @token, the exact type in the present instantiation, in a
 * new local. This IL may run managed code of the runtime. */
static int emit_class(struct tracing *c, struct sxs_emit *e, uint32_t token, int *number)
{
    static const uint8_t value[] = {0x20, 0, SXS_ELEMENT_I};
    struct sxs_il_tokens tokens = sxs_tokens_table(&c->m->tokens);
    uint32_t             type, member;
    uint8_t              sig[8] = {SXS_ELEMENT_VALUETYPE};
    if (sxs_tokens_core_type(&c->m->tokens, "System.RuntimeTypeHandle", &type) ||
        tokens.member(tokens.context, type, "get_Value", value, sizeof(value), &member))
        return sxs_method_fail(c->m, "%s", c->m->tokens.error);
    if (c->handle < 0)
        c->handle = sxs_method_add_locals(c->m, sig, 1 + sxs_emit_coded(sig + 1, type), 1);
    if (c->handle < 0 || add_local(c, SXS_ELEMENT_I, number))
        return -1;
    return sxs_emit(e, sxs_il_token(e->m->body, SXS_IL_LDTOKEN, token)) ||
           sxs_emit(e, sxs_il_stloc(e->m->body, (uint16_t)c->handle)) ||
           sxs_emit(e, sxs_il_ldloca(e->m->body, (uint16_t)c->handle)) ||
           sxs_emit(e, sxs_il_token(e->m->body, SXS_IL_CALL, member)) ||
           sxs_emit(e, sxs_il_stloc(e->m->body, (uint16_t)*number));
}

static uint32_t type_parameters(const struct sxs_method *m)
{
    IMetaDataImport2 *imp = m->tokens.import;
    HCORENUM          all = NULL;
    mdGenericParam    params[64];
    ULONG             n = 0;
    if (imp->vtbl->EnumGenericParams(imp, &all, m->owner, params, ARRAY_LEN(params), &n) != S_OK)
        n = 0;
    imp->vtbl->CloseEnum(imp, all);
    return n;
}

/* Emits the exact type of `this` of a generic struct: the struct over its own type parameters. */
static int class_of_this(struct tracing *c, struct sxs_emit *e, int *number)
{
    uint32_t n = type_parameters(c->m), list = SXS_SIG_NONE, open, token;
    struct sxs_sig *sig = &c->o.sig;
    if (!n)
        return 0;
    open = sxs_sig_add(sig, SXS_ELEMENT_VALUETYPE, c->m->owner, SXS_SIG_NONE);
    list = open;
    for (uint32_t i = 0; i < n && list != SXS_SIG_NONE; i++)
        list = sxs_sig_append(sig, list, sxs_sig_add(sig, SXS_ELEMENT_VAR, i, SXS_SIG_NONE));
    open = sxs_sig_add(sig, SXS_ELEMENT_GENERICINST, 0, open);
    if (open == SXS_SIG_NONE)
        return sxs_method_fail(c->m, "its type has too many type parameters");
    c->o.nodes[open].n = (uint16_t)(n + 1);
    return type_spec(c, open, &token) || emit_class(c, e, token, number) ? -1 : 0;
}

/* Emits the exact type of an operand whose declared type has type parameters. References have none:
 * an object knows its type. *number: the local, or -1. */
static int class_of(struct tracing *c, struct sxs_emit *e, const struct sxs_operand *operand,
                    int *number)
{
    uint32_t node, token;
    *number = -1;
    if (is_reference(c, operand))
        return 0;
    if (operand->kind == SXS_OPERAND_THIS)
        return class_of_this(c, e, number);
    node = sxs_sig_plain(&c->o.sig, operand->node);
    if (c->o.nodes[node].element == SXS_ELEMENT_BYREF)
        node = sxs_sig_plain(&c->o.sig, c->o.nodes[node].child);
    if (c->o.nodes[node].element == SXS_ELEMENT_PTR ||
        c->o.nodes[node].element == SXS_ELEMENT_FNPTR || !holds_parameter(&c->o.sig, node))
        return 0;
    return type_spec(c, node, &token) || emit_class(c, e, token, number) ? -1 : 0;
}

/* ---- values ----------------------------------------------------------------------------------- */

/* Completes what begin_value() began: emits the call of sxs_traced_value(). The address of the
 * variable is on the evaluation stack. @cls: local with the exact type; -1: none. */
static int end_value(struct sxs_emit *e, int cls)
{
    static const uint8_t types[] = {SXS_ELEMENT_I, SXS_ELEMENT_I, SXS_ELEMENT_I, SXS_ELEMENT_I};
    struct sxs_il_body  *body = e->m->body;
    return sxs_emit(e, sxs_il_insn(body, SXS_IL_CONV_U)) ||
           (cls < 0 ? sxs_emit(e, sxs_il_ldc(body, 0)) || sxs_emit(e, sxs_il_insn(body, SXS_IL_CONV_I))
                    : sxs_emit(e, sxs_il_ldloc(body, (uint16_t)cls))) ||
           sxs_emit_callout(e, (uintptr_t)sxs_traced_value, SXS_ELEMENT_VOID, types, 4);
}

static int begin_value(const struct tracing *c, struct sxs_emit *e, uint32_t which)
{
    return sxs_emit_pointer(e, c->t) || sxs_emit(e, sxs_il_ldc(e->m->body, (int32_t)which)) ||
           sxs_emit(e, sxs_il_insn(e->m->body, SXS_IL_CONV_I));
}

/* Passes a reference through a local of type object, which is cleared directly afterwards. */
static int tell_reference(struct tracing *c, struct sxs_emit *e, const struct sxs_operand *operand,
                          uint32_t which)
{
    struct sxs_il_body *body = e->m->body;
    if (add_local(c, SXS_ELEMENT_OBJECT, &c->object))
        return -1;
    return load_operand(e, operand) || sxs_emit(e, sxs_il_stloc(body, (uint16_t)c->object)) ||
           begin_value(c, e, which) || sxs_emit(e, sxs_il_ldloca(body, (uint16_t)c->object)) ||
           end_value(e, -1) || sxs_emit(e, sxs_il_insn(body, SXS_IL_LDNULL)) ||
           sxs_emit(e, sxs_il_stloc(body, (uint16_t)c->object));
}

/* Stores the address in a by-ref argument when the call begins, because the method may let its
 * parameter refer to another variable. */
static int keep_place(struct tracing *c, struct sxs_emit *e, unsigned i)
{
    struct sxs_sig sig = c->o.sig;
    uint8_t        bytes[1024];
    size_t         size;
    sig.result = sxs_sig_plain(&sig, c->o.all[i].node);
    size = sxs_sig_write(SXS_SIG_TYPE, &sig, bytes, sizeof(bytes));
    if (!size || size > sizeof(bytes))
        return sxs_method_fail(c->m, "the type of a value is too long");
    c->places[i] = sxs_method_add_locals(c->m, bytes, size, 1);
    if (c->places[i] < 0)
        return -1;
    return load_operand(e, &c->o.all[i]) ||
           sxs_emit(e, sxs_il_stloc(e->m->body, (uint16_t)c->places[i]));
}

static int tell_argument(struct tracing *c, struct sxs_emit *e, unsigned i)
{
    const struct sxs_operand *operand = &c->o.all[i];
    if (is_reference(c, operand))
        return tell_reference(c, e, operand, operand->number);
    if (begin_value(c, e, operand->number))
        return -1;
    if (c->places[i] >= 0)
        return sxs_emit(e, sxs_il_ldloca(e->m->body, (uint16_t)c->places[i])) ||
               end_value(e, c->classes[i]);
    return load_address(e, operand) || end_value(e, c->classes[i]);
}

static int tell_result(struct tracing *c, struct sxs_emit *e)
{
    struct sxs_operand result = {SXS_OPERAND_RESULT, c->m->result_local, c->o.sig.result};
    if (!c->a->with_result || !c->m->il.returns)
        return 0;
    if (is_reference(c, &result))
        return tell_reference(c, e, &result, SXS_VALUE_RESULT);
    return begin_value(c, e, SXS_VALUE_RESULT) || load_address(e, &result) ||
           end_value(e, c->result_class);
}

static int tell_by_refs(struct tracing *c, struct sxs_emit *e)
{
    for (unsigned i = 0; i < c->o.n; i++)
        if (c->places[i] >= 0 && tell_argument(c, e, i))
            return -1;
    return 0;
}

static int tell_thrown(struct tracing *c, struct sxs_emit *e)
{
    if (c->thrown < 0)
        return 0;
    return begin_value(c, e, SXS_VALUE_EXCEPTION) ||
           sxs_emit(e, sxs_il_ldloca(e->m->body, (uint16_t)c->thrown)) || end_value(e, -1);
}

/* ---- the method ------------------------------------------------------------------------------- */

static const uint8_t pointer_and_tick[] = {SXS_ELEMENT_I, SXS_ELEMENT_I8};

/* Exact types come first, because finding them may run managed code, and no managed code may run
 * between the first value and the record. */
static int at_entry(struct tracing *c, struct sxs_emit *e)
{
    struct sxs_operand result = {SXS_OPERAND_RESULT, c->m->result_local, c->o.sig.result};
    for (unsigned i = 0; i < c->o.n; i++)
        if (class_of(c, e, &c->o.all[i], &c->classes[i]) ||
            (may_change(c, &c->o.all[i]) && keep_place(c, e, i)))
            return -1;
    if (c->a->with_result && c->m->il.returns && class_of(c, e, &result, &c->result_class))
        return -1;
    for (unsigned i = 0; i < c->o.n; i++)
        if (tell_argument(c, e, i))
            return -1;
    return sxs_emit_pointer(e, c->t) ||
           sxs_emit_callout(e, (uintptr_t)sxs_traced_entered, SXS_ELEMENT_I8, pointer_and_tick, 1) ||
           sxs_emit(e, sxs_il_stloc(e->m->body, (uint16_t)c->tick));
}

static int at_end(struct tracing *c, struct sxs_emit *e, int threw)
{
    uintptr_t ends = (uintptr_t)(threw ? sxs_traced_throws : sxs_traced_leaves);
    if (sxs_emit_pointer(e, c->t) || sxs_emit(e, sxs_il_ldloc(e->m->body, (uint16_t)c->tick)) ||
        sxs_emit_callout(e, ends, SXS_ELEMENT_VOID, pointer_and_tick, 2) ||
        (threw ? tell_thrown(c, e) : tell_result(c, e)) || tell_by_refs(c, e))
        return -1;
    return sxs_emit_pointer(e, c->t) ||
           sxs_emit_callout(e, (uintptr_t)sxs_traced_ended, SXS_ELEMENT_VOID, pointer_and_tick, 1);
}

static int wrap_body(struct tracing *c)
{
    struct sxs_method *m = c->m;
    struct sxs_il_wrap wrap;
    struct sxs_emit    e = {m, NULL};
    if (add_local(c, SXS_ELEMENT_I8, &c->tick) || sxs_fault_wrap(m, &wrap))
        return -1;
    if (c->a->with_exception &&
        (add_local(c, SXS_ELEMENT_OBJECT, &c->thrown) || sxs_fault_keep(m, (uint16_t)c->thrown)))
        return -1;
    e.at = wrap.body;
    if (at_entry(c, &e))
        return -1;
    e.at = wrap.rethrow;
    if (at_end(c, &e, 1))
        return -1;
    if (!wrap.exit)
        return 0;
    e.at = wrap.exit->next;
    return at_end(c, &e, 0);
}

/* Makes the formatter of the method's values. Never freed: code with its address may still run. */
static struct sxs_traced *make_traced(const struct sxs_method *m, const struct sxs_marker *marker)
{
    struct sxs_traced *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->marker = marker;
    t->formatter = sxs_formatter_of_method(m->tokens.module, m->token);
    return t;
}

int sxs_trace(struct sxs_method *m, const struct sxs_marker *marker, const struct sxs_action *a)
{
    struct tracing *c = calloc(1, sizeof(*c));
    int             err;
    if (!c)
        return sxs_method_fail(m, "no memory");
    *c = (struct tracing){.m = m, .a = a, .tick = -1, .object = -1, .thrown = -1, .handle = -1,
                          .result_class = -1};
    for (unsigned i = 0; i < SXS_OPERANDS_MAX; i++)
        c->classes[i] = c->places[i] = -1;
    /* Comes first, because it may refuse the method, and the memory of make_traced() is never
     * freed. */
    err = sxs_operands_choose(m, a, &c->o);
    if (!err) {
        c->t = make_traced(m, marker);
        err = !c->t ? sxs_method_fail(m, "no memory") : wrap_body(c);
    }
    free(c); /* not c->t: the new IL contains its address */
    return err ? -1 : 0;
}
