/* SPDX-License-Identifier: MIT */
/* eltlater.c - a profiler with ENTERLEAVE in its mask and no hooks, which sets its first function ID
 * mapper after Initialize. It prints the functions about which the mapper was asked. */
#include "tests/guests/elt.h"

const char prof_clsid[] = "{5E5C001A-0000-4000-8000-0000000E1750}";

static int elt_is_chosen(const char *type, const char *method)
{
    (void)method;
    return strcmp(type, "Calls.Work") == 0 || strcmp(type, "Calls.Faults") == 0;
}

static UINT_PTR map(FunctionID id, void *data, BOOL *hook)
{
    struct elt_function *f = elt_find(data, id);
    if (f)
        atomic_store(&f->enters, 1); /* the number of compilations depends on tiers */
    *hook = f != NULL;
    return id;
}

/* Sets the mapper when the first counted function is compiled, which is then the first asked for. */
HRESULT prof_JITCompilationStarted(ICorProfilerCallback11 *self, FunctionID functionId,
                                   BOOL fIsSafeToBlock);
HRESULT prof_JITCompilationStarted(ICorProfilerCallback11 *self, FunctionID functionId,
                                   BOOL fIsSafeToBlock)
{
    static atomic_int   n_set[8];
    struct prof        *p = prof_of(self);
    struct elt_runtime *rt = p->own;
    (void)fIsSafeToBlock;
    if (elt_add(rt, functionId) && !atomic_exchange(&n_set[rt - elt_runtimes], 1))
        prof_say(p, "mapper: 0x%08x",
                 (unsigned)p->info->vtbl->SetFunctionIDMapper2(p->info, map, rt));
    return S_OK;
}

HRESULT prof_initialize(struct prof *p)
{
    elt_begin(p);
    return p->info->vtbl->SetEventMask(p->info, ELT_MASK | COR_PRF_MONITOR_JIT_COMPILATION);
}

void prof_shutdown(struct prof *p)
{
    elt_report(p);
}
