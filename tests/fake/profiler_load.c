/* SPDX-License-Identifier: MIT */
/* profiler_load.c - finds, creates, initializes and detaches the profiler in the order of a CLR. */
#include "tests/fake/fake.h"

#include <dlfcn.h>

typedef HRESULT get_class_object(const GUID *clsid, const GUID *iid, void **out);

static const char *setting(const char *name)
{
    char full[64];
    snprintf(full, sizeof(full), "%s_%s", fake.framework ? "COR" : "CORECLR", name);
    const char *value = getenv(full);
    return value && *value ? value : NULL;
}

static HRESULT factory_of(const char *path, const GUID *clsid, void **library, IClassFactory **out)
{
    /* "@program" or "@program:SYMBOL": the host program itself has the class factory. Tests use it
     * to be host and profiler in one. */
    bool in_host = strncmp(path, "@program", 8) == 0;
    const char *name = in_host && path[8] == ':' ? path + 9 : "DllGetClassObject";
    *library = dlopen(in_host ? NULL : path, RTLD_LAZY);
    if (!*library) {
        fake_log("profiler not loaded: %s", dlerror());
        return HRESULT_WIN32_ERROR_MOD_NOT_FOUND;
    }
    void *symbol = dlsym(*library, name);
    get_class_object *get = NULL;
    memcpy(&get, &symbol, sizeof(get));
    HRESULT hr = get ? get(clsid, &IID_IClassFactory, (void **)out) : E_FAIL;
    if (SUCCEEDED(hr) && !*out)
        hr = E_NOINTERFACE;
    if (FAILED(hr)) {
        fake_log("profiler has no class factory: 0x%08x", (unsigned)hr);
        dlclose(*library);
        *library = NULL;
    }
    return hr;
}

HRESULT fake_create_instance(const char *path, const GUID *clsid, IUnknown *outer, const GUID *iid,
                             void **out)
{
    void *library = NULL;
    IClassFactory *factory = NULL;
    *out = NULL;
    HRESULT hr = factory_of(path, clsid, &library, &factory);
    if (FAILED(hr))
        return hr;
    hr = factory->vtbl->CreateInstance(factory, outer, iid, out);
    factory->vtbl->Release(factory);
    if (FAILED(hr) || !*out)
        dlclose(library); /* otherwise it stays loaded: the instance needs its code */
    return hr;
}

static void release_callbacks(void)
{
    for (int v = FAKE_CALLBACK_LAST; v >= 2; v--) {
        ICorProfilerCallback11 *cb = fake.callback[v];
        fake.callback[v] = NULL;
        if (cb)
            cb->vtbl->Release(cb);
    }
}

/* Calls CreateInstance, then QueryInterface for the same interface, because some class factories
 * return the wrong one. Then asks for newer interfaces, the newest first. A callback object that
 * has one interface has all older ones; each counts as one reference. */
static HRESULT create(const char *path, const GUID *clsid)
{
    IClassFactory *factory = NULL;
    ICorProfilerCallback11 *first = NULL;
    HRESULT hr = factory_of(path, clsid, &fake.library, &factory);
    if (FAILED(hr))
        return hr;
    hr = factory->vtbl->CreateInstance(factory, NULL, &IID_ICorProfilerCallback2, (void **)&first);
    if (SUCCEEDED(hr) && !first)
        hr = E_NOINTERFACE;
    if (SUCCEEDED(hr)) {
        hr = first->vtbl->QueryInterface(first, &IID_ICorProfilerCallback2,
                                         (void **)&fake.callback[2]);
        if (SUCCEEDED(hr) && !fake.callback[2])
            hr = E_NOINTERFACE;
        first->vtbl->Release(first);
    }
    factory->vtbl->Release(factory);
    if (FAILED(hr)) {
        fake_log("profiler gave no ICorProfilerCallback2: 0x%08x", (unsigned)hr);
        return hr;
    }
    for (int v = fake.callback_version; v >= 3; v--) {
        ICorProfilerCallback11 *newer = v < FAKE_CALLBACK_LAST ? fake.callback[v + 1] : NULL;
        if (newer) {
            newer->vtbl->AddRef(newer);
            fake.callback[v] = newer;
            continue;
        }
        void *out = NULL;
        if (SUCCEEDED(fake.callback[2]->vtbl->QueryInterface(fake.callback[2],
                                                                     sxs_callback_iids[v], &out)))
            fake.callback[v] = out;
    }
    return S_OK;
}

static void drop(enum fakeclr_load state)
{
    atomic_store(&fake.phase, FAKE_ENDED);
    while (atomic_load(&fake.in_callbacks) > (fake_in_callback ? 1 : 0))
        fake_nap(100);
    release_callbacks();
    atomic_store(&fake.mask_low, 0);
    atomic_store(&fake.mask_high, 0);
    if (fake.library)
        dlclose(fake.library);
    fake.library = NULL;
    atomic_store(&fake.load_state, state);
}

void fake_profiler_terminate(enum fakeclr_load state)
{
    drop(state);
}

static HRESULT initialize(bool attach, void *data, unsigned size)
{
    ICorProfilerCallback11 *cb = fake.callback[2];
    IUnknown *info = (IUnknown *)&fake.info;
    if (fake.callback[11]) {
        BOOL only = 0;
        HRESULT hr = fake.callback[11]->vtbl->LoadAsNotificationOnly(fake.callback[11], &only);
        fake.notification_only = SUCCEEDED(hr) && only;
    }
    atomic_store(&fake.phase, attach ? FAKE_ATTACHING : FAKE_STARTING);
    atomic_fetch_add(&fake.in_callbacks, 1);
    fake_in_callback++;
    HRESULT hr;
    if (attach)
        hr = fake.callback[3]->vtbl->InitializeForAttach(fake.callback[3], info, data, size);
    else
        hr = cb->vtbl->Initialize(cb, info);
    fake_in_callback--;
    atomic_fetch_sub(&fake.in_callbacks, 1);
    unsigned slot = attach ? (unsigned)SXS_SLOT_InitializeForAttach : (unsigned)SXS_SLOT_Initialize;
    atomic_fetch_add(&fake.raised[slot], 1);
    return hr;
}

static HRESULT load(const char *path, const GUID *clsid, bool attach, void *data, unsigned size)
{
    enum fake_compat compat = fake_compat_setting();
    if (!attach && compat == FAKE_PREVENT_LOAD) {
        fake_log("ProfilerCompatibilitySetting is PreventLoad: no profiler is loaded");
        atomic_store(&fake.load_state, FAKECLR_PREVENTED);
        return S_OK;
    }
    HRESULT hr = create(path, clsid);
    if (SUCCEEDED(hr) && !fake.callback[3] && fake.callback_version >= 3) {
        if (attach) {
            fake_log("profiler can't attach: no ICorProfilerCallback3");
            hr = CORPROF_E_PROFILER_NOT_ATTACHABLE;
        } else if (compat == FAKE_DISABLE_V2) {
            fake_log("ProfilerCompatibilitySetting is DisableV2Profiler: V2 profiler unloaded");
            drop(FAKECLR_V2_DISABLED);
            return S_OK;
        } else {
            fake_log("ProfilerCompatibilitySetting is EnableV2Profiler: V2 profiler loaded");
        }
    }
    if (FAILED(hr)) {
        drop(FAKECLR_FAILED);
        return hr;
    }
    fake.attached = attach;
    hr = initialize(attach, data, size);
    if (FAILED(hr)) {
        bool cancelled = hr == CORPROF_E_PROFILER_CANCEL_ACTIVATION;
        if (cancelled)
            fake_log("profiler chose not to profile this process");
        else
            fake_log("profiler failed to initialize: 0x%08x", (unsigned)hr);
        if (attach && hr == E_NOTIMPL)
            hr = CORPROF_E_PROFILER_NOT_ATTACHABLE;
        drop(cancelled ? FAKECLR_CANCELLED : FAKECLR_FAILED);
        return hr;
    }
    atomic_store(&fake.phase, FAKE_RUN);
    atomic_store(&fake.load_state, FAKECLR_ACTIVE);
    fake_log("profiler loaded");
    return S_OK;
}

void fake_profiler_startup(void)
{
    const char *enabled = setting("ENABLE_PROFILING"), *clsid_text = setting("PROFILER");
    if (!enabled || strtoul(enabled, NULL, 16) == 0)
        return;
    const char *path = setting("PROFILER_PATH_64");
    if (!path)
        path = setting("PROFILER_PATH");
    GUID clsid;
    HRESULT hr = S_FALSE;
    if (!clsid_text)
        fake_log("profiling is enabled, but no CLSID is set");
    else if (!path)
        fake_log("profiling is enabled, but no profiler path is set");
    else if (!fake_guid_parse(clsid_text, &clsid)) {
        fake_log("'%s' is no CLSID", clsid_text);
        hr = E_INVALIDARG;
    } else {
        atomic_store(&fake.load_result, load(path, &clsid, false, NULL, 0));
        return;
    }
    atomic_store(&fake.load_state, FAKECLR_FAILED);
    atomic_store(&fake.load_result, hr);
}

HRESULT fake_profiler_attach(const char *path, const GUID *clsid, void *data, unsigned size)
{
    if (atomic_load(&fake.shut_down) || !atomic_load(&fake.initialized))
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    if (fake.callback_version < 3)
        return E_NOTIMPL;
    if (atomic_load(&fake.load_state) == FAKECLR_ACTIVE)
        return CORPROF_E_PROFILER_ALREADY_ACTIVE;
    void *copy = size ? malloc(size) : NULL;
    if (copy)
        memcpy(copy, data, size);
    HRESULT hr = load(path, clsid, true, copy, copy ? size : 0);
    free(copy);
    atomic_store(&fake.load_result, hr);
    if (SUCCEEDED(hr))
        FAKE_RAISE(ProfilerAttachComplete);
    return hr;
}

/* No callback is raised from now on. A separate thread waits for those in progress, because the
 * request to detach is usually made in a callback. */
static void *detach_thread(void *arg)
{
    (void)arg;
    while (atomic_load(&fake.in_callbacks))
        fake_nap(100);
    ICorProfilerCallback11 *cb = fake.callback[3];
    if (cb) {
        cb->vtbl->ProfilerDetachSucceeded(cb);
        atomic_fetch_add(&fake.raised[SXS_SLOT_ProfilerDetachSucceeded], 1);
    }
    drop(FAKECLR_DETACHED);
    fake_log("profiler detached");
    return NULL;
}

HRESULT fake_profiler_detach(void)
{
    uint32_t immutable = atomic_load(&fake.mask_low) & (uint32_t)COR_PRF_MONITOR_IMMUTABLE;
    if (!fake.callback[3])
        return CORPROF_E_CALLBACK3_REQUIRED;
    if (immutable)
        return CORPROF_E_IMMUTABLE_FLAGS_SET;
    if (fake.modified_il || fake.enter3 || fake.leave3 || fake.tailcall3 || fake.enter3_info ||
        fake.leave3_info || fake.tailcall3_info)
        return CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT;
    int run = FAKE_RUN;
    if (!atomic_compare_exchange_strong(&fake.phase, &run, FAKE_DETACHING))
        return run == FAKE_DETACHING ? CORPROF_E_PROFILER_DETACHING
                                     : CORPROF_E_PROFILER_NOT_YET_INITIALIZED;
    pthread_t thread;
    if (pthread_create(&thread, NULL, detach_thread, NULL) != 0) {
        atomic_store(&fake.phase, FAKE_RUN);
        return E_OUTOFMEMORY;
    }
    pthread_detach(thread);
    return S_OK;
}
