/* SPDX-License-Identifier: MIT */
/* elt3info.c - a profiler with hooks of version 3 with information: it reads arguments and results,
 * but does not ask for frames. Both mappers are set: that of version 2 is used. */
#include "tests/guests/elt.h"

const char prof_clsid[] = "{5E5C0015-0000-4000-8000-0000000E1731}";

static int elt_is_chosen(const char *type, const char *method)
{
    return strcmp(type, "Calls.Work") == 0 ||
           (strcmp(type, "Calls.Faults") == 0 && method[0] != 'T');
}

static UINT_PTR map_1(FunctionID id, BOOL *hook)
{
    *hook = 0;
    return id;
}

static UINT_PTR map_2(FunctionID id, void *data, BOOL *hook)
{
    struct elt_function *f = elt_add(data, id);
    *hook = f != NULL;
    return f ? (UINT_PTR)f | 1 : id;
}

static struct elt_function *counted(FunctionIDOrClientID id)
{
    return (struct elt_function *)(id.clientID & ~(UINT_PTR)1);
}

/* The state of the runtime that a function is in; its Info must be asked. */
static struct elt_runtime *runtime_of(const struct elt_function *f)
{
    for (unsigned r = 0; r < 8; r++)
        if (f >= elt_runtimes[r].functions && f < elt_runtimes[r].functions + ELT_MAX)
            return &elt_runtimes[r];
    abort();
}

static void enter(FunctionIDOrClientID id, COR_PRF_ELT_INFO elt)
{
    struct elt_function *f = counted(id);
    ICorProfilerInfo15  *info = runtime_of(f)->p->info;
    struct {
        COR_PRF_FUNCTION_ARGUMENT_INFO  info;
        COR_PRF_FUNCTION_ARGUMENT_RANGE more[15];
    } args = {.info.numRanges = 0};
    ULONG              size = 0;
    COR_PRF_FRAME_INFO frame = 0x55;
    HRESULT hr = info->vtbl->GetFunctionEnter3Info(info, f->ids, elt, &frame, &size, NULL);
    elt_count(&f->enters);
    if (hr != HRESULT_WIN32_ERROR_INSUFFICIENT_BUFFER || size > sizeof(args))
        elt_count(&f->bad);
    size = sizeof(args);
    hr = info->vtbl->GetFunctionEnter3Info(info, f->ids, elt, &frame, &size, &args.info);
    if (FAILED(hr) || frame != 0x55 ||
        info->vtbl->GetFunctionTailcall3Info(info, f->ids, elt, &frame) !=
            CORPROF_E_INCONSISTENT_WITH_FLAGS)
        elt_count(&f->bad);
    for (ULONG i = 0; i < args.info.numRanges; i++)
        elt_sum(f, &args.info.ranges[i]);
}

static void leave(FunctionIDOrClientID id, COR_PRF_ELT_INFO elt)
{
    struct elt_function            *f = counted(id);
    ICorProfilerInfo15             *info = runtime_of(f)->p->info;
    COR_PRF_FUNCTION_ARGUMENT_RANGE result = {0, 0};
    COR_PRF_FRAME_INFO              frame = 0x55;
    elt_count(&f->leaves);
    if (FAILED(info->vtbl->GetFunctionLeave3Info(info, f->ids, elt, &frame, &result)) ||
        frame != 0x55)
        elt_count(&f->bad);
    elt_sum(f, &result);
}

static void tailcall(FunctionIDOrClientID id, COR_PRF_ELT_INFO elt)
{
    (void)elt;
    elt_count(&counted(id)->tailcalls);
}

HRESULT prof_initialize(struct prof *p)
{
    struct elt_runtime *rt = elt_begin(p);
    HRESULT hr = p->info->vtbl->SetEventMask(p->info, ELT_MASK | COR_PRF_ENABLE_FUNCTION_ARGS |
                                                          COR_PRF_ENABLE_FUNCTION_RETVAL);
    if (SUCCEEDED(hr))
        hr = p->info->vtbl->SetFunctionIDMapper2(p->info, map_2, rt);
    if (SUCCEEDED(hr))
        hr = p->info->vtbl->SetFunctionIDMapper(p->info, map_1);
    if (SUCCEEDED(hr))
        hr = p->info->vtbl->SetEnterLeaveFunctionHooks3WithInfo(p->info, enter, leave, tailcall);
    return hr;
}

void prof_shutdown(struct prof *p)
{
    elt_report(p);
}
