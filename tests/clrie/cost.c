/* SPDX-License-Identifier: MIT */
/*
 * cost.c - the plug-in of the benchmark. COST=decline: it wants no method. COST=insert: it inserts code
 * at the entry of each method that counts in a number of its own. COST=ask: as decline, but it asks each
 * method for its full name and its module. It prints how many methods it was asked about and changed.
 */
#include "tests/clrie/edit.h"

const char plug_name[] = "cost";

struct cost {
    unsigned asked, changed;
    int      inserts, asks;
    int32_t  hits; /* what the inserted code counts */
};

HRESULT plug_initialize(struct plug *p)
{
    const char  *what = getenv("COST");
    struct cost *own = calloc(1, sizeof(*own));
    if (!own)
        return E_OUTOFMEMORY;
    own->inserts = what && strcmp(what, "insert") == 0;
    own->asks = what && strcmp(what, "ask") == 0;
    p->own = own;
    return S_OK;
}

/* Compiled code may still count, so the numbers are not freed. */
HRESULT plug_shutdown(struct plug *p)
{
    const struct cost *own = p->own;
    if (getenv("PLUG_OUT"))
        plug_say(p, "asked %u changed %u hits %d failed %u", own->asked, own->changed, own->hits,
                 plug_failed);
    return S_OK;
}

HRESULT plug_should(struct plug *p, IMethodInfo *method, BOOL is_rejit, BOOL *wants)
{
    struct cost *own = p->own;
    (void)is_rejit;
    own->asked++;
    if (own->asks) {
        plug_method_name(p, method);
        edit_module(p, method);
    }
    *wants = own->inserts;
    return S_OK;
}

HRESULT plug_instrument(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    struct cost *own = p->own;
    struct edit  e = {.p = p, .method = method};
    (void)is_rejit;
    if (FAILED(CALL(method, GetInstructions, &e.graph)))
        return S_OK;
    if (DO(p, method, GetInstructionFactory, &e.factory)) {
        IInstruction *first = NULL;
        if (DO(p, e.graph, GetFirstInstruction, &first)) {
            static const ILOrdinalOpcode rest[] = {Cee_Conv_I,   Cee_Dup, Cee_Ldind_I4,
                                                   Cee_Ldc_I4_1, Cee_Add, Cee_Stind_I4};
            edit_insert(&e, EDIT_BEFORE, first, edit_long(&e, (int64_t)(intptr_t)&own->hits));
            for (unsigned i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
                edit_insert(&e, EDIT_BEFORE, first, edit_op(&e, rest[i]));
            CALL(first, Release);
            own->changed++;
        }
    }
    edit_end(&e);
    return S_OK;
}
