/* SPDX-License-Identifier: MIT */
/* load.c - loads the library of a guest and makes its callback objects. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/code_path.h"
#include "base/env.h"
#include "guests/call.h"
#include "guests/crash.h"
#include "guests/environment.h"
#include "guests/guest.h"

/* Loads the library, once. The runtimes load a profiler in the same way (RTLD_LAZY), and managed
 * code that P/Invokes into the library by its path gets the same copy. */
static int load_locked(struct guest *guest)
{
    const char *path = guest->declared.path, *why;
    char        refused[360];
    if (guest->loaded)
        return guest->loaded;
    guest->loaded = -1;
    if (sxs_code_path_refused(path, refused, sizeof(refused))) {
        snprintf(guest->why, sizeof(guest->why), "its library is not loaded: %s", refused);
        return -1;
    }
    guest->library = dlopen(path, RTLD_LAZY);
    if (!guest->library) {
        why = dlerror();
        snprintf(guest->why, sizeof(guest->why), "its library cannot be loaded: %s",
                 why ? why : "");
        return -1;
    }
    if (dlsym(guest->library, "sxsprof_print_stack")) {
        snprintf(guest->why, sizeof(guest->why), "it is this profiler itself, or a copy of it");
        return -1;
    }
    guest->get_class_object = (HRESULT(*)(const GUID *, const GUID *, void **))(uintptr_t)dlsym(
        guest->library, "DllGetClassObject");
    if (!guest->get_class_object) {
        snprintf(guest->why, sizeof(guest->why),
                 "its library is no profiler: it does not export DllGetClassObject");
        return -1;
    }
    guest_environment_provide(guest);
    guest_crash_watch(guest);
    guest->loaded = 1;
    return 1;
}

/* Replaces @callback by the same object's highest ICorProfilerCallback, as a runtime asks for it. */
static unsigned highest_version(ICorProfilerCallback11 **callback)
{
    for (unsigned version = 11; version > 2; version--) {
        void *newer = NULL;
        if (SUCCEEDED((*callback)->vtbl->QueryInterface(*callback, guest_callback_iids[version],
                                                        &newer)) &&
            newer) {
            (*callback)->vtbl->Release(*callback);
            *callback = newer;
            return version;
        }
    }
    return 2;
}

HRESULT guest_create(struct guest *guest, ICorProfilerCallback11 **callback, unsigned *version,
                     char *why, size_t size)
{
    IClassFactory *factory = NULL;
    void          *object = NULL;
    HRESULT        hr;
    int            loaded;
    pthread_mutex_lock(&guest->lock);
    loaded = load_locked(guest);
    pthread_mutex_unlock(&guest->lock);
    if (loaded != 1) {
        snprintf(why, size, "%s", guest->why);
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    }
    hr = guest->get_class_object(&guest->declared.clsid, &IID_IClassFactory, (void **)&factory);
    if (FAILED(hr) || !factory) {
        snprintf(why, size, "its library has no class %s (%s 0x%08x)", guest->declared.clsid_text,
                 sxs_hresult_name(hr), (unsigned)hr);
        return FAILED(hr) ? hr : E_FAIL;
    }
    /* Runtimes ask for ICorProfilerCallback2; an object that has only the first version still gets
     * the events of that version. */
    hr = factory->vtbl->CreateInstance(factory, NULL, &IID_ICorProfilerCallback2, &object);
    *version = 2;
    if (hr == E_NOINTERFACE) {
        hr = factory->vtbl->CreateInstance(factory, NULL, &IID_ICorProfilerCallback, &object);
        *version = 1;
    }
    factory->vtbl->Release(factory);
    if (FAILED(hr) || !object) {
        snprintf(why, size, "its class factory makes no object (%s 0x%08x)", sxs_hresult_name(hr),
                 (unsigned)hr);
        return FAILED(hr) ? hr : E_FAIL;
    }
    *callback = object;
    if (*version == 2)
        *version = highest_version(callback);
    return S_OK;
}

/* Returns the setting, or "" when it is not set. */
static const char *compatibility_setting(void)
{
    const char *setting = sxs_env_named("DOTNET_ProfAPI_ProfilerCompatibilitySetting");
    if (!setting)
        setting = sxs_env_named("COMPlus_ProfAPI_ProfilerCompatibilitySetting");
    return setting ? setting : "";
}

const char *guest_is_permitted(const struct sxs_runtime *rt, unsigned version, int attached)
{
    const char *setting = compatibility_setting();
    if (attached)
        return version < 3 ? "it has no ICorProfilerCallback3: it cannot be attached" : NULL;
    if (strcasecmp(setting, "PreventLoad") == 0)
        return "ProfAPI_ProfilerCompatibilitySetting is PreventLoad";
    if (version >= 3 || strcasecmp(setting, "EnableV2Profiler") == 0)
        return NULL;
    if (strcasecmp(setting, "DisableV2Profiler") == 0)
        return "it has no ICorProfilerCallback3 and ProfAPI_ProfilerCompatibilitySetting is "
               "DisableV2Profiler";
    return sxs_runtime_facts(rt)->refuses_old_profilers
               ? "it has no ICorProfilerCallback3: set "
                 "COMPlus_ProfAPI_ProfilerCompatibilitySetting=EnableV2Profiler"
               : NULL;
}
