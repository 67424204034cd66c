/* SPDX-License-Identifier: MIT */
/* assembly.c - IAssemblyInfo. */
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "clrie/model/model_internal.h"
#include "clrie/object/strings.h"

const uint32_t clrie_assembly_size = sizeof(struct clrie_assembly);

int clrie_wide_is(const WCHAR *text, const WCHAR *other)
{
    if (!text)
        return 0;
    while (*text && *text == *other) {
        text++;
        other++;
    }
    return *text == *other;
}

HRESULT clrie_string_out(BSTR text, BSTR *out)
{
    *out = clrie_string_new(text, clrie_string_length(text));
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* ---- making ----------------------------------------------------------------------------------- */

static HRESULT describe(struct clrie_assembly *assembly, ICorProfilerInfo10 *info)
{
    ULONG       n = 0;
    AppDomainID domain = 0;
    WCHAR      *name;
    HRESULT     hr = info->vtbl->GetAssemblyInfo(info, assembly->id, 0, &n, NULL, NULL, NULL);
    if (FAILED(hr))
        return hr;
    name = calloc(n + 1, sizeof(*name));
    if (!name)
        return E_OUTOFMEMORY;
    hr = info->vtbl->GetAssemblyInfo(info, assembly->id, n, &n, name, &domain,
                                     &assembly->manifest_id);
    if (SUCCEEDED(hr))
        assembly->name = clrie_string_new(name, sxs_utf16_len(name, n));
    free(name);
    if (FAILED(hr))
        return hr;
    assembly->domain = clrie_model_domain(assembly->model, domain);
    if (!assembly->domain || !assembly->name)
        return E_OUTOFMEMORY;
    clrie_hold(&assembly->domain->object);
    return S_OK;
}

struct clrie_assembly *clrie_assembly_new(struct clrie_model *model, AssemblyID id)
{
    ICorProfilerInfo10    *info = clrie_model_info(model);
    struct clrie_assembly *assembly = info ? clrie_new(&clrie_assembly) : NULL;
    if (!assembly)
        return NULL;
    assembly->model = clrie_model_ref(model);
    assembly->id = id;
    if (SUCCEEDED(describe(assembly, info)))
        return assembly;
    clrie_unref(&assembly->object);
    return NULL;
}

void clrie_assembly_end(struct clrie_object *object)
{
    struct clrie_assembly *assembly = (struct clrie_assembly *)object;
    clrie_string_free(assembly->name);
    free(assembly->public_key);
    if (assembly->manifest)
        clrie_unref(&assembly->manifest->object);
    if (assembly->domain)
        clrie_unhold(&assembly->domain->object);
    clrie_model_unref(assembly->model);
}

IAssemblyInfo *clrie_assembly_face(struct clrie_assembly *assembly)
{
    return clrie_face(&assembly->object, CLRIE_FACE_assembly_IAssemblyInfo);
}

int clrie_assembly_is_in_domain(struct clrie_object *assembly, const void *domain)
{
    return ((struct clrie_assembly *)assembly)->domain == domain;
}

/* ---- modules ---------------------------------------------------------------------------------- */

/* Copies what the metadata of the manifest module says of the assembly. */
static void read_from(struct clrie_assembly *assembly, IMetaDataAssemblyImport *import)
{
    mdAssembly  token = 0;
    const void *key = NULL;
    uint8_t    *copy = NULL;
    ULONG       size = 0;
    if (FAILED(import->vtbl->GetAssemblyFromScope(import, &token)) ||
        FAILED(import->vtbl->GetAssemblyProps(import, token, &key, &size, NULL, NULL, 0, NULL, NULL,
                                              NULL)))
        return;
    if (key && size && (copy = malloc(size)))
        memcpy(copy, key, size);
    pthread_mutex_lock(&assembly->model->lock);
    if (!atomic_load(&assembly->is_read)) {
        assembly->token = token;
        assembly->public_key = copy;
        assembly->public_key_size = copy ? size : 0;
        atomic_store(&assembly->is_read, 1);
        copy = NULL;
    }
    pthread_mutex_unlock(&assembly->model->lock);
    free(copy);
}

static void read_manifest(struct clrie_assembly *assembly)
{
    IMetaDataAssemblyImport *import = NULL;
    IModuleInfo             *module = NULL;
    if (atomic_load(&assembly->is_read) ||
        FAILED(clrie_assembly_GetManifestModule(assembly, &module)))
        return;
    if (SUCCEEDED(module->vtbl->GetMetaDataAssemblyImport(module, (IUnknown **)(void *)&import))) {
        read_from(assembly, import);
        import->vtbl->Release(import);
    }
    module->vtbl->Release(module);
}

void clrie_assembly_add_module(struct clrie_assembly *assembly, struct clrie_module *module)
{
    if (module->id != assembly->manifest_id || atomic_exchange(&assembly->has_manifest, 1))
        return;
    pthread_mutex_lock(&assembly->model->lock);
    if (!assembly->manifest) {
        clrie_ref(&module->object);
        assembly->manifest = module;
    }
    pthread_mutex_unlock(&assembly->model->lock);
    if (module->flags & COR_PRF_MODULE_COLLECTIBLE) /* it cannot be read after an unload */
        read_manifest(assembly);
}

void clrie_assembly_remove_module(struct clrie_assembly *assembly, struct clrie_module *module)
{
    int was = 0;
    pthread_mutex_lock(&assembly->model->lock);
    if (assembly->manifest == module) {
        assembly->manifest = NULL;
        was = 1;
    }
    pthread_mutex_unlock(&assembly->model->lock);
    if (was)
        clrie_unref(&module->object);
}

static int is_in_assembly(struct clrie_object *module, const void *assembly)
{
    return ((struct clrie_module *)module)->assembly == assembly;
}

HRESULT clrie_assembly_GetAppDomainInfo(struct clrie_assembly *self,
                                        IAppDomainInfo       **ppAppDomainInfo)
{
    return clrie_hand_out(&self->domain->object, CLRIE_FACE_domain_IAppDomainInfo,
                          (void **)ppAppDomainInfo);
}

HRESULT clrie_assembly_GetModuleCount(struct clrie_assembly *self, ULONG *pcModuleInfos)
{
    return clrie_model_list(self->model, CLRIE_MODULES, is_in_assembly, self, pcModuleInfos, NULL);
}

HRESULT clrie_assembly_GetModules(struct clrie_assembly *self, ULONG cModuleInfos,
                                  IEnumModuleInfo **pModuleInfos)
{
    (void)cModuleInfos;
    return clrie_model_list(self->model, CLRIE_MODULES, is_in_assembly, self, NULL,
                            (void **)pModuleInfos);
}

HRESULT clrie_assembly_GetModuleById(struct clrie_assembly *self, ModuleID moduleId,
                                     IModuleInfo **ppModuleInfo)
{
    struct clrie_object *module = clrie_model_find(self->model, CLRIE_MODULES, moduleId);
    if (module && !is_in_assembly(module, self)) {
        clrie_unref(module);
        module = NULL;
    }
    *ppModuleInfo = module ? clrie_face(module, 0) : NULL;
    return module ? S_OK : E_FAIL;
}

/* CLRIE computes the results of these two and does not store them. */
HRESULT clrie_assembly_GetModuleByMvid(struct clrie_assembly *self, GUID *pMvid,
                                       IModuleInfo **ppModuleInfo)
{
    (void)self;
    *ppModuleInfo = NULL;
    return pMvid ? S_OK : E_POINTER;
}

HRESULT clrie_assembly_GetModulesByName(struct clrie_assembly *self, BSTR pszModuleName,
                                        IEnumModuleInfo **ppModuleInfo)
{
    (void)self;
    *ppModuleInfo = NULL;
    return pszModuleName ? S_OK : E_POINTER;
}

/* CLRIE does not implement these two. */
HRESULT clrie_assembly_GetModuleForMethod(struct clrie_assembly *self, mdToken token,
                                          IModuleInfo **ppModuleInfo)
{
    (void)self;
    (void)token;
    *ppModuleInfo = NULL;
    return S_OK;
}

HRESULT clrie_assembly_GetModuleForType(struct clrie_assembly *self, BSTR pszTypeName,
                                        mdToken tkResolutionScope, mdToken *pTkTypeDef)
{
    (void)self;
    (void)pszTypeName;
    (void)tkResolutionScope;
    *pTkTypeDef = 0;
    return S_OK;
}

HRESULT clrie_assembly_GetManifestModule(struct clrie_assembly *self, IModuleInfo **ppModuleInfo)
{
    pthread_mutex_lock(&self->model->lock);
    *ppModuleInfo = NULL;
    if (self->manifest)
        clrie_hand_out(&self->manifest->object, CLRIE_FACE_module_IModuleInfo3,
                       (void **)ppModuleInfo);
    pthread_mutex_unlock(&self->model->lock);
    return *ppModuleInfo ? S_OK : E_FAIL;
}

/* ---- name and key ----------------------------------------------------------------------------- */

/* A buffer that is too small receives zeros, one that is too large keeps its end; both with S_OK. */
HRESULT clrie_assembly_GetPublicKey(struct clrie_assembly *self, ULONG cbBytes, BYTE *pbBytes)
{
    read_manifest(self);
    if (cbBytes < self->public_key_size)
        memset(pbBytes, 0, cbBytes);
    else if (self->public_key_size)
        memcpy(pbBytes, self->public_key, self->public_key_size);
    return S_OK;
}

HRESULT clrie_assembly_GetPublicKeySize(struct clrie_assembly *self, ULONG *pcbBytes)
{
    read_manifest(self);
    *pcbBytes = self->public_key_size;
    return S_OK;
}

/* CLRIE computes no key token in .NET Core. */
HRESULT clrie_assembly_GetPublicKeyToken(struct clrie_assembly *self, BSTR *pbstrPublicKeyToken)
{
    (void)self;
    *pbstrPublicKeyToken = NULL;
    return E_FAIL;
}

HRESULT clrie_assembly_GetID(struct clrie_assembly *self, AssemblyID *pAssemblyId)
{
    *pAssemblyId = self->id;
    return S_OK;
}

HRESULT clrie_assembly_GetName(struct clrie_assembly *self, BSTR *pbstrName)
{
    return clrie_string_out(self->name, pbstrName);
}

HRESULT clrie_assembly_GetMetaDataToken(struct clrie_assembly *self, DWORD *pdwToken)
{
    read_manifest(self);
    if (!self->token)
        return E_FAIL;
    *pdwToken = self->token;
    return S_OK;
}
