/* SPDX-License-Identifier: MIT */
/*
 * trace.c - values are told by the addresses of variables, which lie on the stack and do not move: what is in
 * them a collection keeps right. References are copied into one local, which is cleared again, so that nothing
 * lives longer than it would.
 */
#include "rewrite/trace.h"

#include <stdlib.h>

#include "instr/signature_write.h"
#include "rewrite/fault.h"
#include "rewrite/operands.h"
#include "rewrite/traced.h"

/* What is to be emitted for one method. */
struct tracing {
    struct sxs_method       *m;
    const struct sxs_action *a;
    struct sxs_traced       *t;
    struct sxs_operands      o;
    int                      tick, object, thrown, handle; /* locals; -1: none yet */
    int classes[SXS_OPERANDS_MAX]; /* locals with what type parameters stand for; -1: has none */
    int places[SXS_OPERANDS_MAX];  /* of by-ref ones: locals with where they refer to */
    int result_class;
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

/* By reference, and the method may put something else there: such as `ref` and `out`, not `in`. */
static int may_change(const struct tracing *c, const struct sxs_operand *operand)
{
    const struct sxs_recipe *r = c->t->recipe;
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

/* ---- small things ----------------------------------------------------------------------------- */

static int local(struct tracing *c, uint8_t element, int *number)
{
    if (*number < 0)
        *number = sxs_method_add_locals(c->m, &element, 1, 1);
    return *number < 0 ? -1 : 0;
}

static int load(struct sxs_emit *e, const struct sxs_operand *operand)
{
    int in_local = operand->kind == SXS_OPERAND_RESULT;
    return sxs_emit(e, in_local ? sxs_il_ldloc(e->m->body, operand->number)
                                : sxs_il_ldarg(e->m->body, operand->number));
}

static int address(struct sxs_emit *e, const struct sxs_operand *operand)
{
    int in_local = operand->kind == SXS_OPERAND_RESULT;
    return sxs_emit(e, in_local ? sxs_il_ldloca(e->m->body, operand->number)
                                : sxs_il_int(e->m->body, SXS_IL_LDARGA, operand->number));
}

/* ---- what type parameters stand for ----------------------------------------------------------- */

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

/* The exact type's handle, into a local of its own. The runtime's managed code may run here. */
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
    if (c->handle < 0 || local(c, SXS_ELEMENT_I, number))
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

/* `this` of a generic struct: the type over its own parameters. */
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

/* What begin_value() began: the variable's address is on the stack. */
static int tell(struct sxs_emit *e, int cls)
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

/* Through a local of type object: no more than a moment. */
static int tell_reference(struct tracing *c, struct sxs_emit *e, const struct sxs_operand *operand,
                          uint32_t which)
{
    struct sxs_il_body *body = e->m->body;
    if (local(c, SXS_ELEMENT_OBJECT, &c->object))
        return -1;
    return load(e, operand) || sxs_emit(e, sxs_il_stloc(body, (uint16_t)c->object)) ||
           begin_value(c, e, which) || sxs_emit(e, sxs_il_ldloca(body, (uint16_t)c->object)) ||
           tell(e, -1) || sxs_emit(e, sxs_il_insn(body, SXS_IL_LDNULL)) ||
           sxs_emit(e, sxs_il_stloc(body, (uint16_t)c->object));
}

/* Where it refers to as the call begins: a method may give its parameter another place. */
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
    return load(e, &c->o.all[i]) || sxs_emit(e, sxs_il_stloc(e->m->body, (uint16_t)c->places[i]));
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
               tell(e, c->classes[i]);
    return address(e, operand) || tell(e, c->classes[i]);
}

static int tell_result(struct tracing *c, struct sxs_emit *e)
{
    struct sxs_operand result = {SXS_OPERAND_RESULT, c->m->result_local, c->o.sig.result};
    if (!c->a->with_result || !c->m->il.returns)
        return 0;
    if (is_reference(c, &result))
        return tell_reference(c, e, &result, SXS_VALUE_RESULT);
    return begin_value(c, e, SXS_VALUE_RESULT) || address(e, &result) || tell(e, c->result_class);
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
           sxs_emit(e, sxs_il_ldloca(e->m->body, (uint16_t)c->thrown)) || tell(e, -1);
}

/* ---- the method ------------------------------------------------------------------------------- */

static const uint8_t pointer_and_tick[] = {SXS_ELEMENT_I, SXS_ELEMENT_I8};

/* What type parameters stand for comes first: no managed code may run between values. */
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

static int around(struct tracing *c)
{
    struct sxs_method *m = c->m;
    struct sxs_il_wrap wrap;
    struct sxs_emit    e = {m, NULL};
    if (local(c, SXS_ELEMENT_I8, &c->tick) || sxs_fault_wrap(m, &wrap))
        return -1;
    if (c->a->with_exception &&
        (local(c, SXS_ELEMENT_OBJECT, &c->thrown) || sxs_fault_keep(m, (uint16_t)c->thrown)))
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

/* What values look like; the method keeps it for as long as there is code of it. */
static struct sxs_traced *make(const struct sxs_method *m, const struct sxs_marker *marker)
{
    struct sxs_traced *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->marker = marker;
    t->recipe = sxs_recipe_of_method(m->tokens.module, m->token);
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
    err = sxs_operands_choose(m, a, &c->o); /* may refuse the method: before anything is made that stays */
    if (!err) {
        c->t = make(m, marker);
        err = !c->t ? sxs_method_fail(m, "no memory") : around(c);
    }
    free(c); /* what it made stays: its address is in code by now, or soon */
    return err ? -1 : 0;
}
