/* SPDX-License-Identifier: MIT */
/* info_hooks.c - Info methods that control the runtime: hooks, GC, suspension, detach. */
#include "tests/fake/fake.h"

HRESULT fake_SetFunctionIDMapper(ICorProfilerInfo15 *self, FunctionIDMapper *mapper)
{
    (void)self;
    if (!mapper)
        return E_INVALIDARG;
    atomic_store(&fake.mapper, (uintptr_t)mapper);
    return S_OK;
}

HRESULT fake_SetFunctionIDMapper2(ICorProfilerInfo15 *self, FunctionIDMapper2 *mapper, void *data)
{
    (void)self;
    if (!mapper)
        return E_INVALIDARG;
    atomic_store(&fake.mapper_data, (uintptr_t)data);
    atomic_store(&fake.mapper2, (uintptr_t)mapper);
    return S_OK;
}

/* Hooks may be set only in Initialize, and their kind must fit the event mask: hooks with
 * information need at least one of the slow flags, plain hooks need none set. Either kind replaces
 * the other. */
static HRESULT hooks_allowed(bool any, bool with_info)
{
    uint32_t slow = (uint32_t)(COR_PRF_ENABLE_FUNCTION_ARGS | COR_PRF_ENABLE_FUNCTION_RETVAL |
                               COR_PRF_ENABLE_FRAME_INFO);
    uint32_t low = atomic_load(&fake.mask_low);
    if (!any || fake.notification_only)
        return E_INVALIDARG;
    if (atomic_load(&fake.phase) != FAKE_STARTING)
        return CORPROF_E_CALL_ONLY_FROM_INIT;
    return with_info != ((low & slow) != 0) ? CORPROF_E_INCONSISTENT_WITH_FLAGS : S_OK;
}

HRESULT fake_SetEnterLeaveFunctionHooks3(ICorProfilerInfo15 *self, FunctionEnter3 *enter,
                                         FunctionLeave3 *leave, FunctionTailcall3 *tailcall)
{
    (void)self;
    HRESULT hr = hooks_allowed(enter || leave || tailcall, false);
    if (FAILED(hr))
        return hr;
    atomic_store(&fake.enter3, (uintptr_t)enter);
    atomic_store(&fake.leave3, (uintptr_t)leave);
    atomic_store(&fake.tailcall3, (uintptr_t)tailcall);
    atomic_store(&fake.enter3_info, 0);
    atomic_store(&fake.leave3_info, 0);
    atomic_store(&fake.tailcall3_info, 0);
    return S_OK;
}

HRESULT fake_SetEnterLeaveFunctionHooks3WithInfo(ICorProfilerInfo15 *self,
                                                 FunctionEnter3WithInfo *enter,
                                                 FunctionLeave3WithInfo *leave,
                                                 FunctionTailcall3WithInfo *tailcall)
{
    (void)self;
    HRESULT hr = hooks_allowed(enter || leave || tailcall, true);
    if (FAILED(hr))
        return hr;
    atomic_store(&fake.enter3_info, (uintptr_t)enter);
    atomic_store(&fake.leave3_info, (uintptr_t)leave);
    atomic_store(&fake.tailcall3_info, (uintptr_t)tailcall);
    atomic_store(&fake.enter3, 0);
    atomic_store(&fake.leave3, 0);
    atomic_store(&fake.tailcall3, 0);
    return S_OK;
}

HRESULT fake_ForceGC(ICorProfilerInfo15 *self)
{
    (void)self;
    if (fake_in_callback)
        return CORPROF_E_UNSUPPORTED_CALL_SEQUENCE;
    return fake_gc(2) ? E_FAIL : S_OK;
}

HRESULT fake_SuspendRuntime(ICorProfilerInfo15 *self)
{
    (void)self;
    if (atomic_load(&fake.suspended))
        return CORPROF_E_SUSPENSION_IN_PROGRESS;
    if (fake_suspend(COR_PRF_SUSPEND_FOR_PROFILER) == 0)
        return S_OK;
    fake_resume();
    return E_FAIL;
}

HRESULT fake_ResumeRuntime(ICorProfilerInfo15 *self)
{
    (void)self;
    if (!atomic_load(&fake.suspended))
        return CORPROF_E_UNSUPPORTED_CALL_SEQUENCE;
    fake_resume();
    return S_OK;
}

HRESULT fake_InitializeCurrentThread(ICorProfilerInfo15 *self)
{
    (void)self;
    return S_OK; /* this runtime's thread-local storage needs no initialization */
}

HRESULT fake_RequestProfilerDetach(ICorProfilerInfo15 *self, DWORD expected_ms)
{
    (void)self;
    (void)expected_ms;
    return fake_profiler_detach();
}
