/* SPDX-License-Identifier: MIT */
/* elt1.c - a profiler with hooks of version 1 and a mapper of version 1. */
#include "tests/guests/elt.h"

const char prof_clsid[] = "{5E5C0011-0000-4000-8000-0000000E1710}";

static int elt_is_chosen(const char *type, const char *method)
{
    (void)method;
    return strcmp(type, "Calls.Work") == 0 || strcmp(type, "Tail.Calls") == 0;
}

/* The mapper has no argument that says which runtime asks, so functions are learned from
 * JITCompilationStarted. */
static UINT_PTR map(FunctionID id, BOOL *hook)
{
    struct elt_function *f = elt_find(NULL, id);
    *hook = f != NULL;
    return f ? (UINT_PTR)f : id;
}

static void enter(FunctionID id)
{
    elt_count(&((struct elt_function *)id)->enters);
}

static void leave(FunctionID id)
{
    elt_count(&((struct elt_function *)id)->leaves);
}

static void tailcall(FunctionID id)
{
    elt_count(&((struct elt_function *)id)->tailcalls);
}

ELT_LEARN

HRESULT prof_initialize(struct prof *p)
{
    HRESULT hr = p->info->vtbl->SetEventMask(p->info, ELT_MASK | COR_PRF_MONITOR_JIT_COMPILATION);
    elt_begin(p);
    if (SUCCEEDED(hr))
        hr = p->info->vtbl->SetFunctionIDMapper(p->info, map);
    if (SUCCEEDED(hr))
        hr = p->info->vtbl->SetEnterLeaveFunctionHooks(p->info, enter, leave, tailcall);
    return hr;
}

void prof_shutdown(struct prof *p)
{
    elt_report(p);
}
