/* SPDX-License-Identifier: MIT */
/*
 * wrong.c - a profiler that breaks one rule, which the variable WRONG names.
 *
 * WRONG=initialize        Initialize fails.
 * WRONG=second            the second Initialize in a process fails.
 * WRONG=global            one Info in a global variable serves the IDs of all runtimes.
 * WRONG=global-hooks      the same in enter hooks, with the FunctionIDs that they receive.
 * WRONG=late-flags        asks for immutable flags after Initialize.
 * WRONG=no-addref         QueryInterface returns the object without a reference for it.
 * WRONG=releases          releases its Info in Initialize, and again in Shutdown.
 * WRONG=keeps-info        calls its Info on a thread of its own after Shutdown.
 * WRONG=failures          returns failures from callbacks.
 * WRONG=bad-arguments     passes NULL where an address is needed, and IDs that are none.
 * WRONG=refused-keeps     Initialize fails, but the Info is kept and used later.
 */
#include "tests/guests/names.h"

#include <unistd.h>

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000D0}";
const char prof_name[] = "wrong";

static ICorProfilerInfo15 *global; /* the first runtime's */
static atomic_uint         n_initialized, n_right, n_refused, n_other;

static int is(const char *rule)
{
    const char *value = getenv("WRONG");
    return value && strcmp(value, rule) == 0;
}

static void check_arguments(struct prof *p)
{
    ICorProfilerInfo15 *info = p->info;
    DWORD               low = 0;
    prof_say(p, "GetEventMask(NULL) 0x%08x", (unsigned)info->vtbl->GetEventMask(info, NULL));
    prof_say(p, "GetEventMask2(NULL, NULL) 0x%08x",
             (unsigned)info->vtbl->GetEventMask2(info, NULL, NULL));
    prof_say(p, "GetEventMask2(low, NULL) 0x%08x",
             (unsigned)info->vtbl->GetEventMask2(info, &low, NULL));
    prof_say(p, "GetInprocInspectionInterface 0x%08x",
             (unsigned)info->vtbl->GetInprocInspectionInterface(info, NULL));
    prof_say(p, "SetFunctionReJIT 0x%08x", (unsigned)info->vtbl->SetFunctionReJIT(info, 0));
    prof_say(p, "GetContextStaticAddress 0x%08x",
             (unsigned)info->vtbl->GetContextStaticAddress(info, 0, 0, 0, NULL));
}

/* Sets masks after Initialize: the flags that may not change, and one that may. */
static void set_late(struct prof *p)
{
    ICorProfilerInfo15 *info = p->info;
    DWORD               low = 0, high = 0;
    prof_say(p, "late CODE_TRANSITIONS 0x%08x",
             (unsigned)info->vtbl->SetEventMask(info, COR_PRF_MONITOR_MODULE_LOADS |
                                                          COR_PRF_MONITOR_CODE_TRANSITIONS));
    prof_say(p, "late DISABLE_INLINING 0x%08x",
             (unsigned)info->vtbl->SetEventMask2(
                 info, COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_DISABLE_INLINING, 0));
    prof_say(p, "late IN_MEMORY_SYMBOLS_UPDATED 0x%08x",
             (unsigned)info->vtbl->SetEventMask2(info, COR_PRF_MONITOR_MODULE_LOADS,
                                                 COR_PRF_HIGH_IN_MEMORY_SYMBOLS_UPDATED));
    prof_say(p, "late DISABLE_TIERED_COMPILATION 0x%08x",
             (unsigned)info->vtbl->SetEventMask2(info, COR_PRF_MONITOR_MODULE_LOADS,
                                                 COR_PRF_HIGH_DISABLE_TIERED_COMPILATION));
    info->vtbl->GetEventMask2(info, &low, &high);
    prof_say(p, "mask 0x%08x 0x%08x", low, high);
    prof_say(p, "late THREADS 0x%08x",
             (unsigned)info->vtbl->SetEventMask(info, COR_PRF_MONITOR_MODULE_LOADS |
                                                          COR_PRF_MONITOR_THREADS));
    info->vtbl->GetEventMask2(info, &low, &high);
    prof_say(p, "mask 0x%08x 0x%08x", low, high);
}

static void enter(FunctionIDOrClientID id, COR_PRF_ELT_INFO elt)
{
    static atomic_uint n_calls;
    ModuleID           module = 0;
    HRESULT            hr;
    (void)elt;
    if (n_refused && atomic_fetch_add(&n_calls, 1) > 1000)
        return;
    hr = global->vtbl->GetFunctionInfo(global, id.functionID, NULL, &module, NULL);
    atomic_fetch_add(hr == S_OK ? &n_right : hr == E_INVALIDARG ? &n_refused : &n_other, 1);
}

static void leave(FunctionIDOrClientID id, COR_PRF_ELT_INFO elt)
{
    (void)id;
    (void)elt;
}

static HRESULT set_hooks(ICorProfilerInfo15 *info)
{
    HRESULT hr =
        info->vtbl->SetEventMask(info, COR_PRF_MONITOR_ENTERLEAVE | COR_PRF_ENABLE_FUNCTION_ARGS);
    return FAILED(hr) ? hr
                      : info->vtbl->SetEnterLeaveFunctionHooks3WithInfo(
                            info, (FunctionEnter3WithInfo *)(uintptr_t)enter,
                            (FunctionLeave3WithInfo *)(uintptr_t)leave,
                            (FunctionTailcall3WithInfo *)(uintptr_t)leave);
}

HRESULT prof_initialize(struct prof *p)
{
    unsigned number = atomic_fetch_add(&n_initialized, 1) + 1;
    if (!global)
        global = p->info;
    if (is("no-addref"))
        atomic_fetch_sub(&p->refs, 1);
    if (is("initialize") || (is("second") && number > 1) || (is("refused-keeps") && number > 1))
        return E_FAIL;
    if (is("releases"))
        p->info->vtbl->Release(p->info);
    if (is("bad-arguments"))
        check_arguments(p);
    if (is("global-hooks"))
        return set_hooks(p->info);
    return p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_MODULE_LOADS |
                                                    COR_PRF_MONITOR_JIT_COMPILATION);
}

HRESULT prof_ModuleLoadFinished(ICorProfilerCallback11 *self, ModuleID module, HRESULT status)
{
    struct prof *p = prof_of(self);
    char         name[200];
    (void)status;
    p->counts[SXS_SLOT_ModuleLoadFinished]++;
    if (is("late-flags")) {
        prof_module_name(p, module, name, sizeof(name));
        if (strcmp(name, "profiled.dll") == 0)
            set_late(p);
    }
    return is("failures") ? E_FAIL : S_OK;
}

/* Keeps the first runtime from ending before another one has passed an ID to its Info. */
static void wait_for_others(void)
{
    for (int ms = 0; ms < 30000 && !n_refused && !n_other; ms++)
        usleep(1000);
}

HRESULT prof_JITCompilationStarted(ICorProfilerCallback11 *self, FunctionID fn, BOOL safe)
{
    ModuleID module = 0;
    HRESULT  hr;
    (void)self;
    (void)safe;
    if (is("global")) {
        if (prof_of(self)->info == global)
            wait_for_others();
        hr = global->vtbl->GetFunctionInfo(global, fn, NULL, &module, NULL);
        if (prof_of(self)->info == global)
            atomic_fetch_add(hr == S_OK ? &n_right : &n_other, 1);
        else
            atomic_fetch_add(hr == E_INVALIDARG ? &n_refused : &n_other, 1);
    }
    return is("failures") ? E_FAIL : S_OK;
}

static void *use_later(void *arg)
{
    ICorProfilerInfo15 *info = arg;
    for (int i = 0; i < 1000; i++) {
        DWORD low, high;
        info->vtbl->SetEventMask(info, COR_PRF_MONITOR_THREADS);
        info->vtbl->GetEventMask2(info, &low, &high);
        usleep(100);
    }
    return NULL;
}

void prof_shutdown(struct prof *p)
{
    pthread_t thread;
    if (is("releases")) /* its one reference is gone since Initialize */
        for (int i = 0; i < 3; i++)
            p->info->vtbl->Release(p->info);
    if (is("keeps-info") && p->info) {
        p->info->vtbl->AddRef(p->info);
        pthread_create(&thread, NULL, use_later, p->info);
        pthread_detach(thread);
    }
    if (is("global-hooks") && p->info == global)
        wait_for_others();
    if ((is("global") || is("global-hooks")) && p->info == global)
        prof_say(p, "own IDs answered %s, IDs of other runtimes refused %s, other answers %u",
                 n_right ? "yes" : "no", n_refused ? "yes" : "no", n_other);
    prof_say(p, "loads %s", p->counts[SXS_SLOT_ModuleLoadFinished] ? "seen" : "none");
}
