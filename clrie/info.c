/* SPDX-License-Identifier: MIT */
/* info.c - the ICorProfilerInfo that plug-ins get. What is not here goes to the engine's own, where it
 * is arbitrated between all profilers of the runtime (guests/). */
#include "base/env.h"
#include "base/log.h"
#include "clrie/engine.h"
#include "clrie/work.h"

struct clrie_info {
    CLRIE_OBJECT(1);
    _Atomic(struct clrie_engine *) engine; /* borrowed; NULL: it has ended */
    ICorProfilerInfo15  *real;   /* one reference */
    struct clrie_memory *memory; /* for bodies; NULL: nobody has asked for it */
};
const uint32_t clrie_info_size = sizeof(struct clrie_info);

struct clrie_info *clrie_info_new(struct clrie_engine *engine)
{
    struct clrie_info *info = clrie_new(&clrie_info);
    if (!info)
        return NULL;
    info->engine = engine;
    info->real = engine->info;
    info->real->vtbl->AddRef(info->real);
    info->memory = clrie_memory_new();
    if (info->memory)
        return info;
    clrie_unref(&info->object);
    return NULL;
}

void clrie_info_end(struct clrie_object *object)
{
    struct clrie_info *info = (struct clrie_info *)object;
    info->real->vtbl->Release(info->real);
    clrie_memory_free(info->memory);
}

void clrie_info_disconnect(struct clrie_info *info)
{
    atomic_store(&info->engine, NULL);
}

ICorProfilerInfo15 *clrie_info_real(struct clrie_info *info)
{
    return info->real;
}

/* What the runtime is to be asked for: the default, what was added late, and what each plug-in wants. */
static uint32_t all_low(const struct clrie_engine *engine)
{
    uint32_t low = engine->low;
    for (unsigned i = 0; i < engine->plugins.n; i++)
        low |= engine->plugins.at[i]->low;
    return engine->initializing ? low | engine->initializing->low : low;
}

HRESULT clrie_info_apply_mask(struct clrie_engine *engine)
{
    return engine->info->vtbl->SetEventMask2(engine->info, all_low(engine), engine->high);
}

/* A late call must repeat the flags that cannot be changed after Initialize, and can only add others.
 * Flags that plug-ins asked for in Initialize do not count as set. */
static HRESULT is_allowed_late(uint32_t wanted, uint32_t present, uint32_t immutable)
{
    if ((wanted & immutable) == (present & immutable))
        return S_OK;
    clrie_log_print(
        CLRIE_LOG_ERRORS,
        "SetEventMask: immutable flags can only be set while the profiler is initialized");
    return E_FAIL;
}

/* What the runtime has refused is asked for no more: it would refuse all later masks with it. */
static HRESULT apply_or_restore(struct clrie_engine *engine, uint32_t *low, uint32_t wanted)
{
    uint32_t before = *low;
    HRESULT  hr;
    *low = wanted;
    hr = clrie_info_apply_mask(engine);
    if (SUCCEEDED(hr))
        return hr;
    *low = before;
    clrie_log_print(CLRIE_LOG_ERRORS,
                    "%s%sSetEventMask: the runtime refuses the event flags 0x%08x (%s 0x%08x)",
                    engine->initializing ? engine->initializing->name : "",
                    engine->initializing ? ": " : "", (unsigned)wanted, sxs_hresult_name(hr),
                    (unsigned)hr);
    return hr;
}

HRESULT clrie_info_SetEventMask(struct clrie_info *self, DWORD dwEvents)
{
    struct clrie_engine *engine = self->engine;
    HRESULT              hr = S_OK;
    if (!engine)
        return E_UNEXPECTED;
    pthread_mutex_lock(&engine->lock);
    if (engine->initializing)
        hr = apply_or_restore(engine, &engine->initializing->low, dwEvents);
    else
        hr = is_allowed_late(dwEvents, engine->low, (uint32_t)COR_PRF_MONITOR_IMMUTABLE);
    if (SUCCEEDED(hr) && !engine->initializing)
        hr = apply_or_restore(engine, &engine->low, engine->low | dwEvents);
    pthread_mutex_unlock(&engine->lock);
    return hr;
}

/* The high flags belong to no plug-in. They stay when the low ones are refused, as in CLRIE. */
HRESULT clrie_info_SetEventMask2(struct clrie_info *self, DWORD dwEventsLow, DWORD dwEventsHigh)
{
    struct clrie_engine *engine = self->engine;
    HRESULT              hr = S_OK;
    if (!engine)
        return E_UNEXPECTED;
    pthread_mutex_lock(&engine->lock);
    if (!engine->in_initialize)
        hr = is_allowed_late(dwEventsHigh, engine->high, (uint32_t)COR_PRF_HIGH_MONITOR_IMMUTABLE);
    if (SUCCEEDED(hr)) {
        engine->high |= dwEventsHigh;
        hr = clrie_info_SetEventMask(self, dwEventsLow);
    }
    pthread_mutex_unlock(&engine->lock);
    return hr;
}

/* ---- IL bodies --------------------------------------------------------------------------------- */

HRESULT clrie_info_GetILFunctionBody(struct clrie_info *self, ModuleID moduleId,
                                     mdMethodDef methodId, LPCBYTE *ppMethodHeader,
                                     ULONG *pcbMethodSize)
{
    struct clrie_engine *engine = self->engine;
    struct clrie_method *method = NULL;
    LPCBYTE              bytes = NULL;
    uint32_t             size = 0;
    HRESULT              hr = S_OK;
    if (!engine)
        return E_UNEXPECTED;
    if (!clrie_work_body(engine, moduleId, methodId, &bytes, &size)) {
        hr = clrie_method_new(engine->model, CLRIE_METHOD_ALONE, moduleId, methodId, 0, &method);
        hr = SUCCEEDED(hr) ? clrie_method_original(method, &bytes, &size)
                           : self->real->vtbl->GetILFunctionBody(self->real, moduleId, methodId,
                                                                 &bytes, &size);
        clrie_unref((struct clrie_object *)method);
    }
    if (ppMethodHeader)
        *ppMethodHeader = FAILED(hr) ? NULL : bytes;
    if (pcbMethodSize)
        *pcbMethodSize = FAILED(hr) ? 0 : size;
    return hr;
}

HRESULT clrie_info_GetILFunctionBodyAllocator(struct clrie_info *self, ModuleID moduleId,
                                              IMethodMalloc **ppMalloc)
{
    (void)moduleId; /* one for all modules: the bytes are copied later */
    if (!ppMalloc)
        return E_POINTER;
    *ppMalloc = clrie_memory_face(self->memory);
    (*ppMalloc)->vtbl->AddRef(*ppMalloc);
    return S_OK;
}

/* Only the method that is being compiled can get a body, and only from the allocator above, because
 * nothing else tells how long the body is. For other methods the call does nothing. With UserBuffer any
 * memory is accepted, and bodies of other methods go to the runtime. */
HRESULT clrie_info_SetILFunctionBody(struct clrie_info *self, ModuleID moduleId,
                                     mdMethodDef methodid, LPCBYTE pbNewILMethodHeader)
{
    struct clrie_engine *engine = self->engine;
    int                  any_memory = sxs_env_clrie_get(SXS_CLRIE_USER_BUFFER) != NULL;
    uint32_t             size = clrie_memory_size(self->memory, pbNewILMethodHeader);
    HRESULT              hr;
    if (!engine)
        return E_UNEXPECTED;
    if (!clrie_work_is(engine, moduleId, methodid)) {
        hr = any_memory ? self->real->vtbl->SetILFunctionBody(self->real, moduleId, methodid,
                                                              pbNewILMethodHeader)
                        : S_OK;
        if (any_memory && SUCCEEDED(hr)) /* the runtime keeps the pointer */
            clrie_memory_detach(self->memory, pbNewILMethodHeader);
        return hr;
    }
    if (!pbNewILMethodHeader)
        return E_POINTER;
    if (!size && !any_memory) {
        clrie_log_print(CLRIE_LOG_ERRORS,
                        "SetILFunctionBody: the body is not in the memory that the allocator gave");
        return E_FAIL;
    }
    return clrie_work_set_body(engine, moduleId, methodid, pbNewILMethodHeader, size);
}

HRESULT clrie_info_SetILInstrumentedCodeMap(struct clrie_info *self, FunctionID functionId,
                                            BOOL fStartJit, ULONG cILMapEntries,
                                            COR_IL_MAP *rgILMapEntries)
{
    struct clrie_engine *engine = self->engine;
    (void)fStartJit;
    if (!engine)
        return E_UNEXPECTED;
    if (cILMapEntries && !rgILMapEntries)
        return E_POINTER;
    return clrie_work_set_map(engine, functionId, rgILMapEntries, cILMapEntries);
}

/* ---- ReJIT requests ---------------------------------------------------------------------------- */

/* Modules that a plug-in has found by EnumModules before their ModuleAttachedToAssembly. */
static int is_listed(ICorProfilerInfo15 *info, ModuleID module)
{
    ICorProfilerModuleEnum *list = NULL;
    ModuleID                id = 0;
    ULONG                   n = 0;
    int                     found = 0;
    if (FAILED(info->vtbl->EnumModules(info, &list)) || !list)
        return 0;
    while (!found && list->vtbl->Next(list, 1, &id, &n) == S_OK)
        found = id == module;
    list->vtbl->Release(list);
    return found;
}

/* A runtime reads memory at the address that a ModuleID is: an invalid one would crash the process.
 * The runtime checks the rest of the request, and answers 0. */
static HRESULT check_modules(struct clrie_info *info, ULONG n, const ModuleID *modules)
{
    struct clrie_engine *engine = info->engine;
    struct clrie_model  *model = engine ? engine->model : NULL;
    if (!model)
        return E_UNEXPECTED;
    for (ULONG i = 0; modules && i < n; i++)
        if (modules[i] && !clrie_model_module(model, modules[i]) &&
            !is_listed(info->real, modules[i]))
            return E_INVALIDARG;
    return S_OK;
}

HRESULT clrie_info_RequestReJIT(struct clrie_info *self, ULONG cFunctions, ModuleID *moduleIds,
                                mdMethodDef *methodIds)
{
    HRESULT hr = check_modules(self, cFunctions, moduleIds);
    return FAILED(hr) ? hr
                      : self->real->vtbl->RequestReJIT(self->real, cFunctions, moduleIds, methodIds);
}

HRESULT clrie_info_RequestRevert(struct clrie_info *self, ULONG cFunctions, ModuleID *moduleIds,
                                 mdMethodDef *methodIds, HRESULT *status)
{
    HRESULT hr = check_modules(self, cFunctions, moduleIds);
    return FAILED(hr) ? hr
                      : self->real->vtbl->RequestRevert(self->real, cFunctions, moduleIds,
                                                        methodIds, status);
}

HRESULT clrie_info_RequestReJITWithInliners(struct clrie_info *self, DWORD dwRejitFlags,
                                            ULONG cFunctions, ModuleID *moduleIds,
                                            mdMethodDef *methodIds)
{
    HRESULT hr = check_modules(self, cFunctions, moduleIds);
    return FAILED(hr) ? hr
                      : self->real->vtbl->RequestReJITWithInliners(
                            self->real, dwRejitFlags, cFunctions, moduleIds, methodIds);
}
