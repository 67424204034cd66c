/* SPDX-License-Identifier: MIT */
#include "callback/class_factory.h"

#include <pthread.h>

#include "manager/guid.h"
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
    return 2; /* references are not counted: the factory is static */
}

static ULONG factory_Release(IClassFactory *self)
{
    (void)self;
    return 1;
}

/* Create the callback object of the calling runtime. Several runtimes may call at the same time on
 * their own threads; the lock `creating` admits one after the other. The return address lies in the
 * module of the calling runtime; it identifies the runtime before any of its Info can be used. */
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
        return E_NOINTERFACE; /* checked before the runtime is admitted */
    pthread_mutex_lock(&creating);
    hr = sxs_manager_admit(caller, &rt);
    if (FAILED(hr))
        goto done;
    callback = sxs_callback_new(rt);
    if (!callback) {
        sxs_manager_ended(rt, 1); /* with pick-first, the next runtime may now be the first */
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
