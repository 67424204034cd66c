/* SPDX-License-Identifier: MIT */
/* info.c - the ICorProfilerInfo that plug-ins get. What is not here goes to the engine's own, where it
 * is arbitrated between all profilers of the runtime (guests/). */
#include <string.h>

#include "clrie/engine.h"

struct clrie_info {
    CLRIE_OBJECT(1);
    struct clrie_engine *engine; /* borrowed: plug-ins end before it */
    ICorProfilerInfo15  *real;   /* one reference */
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
    return info;
}

void clrie_info_end(struct clrie_object *object)
{
    struct clrie_info *info = (struct clrie_info *)object;
    info->real->vtbl->Release(info->real);
}

ICorProfilerInfo15 *clrie_info_real(struct clrie_info *info)
{
    return info->real;
}

HRESULT clrie_info_apply_mask(struct clrie_engine *engine)
{
    return engine->info->vtbl->SetEventMask2(engine->info, engine->low, engine->high);
}

/* After Initialize, flags can only be added, and only if those that must not change are repeated. */
static HRESULT add_late(struct clrie_engine *engine, uint32_t low)
{
    const uint32_t immutable = (uint32_t)COR_PRF_MONITOR_IMMUTABLE;
    if ((low & immutable) != (engine->low & immutable))
        return E_FAIL;
    engine->low |= low;
    return clrie_info_apply_mask(engine);
}

HRESULT clrie_info_SetEventMask(struct clrie_info *self, DWORD dwEvents)
{
    struct clrie_engine *engine = self->engine;
    HRESULT              hr = S_OK;
    pthread_mutex_lock(&engine->lock);
    if (engine->initializing)
        engine->initializing->low = dwEvents;
    else
        hr = add_late(engine, dwEvents);
    pthread_mutex_unlock(&engine->lock);
    return hr;
}

HRESULT clrie_info_SetEventMask2(struct clrie_info *self, DWORD dwEventsLow, DWORD dwEventsHigh)
{
    struct clrie_engine *engine = self->engine;
    const uint32_t       immutable = (uint32_t)COR_PRF_HIGH_MONITOR_IMMUTABLE;
    HRESULT              hr = S_OK;
    pthread_mutex_lock(&engine->lock);
    if (!engine->initializing && (dwEventsHigh & immutable) != (engine->high & immutable))
        hr = E_FAIL;
    else
        engine->high |= dwEventsHigh;
    if (SUCCEEDED(hr))
        hr = clrie_info_SetEventMask(self, dwEventsLow);
    if (SUCCEEDED(hr) && engine->initializing)
        hr = clrie_info_apply_mask(engine);
    pthread_mutex_unlock(&engine->lock);
    return hr;
}

