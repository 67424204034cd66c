/* SPDX-License-Identifier: MIT */
#include "tests/clrie/plugin.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#define UNUSED(x) (void)(x)
#define OF(member, self) \
    ((struct plug *)(void *)((char *)(void *)(self)-offsetof(struct plug, member)))

/* ---- slots that a plug-in does not define ------------------------------------------------------ */

#define WEAK __attribute__((weak))
WEAK HRESULT plug_initialize(struct plug *p)
{
    UNUSED(p);
    return S_OK;
}
WEAK HRESULT plug_domain_created(struct plug *p, IAppDomainInfo *d)
{
    UNUSED(p);
    UNUSED(d);
    return S_OK;
}
WEAK HRESULT plug_domain_shutdown(struct plug *p, IAppDomainInfo *d)
{
    UNUSED(p);
    UNUSED(d);
    return S_OK;
}
WEAK HRESULT plug_assembly_loaded(struct plug *p, IAssemblyInfo *a)
{
    UNUSED(p);
    UNUSED(a);
    return S_OK;
}
WEAK HRESULT plug_assembly_unloaded(struct plug *p, IAssemblyInfo *a)
{
    UNUSED(p);
    UNUSED(a);
    return S_OK;
}
WEAK HRESULT plug_module_loaded(struct plug *p, IModuleInfo *m)
{
    UNUSED(p);
    UNUSED(m);
    return S_OK;
}
WEAK HRESULT plug_module_unloaded(struct plug *p, IModuleInfo *m)
{
    UNUSED(p);
    UNUSED(m);
    return S_OK;
}
WEAK HRESULT plug_shutdown(struct plug *p)
{
    UNUSED(p);
    return S_OK;
}
WEAK HRESULT plug_should(struct plug *p, IMethodInfo *m, BOOL r, BOOL *w)
{
    UNUSED(p);
    UNUSED(m);
    UNUSED(r);
    UNUSED(w);
    return S_OK;
}
WEAK HRESULT plug_before(struct plug *p, IMethodInfo *m, BOOL r)
{
    UNUSED(p);
    UNUSED(m);
    UNUSED(r);
    return S_OK;
}
WEAK HRESULT plug_instrument(struct plug *p, IMethodInfo *m, BOOL r)
{
    UNUSED(p);
    UNUSED(m);
    UNUSED(r);
    return S_OK;
}
WEAK HRESULT plug_complete(struct plug *p, IMethodInfo *m, BOOL r)
{
    UNUSED(p);
    UNUSED(m);
    UNUSED(r);
    return S_OK;
}
WEAK HRESULT plug_inline(struct plug *p, IMethodInfo *e, IMethodInfo *r, BOOL *a)
{
    UNUSED(p);
    UNUSED(e);
    UNUSED(r);
    UNUSED(a);
    return S_OK;
}
WEAK HRESULT plug_jit_started(struct plug *p, FunctionID f, BOOL r)
{
    UNUSED(p);
    UNUSED(f);
    UNUSED(r);
    return S_OK;
}
WEAK HRESULT plug_jit_complete(struct plug *p, IMethodJitInfo *c)
{
    UNUSED(p);
    UNUSED(c);
    return S_OK;
}
WEAK HRESULT plug_exception(struct plug *p, const char *e, IMethodInfo *m)
{
    UNUSED(p);
    UNUSED(e);
    UNUSED(m);
    return S_OK;
}
WEAK HRESULT plug_attached(struct plug *p, IInstrumentationMethodAttachContext *c)
{
    UNUSED(c);
    return plug_initialize(p);
}
WEAK HRESULT plug_attach_complete(struct plug *p)
{
    UNUSED(p);
    return S_OK;
}

/* ---- output ------------------------------------------------------------------------------------ */

void plug_say(const struct plug *p, const char *format, ...)
{
    const char *path = getenv("PLUG_OUT");
    int         fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : 2;
    char        line[4096];
    va_list     args;
    int         n = snprintf(line, sizeof(line), "%s %s ", plug_name, p->runtime);
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

const char *plug_text(struct plug *p, BSTR string)
{
    static _Thread_local char     texts[4][512];
    static _Thread_local unsigned next;
    char                         *text = texts[next++ % 4];
    size_t                        n = 0;
    for (; string && string[n] && n < sizeof(texts[0]) - 1; n++)
        text[n] = string[n] < 128 ? (char)string[n] : '?';
    text[n] = '\0';
    if (string)
        p->strings->vtbl->FreeString(p->strings, string);
    return text;
}

const char *plug_setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

const char *plug_method_name(struct plug *p, IMethodInfo *method)
{
    BSTR name = NULL;
    method->vtbl->GetFullName(method, &name);
    return plug_text(p, name);
}

/* ---- the object --------------------------------------------------------------------------------- */

static int same(const GUID *a, const GUID *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static HRESULT query(struct plug *p, const GUID *iid, void **out)
{
    unsigned has = &plug_has ? plug_has : 0;
    *out = NULL;
    if (same(iid, &IID_IUnknown) || same(iid, &IID_IInstrumentationMethod))
        *out = &p->im;
    else if (has & PLUG_JIT && (same(iid, &IID_IInstrumentationMethodJitEvents) ||
                                same(iid, &IID_IInstrumentationMethodJitEvents2)))
        *out = &p->jit;
    else if (has & PLUG_EXCEPTIONS && same(iid, &IID_IInstrumentationMethodExceptionEvents))
        *out = &p->exceptions;
    else if (same(iid, &IID_IInstrumentationMethodAttach))
        *out = &p->attach;
    if (!*out)
        return E_NOINTERFACE;
    p->refs++;
    return S_OK;
}

static ULONG unref(struct plug *p)
{
    unsigned left = --p->refs;
    if (!left) {
        plug_say(p, "released");
        free(p);
    }
    return left;
}

#define UNKNOWN(member, type)                                              \
    static HRESULT member##_query(type *self, const GUID *iid, void **out) \
    {                                                                      \
        return query(OF(member, self), iid, out);                          \
    }                                                                      \
    static ULONG member##_ref(type *self)                                  \
    {                                                                      \
        return ++OF(member, self)->refs;                                   \
    }                                                                      \
    static ULONG member##_unref(type *self)                                \
    {                                                                      \
        return unref(OF(member, self));                                    \
    }
UNKNOWN(im, IInstrumentationMethod)
UNKNOWN(jit, IInstrumentationMethodJitEvents2)
UNKNOWN(exceptions, IInstrumentationMethodExceptionEvents)
UNKNOWN(attach, IInstrumentationMethodAttach)

static HRESULT connect_manager(struct plug *p, IProfilerManager *manager)
{
    USHORT               major = 0, minor = 0, build = 0, fix = 0;
    COR_PRF_RUNTIME_TYPE type;
    ULONG                n = 0;
    USHORT               instance;
    void                *found = NULL;
    IUnknown            *info = NULL;
    HRESULT              hr;
    p->manager = manager;
    manager->vtbl->AddRef(manager);
    hr = manager->vtbl->QueryInterface(manager, &IID_IProfilerStringManager, &found);
    if (FAILED(hr))
        return hr;
    p->strings = found;
    hr = manager->vtbl->GetLoggingInstance(manager, &p->log);
    if (FAILED(hr))
        return hr;
    hr = manager->vtbl->GetCorProfilerInfo(manager, &info);
    if (FAILED(hr))
        return hr;
    hr = info->vtbl->QueryInterface(info, &IID_ICorProfilerInfo5, &found);
    info->vtbl->Release(info);
    if (FAILED(hr))
        return hr;
    p->info = found;
    p->info->vtbl->GetRuntimeInformation(p->info, &instance, &type, &major, &minor, &build, &fix, 0,
                                         &n, NULL);
    snprintf(p->runtime, sizeof(p->runtime), "%u.%u.%u", major, minor, build);
    return S_OK;
}

static HRESULT im_Initialize(IInstrumentationMethod *self, IProfilerManager *manager)
{
    HRESULT hr = connect_manager(OF(im, self), manager);
    return FAILED(hr) ? hr : plug_initialize(OF(im, self));
}

static HRESULT im_OnAppDomainCreated(IInstrumentationMethod *self, IAppDomainInfo *domain)
{
    return plug_domain_created(OF(im, self), domain);
}

static HRESULT im_OnAppDomainShutdown(IInstrumentationMethod *self, IAppDomainInfo *domain)
{
    return plug_domain_shutdown(OF(im, self), domain);
}

static HRESULT im_OnAssemblyLoaded(IInstrumentationMethod *self, IAssemblyInfo *assembly)
{
    return plug_assembly_loaded(OF(im, self), assembly);
}

static HRESULT im_OnAssemblyUnloaded(IInstrumentationMethod *self, IAssemblyInfo *assembly)
{
    return plug_assembly_unloaded(OF(im, self), assembly);
}

static HRESULT im_OnModuleLoaded(IInstrumentationMethod *self, IModuleInfo *module)
{
    return plug_module_loaded(OF(im, self), module);
}

static HRESULT im_OnModuleUnloaded(IInstrumentationMethod *self, IModuleInfo *module)
{
    return plug_module_unloaded(OF(im, self), module);
}

/* Gives back what Initialize has got, as well-behaved plug-ins do. */
static HRESULT im_OnShutdown(IInstrumentationMethod *self)
{
    struct plug *p = OF(im, self);
    HRESULT      hr = plug_shutdown(p);
    if (p->info)
        p->info->vtbl->Release(p->info);
    if (p->log)
        p->log->vtbl->Release(p->log);
    if (p->strings)
        p->strings->vtbl->Release(p->strings);
    if (p->manager)
        p->manager->vtbl->Release(p->manager);
    return hr;
}

static HRESULT im_ShouldInstrumentMethod(IInstrumentationMethod *self, IMethodInfo *method,
                                         BOOL is_rejit, BOOL *wants)
{
    return plug_should(OF(im, self), method, is_rejit, wants);
}

static HRESULT im_BeforeInstrumentMethod(IInstrumentationMethod *self, IMethodInfo *method,
                                         BOOL is_rejit)
{
    return plug_before(OF(im, self), method, is_rejit);
}

static HRESULT im_InstrumentMethod(IInstrumentationMethod *self, IMethodInfo *method, BOOL is_rejit)
{
    return plug_instrument(OF(im, self), method, is_rejit);
}

static HRESULT im_OnInstrumentationComplete(IInstrumentationMethod *self, IMethodInfo *method,
                                            BOOL is_rejit)
{
    return plug_complete(OF(im, self), method, is_rejit);
}

static HRESULT im_AllowInlineSite(IInstrumentationMethod *self, IMethodInfo *callee,
                                  IMethodInfo *caller, BOOL *allowed)
{
    return plug_inline(OF(im, self), callee, caller, allowed);
}

static const IInstrumentationMethodVtbl im_vtbl = {
    im_query,
    im_ref,
    im_unref,
    im_Initialize,
    im_OnAppDomainCreated,
    im_OnAppDomainShutdown,
    im_OnAssemblyLoaded,
    im_OnAssemblyUnloaded,
    im_OnModuleLoaded,
    im_OnModuleUnloaded,
    im_OnShutdown,
    im_ShouldInstrumentMethod,
    im_BeforeInstrumentMethod,
    im_InstrumentMethod,
    im_OnInstrumentationComplete,
    im_AllowInlineSite,
};

static HRESULT jit_JitStarted(IInstrumentationMethodJitEvents2 *self, FunctionID function,
                              BOOL is_rejit)
{
    return plug_jit_started(OF(jit, self), function, is_rejit);
}

static HRESULT jit_JitComplete(IInstrumentationMethodJitEvents2 *self, FunctionID function,
                               BOOL is_rejit, HRESULT result)
{
    UNUSED(function);
    UNUSED(is_rejit);
    UNUSED(result);
    plug_say(OF(jit, self), "the old JitComplete was called");
    return S_OK;
}

static HRESULT jit_JitComplete2(IInstrumentationMethodJitEvents2 *self, IMethodJitInfo *compiled)
{
    return plug_jit_complete(OF(jit, self), compiled);
}

static const IInstrumentationMethodJitEvents2Vtbl jit_vtbl = {
    jit_query, jit_ref, jit_unref, jit_JitStarted, jit_JitComplete, jit_JitComplete2,
};

#define EVENT_IN(event)                                                              \
    static HRESULT exceptions_##event(IInstrumentationMethodExceptionEvents *self,   \
                                      IMethodInfo                           *method) \
    {                                                                                \
        return plug_exception(OF(exceptions, self), #event, method);                 \
    }
#define EVENT(event)                                                               \
    static HRESULT exceptions_##event(IInstrumentationMethodExceptionEvents *self) \
    {                                                                              \
        return plug_exception(OF(exceptions, self), #event, NULL);                 \
    }
EVENT(ExceptionCatcherLeave)
EVENT_IN(ExceptionSearchCatcherFound)
EVENT_IN(ExceptionSearchFilterEnter)
EVENT(ExceptionSearchFilterLeave)
EVENT_IN(ExceptionSearchFunctionEnter)
EVENT(ExceptionSearchFunctionLeave)
EVENT_IN(ExceptionUnwindFinallyEnter)
EVENT(ExceptionUnwindFinallyLeave)
EVENT_IN(ExceptionUnwindFunctionEnter)
EVENT(ExceptionUnwindFunctionLeave)

static HRESULT exceptions_ExceptionCatcherEnter(IInstrumentationMethodExceptionEvents *self,
                                                IMethodInfo *method, UINT_PTR object)
{
    UNUSED(object);
    return plug_exception(OF(exceptions, self), "ExceptionCatcherEnter", method);
}

static HRESULT exceptions_ExceptionThrown(IInstrumentationMethodExceptionEvents *self,
                                          UINT_PTR                               object)
{
    UNUSED(object);
    return plug_exception(OF(exceptions, self), "ExceptionThrown", NULL);
}

static const IInstrumentationMethodExceptionEventsVtbl exceptions_vtbl = {
    exceptions_query,
    exceptions_ref,
    exceptions_unref,
    exceptions_ExceptionCatcherEnter,
    exceptions_ExceptionCatcherLeave,
    exceptions_ExceptionSearchCatcherFound,
    exceptions_ExceptionSearchFilterEnter,
    exceptions_ExceptionSearchFilterLeave,
    exceptions_ExceptionSearchFunctionEnter,
    exceptions_ExceptionSearchFunctionLeave,
    exceptions_ExceptionThrown,
    exceptions_ExceptionUnwindFinallyEnter,
    exceptions_ExceptionUnwindFinallyLeave,
    exceptions_ExceptionUnwindFunctionEnter,
    exceptions_ExceptionUnwindFunctionLeave,
};

static HRESULT attach_InitializeForAttach(IInstrumentationMethodAttach        *self,
                                          IProfilerManager                    *manager,
                                          IInstrumentationMethodAttachContext *context)
{
    HRESULT hr = connect_manager(OF(attach, self), manager);
    return FAILED(hr) ? hr : plug_attached(OF(attach, self), context);
}

static HRESULT attach_AttachComplete(IInstrumentationMethodAttach *self)
{
    return plug_attach_complete(OF(attach, self));
}

static const IInstrumentationMethodAttachVtbl attach_vtbl = {
    attach_query, attach_ref, attach_unref, attach_InitializeForAttach, attach_AttachComplete,
};

/* ---- class factory, export ----------------------------------------------------------------------- */

/* Of the last call of DllGetClassObject(), which CreateInstance() of the same thread follows. */
static _Thread_local unsigned char wanted_id;

static HRESULT factory_query(IClassFactory *self, const GUID *iid, void **out)
{
    *out = same(iid, &IID_IUnknown) || same(iid, &IID_IClassFactory) ? self : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

static ULONG factory_count(IClassFactory *self)
{
    UNUSED(self);
    return 1;
}

static HRESULT factory_create(IClassFactory *self, IUnknown *outer, const GUID *iid, void **out)
{
    struct plug *p = calloc(1, sizeof(*p));
    HRESULT      hr;
    UNUSED(self);
    UNUSED(outer);
    if (!p)
        return E_OUTOFMEMORY;
    p->im.vtbl = &im_vtbl;
    p->jit.vtbl = &jit_vtbl;
    p->exceptions.vtbl = &exceptions_vtbl;
    p->attach.vtbl = &attach_vtbl;
    p->refs = 1;
    p->id = wanted_id;
    hr = query(p, iid, out);
    p->refs--;
    if (FAILED(hr))
        free(p);
    return hr;
}

static HRESULT factory_lock(IClassFactory *self, BOOL lock)
{
    UNUSED(self);
    UNUSED(lock);
    return S_OK;
}

static const IClassFactoryVtbl factory_vtbl = {factory_query, factory_count, factory_count,
                                               factory_create, factory_lock};
static IClassFactory           factory = {&factory_vtbl};

__attribute__((visibility("default"))) HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid,
                                                                 void **out);
HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out)
{
    memcpy(&wanted_id, (const char *)(const void *)clsid + sizeof(GUID) - 1, 1);
    return factory_query(&factory, iid, out);
}
