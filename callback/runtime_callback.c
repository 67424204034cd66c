/* SPDX-License-Identifier: MIT */
/*
 * runtime_callback.c - the callback object of a runtime.
 *
 * Each runtime has its own object, so the object identifies the runtime that calls it. The stubs
 * that forward events to tools, and the vtable, are generated (sxs_callback.inc); the other methods
 * are here.
 */
#include "callback/runtime_callback.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "callback/attach.h"
#include "manager/guid.h"
#include "manager/manager.h"
#include "manager/runtime_internal.h"
#include "rejit/rejit.h"

struct runtime_callback {
    ICorProfilerCallback11 com; /* the runtime holds this address */
    atomic_uint            refs;
    struct sxs_runtime    *rt; /* one reference, dropped with the last Release */
};

static struct runtime_callback *callback_of(ICorProfilerCallback11 *self)
{
    return container_of(self, struct runtime_callback, com);
}

static struct sxs_runtime *runtime_of(ICorProfilerCallback11 *self)
{
    return callback_of(self)->rt;
}

static HRESULT cb_QueryInterface(ICorProfilerCallback11 *self, const GUID *iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = iid && sxs_guid_in(iid, sxs_callback_iids, ARRAY_LEN(sxs_callback_iids)) ? self : NULL;
    if (!*out)
        return E_NOINTERFACE;
    self->vtbl->AddRef(self); /* each version extends the one before, so all share one vtable */
    return S_OK;
}

static ULONG cb_AddRef(ICorProfilerCallback11 *self)
{
    return atomic_fetch_add_explicit(&callback_of(self)->refs, 1, memory_order_relaxed) + 1;
}

static ULONG cb_Release(ICorProfilerCallback11 *self)
{
    struct runtime_callback *cb = callback_of(self);
    unsigned left = atomic_fetch_sub_explicit(&cb->refs, 1, memory_order_acq_rel) - 1;
    if (left == 0) {
        sxs_manager_ended(cb->rt, 1); /* has an effect only if there was no Shutdown or detach */
        sxs_runtime_unref(cb->rt);
        free(cb);
    }
    return left;
}

static HRESULT cb_Initialize(ICorProfilerCallback11 *self, IUnknown *info)
{
    sxs_attach_begun_at_start();
    return sxs_manager_initialize(runtime_of(self), info, 0);
}

static HRESULT cb_InitializeForAttach(ICorProfilerCallback11 *self, IUnknown *info, void *data,
                                      UINT size)
{
    struct sxs_runtime *rt = runtime_of(self);
    HRESULT             hr;
    sxs_attach_take_log(data, size);
    if (sxs_attach_is_abandoned(data, size)) {
        sxs_manager_detached(rt); /* its number is that of the next attach */
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    }
    sxs_runtime_set_attach_data(rt, data, size); /* for guests, too */
    hr = sxs_manager_initialize(rt, info, 1);
    if (SUCCEEDED(hr))
        sxs_attach_begin(data, size);
    sxs_runtime_set_attach_data(rt, NULL, 0);
    return hr;
}

static HRESULT cb_Shutdown(ICorProfilerCallback11 *self)
{
    sxs_manager_shut_down(runtime_of(self));
    return S_OK;
}

static HRESULT cb_ProfilerDetachSucceeded(ICorProfilerCallback11 *self)
{
    sxs_manager_detached(runtime_of(self));
    return S_OK;
}

static HRESULT cb_LoadAsNotificationOnly(ICorProfilerCallback11 *self, BOOL *notification_only)
{
    (void)self;
    if (!notification_only)
        return E_POINTER;
    *notification_only = 0; /* the library works only as the main profiler of a runtime */
    return S_OK;
}

/* The runtime compiles one body and passes one object for it, which the tools share. */
static HRESULT cb_GetReJITParameters(ICorProfilerCallback11 *self, ModuleID module,
                                     mdMethodDef method, ICorProfilerFunctionControl *control)
{
    struct sxs_runtime *rt = runtime_of(self);
    struct sxs_inside  *inside = sxs_runtime_enter(rt);
    HRESULT             hr = sxs_rejit_parameters(rt, (sxs_module){rt, module}, method, control);
    sxs_runtime_leave(inside);
    return hr;
}

#include "sxs_callback.inc"

ICorProfilerCallback11 *sxs_callback_new(struct sxs_runtime *rt)
{
    struct runtime_callback *cb = calloc(1, sizeof(*cb));
    if (!cb)
        return NULL;
    cb->com.vtbl = &callback_vtbl;
    atomic_init(&cb->refs, 1);
    cb->rt = rt;
    return &cb->com;
}
