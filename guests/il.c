/* SPDX-License-Identifier: MIT */
/*
 * il.c - IL bodies of methods, as guests read and set them.
 *
 * A runtime's GetILFunctionBody() returns what SetILFunctionBody() has set before (8, 9, 10), and
 * accepts another body until the method is compiled. So guests that are called one after the other
 * each rewrite what the one before has written. Bodies that are set in GetReJITParameters are not
 * returned by the runtime: rejit/rejit.h has these.
 */
#include "guests/ids.h"
#include "guests/info_by_hand.h"
#include "rejit/rejit.h"

HRESULT guest_info_GetILFunctionBody(ICorProfilerInfo15 *self, ModuleID moduleId,
                                     mdMethodDef methodId, LPCBYTE *ppMethodHeader,
                                     ULONG *pcbMethodSize)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_GetILFunctionBody, &info);
    if (SUCCEEDED(hr))
        hr = guest_id_check(g, SXS_INFO_SLOT_GetILFunctionBody, moduleId, 0);
    if (FAILED(hr))
        return hr;
    if (sxs_rejit_get_body(g->sub, moduleId, methodId, ppMethodHeader, pcbMethodSize))
        return guest_info_end(g, S_OK);
    return guest_info_end(
        g, info->vtbl->GetILFunctionBody(info, moduleId, methodId, ppMethodHeader, pcbMethodSize));
}

HRESULT guest_info_SetILFunctionBody(ICorProfilerInfo15 *self, ModuleID moduleId,
                                     mdMethodDef methodid, LPCBYTE pbNewILMethodHeader)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_SetILFunctionBody, &info);
    if (SUCCEEDED(hr))
        hr = guest_id_check(g, SXS_INFO_SLOT_SetILFunctionBody, moduleId, 0);
    if (FAILED(hr))
        return hr;
    hr = info->vtbl->SetILFunctionBody(info, moduleId, methodid, pbNewILMethodHeader);
    if (SUCCEEDED(hr))
        atomic_store(&g->cannot_detach, 1);
    return guest_info_end(g, hr);
}

HRESULT guest_info_SetILInstrumentedCodeMap(ICorProfilerInfo15 *self, FunctionID functionId,
                                            BOOL fStartJit, ULONG cILMapEntries,
                                            COR_IL_MAP *rgILMapEntries)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_SetILInstrumentedCodeMap, &info);
    if (SUCCEEDED(hr))
        hr = guest_id_check(g, SXS_INFO_SLOT_SetILInstrumentedCodeMap, functionId, 0);
    if (FAILED(hr))
        return hr;
    return guest_info_end(g, info->vtbl->SetILInstrumentedCodeMap(info, functionId, fStartJit,
                                                                  cILMapEntries, rgILMapEntries));
}
