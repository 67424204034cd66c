/* SPDX-License-Identifier: MIT */
#include "tests/guests/profiler.h"

#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

static atomic_uint n_profilers;

/* Counts a call of the callback with this slot; `self` is the caller's parameter. */
#define prof_count(slot) \
    (atomic_fetch_add_explicit(&prof_of(self)->counts[slot], 1, memory_order_relaxed), S_OK)

#include "sxs_profiler.inc"

static int same(const GUID *a, const GUID *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

void prof_say(const struct prof *p, const char *format, ...)
{
    const char *path = getenv("PROF_OUT");
    int         fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : 2;
    char        line[4096];
    va_list     args;
    int         n = snprintf(line, sizeof(line), "%s %s ", prof_name ? prof_name : prof_clsid + 25,
                             p->runtime);
    va_start(args, format);
    n += vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, args);
    va_end(args);
    if (n > (int)sizeof(line) - 2)
        n = (int)sizeof(line) - 2;
    line[n++] = '\n';
    if (write(fd, line, (size_t)n) != n)
        abort();
    if (path)
        close(fd);
}

/* ---- callback object -------------------------------------------------------------------------- */

HRESULT prof_QueryInterface(ICorProfilerCallback11 *self, const GUID *iid, void **out)
{
    unsigned newest = &prof_callback_version ? prof_callback_version : 11;
    *out = same(iid, &IID_IUnknown) ? self : NULL;
    for (unsigned version = 1; version <= newest; version++)
        if (same(iid, prof_iids[version]))
            *out = self;
    if (!*out)
        return E_NOINTERFACE;
    prof_AddRef(self);
    return S_OK;
}

ULONG prof_AddRef(ICorProfilerCallback11 *self)
{
    return atomic_fetch_add(&prof_of(self)->refs, 1) + 1;
}

ULONG prof_Release(ICorProfilerCallback11 *self)
{
    struct prof *p = prof_of(self);
    unsigned     left = atomic_fetch_sub(&p->refs, 1) - 1;
    if (left == 0) {
        prof_say(p, "released");
        if (p->info)
            p->info->vtbl->Release(p->info);
        free(p);
    }
    return left;
}

static HRESULT connect_info(struct prof *p, IUnknown *unknown)
{
    USHORT major = 0, minor = 0, build = 0, fix = 0;
    for (unsigned i = 0; i < 15 && !p->info; i++) {
        void *info = NULL;
        if (SUCCEEDED(unknown->vtbl->QueryInterface(unknown, sxs_info_versions[i].iid, &info))) {
            p->info = info;
            p->version = sxs_info_versions[i].version;
            p->n_slots = sxs_info_versions[i].n_slots;
        }
    }
    if (!p->info)
        return E_NOINTERFACE;
    p->info->vtbl->GetRuntimeInformation(p->info, NULL, NULL, &major, &minor, &build, &fix, 0, NULL,
                                         NULL);
    snprintf(p->runtime, sizeof(p->runtime), "%u.%u.%u", major, minor, build);
    return S_OK;
}

HRESULT prof_Initialize(ICorProfilerCallback11 *self, IUnknown *info)
{
    struct prof *p = prof_of(self);
    HRESULT      hr = connect_info(p, info);
    p->number = atomic_fetch_add(&n_profilers, 1) + 1;
    return SUCCEEDED(hr) ? prof_initialize(p) : hr;
}

HRESULT prof_InitializeForAttach(ICorProfilerCallback11 *self, IUnknown *info, void *data, UINT size)
{
    (void)data;
    (void)size;
    return prof_Initialize(self, info);
}

HRESULT prof_Shutdown(ICorProfilerCallback11 *self)
{
    prof_shutdown(prof_of(self));
    return S_OK;
}

__attribute__((weak)) HRESULT prof_ProfilerDetachSucceeded(ICorProfilerCallback11 *self)
{
    prof_say(prof_of(self), "detached");
    prof_shutdown(prof_of(self));
    return S_OK;
}

__attribute__((weak)) HRESULT prof_LoadAsNotificationOnly(ICorProfilerCallback11 *self, BOOL *notification_only)
{
    (void)self;
    *notification_only = 0;
    return S_OK;
}

/* ---- class factory ---------------------------------------------------------------------------- */

static HRESULT factory_QueryInterface(IClassFactory *self, const GUID *iid, void **out)
{
    *out = same(iid, &IID_IUnknown) || same(iid, &IID_IClassFactory) ? self : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

static ULONG factory_AddRef(IClassFactory *self)
{
    (void)self;
    return 1;
}

static HRESULT factory_CreateInstance(IClassFactory *self, IUnknown *outer, const GUID *iid,
                                      void **out)
{
    struct prof *p = calloc(1, sizeof(*p));
    HRESULT      hr;
    (void)self;
    (void)outer;
    if (!p)
        return E_OUTOFMEMORY;
    p->com.vtbl = &prof_vtbl;
    p->refs = 1;
    snprintf(p->runtime, sizeof(p->runtime), "?");
    hr = prof_QueryInterface(&p->com, iid, out);
    if (FAILED(hr))
        free(p);
    else
        atomic_fetch_sub(&p->refs, 1);
    return hr;
}

static HRESULT factory_LockServer(IClassFactory *self, BOOL lock)
{
    (void)self;
    (void)lock;
    return S_OK;
}

__attribute__((visibility("default"))) HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid,
                                                                 void **out);
HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out)
{
    static const IClassFactoryVtbl table = {factory_QueryInterface, factory_AddRef, factory_AddRef,
                                            factory_CreateInstance, factory_LockServer};
    static IClassFactory           factory = {&table};
    char                           text[40];
    snprintf(text, sizeof(text), "{%08X-%04X-%04X-%02X%02X-%02X%02X%02X%02X%02X%02X}", clsid->Data1,
             clsid->Data2, clsid->Data3, clsid->Data4[0], clsid->Data4[1], clsid->Data4[2],
             clsid->Data4[3], clsid->Data4[4], clsid->Data4[5], clsid->Data4[6], clsid->Data4[7]);
    if (strcmp(text, prof_clsid) != 0)
        return CLASS_E_CLASSNOTAVAILABLE;
    return factory_QueryInterface(&factory, iid, out);
}
