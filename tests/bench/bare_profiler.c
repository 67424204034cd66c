/* SPDX-License-Identifier: MIT */
/*
 * bare_profiler.c - a profiler that asks for the same events as the tool census and ignores them. It
 * shows what a runtime itself spends when any profiler is loaded; the library's own cost is the rest.
 * With BARE_HOOKS set, it sets the hooks of bare_hooks.c instead. With BARE_INSERT set, it changes the
 * methods that are compiled (bare_insert.c), and asks for the same events as the CLRIE engine.
 */
#include <stdlib.h>

#include "sxs_abi.h"
#include "tests/bench/bare_hooks.h"

__attribute__((visibility("default"))) HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid,
                                                                 void **out);

enum {
    INSERT_MASK = COR_PRF_MONITOR_APPDOMAIN_LOADS | COR_PRF_MONITOR_ASSEMBLY_LOADS |
                  COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_JIT_COMPILATION |
                  COR_PRF_ENABLE_REJIT
};

static HRESULT nothing(void)
{
    return S_OK;
}

static ULONG keep(void)
{
    return 1;
}

static HRESULT query(IUnknown *self, const GUID *iid, void **out)
{
    (void)iid;
    *out = self;
    return S_OK;
}

static HRESULT initialize(IUnknown *self, IUnknown *unknown)
{
    ICorProfilerInfo15 *info = NULL;
    (void)self;
    if (FAILED(unknown->vtbl->QueryInterface(unknown, &IID_ICorProfilerInfo5, (void **)&info)))
        return E_FAIL;
    if (bare_hooks_are(NULL))
        return bare_set_hooks(info);
    if (getenv("BARE_INSERT")) {
        bare_insert_begin(info);
        return info->vtbl->SetEventMask2(info, INSERT_MASK, 0);
    }
    return info->vtbl->SetEventMask2(info,
                                     COR_PRF_MONITOR_MODULE_LOADS |
                                         COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_MONITOR_THREADS |
                                         COR_PRF_MONITOR_EXCEPTIONS,
                                     COR_PRF_HIGH_BASIC_GC);
}

/* One vtable serves as class factory and as callback object. Each slot has a function that ignores
 * its arguments; on x86_64 and aarch64 the caller passes them in registers, so their number does not
 * matter. */
static void *factory_slots[5];
static void *callback_slots[SXS_N_CALLBACK_SLOTS];
static struct {
    void **vtbl;
} factory = {factory_slots}, callback = {callback_slots};

static HRESULT create(IUnknown *self, IUnknown *outer, const GUID *iid, void **out)
{
    (void)self;
    (void)outer;
    (void)iid;
    *out = &callback;
    return S_OK;
}

HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out)
{
    void *const known[] = {(void *)query, (void *)keep, (void *)keep};
    (void)clsid;
    (void)iid;
    for (unsigned i = 0; i < SXS_N_CALLBACK_SLOTS; i++)
        callback_slots[i] = i < 3 ? known[i] : (void *)nothing;
    callback_slots[SXS_SLOT_Initialize] = (void *)initialize;
    if (getenv("BARE_INSERT"))
        callback_slots[SXS_SLOT_JITCompilationStarted] = (void *)bare_insert;
    for (unsigned i = 0; i < 3; i++)
        factory_slots[i] = known[i];
    factory_slots[3] = (void *)create;
    factory_slots[4] = (void *)nothing;
    *out = &factory;
    return S_OK;
}
