/* SPDX-License-Identifier: MIT */
#include "callback/class_factory.h"

#include <pthread.h>

#include "callback/guid.h"
#include "callback/runtime_callback.h"
#include "base/fork.h"
#include "manager/manager.h"

static HRESULT factory_QueryInterface(IClassFactory *self, const GUID *iid, void **out)
{
    static const GUID *const known[] = {&IID_IUnknown, &IID_IClassFactory};
    if (!out)
        return E_POINTER;
    *out = iid && sxs_guid_in(iid, known, ARRAY_LEN(known)) ? self : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

static ULONG factory_AddRef(IClassFactory *self)
{
    (void)self;
    return 2; /* static: it outlives everybody */
}

static ULONG factory_Release(IClassFactory *self)
{
    (void)self;
    return 1;
}

/* Runtimes may ask at the same moment, each on a thread of its own: one at a time. The caller's
 * address tells which runtime it is, long before it can be asked. */
static HRESULT factory_CreateInstance(IClassFactory *self, IUnknown *outer, const GUID *iid,
                                      void **out)
{
    static pthread_mutex_t  creating = PTHREAD_MUTEX_INITIALIZER;
    SXS_FORK_RESETS(creating);
    uintptr_t               caller = (uintptr_t)__builtin_return_address(0);
    ICorProfilerCallback11 *callback = NULL;
    struct sxs_runtime     *rt = NULL;
    HRESULT                 hr;
    (void)self;
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (outer)
        return CLASS_E_NOAGGREGATION;
    if (!iid || !sxs_guid_in(iid, sxs_callback_iids, ARRAY_LEN(sxs_callback_iids)))
        return E_NOINTERFACE; /* before anybody is admitted */
    pthread_mutex_lock(&creating);
    hr = sxs_manager_admit(caller, &rt);
    if (FAILED(hr))
        goto done;
    callback = sxs_callback_new(rt);
    if (!callback) {
        sxs_manager_ended(rt, 1); /* whoever comes next may be the first then */
        sxs_runtime_unref(rt);
        hr = E_OUTOFMEMORY;
        goto done;
    }
    hr = callback->vtbl->QueryInterface(callback, iid, out);
    callback->vtbl->Release(callback);
done:
    pthread_mutex_unlock(&creating);
    return hr;
}

static HRESULT factory_LockServer(IClassFactory *self, BOOL lock)
{
    (void)self;
    (void)lock; /* the library never unloads */
    return S_OK;
}

static const IClassFactoryVtbl factory_vtbl = {
    .QueryInterface = factory_QueryInterface,
    .AddRef = factory_AddRef,
    .Release = factory_Release,
    .CreateInstance = factory_CreateInstance,
    .LockServer = factory_LockServer,
};

IClassFactory *sxs_class_factory(void)
{
    static IClassFactory factory = {&factory_vtbl};
    return &factory;
}
