/* SPDX-License-Identifier: MIT */
/*
 * inserter.c - a plug-in that inserts code at entry, before each ret and at each branch target of every
 * method. At entry and before ret the code calls a function of this library through a signature that
 * the plug-in adds to the module's metadata; at branch targets it is a constant that is popped, or a
 * nop. At the end it prints how often these functions were called. PLUG_ONLY: methods of modules whose
 * file name contains this text only.
 */
#include "tests/clrie/edit.h"

const char plug_name[] = "inserter";

struct inserter {
    atomic_ullong entered, left;
    atomic_uint   methods, completed, rets, targets;
};

static void count_entry(void *arg)
{
    struct inserter *own = arg;
    atomic_fetch_add_explicit(&own->entered, 1, memory_order_relaxed);
}

static void count_ret(void *arg)
{
    struct inserter *own = arg;
    atomic_fetch_add_explicit(&own->left, 1, memory_order_relaxed);
}

HRESULT plug_initialize(struct plug *p)
{
    p->own = calloc(1, sizeof(struct inserter));
    return p->own ? S_OK : E_OUTOFMEMORY;
}

/* Compiled code may still call the functions above, so the counts are not freed. */
HRESULT plug_shutdown(struct plug *p)
{
    struct inserter *own = p->own;
    plug_say(p, "methods %u completed %u rets %u targets %u", own->methods, own->completed,
             own->rets, own->targets);
    plug_say(p, "entered %llu left %llu", own->entered, own->left);
    plug_say(p, "failed %u", plug_failed);
    return S_OK;
}

static void insert_at_target(struct edit *e, unsigned k)
{
    if (k % 2) {
        edit_insert(e, EDIT_RETARGET, e->at[k], edit_op(e, Cee_Nop));
        return;
    }
    edit_insert(e, EDIT_RETARGET, e->at[k], edit_const(e, (int)k - 40));
    edit_insert(e, EDIT_BEFORE, e->at[k], edit_op(e, Cee_Pop));
}

HRESULT plug_should(struct plug *p, IMethodInfo *method, BOOL is_rejit, BOOL *wants)
{
    (void)is_rejit;
    *wants = edit_is_wanted(p, method);
    return S_OK;
}

HRESULT plug_instrument(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    struct inserter *own = p->own;
    struct edit      e;
    mdToken          signature = edit_call_signature(p, method);
    (void)is_rejit;
    if (!signature || !edit_begin(&e, p, method)) {
        plug_say(p, "cannot change %s", plug_method_name(p, method));
        return S_OK;
    }
    for (unsigned k = 0; k < e.n; k++) {
        if (e.is_target[k] && !edit_has_prefix(&e, k)) {
            insert_at_target(&e, k);
            atomic_fetch_add(&own->targets, 1);
        }
        if (e.op[k] == Cee_Ret && !edit_ends_tail_call(&e, k)) {
            edit_insert_call(&e, EDIT_RETARGET, e.at[k], count_ret, signature);
            atomic_fetch_add(&own->rets, 1);
        }
    }
    /* Branches to the first instruction must not count as entries. */
    {
        IInstruction *first = NULL;
        if (DO(p, e.graph, GetFirstInstruction, &first)) {
            edit_insert_call(&e, EDIT_BEFORE, first, count_entry, signature);
            CALL(first, Release);
        }
    }
    atomic_fetch_add(&own->methods, 1);
    edit_end(&e);
    return S_OK;
}

HRESULT plug_complete(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    struct inserter *own = p->own;
    (void)method;
    (void)is_rejit;
    atomic_fetch_add(&own->completed, 1);
    return S_OK;
}
