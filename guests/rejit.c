/* SPDX-License-Identifier: MIT */
/* rejit.c - methods that guests ask to be compiled again. rejit/rejit.h merges the requests of
 * all guests and tools of a runtime. */
#include "rejit/rejit.h"
#include "guests/call.h"
#include "guests/events.h"
#include "guests/ids.h"
#include "guests/info_by_hand.h"

/* Begins a call that needs COR_PRF_ENABLE_REJIT in the guest's own mask: without it, the runtime
 * refuses the call before it looks at the arguments. */
static HRESULT begin_request(struct guest_instance *g, unsigned slot, ULONG n,
                             const ModuleID *modules)
{
    ICorProfilerInfo15 *info;
    HRESULT             hr = guest_info_begin(g, slot, &info);
    if (FAILED(hr))
        return hr;
    if (sxs_runtime_is_inherited(g->rt))
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    if (g->version < 4)
        return CORPROF_E_CALLBACK4_REQUIRED;
    if (!(g->low & (uint32_t)COR_PRF_ENABLE_REJIT))
        return CORPROF_E_REJIT_NOT_ENABLED;
    for (ULONG i = 0; modules && i < n && SUCCEEDED(hr); i++)
        hr = guest_id_check(g, slot, modules[i], 0);
    return hr;
}

HRESULT guest_info_RequestReJIT(ICorProfilerInfo15 *self, ULONG cFunctions, ModuleID *moduleIds,
                                mdMethodDef *methodIds)
{
    static const struct sxs_rejit_how plainly = {0};

    struct guest_instance *g = guest_of_info(self);
    HRESULT                hr = begin_request(g, SXS_INFO_SLOT_RequestReJIT, cFunctions, moduleIds);
    if (SUCCEEDED(hr))
        hr = sxs_rejit_request(g->sub, &plainly, cFunctions, moduleIds, methodIds);
    return guest_info_end(g, hr);
}

HRESULT guest_info_RequestRevert(ICorProfilerInfo15 *self, ULONG cFunctions, ModuleID *moduleIds,
                                 mdMethodDef *methodIds, HRESULT *status)
{
    struct guest_instance *g = guest_of_info(self);
    HRESULT hr = begin_request(g, SXS_INFO_SLOT_RequestRevert, cFunctions, moduleIds);
    if (SUCCEEDED(hr))
        hr = sxs_rejit_revert(g->sub, cFunctions, moduleIds, methodIds, status);
    return guest_info_end(g, hr);
}

HRESULT guest_info_RequestReJITWithInliners(ICorProfilerInfo15 *self, DWORD dwRejitFlags,
                                            ULONG cFunctions, ModuleID *moduleIds,
                                            mdMethodDef *methodIds)
{
    struct guest_instance     *g = guest_of_info(self);
    const struct sxs_rejit_how how = {1, dwRejitFlags};
    HRESULT hr = begin_request(g, SXS_INFO_SLOT_RequestReJITWithInliners, cFunctions, moduleIds);
    if (SUCCEEDED(hr))
        hr = sxs_rejit_request(g->sub, &how, cFunctions, moduleIds, methodIds);
    return guest_info_end(g, hr);
}

/* ---- events ----------------------------------------------------------------------------------- */

HRESULT guest_on_GetReJITParameters(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                                    ICorProfilerFunctionControl *control)
{
    struct guest_call call;
    HRESULT           hr;
    if (!guest_call_begin(sub->state, &call))
        return S_OK;
    guest_id_note(sub->rt, module.id, 0);
    hr = call.callback->vtbl->GetReJITParameters(call.callback, module.id, method, control);
    guest_call_end(&call, hr);
    return hr;
}

void guest_first_body(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                      const uint8_t **bytes, uint32_t *size)
{
    struct guest_instance *g = sub->state;
    struct guest_call      call;
    if (!guest_call_begin(g, &call))
        return;
    g->guest->first_body((IUnknown *)(void *)call.callback, module.id, method, bytes, size);
    guest_call_end(&call, S_OK);
}

HRESULT guest_on_ReJITError(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                            sxs_function fn, HRESULT status)
{
    struct guest_call call;
    HRESULT           hr;
    if (!sxs_rejit_take_error(sub, module, method) || !guest_call_begin(sub->state, &call))
        return S_OK;
    guest_id_note(sub->rt, module.id, 0);
    guest_id_note(sub->rt, fn.id, 0);
    hr = call.callback->vtbl->ReJITError(call.callback, module.id, method, fn.id, status);
    guest_call_end(&call, hr);
    return hr;
}
