/* SPDX-License-Identifier: MIT */
/* compiled_method.c - IMethodJitInfo2: a compilation that has ended. */
#include <stdlib.h>

#include "clrie/model/model_internal.h"
#include "runtime_facts/info.h"

struct clrie_compiled_method {
    CLRIE_OBJECT(1);
    struct clrie_model  *model; /* one reference */
    FunctionID           function;
    ReJITID              rejit;
    int                  is_rejit;
    HRESULT              result;
    uint8_t              is_looked_up; /* the fields below are valid */
    HRESULT              look_up;
    struct clrie_module *module; /* one reference */
    mdMethodDef          token;
    int                  is_transformed;
    UINT_PTR             code; /* 0: not asked for yet */
};
const uint32_t clrie_compiled_method_size = sizeof(struct clrie_compiled_method);

struct clrie_compiled_method *clrie_compiled_method_new(struct clrie_model *model,
                                                        FunctionID function, int is_rejit,
                                                        ReJITID rejit, HRESULT result)
{
    struct clrie_compiled_method *method = clrie_new(&clrie_compiled_method);
    if (!method)
        return NULL;
    method->model = clrie_model_ref(model);
    method->function = function;
    method->rejit = rejit;
    method->is_rejit = is_rejit != 0;
    method->result = result;
    return method;
}

void clrie_compiled_method_end(struct clrie_object *object)
{
    struct clrie_compiled_method *method = (struct clrie_compiled_method *)object;
    if (method->module)
        clrie_unref(&method->module->object);
    clrie_model_unref(method->model);
}

IMethodJitInfo *clrie_compiled_method_face(struct clrie_compiled_method *method)
{
    return clrie_face(&method->object, CLRIE_FACE_compiled_method_IMethodJitInfo2);
}

static HRESULT find_module(struct clrie_compiled_method *self)
{
    ICorProfilerInfo10 *info = clrie_model_info(self->model);
    ClassID             class_id = 0;
    ModuleID            module = 0;
    HRESULT             hr;
    if (!info)
        return E_FAIL;
    hr = info->vtbl->GetFunctionInfo(info, self->function, &class_id, &module, &self->token);
    if (FAILED(hr))
        return hr;
    self->module = (struct clrie_module *)clrie_model_find(self->model, CLRIE_MODULES, module);
    if (!self->module)
        return E_FAIL;
    self->is_transformed = clrie_module_is_transformed(self->module, self->token);
    return S_OK;
}

/* The module is looked up once; the result is kept, also when it is a failure. */
static HRESULT look_up(struct clrie_compiled_method *self)
{
    if (!self->is_looked_up) {
        self->look_up = find_module(self);
        self->is_looked_up = 1;
    }
    return self->look_up;
}

HRESULT clrie_compiled_method_GetFunctionID(struct clrie_compiled_method *self,
                                            FunctionID                   *pFunctionId)
{
    *pFunctionId = self->function;
    return S_OK;
}

HRESULT clrie_compiled_method_GetIsRejit(struct clrie_compiled_method *self, BOOL *pIsRejit)
{
    *pIsRejit = self->is_rejit;
    return S_OK;
}

HRESULT clrie_compiled_method_GetRejitId(struct clrie_compiled_method *self, ReJITID *pRejitId)
{
    *pRejitId = self->rejit;
    return S_OK;
}

HRESULT clrie_compiled_method_GetJitHR(struct clrie_compiled_method *self, HRESULT *pHResult)
{
    *pHResult = self->result;
    return S_OK;
}

HRESULT clrie_compiled_method_GetILTransformationStatus(struct clrie_compiled_method *self,
                                                        BOOL                         *pIsTranformed)
{
    HRESULT hr = look_up(self);
    if (SUCCEEDED(hr))
        *pIsTranformed = self->is_transformed;
    return hr;
}

HRESULT clrie_compiled_method_GetModuleInfo(struct clrie_compiled_method *self,
                                            IModuleInfo                 **ppModuleInfo)
{
    HRESULT hr = look_up(self);
    *ppModuleInfo = NULL;
    return FAILED(hr) ? hr
                      : clrie_hand_out(&self->module->object, CLRIE_FACE_module_IModuleInfo3,
                                       (void **)ppModuleInfo);
}

HRESULT clrie_compiled_method_GetMethodToken(struct clrie_compiled_method *self,
                                             mdMethodDef                  *pToken)
{
    HRESULT hr = look_up(self);
    if (SUCCEEDED(hr))
        *pToken = self->token;
    return hr;
}

HRESULT clrie_compiled_method_GetILInstrumentationMap(struct clrie_compiled_method *self,
                                                      ULONG32 cMaps, COR_IL_MAP *pMap,
                                                      ULONG32 *pcNeeded)
{
    HRESULT hr = look_up(self);
    *pcNeeded = 0;
    if (SUCCEEDED(hr))
        *pcNeeded = clrie_module_map(self->module, self->token, self->is_rejit ? 0 : self->function,
                                     pMap, cMaps);
    return hr;
}

/* ---- native code ------------------------------------------------------------------------------ */

HRESULT clrie_compiled_method_GetNativeCodeAddress(struct clrie_compiled_method *self,
                                                   UINT_PTR                     *pCodeAddress)
{
    struct clrie_model_host *host = atomic_load(&self->model->host);
    ICorProfilerInfo10      *info = host ? host->info : NULL;
    UINT_PTR                *all;
    ULONG32                  n = 0, room;
    HRESULT                  hr;
    if (self->code) {
        *pCodeAddress = self->code;
        return S_OK;
    }
    if (!info)
        return E_FAIL;
    if (host->version < SXS_INFO_NATIVE_CODE)
        return E_NOTIMPL;
    hr = info->vtbl->GetNativeCodeStartAddresses(info, self->function, self->rejit, 0, &n, NULL);
    if (FAILED(hr) || !n)
        return FAILED(hr) ? hr : E_FAIL;
    room = n;
    all = calloc(room, sizeof(*all));
    if (!all)
        return E_OUTOFMEMORY;
    hr = info->vtbl->GetNativeCodeStartAddresses(info, self->function, self->rejit, room, &n, all);
    if (n > room)
        n = room;
    if (SUCCEEDED(hr) && n)
        *pCodeAddress = self->code = all[n - 1]; /* the latest code */
    free(all);
    return hr;
}

HRESULT clrie_compiled_method_GetILNativeMapping(struct clrie_compiled_method *self, ULONG32 cMaps,
                                                 COR_DEBUG_IL_TO_NATIVE_MAP *pMap,
                                                 ULONG32                    *pcNeeded)
{
    ICorProfilerInfo10 *info = clrie_model_info(self->model);
    UINT_PTR            code = 0;
    if (!info)
        return E_FAIL;
    if (SUCCEEDED(clrie_compiled_method_GetNativeCodeAddress(self, &code)))
        return info->vtbl->GetILToNativeMapping3(info, code, cMaps, pcNeeded, pMap);
    return info->vtbl->GetILToNativeMapping2(info, self->function, self->rejit, cMaps, pcNeeded,
                                             pMap);
}
