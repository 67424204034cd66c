/* SPDX-License-Identifier: MIT */
#include "instr/weave/call.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/code_path.h"
#include "instr/weave/helper.h"
#include "instr/weave/operands.h"

/* One call that is being emitted. */
struct calling {
    struct sxs_method            *m;
    const struct sxs_marker      *marker;
    const struct sxs_call_target *target;
    struct sxs_operands           o;
    int                           into;   /* local that receives the result; -1: none */
    uint8_t                       result; /* enum sxs_element of this local; VOID: none */
};

/* ---- native ----------------------------------------------------------------------------------- */

static void *find_native(struct sxs_method *m, const struct sxs_call_target *t)
{
    char  refused[512];
    void *library, *function;
    if (sxs_code_path_refused(t->path, refused, sizeof(refused))) {
        sxs_method_set_why(m, "%s", refused);
        return NULL;
    }
    library = dlopen(t->path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        sxs_method_set_why(m, "%s", dlerror());
        return NULL;
    }
    function = dlsym(library, t->method);
    if (!function)
        sxs_method_set_why(m, "%s has no function %s", t->path, t->method);
    return function; /* the library is never closed, because code refers to it */
}

static int emit_native(struct calling *c, struct sxs_emit *e)
{
    uint8_t elements[SXS_OPERANDS_MAX + 1] = {SXS_ELEMENT_I};
    uint8_t result =
        c->result == SXS_ELEMENT_VOID ? SXS_ELEMENT_VOID : sxs_native_element(c->result);
    void *function = find_native(c->m, c->target);
    if (!function)
        return -1;
    if (!result)
        return sxs_method_fail(c->m, "native code returns numbers only, which its result is not");
    if (sxs_emit_pointer(e, c->marker))
        return -1;
    for (unsigned i = 0; i < c->o.n; i++)
        if (sxs_operand_native(e, &c->o, &c->o.all[i], &elements[i + 1]))
            return -1;
    if ((c->target->plain ? sxs_emit_callout : sxs_emit_native)(e, (uintptr_t)function, result,
                                                                elements, c->o.n + 1))
        return -1;
    return c->into < 0 ? 0 : sxs_emit(e, sxs_il_stloc(c->m->body, (uint16_t)c->into));
}

/* ---- managed ---------------------------------------------------------------------------------- */

static int check_helper(const struct calling *c, const struct sxs_helper *h)
{
    if (h->n_parameters != c->o.n)
        return sxs_method_fail(c->m, "the helper's method %s has %u parameters, not %u", h->method,
                               h->n_parameters, c->o.n);
    if (c->into >= 0 && h->result != c->result)
        return sxs_method_fail(c->m, "the helper's method %s does not return what is needed",
                               h->method);
    return 0;
}

static int pass_to_helper(struct calling *c, struct sxs_emit *e, struct sxs_helper *h)
{
    for (unsigned i = 0; i < c->o.n; i++)
        if (sxs_operand_managed(e, &c->o, &c->o.all[i], h->parameters[i]))
            return -1;
    if (sxs_emit_helper_call(e, h))
        return -1;
    if (c->into >= 0)
        return sxs_emit(e, sxs_il_stloc(c->m->body, (uint16_t)c->into));
    return h->result == SXS_ELEMENT_VOID ? 0 : sxs_emit(e, sxs_il_insn(c->m->body, SXS_IL_POP));
}

/* Emits .try { load; call; leave } catch object { pop; count; leave } */
static int emit_managed(struct calling *c, struct sxs_emit *e)
{
    struct sxs_il_body *body = c->m->body;
    struct sxs_il_insn *end = sxs_il_insn(body, SXS_IL_NOP), *first = sxs_il_insn(body, SXS_IL_NOP);
    struct sxs_il_insn *leave = sxs_il_branch(body, SXS_IL_LEAVE, end);
    struct sxs_il_insn *handler = sxs_il_insn(body, SXS_IL_POP);
    struct sxs_il_insn *last = sxs_il_branch(body, SXS_IL_LEAVE, end);
    struct sxs_helper  *h = sxs_helper_find(c->m, c->target);
    struct sxs_il_clause *clause;
    uint32_t              object;
    if (!h)
        return c->m->why[0] ? -1 : sxs_method_fail(c->m, "no memory");
    if (check_helper(c, h) || sxs_emit(e, first) || sxs_emit_helper_load(e, h, leave) ||
        pass_to_helper(c, e, h) || sxs_emit(e, leave) || sxs_emit(e, handler) ||
        sxs_emit_helper_failed(e, h, c->marker) || sxs_emit(e, last) || sxs_emit(e, end))
        return -1;
    if (sxs_tokens_core_type(&c->m->tokens, "System.Object", &object))
        return sxs_method_fail(c->m, "%s", c->m->tokens.error);
    clause = sxs_il_add_clause(body, 0);
    if (!clause)
        return sxs_method_fail(c->m, "no memory");
    *clause = (struct sxs_il_clause){SXS_IL_CATCH, object, first, leave, handler, last, NULL};
    return 0;
}

/* ---- native or managed ------------------------------------------------------------------------ */

static int emit_call(struct calling *c, struct sxs_il_insn *at)
{
    struct sxs_emit e = {c->m, at};
    if (c->target->kind == SXS_TARGET_NATIVE)
        return emit_native(c, &e);
    if (c->target->kind == SXS_TARGET_MANAGED)
        return emit_managed(c, &e);
    return sxs_method_fail(c->m, "nothing is said of what to call");
}

static struct calling *begin_calling(struct sxs_method *m, const struct sxs_marker *marker,
                                     const struct sxs_call_target *target)
{
    struct calling *c = calloc(1, sizeof(*c));
    if (!c) {
        sxs_method_set_why(m, "no memory");
        return NULL;
    }
    c->m = m;
    c->marker = marker;
    c->target = target;
    c->into = -1;
    c->result = SXS_ELEMENT_VOID;
    return c;
}

int sxs_call_before(struct sxs_method *m, const struct sxs_marker *marker,
                    const struct sxs_action *a)
{
    struct calling *c = begin_calling(m, marker, &a->call);
    int             err = !c || sxs_operands_choose(m, a, &c->o) || emit_call(c, m->body->first);
    free(c);
    return err ? -1 : 0;
}

int sxs_call_replace(struct sxs_method *m, const struct sxs_marker *marker,
                     const struct sxs_action *a, struct sxs_il_insn *at)
{
    struct calling *c = begin_calling(m, marker, &a->call);
    int             err = !c || sxs_operands_choose(m, a, &c->o);
    if (!err) {
        c->into = sxs_method_result(m);
        c->result = c->o.nodes[sxs_sig_plain(&c->o.sig, c->o.sig.result)].element;
        err = c->into < 0 || emit_call(c, at);
    }
    free(c);
    return err ? -1 : 0;
}

/* ---- when the method ends --------------------------------------------------------------------- */

/* A call at the method's end. Its operands are: the arguments or the state of <wrap>, then the
 * result, then the exception. */
struct end {
    const struct sxs_action      *a;
    const struct sxs_call_target *target;
    int                           state;  /* local with the state; -1: the arguments instead */
    int                           result; /* local with the result; -1: none */
    int thrown; /* local: the exception; for native code whether there is one */
};

static int add_local(struct sxs_method *m, uint8_t element)
{
    return sxs_method_add_locals(m, &element, 1, 1);
}

static int is_native(const struct sxs_call_target *t)
{
    return t->kind == SXS_TARGET_NATIVE;
}

static int end_operands(struct calling *c, const struct end *e)
{
    struct sxs_method    *m = c->m;
    enum sxs_operand_kind kind = is_native(e->target) ? SXS_OPERAND_NUMBER : SXS_OPERAND_OBJECT;
    struct sxs_action     none = *e->a;
    if (e->state >= 0)
        none.n_arguments = 0;
    if (sxs_operands_choose(m, &none, &c->o))
        return -1;
    if (e->state >= 0 && sxs_operands_add(m, &c->o, kind, (uint16_t)e->state, SXS_SIG_NONE))
        return -1;
    if (e->a->with_result && m->il.returns &&
        sxs_operands_add(m, &c->o, SXS_OPERAND_RESULT, (uint16_t)e->result, c->o.sig.result))
        return -1;
    return e->a->with_exception
               ? sxs_operands_add(m, &c->o, kind, (uint16_t)e->thrown, SXS_SIG_NONE)
               : 0;
}

static int call_end(struct sxs_method *m, const struct sxs_marker *marker, const struct end *e,
                    struct sxs_il_insn *at)
{
    struct calling *c = begin_calling(m, marker, e->target);
    int             err = !c || end_operands(c, e) || emit_call(c, at);
    free(c);
    return err ? -1 : 0;
}

/* Emits, in the handler, IL that stores the exception in e->thrown. For native code it stores 1. */
static int keep_exception(struct sxs_method *m, const struct end *e, struct sxs_il_wrap *wrap)
{
    struct sxs_emit     emit = {m, wrap->pop};
    struct sxs_il_insn *pop = wrap->pop;
    if (!is_native(e->target)) {
        struct sxs_il_insn *keep = sxs_il_stloc(m->body, (uint16_t)e->thrown);
        if (!keep)
            return sxs_method_fail(m, "no memory");
        sxs_il_replace(m->body, pop, keep);
        wrap->pop = keep;
        return 0;
    }
    emit.at = wrap->rethrow;
    return sxs_emit(&emit, sxs_il_ldc(m->body, 1)) ||
           sxs_emit(&emit, sxs_il_insn(m->body, SXS_IL_CONV_I)) ||
           sxs_emit(&emit, sxs_il_stloc(m->body, (uint16_t)e->thrown));
}

/* Wraps the method in a try block and adds the calls at its end. The locals e->result and e->thrown
 * rely on init_locals, which clears them whenever the method is entered. */
static int wrap_with_end(struct sxs_method *m, const struct sxs_marker *marker, struct end *e,
                         enum sxs_on on, struct sxs_il_wrap *wrap)
{
    uint32_t object;
    int      result = sxs_method_result(m);
    e->result = result;
    e->thrown = add_local(m, is_native(e->target) ? SXS_ELEMENT_I : SXS_ELEMENT_OBJECT);
    if (result < 0 || e->thrown < 0)
        return -1;
    m->body->init_locals = 1;
    if (sxs_tokens_core_type(&m->tokens, "System.Object", &object))
        return sxs_method_fail(m, "%s", m->tokens.error);
    if (sxs_il_wrap(m->body, &m->il, (uint16_t)result, object, wrap, &m->error))
        return sxs_method_fail(m, "it cannot be wrapped: %s", m->error.text);
    if (on != SXS_ON_RESULT &&
        (keep_exception(m, e, wrap) || call_end(m, marker, e, wrap->rethrow)))
        return -1;
    return on == SXS_ON_EXCEPTION || !wrap->exit ? 0 : call_end(m, marker, e, wrap->exit->next);
}

int sxs_call_after(struct sxs_method *m, const struct sxs_marker *marker,
                   const struct sxs_action *a)
{
    struct sxs_il_wrap wrap;
    struct end         e = {a, &a->call, -1, -1, -1};
    return wrap_with_end(m, marker, &e, a->on, &wrap);
}

int sxs_call_wrap(struct sxs_method *m, const struct sxs_marker *marker, const struct sxs_action *a)
{
    struct sxs_il_wrap wrap;
    uint8_t            state = is_native(&a->call) ? SXS_ELEMENT_I : SXS_ELEMENT_OBJECT;
    struct end         e = {a, &a->finish, add_local(m, state), -1, -1};
    struct calling    *c;
    int                err;
    if (e.state < 0)
        return -1;
    if (a->finish.kind != SXS_TARGET_NONE) {
        if (a->finish.kind != a->call.kind)
            return sxs_method_fail(m, "both calls must be native, or both managed");
        if (wrap_with_end(m, marker, &e, SXS_ON_END, &wrap))
            return -1;
    }
    c = begin_calling(m, marker, &a->call);
    err = !c || sxs_operands_choose(m, a, &c->o);
    if (!err) {
        c->into = e.state;
        c->result = state;
        err = emit_call(c, m->body->first);
    }
    free(c);
    return err ? -1 : 0;
}
