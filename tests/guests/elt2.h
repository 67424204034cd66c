/* SPDX-License-Identifier: MIT */
/** elt2.h - a profiler with hooks of version 2 and no mapper: it gets every function, with the
 *  client ID 0. What it counts it learns from JITCompilationStarted. The file that includes this
 *  one defines prof_clsid, ELT2_FLAGS, flags of the event mask, and elt_is_chosen(). */
#include "tests/guests/elt.h"

static atomic_uint most_ranges; /* of a counted call */

static struct elt_function *counted(FunctionID id, UINT_PTR client, COR_PRF_FRAME_INFO frame)
{
    struct elt_function *f = elt_find(NULL, id);
    if (f && (client || !frame != !(ELT2_FLAGS & COR_PRF_ENABLE_FRAME_INFO)))
        elt_count(&f->bad);
    return f;
}

static void enter(FunctionID id, UINT_PTR client, COR_PRF_FRAME_INFO frame,
                  COR_PRF_FUNCTION_ARGUMENT_INFO *args)
{
    struct elt_function *f = counted(id, client, frame);
    if (!f)
        return;
    elt_count(&f->enters);
    if (!args != !(ELT2_FLAGS & COR_PRF_ENABLE_FUNCTION_ARGS))
        elt_count(&f->bad);
    if (args && args->numRanges > atomic_load(&most_ranges))
        atomic_store(&most_ranges, args->numRanges);
    for (ULONG i = 0; args && i < args->numRanges; i++)
        elt_sum(f, &args->ranges[i]);
}

static void leave(FunctionID id, UINT_PTR client, COR_PRF_FRAME_INFO frame,
                  COR_PRF_FUNCTION_ARGUMENT_RANGE *result)
{
    struct elt_function *f = counted(id, client, frame);
    if (!f)
        return;
    elt_count(&f->leaves);
    if (!result != !(ELT2_FLAGS & COR_PRF_ENABLE_FUNCTION_RETVAL))
        elt_count(&f->bad);
    if (result)
        elt_sum(f, result);
}

static void tailcall(FunctionID id, UINT_PTR client, COR_PRF_FRAME_INFO frame)
{
    struct elt_function *f = counted(id, client, frame);
    if (f)
        elt_count(&f->tailcalls);
}

ELT_LEARN

HRESULT prof_initialize(struct prof *p)
{
    HRESULT hr = p->info->vtbl->SetEnterLeaveFunctionHooks2(p->info, enter, leave, tailcall);
    elt_begin(p);
    if (SUCCEEDED(hr)) /* after the hooks: either order is permitted */
        hr = p->info->vtbl->SetEventMask(p->info,
                                         ELT_MASK | COR_PRF_MONITOR_JIT_COMPILATION | ELT2_FLAGS);
    return hr;
}

void prof_shutdown(struct prof *p)
{
    elt_report(p);
#ifdef ELT2_RANGES
    prof_say(p, "most argument ranges %u", atomic_load(&most_ranges));
#endif
}
