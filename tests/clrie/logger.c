/* SPDX-License-Identifier: MIT */
/* logger.c - a plug-in that writes a line for each call of the engine. LOGGER_ONLY: methods of modules
 * whose path contains this text only. LOGGER_MASK: event flags to ask for in Initialize, too; hexadecimal. */
#include "tests/clrie/plugin.h"

const char     plug_name[] = "logger";
const unsigned plug_has = PLUG_JIT | PLUG_EXCEPTIONS;

static void ask_for_more(struct plug *p, const char *flags)
{
    DWORD   mask = 0;
    HRESULT hr = p->info->vtbl->SetEventMask(p->info, (DWORD)strtoul(flags, NULL, 16));
    p->info->vtbl->GetEventMask(p->info, &mask);
    plug_say(p, "SetEventMask %s %#x mask %#x", flags, (unsigned)hr, mask);
}

HRESULT plug_initialize(struct plug *p)
{
    const char *more = getenv("LOGGER_MASK");
    DWORD       mask = 0;
    HRESULT     hr;
    plug_say(p, "Initialize");
    p->info->vtbl->GetEventMask(p->info, &mask);
    plug_say(p, "mask %#x", mask);
    hr = p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_EXCEPTIONS);
    if (more)
        ask_for_more(p, more);
    return hr;
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *module_name(struct plug *p, IModuleInfo *module)
{
    BSTR    name = NULL;
    HRESULT hr = module->vtbl->GetModuleName(module, &name);
    return FAILED(hr) ? "?" : base(plug_text(p, name));
}

HRESULT plug_domain_created(struct plug *p, IAppDomainInfo *domain)
{
    BSTR name = NULL;
    BOOL is_system = 9, is_default = 9;
    domain->vtbl->GetName(domain, &name);
    domain->vtbl->GetIsSystemDomain(domain, &is_system);
    domain->vtbl->GetIsDefaultDomain(domain, &is_default);
    plug_say(p, "OnAppDomainCreated %s system=%d default=%d", plug_text(p, name), is_system,
             is_default);
    return S_OK;
}

HRESULT plug_assembly_loaded(struct plug *p, IAssemblyInfo *assembly)
{
    BSTR name = NULL;
    assembly->vtbl->GetName(assembly, &name);
    plug_say(p, "OnAssemblyLoaded %s", plug_text(p, name));
    return S_OK;
}

HRESULT plug_assembly_unloaded(struct plug *p, IAssemblyInfo *assembly)
{
    BSTR name = NULL;
    assembly->vtbl->GetName(assembly, &name);
    plug_say(p, "OnAssemblyUnloaded %s", plug_text(p, name));
    return S_OK;
}

HRESULT plug_module_loaded(struct plug *p, IModuleInfo *module)
{
    plug_say(p, "OnModuleLoaded %s", module_name(p, module));
    return S_OK;
}

HRESULT plug_module_unloaded(struct plug *p, IModuleInfo *module)
{
    plug_say(p, "OnModuleUnloaded %s", module_name(p, module));
    return S_OK;
}

HRESULT plug_shutdown(struct plug *p)
{
    plug_say(p, "OnShutdown");
    return S_OK;
}

static int is_wanted(struct plug *p, IMethodInfo *method)
{
    const char  *only = getenv("LOGGER_ONLY");
    IModuleInfo *module = NULL;
    int          wanted;
    if (!only)
        return 1;
    if (FAILED(method->vtbl->GetModuleInfo(method, &module)))
        return 0;
    wanted = strstr(module_name(p, module), only) != NULL;
    module->vtbl->Release(module);
    return wanted;
}

HRESULT plug_should(struct plug *p, IMethodInfo *method, BOOL is_rejit, BOOL *wants)
{
    mdToken token = 0;
    if (!is_wanted(p, method))
        return S_OK;
    method->vtbl->GetMethodToken(method, &token);
    plug_say(p, "ShouldInstrumentMethod %s %#x rejit=%d wants=%d", plug_method_name(p, method),
             token, is_rejit, *wants);
    *wants = 1;
    return S_OK;
}

HRESULT plug_before(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    plug_say(p, "BeforeInstrumentMethod %s rejit=%d", plug_method_name(p, method), is_rejit);
    return S_OK;
}

HRESULT plug_instrument(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    plug_say(p, "InstrumentMethod %s rejit=%d", plug_method_name(p, method), is_rejit);
    return S_OK;
}

HRESULT plug_complete(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    plug_say(p, "OnInstrumentationComplete %s rejit=%d", plug_method_name(p, method), is_rejit);
    return S_OK;
}

HRESULT plug_inline(struct plug *p, IMethodInfo *callee, IMethodInfo *caller, BOOL *allowed)
{
    if (is_wanted(p, callee))
        plug_say(p, "AllowInlineSite %s into %s: %d", plug_method_name(p, callee),
                 plug_method_name(p, caller), *allowed);
    return S_OK;
}

HRESULT plug_jit_complete(struct plug *p, IMethodJitInfo *compiled)
{
    IMethodInfo *method = NULL;
    BOOL         is_transformed = 9;
    ULONG        size = 0;
    void        *newer = NULL;
    IModuleInfo *module = NULL;
    if (FAILED(compiled->vtbl->GetModuleInfo(compiled, &module)))
        return S_OK;
    if (strstr(module_name(p, module), plug_setting("LOGGER_ONLY"))) {
        FunctionID function = 0;
        compiled->vtbl->GetFunctionID(compiled, &function);
        compiled->vtbl->GetILTransformationStatus(compiled, &is_transformed);
        if (SUCCEEDED(compiled->vtbl->QueryInterface(compiled, &IID_IMethodJitInfo2, &newer))) {
            IMethodJitInfo2 *two = newer;
            two->vtbl->GetILInstrumentationMap(two, 0, NULL, &size);
            two->vtbl->Release(two);
        }
        if (SUCCEEDED(module->vtbl->GetMethodInfoById(module, function, &method))) {
            plug_say(p, "JitComplete %s transformed=%d map=%u", plug_method_name(p, method),
                     is_transformed, size);
            method->vtbl->Release(method);
        }
    }
    module->vtbl->Release(module);
    return S_OK;
}

HRESULT plug_exception(struct plug *p, const char *event, IMethodInfo *method)
{
    plug_say(p, "%s %s", event, method ? plug_method_name(p, method) : "");
    return S_OK;
}

HRESULT plug_attach_complete(struct plug *p)
{
    plug_say(p, "AttachComplete");
    return S_OK;
}
