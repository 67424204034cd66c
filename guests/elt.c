/* SPDX-License-Identifier: MIT */
/*
 * elt.c - enter, leave and tailcall hooks of guests.
 *
 * elt/ has the registry of all tools and guests. Here are the methods of a guest's Info: in
 * Initialize they register; later, and on a runtime that was attached to, the runtime itself refuses
 * hooks.
 */
#include "guests/elt.h"

#include "elt/hooks.h"
#include "guests/call.h"
#include "guests/ids.h"
#include "guests/info_by_hand.h"

/* Calls the guest's mapper, when the guest is not the only user of hooks. */
static UINT_PTR ask_guest(struct sxs_sub *sub, const struct sxs_hooks_mapper *mapper, FunctionID fn,
                          BOOL *hook)
{
    struct guest_call call;
    UINT_PTR          client = fn;
    guest_id_note(sub->rt, fn, 0);
    if (!mapper->one && !mapper->two)
        return fn;
    if (!guest_call_begin(sub->state, &call)) {
        *hook = 0;
        return fn;
    }
    client = sxs_hooks_ask_directly(sub, mapper, fn, hook);
    guest_call_end(&call, S_OK);
    return client;
}

void guest_elt_forget(struct guest_instance *g)
{
    sxs_hooks_forget(g->sub);
}

void guest_elt_end(struct guest_instance *g)
{
    sxs_hooks_end(g->sub);
}

/* ---- hooks ------------------------------------------------------------------------------------ */

/* Returns 1 when hooks are registered, 0 when the runtime itself gets the call and refuses it. */
static int is_registering(const struct guest_instance *g)
{
    return g->initializing && !sxs_runtime_is_attached(g->rt);
}

static HRESULT set_hooks(struct guest_instance *g, enum sxs_hooks_kind kind,
                         struct sxs_hooks_functions hooks)
{
    HRESULT hr = sxs_hooks_set(g->sub, kind, g->low, &hooks);
    if (FAILED(hr))
        return hr;
    atomic_store(&g->cannot_detach, 1);
    return sxs_hooks_set_ask(g->sub, ask_guest);
}

/* The body of a method that sets hooks: @version is what follows the method's name. */
#define SET_HOOKS(version, kind, enter, leave, tailcall)                                        \
    struct guest_instance *g = guest_of_info(self);                                             \
    ICorProfilerInfo15    *info;                                                                \
    HRESULT hr = guest_info_begin(g, SXS_INFO_SLOT_SetEnterLeaveFunctionHooks##version, &info); \
    if (FAILED(hr))                                                                             \
        return hr;                                                                              \
    if (is_registering(g))                                                                      \
        hr = set_hooks(g, kind,                                                                 \
                       (struct sxs_hooks_functions){(uintptr_t)(enter), (uintptr_t)(leave),     \
                                                    (uintptr_t)(tailcall)});                    \
    else                                                                                        \
        hr = info->vtbl->SetEnterLeaveFunctionHooks##version(info, enter, leave, tailcall);     \
    return guest_info_end(g, hr)

HRESULT guest_info_SetEnterLeaveFunctionHooks(ICorProfilerInfo15 *self, FunctionEnter *pFuncEnter,
                                              FunctionLeave    *pFuncLeave,
                                              FunctionTailcall *pFuncTailcall)
{
    SET_HOOKS(, SXS_HOOKS_1, pFuncEnter, pFuncLeave, pFuncTailcall);
}

HRESULT guest_info_SetEnterLeaveFunctionHooks2(ICorProfilerInfo15 *self, FunctionEnter2 *pFuncEnter,
                                               FunctionLeave2    *pFuncLeave,
                                               FunctionTailcall2 *pFuncTailcall)
{
    SET_HOOKS(2, SXS_HOOKS_2, pFuncEnter, pFuncLeave, pFuncTailcall);
}

HRESULT guest_info_SetEnterLeaveFunctionHooks3(ICorProfilerInfo15 *self,
                                               FunctionEnter3     *pFuncEnter3,
                                               FunctionLeave3     *pFuncLeave3,
                                               FunctionTailcall3  *pFuncTailcall3)
{
    SET_HOOKS(3, SXS_HOOKS_3, pFuncEnter3, pFuncLeave3, pFuncTailcall3);
}

HRESULT guest_info_SetEnterLeaveFunctionHooks3WithInfo(
    ICorProfilerInfo15 *self, FunctionEnter3WithInfo *pFuncEnter3WithInfo,
    FunctionLeave3WithInfo *pFuncLeave3WithInfo, FunctionTailcall3WithInfo *pFuncTailcall3WithInfo)
{
    SET_HOOKS(3WithInfo, SXS_HOOKS_3_INFO, pFuncEnter3WithInfo, pFuncLeave3WithInfo,
              pFuncTailcall3WithInfo);
}

/* ---- mappers ---------------------------------------------------------------------------------- */

HRESULT guest_elt_join(struct guest_instance *g)
{
    if (!(g->low & (uint32_t)COR_PRF_MONITOR_ENTERLEAVE) || sxs_runtime_is_attached(g->rt))
        return S_OK;
    return sxs_hooks_set_ask(g->sub, ask_guest);
}

/* Mappers may be set at any time. */
static HRESULT prepare_mapper(struct guest_instance *g)
{
    return is_registering(g) ? sxs_hooks_set_ask(g->sub, ask_guest) : S_OK;
}

HRESULT guest_info_SetFunctionIDMapper(ICorProfilerInfo15 *self, FunctionIDMapper *pFunc)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_SetFunctionIDMapper, &info);
    if (SUCCEEDED(hr))
        hr = prepare_mapper(g);
    if (FAILED(hr))
        return hr;
    return guest_info_end(g, sxs_hooks_set_mapper(g->sub, pFunc));
}

HRESULT guest_info_SetFunctionIDMapper2(ICorProfilerInfo15 *self, FunctionIDMapper2 *pFunc,
                                        void *clientData)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_SetFunctionIDMapper2, &info);
    if (SUCCEEDED(hr))
        hr = prepare_mapper(g);
    if (FAILED(hr))
        return hr;
    return guest_info_end(g, sxs_hooks_set_mapper2(g->sub, pFunc, clientData));
}

/* ---- information for hooks -------------------------------------------------------------------- */

/*
 * The runtime answers by its own mask, which may have more flags than the guest has asked for. What
 * the guest has not asked for stays untouched, as it does when the guest is alone.
 */

#define ARGS   ((uint32_t)COR_PRF_ENABLE_FUNCTION_ARGS)
#define RETVAL ((uint32_t)COR_PRF_ENABLE_FUNCTION_RETVAL)
#define FRAME  ((uint32_t)COR_PRF_ENABLE_FRAME_INFO)

/* Begins a method that gives information to a hook. @flags: those without which it fails. */
static HRESULT begin_hook_info(struct guest_instance *g, unsigned slot, FunctionID fn,
                               uint32_t flags, ICorProfilerInfo15 **info)
{
    HRESULT hr = guest_info_begin(g, slot, info);
    if (SUCCEEDED(hr))
        hr = guest_id_check(g, slot, fn, 0);
    if (SUCCEEDED(hr) && !(g->low & flags))
        hr = CORPROF_E_INCONSISTENT_WITH_FLAGS;
    return hr;
}

HRESULT guest_info_GetFunctionEnter3Info(ICorProfilerInfo15 *self, FunctionID functionId,
                                         COR_PRF_ELT_INFO eltInfo, COR_PRF_FRAME_INFO *pFrameInfo,
                                         ULONG                          *pcbArgumentInfo,
                                         COR_PRF_FUNCTION_ARGUMENT_INFO *pArgumentInfo)
{
    struct guest_instance         *g = guest_of_info(self);
    ICorProfilerInfo15            *info;
    COR_PRF_FRAME_INFO             frame = 0;
    COR_PRF_FUNCTION_ARGUMENT_INFO args;
    ULONG                          size = sizeof(args);
    HRESULT                        hr =
        begin_hook_info(g, SXS_INFO_SLOT_GetFunctionEnter3Info, functionId, ARGS | FRAME, &info);
    if (FAILED(hr))
        return hr;
    if (g->low & ARGS)
        hr = info->vtbl->GetFunctionEnter3Info(info, functionId, eltInfo,
                                               g->low & FRAME ? pFrameInfo : &frame,
                                               pcbArgumentInfo, pArgumentInfo);
    else
        hr = info->vtbl->GetFunctionEnter3Info(info, functionId, eltInfo, pFrameInfo, &size, &args);
    if (!(g->low & ARGS) && hr == HRESULT_WIN32_ERROR_INSUFFICIENT_BUFFER &&
        pFrameInfo) /* the frame was stored */
        hr = S_OK;
    return guest_info_end(g, hr);
}

HRESULT guest_info_GetFunctionLeave3Info(ICorProfilerInfo15 *self, FunctionID functionId,
                                         COR_PRF_ELT_INFO eltInfo, COR_PRF_FRAME_INFO *pFrameInfo,
                                         COR_PRF_FUNCTION_ARGUMENT_RANGE *pRetvalRange)
{
    struct guest_instance          *g = guest_of_info(self);
    ICorProfilerInfo15             *info;
    COR_PRF_FRAME_INFO              frame = 0;
    COR_PRF_FUNCTION_ARGUMENT_RANGE range;
    HRESULT                         hr =
        begin_hook_info(g, SXS_INFO_SLOT_GetFunctionLeave3Info, functionId, RETVAL | FRAME, &info);
    if (FAILED(hr))
        return hr;
    return guest_info_end(g, info->vtbl->GetFunctionLeave3Info(
                                 info, functionId, eltInfo, g->low & FRAME ? pFrameInfo : &frame,
                                 g->low & RETVAL ? pRetvalRange : &range));
}

HRESULT guest_info_GetFunctionTailcall3Info(ICorProfilerInfo15 *self, FunctionID functionId,
                                            COR_PRF_ELT_INFO    eltInfo,
                                            COR_PRF_FRAME_INFO *pFrameInfo)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr =
        begin_hook_info(g, SXS_INFO_SLOT_GetFunctionTailcall3Info, functionId, FRAME, &info);
    if (FAILED(hr))
        return hr;
    return guest_info_end(
        g, info->vtbl->GetFunctionTailcall3Info(info, functionId, eltInfo, pFrameInfo));
}
