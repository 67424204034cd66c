/* SPDX-License-Identifier: MIT */
/*
 * rejitter.c - a plug-in that requests methods of the app rewritten for ReJIT, and reverts them, when
 * the app says so (command.h). It appends its id to what a method returns: the result r becomes
 * 10 * r + id. So the results show which plug-ins have changed a method, and in which order.
 *   REJITTER_FIRST=IDS    these plug-ins change the first compilation, too
 *   REJITTER_REFUSE=NAME  AllowInlineSite refuses this method
 *   REJITTER_WRONG=IDS    these plug-ins leave a graph that no JIT accepts
 *   REJITTER_FAILS=IDS    these plug-ins fail in InstrumentMethod
 */
#include "tests/clrie/command.h"

const char     plug_name[] = "rejitter";
const unsigned plug_has = PLUG_JIT;

/* 1 if the variable names the plug-in. */
static int is_in(const struct plug *p, const char *variable)
{
    const char *ids = getenv(variable);
    return ids && strchr(ids, '0' + p->id);
}

static int is_method(const char *variable, const char *name)
{
    const char *wanted = getenv(variable);
    return wanted && name && strcmp(wanted, name) == 0;
}

HRESULT plug_should(struct plug *p, IMethodInfo *method, BOOL is_rejit, BOOL *wants)
{
    if (!commanded_name(p, method))
        return S_OK;
    *wants = is_in(p, "REJITTER_FIRST") || (is_rejit && commanded_is_requested(p, method));
    return S_OK;
}

static void say_generations(struct edit *e, BOOL is_rejit)
{
    unsigned n[4] = {0, 0, 0, 0}, n_new = 0;
    for (unsigned k = 0; k < e->n; k++) {
        InstructionGeneration generation = 0;
        BOOL                  is_new = 0;
        DO(e->p, e->at[k], GetInstructionGeneration, &generation);
        DO(e->p, e->at[k], GetIsNew, &is_new);
        n[(unsigned)generation % 4]++;
        n_new += is_new != 0;
    }
    plug_say(e->p, "%u: %s rejit=%d: original %u baseline %u new %u %u", e->p->id,
             commanded_name(e->p, e->method), is_rejit, n[1], n[2], n[3], n_new);
}

static void append_digit(struct edit *e, unsigned k)
{
    edit_insert(e, EDIT_RETARGET, e->at[k], edit_const(e, 10));
    edit_insert(e, EDIT_BEFORE, e->at[k], edit_op(e, Cee_Mul));
    edit_insert(e, EDIT_BEFORE, e->at[k], edit_const(e, e->p->id));
    edit_insert(e, EDIT_BEFORE, e->at[k], edit_op(e, Cee_Add));
}

HRESULT plug_instrument(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    struct edit e;
    if (!edit_begin(&e, p, method))
        return E_FAIL;
    say_generations(&e, is_rejit);
    for (unsigned k = 0; k < e.n; k++)
        if (e.op[k] == Cee_Ret)
            append_digit(&e, k);
    if (is_in(p, "REJITTER_WRONG"))
        edit_insert(&e, EDIT_BEFORE, e.at[0], edit_op(&e, Cee_Pop));
    edit_end(&e);
    return is_in(p, "REJITTER_FAILS") ? E_FAIL : S_OK;
}

HRESULT plug_complete(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    const char *name = commanded_name(p, method);
    if (name)
        plug_say(p, "%u: complete %s rejit=%d", p->id, name, is_rejit);
    return S_OK;
}

HRESULT plug_inline(struct plug *p, IMethodInfo *callee, IMethodInfo *caller, BOOL *allowed)
{
    const char *name = commanded_name(p, callee);
    (void)caller;
    if (!name)
        return S_OK;
    if (is_method("REJITTER_REFUSE", name))
        *allowed = 0;
    plug_say(p, "%u: inline %s %d", p->id, name, *allowed);
    return S_OK;
}

HRESULT plug_jit_started(struct plug *p, FunctionID function, BOOL is_rejit)
{
    IMethodInfo *method = commanded_method(p, function);
    const char  *name = method ? commanded_name(p, method) : NULL;
    if (name)
        plug_say(p, "%u: compiling %s rejit=%d", p->id, name, is_rejit);
    if (method)
        CALL(method, Release);
    return S_OK;
}

HRESULT plug_shutdown(struct plug *p)
{
    plug_say(p, "failed %u", plug_failed);
    commanded_end(p);
    return S_OK;
}
