/* SPDX-License-Identifier: MIT */
/* domain.c - IAppDomainCollection and IAppDomainInfo. */
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "clrie/model/model_internal.h"
#include "clrie/object/strings.h"

const uint32_t clrie_domains_size = sizeof(struct clrie_domains);
const uint32_t clrie_domain_size = sizeof(struct clrie_domain);

/* ---- one AppDomain ---------------------------------------------------------------------------- */

struct clrie_domain *clrie_domain_new(struct clrie_model *model, AppDomainID id)
{
    struct clrie_domain *domain = clrie_new(&clrie_domain);
    if (!domain)
        return NULL;
    domain->model = clrie_model_ref(model);
    domain->id = id;
    return domain;
}

void clrie_domain_end(struct clrie_object *object)
{
    struct clrie_domain *domain = (struct clrie_domain *)object;
    clrie_string_free(domain->name);
    clrie_model_unref(domain->model);
}

IAppDomainInfo *clrie_domain_face(struct clrie_domain *domain)
{
    return clrie_face(&domain->object, CLRIE_FACE_domain_IAppDomainInfo);
}

/* Returns the name as a BSTR, or NULL. */
static BSTR read_domain_name(ICorProfilerInfo10 *info, AppDomainID id)
{
    ULONG     n = 0, again = 0;
    ProcessID process = 0;
    WCHAR    *units;
    BSTR      name = NULL;
    if (FAILED(info->vtbl->GetAppDomainInfo(info, id, 0, &n, NULL, &process)) || !n)
        return NULL;
    units = calloc(n, sizeof(*units));
    if (units && SUCCEEDED(info->vtbl->GetAppDomainInfo(info, id, n, &again, units, &process)) &&
        again == n)
        name = clrie_string_new(units, sxs_utf16_len(units, n));
    free(units);
    return name;
}

void clrie_domain_finish(struct clrie_domain *domain)
{
    ICorProfilerInfo10 *info = clrie_model_info(domain->model);
    BSTR                name = info ? read_domain_name(info, domain->id) : NULL, old;
    if (!name)
        return;
    pthread_mutex_lock(&domain->model->lock);
    old = domain->name;
    domain->name = name;
    if (!atomic_load(&domain->is_finished)) {
        domain->is_shared = clrie_wide_is(name, u"EE Shared Assembly Repository");
        domain->is_system = clrie_wide_is(name, u"mscorlib.dll") ||
                            clrie_wide_is(name, u"System.Private.CoreLib.dll");
        domain->is_default = clrie_wide_is(name, u"DefaultDomain");
        atomic_store(&domain->is_finished, 1);
    }
    pthread_mutex_unlock(&domain->model->lock);
    clrie_string_free(old);
}

HRESULT clrie_domain_GetAppDomainId(struct clrie_domain *self, AppDomainID *pAppDomainId)
{
    *pAppDomainId = self->id;
    return S_OK;
}

static HRESULT flag_out(struct clrie_domain *self, uint8_t flag, BOOL *out)
{
    if (!atomic_load(&self->is_finished))
        return E_FAIL;
    *out = flag;
    return S_OK;
}

HRESULT clrie_domain_GetIsSystemDomain(struct clrie_domain *self, BOOL *pbValue)
{
    return flag_out(self, self->is_system, pbValue);
}

HRESULT clrie_domain_GetIsSharedDomain(struct clrie_domain *self, BOOL *pbValue)
{
    return flag_out(self, self->is_shared, pbValue);
}

HRESULT clrie_domain_GetIsDefaultDomain(struct clrie_domain *self, BOOL *pbValue)
{
    return flag_out(self, self->is_default, pbValue);
}

HRESULT clrie_domain_GetName(struct clrie_domain *self, BSTR *pbstrName)
{
    if (!atomic_load(&self->is_finished))
        return E_FAIL;
    pthread_mutex_lock(&self->model->lock);
    *pbstrName = clrie_string_new(self->name, clrie_string_length(self->name));
    pthread_mutex_unlock(&self->model->lock);
    return *pbstrName ? S_OK : E_OUTOFMEMORY;
}

HRESULT clrie_domain_GetAssemblies(struct clrie_domain *self, IEnumAssemblyInfo **ppAssemblyInfos)
{
    return clrie_model_list(self->model, CLRIE_ASSEMBLIES, clrie_assembly_is_in_domain, self, NULL,
                            (void **)ppAssemblyInfos);
}

HRESULT clrie_domain_GetModules(struct clrie_domain *self, IEnumModuleInfo **ppModuleInfos)
{
    return clrie_model_list(self->model, CLRIE_MODULES, clrie_module_is_in_domain, self, NULL,
                            (void **)ppModuleInfos);
}

HRESULT clrie_domain_GetAssemblyInfoById(struct clrie_domain *self, AssemblyID assemblyID,
                                         IAssemblyInfo **ppAssemblyInfo)
{
    struct clrie_object *assembly = clrie_model_find(self->model, CLRIE_ASSEMBLIES, assemblyID);
    if (assembly && !clrie_assembly_is_in_domain(assembly, self)) {
        clrie_unref(assembly);
        assembly = NULL;
    }
    *ppAssemblyInfo = assembly ? clrie_face(assembly, 0) : NULL;
    return assembly ? S_OK : E_FAIL;
}

HRESULT clrie_domain_GetModuleInfoById(struct clrie_domain *self, ModuleID moduleId,
                                       IModuleInfo **ppModuleInfo)
{
    struct clrie_object *module = clrie_model_find(self->model, CLRIE_MODULES, moduleId);
    if (module && !clrie_module_is_in_domain(module, self)) {
        clrie_unref(module);
        module = NULL;
    }
    *ppModuleInfo = module ? clrie_face(module, 0) : NULL;
    return module ? S_OK : E_FAIL;
}

HRESULT clrie_domain_GetModuleCount(struct clrie_domain *self, ULONG *pcModuleInfos)
{
    return clrie_model_list(self->model, CLRIE_MODULES, clrie_module_is_in_domain, self,
                            pcModuleInfos, NULL);
}

/* What a module or an assembly of an AppDomain is searched by. */
struct domain_search {
    const struct clrie_domain *domain; /* NULL: in all */
    const WCHAR               *name;
    const GUID                *mvid;
};

static int is_named_assembly(struct clrie_object *object, const void *what)
{
    const struct domain_search  *s = what;
    const struct clrie_assembly *assembly = (struct clrie_assembly *)object;
    return clrie_assembly_is_in_domain(object, s->domain) && clrie_wide_is(assembly->name, s->name);
}

static int is_searched_module(struct clrie_object *object, const void *what)
{
    const struct domain_search *s = what;
    const struct clrie_module  *module = (struct clrie_module *)object;
    if (s->domain && !clrie_module_is_in_domain(object, s->domain))
        return 0;
    if (s->name)
        return clrie_wide_is(module->name, s->name);
    return memcmp(&module->mvid, s->mvid, sizeof(module->mvid)) == 0;
}

HRESULT clrie_domain_GetAssemblyInfosByName(struct clrie_domain *self, BSTR pszAssemblyName,
                                            IEnumAssemblyInfo **ppAssemblyInfos)
{
    struct domain_search s = {self, pszAssemblyName, NULL};
    *ppAssemblyInfos = NULL;
    return pszAssemblyName ? clrie_model_list(self->model, CLRIE_ASSEMBLIES, is_named_assembly, &s,
                                              NULL, (void **)ppAssemblyInfos)
                           : E_POINTER;
}

HRESULT clrie_domain_GetModuleInfosByName(struct clrie_domain *self, BSTR pszModuleName,
                                          IEnumModuleInfo **ppModuleInfo)
{
    struct domain_search s = {self, pszModuleName, NULL};
    *ppModuleInfo = NULL;
    return pszModuleName ? clrie_model_list(self->model, CLRIE_MODULES, is_searched_module, &s,
                                            NULL, (void **)ppModuleInfo)
                         : E_POINTER;
}

HRESULT clrie_domain_GetModuleInfosByMvid(struct clrie_domain *self, GUID mvid,
                                          IEnumModuleInfo **ppModuleInfo)
{
    struct domain_search s = {self, NULL, &mvid};
    clrie_model_read_mvids(self->model);
    return clrie_model_list(self->model, CLRIE_MODULES, is_searched_module, &s, NULL,
                            (void **)ppModuleInfo);
}

/* ---- all AppDomains --------------------------------------------------------------------------- */

struct clrie_domains *clrie_domains_new(struct clrie_model *model)
{
    struct clrie_domains *domains = clrie_new(&clrie_domains);
    if (domains)
        domains->model = clrie_model_ref(model);
    return domains;
}

void clrie_domains_end(struct clrie_object *object)
{
    clrie_model_unref(((struct clrie_domains *)object)->model);
}

HRESULT clrie_domains_GetAppDomainCount(struct clrie_domains *self, DWORD *pdwCount)
{
    return clrie_model_list(self->model, CLRIE_DOMAINS, NULL, NULL, pdwCount, NULL);
}

HRESULT clrie_domains_GetAppDomainById(struct clrie_domains *self, AppDomainID appDomainId,
                                       IAppDomainInfo **ppAppDomainInfo)
{
    return clrie_model_hand_out(self->model, CLRIE_DOMAINS, appDomainId, (void **)ppAppDomainInfo);
}

/* The test of the size is CLRIE's: a buffer that has room for all IDs is refused. A smaller one
 * receives as many IDs as fit; CLRIE writes all after its end. */
HRESULT clrie_domains_GetAppDomainIDs(struct clrie_domains *self, DWORD cAppDomains,
                                      DWORD *pcActual, AppDomainID *AppDomainIDs)
{
    struct clrie_ids *ids = &self->model->domain_ids;
    HRESULT           hr = E_FAIL;
    *pcActual = 0;
    pthread_mutex_lock(&self->model->lock);
    if (cAppDomains < ids->n) {
        for (DWORD i = 0; i < cAppDomains; i++)
            AppDomainIDs[i] = ids->rows[i].id;
        *pcActual = ids->n;
        hr = S_OK;
    }
    pthread_mutex_unlock(&self->model->lock);
    return hr;
}

HRESULT clrie_domains_GetAppDomains(struct clrie_domains *self,
                                    IEnumAppDomainInfo  **ppEnumAppDomains)
{
    return clrie_model_list(self->model, CLRIE_DOMAINS, NULL, NULL, NULL,
                            (void **)ppEnumAppDomains);
}

HRESULT clrie_domains_GetAssemblyInfoById(struct clrie_domains *self, AssemblyID assemblyID,
                                          IAssemblyInfo **ppAssemblyInfo)
{
    return clrie_model_hand_out(self->model, CLRIE_ASSEMBLIES, assemblyID, (void **)ppAssemblyInfo);
}

HRESULT clrie_domains_GetModuleInfoById(struct clrie_domains *self, ModuleID moduleID,
                                        IModuleInfo **ppModuleInfo)
{
    return clrie_model_hand_out(self->model, CLRIE_MODULES, moduleID, (void **)ppModuleInfo);
}

HRESULT clrie_domains_GetModuleInfosByMvid(struct clrie_domains *self, GUID mvid,
                                           IEnumModuleInfo **ppEnum)
{
    struct domain_search s = {NULL, NULL, &mvid};
    clrie_model_read_mvids(self->model);
    return clrie_model_list(self->model, CLRIE_MODULES, is_searched_module, &s, NULL,
                            (void **)ppEnum);
}

HRESULT clrie_domains_GetMethodInfoById(struct clrie_domains *self, FunctionID functionID,
                                        IMethodInfo **ppMethodInfo)
{
    struct clrie_method *method;
    HRESULT hr = clrie_method_new(self->model, CLRIE_METHOD_ALONE, 0, 0, functionID, &method);
    *ppMethodInfo = SUCCEEDED(hr) ? clrie_method_face(method) : NULL;
    return hr;
}
