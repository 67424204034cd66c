/* SPDX-License-Identifier: MIT */
/*
 * hooker.c - a plug-in that brings a raw profiler: the class HOOK_CLSID of the library HOOK_LIB, which
 * is one of the profilers of tests/guests/. It prints what the engine answers, and at an attach the
 * settings that it gets. HOOK_REMOVE: it removes the profiler when this module is loaded.
 */
#include <dlfcn.h>

#include "tests/clrie/plugin.h"

const char     plug_name[] = "hooker";

/* The text is "{8-4-4-4-12 hexadecimal digits}". */
static int parse(const char *text, GUID *out)
{
    unsigned b[8], d[3];
    int      n = sscanf(text, "{%8x-%4x-%4x-%2x%2x-%2x%2x%2x%2x%2x%2x}", &d[0], &d[1], &d[2], &b[0],
                        &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7]);
    *out = (GUID){d[0], (uint16_t)d[1], (uint16_t)d[2], {0}};
    for (int i = 0; i < 8; i++)
        out->Data4[i] = (uint8_t)b[i];
    return n == 11;
}

static IUnknown *make_profiler(void)
{
    const char    *path = getenv("HOOK_LIB"), *id = getenv("HOOK_CLSID");
    void          *library = path ? dlopen(path, RTLD_NOW) : NULL, *out = NULL;
    IClassFactory *factory = NULL;
    GUID           clsid;
    HRESULT (*get)(const GUID *, const GUID *, void **) = NULL;
    if (library)
        *(void **)&get = dlsym(library, "DllGetClassObject");
    if (get && id && parse(id, &clsid) &&
        SUCCEEDED(get(&clsid, &IID_IClassFactory, (void **)&factory)))
        factory->vtbl->CreateInstance(factory, NULL, &IID_ICorProfilerCallback2, &out);
    return out;
}

static void add(struct plug *p, const char *when, IUnknown *profiler)
{
    plug_say(p, "AddRawProfilerHook %s %#x", when,
             (unsigned)p->manager->vtbl->AddRawProfilerHook(p->manager, profiler));
}

HRESULT plug_initialize(struct plug *p)
{
    IUnknown *profiler = make_profiler();
    add(p, "NULL", NULL);
    if (!profiler)
        return S_OK;
    add(p, "first", profiler);
    add(p, "second", profiler);
    profiler->vtbl->Release(profiler);
    return S_OK;
}

HRESULT plug_module_loaded(struct plug *p, IModuleInfo *module)
{
    BSTR        name = NULL;
    const char *remove_at = getenv("HOOK_REMOVE"), *text = "";
    if (SUCCEEDED(module->vtbl->GetModuleName(module, &name)))
        text = plug_text(p, name);
    if (strstr(text, "CoreLib"))
        add(p, "late", (IUnknown *)(void *)module);
    if (remove_at && strstr(text, remove_at))
        plug_say(p, "RemoveRawProfilerHook %#x",
                 (unsigned)p->manager->vtbl->RemoveRawProfilerHook(p->manager));
    return S_OK;
}

HRESULT plug_attached(struct plug *p, IInstrumentationMethodAttachContext *context)
{
    IEnumInstrumentationMethodSettings *list = NULL;
    IInstrumentationMethodSetting      *setting;
    ULONG                               n;
    plug_say(p, "InitializeForAttach");
    if (FAILED(context->vtbl->EnumSettings(context, &list)))
        return E_FAIL;
    while (list->vtbl->Next(list, 1, &setting, &n) == S_OK) {
        BSTR name = NULL, value = NULL;
        setting->vtbl->GetName(setting, &name);
        setting->vtbl->GetValue(setting, &value);
        plug_say(p, "setting %s=%s", plug_text(p, name), plug_text(p, value));
        setting->vtbl->Release(setting);
    }
    list->vtbl->Release(list);
    return plug_initialize(p);
}

/* What was loaded before the attach is known, but was not announced. */
HRESULT plug_attach_complete(struct plug *p)
{
    static const WCHAR profiled[] = {'p', 'r', 'o', 'f', 'i', 'l', 'e', 'd', '.', 'd', 'l', 'l', 0};
    IAppDomainCollection *domains = NULL;
    IEnumAppDomainInfo   *list = NULL;
    IAppDomainInfo       *domain;
    ULONG                 n;
    p->manager->vtbl->GetAppDomainCollection(p->manager, &domains);
    domains->vtbl->GetAppDomains(domains, &list);
    while (list->vtbl->Next(list, 1, &domain, &n) == S_OK) {
        IEnumModuleInfo *modules = NULL;
        BSTR             name = NULL;
        DWORD            count = 0;
        HRESULT          hr = domain->vtbl->GetName(domain, &name);
        domain->vtbl->GetModuleInfosByName(domain, (WCHAR *)(uintptr_t)profiled, &modules);
        modules->vtbl->GetCount(modules, &count);
        plug_say(p, "AttachComplete: GetName %#x, %u module profiled.dll", (unsigned)hr, count);
        modules->vtbl->Release(modules);
        domain->vtbl->Release(domain);
    }
    list->vtbl->Release(list);
    domains->vtbl->Release(domains);
    return S_OK;
}
