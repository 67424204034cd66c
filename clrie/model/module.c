/* SPDX-License-Identifier: MIT */
/* module.c - IModuleInfo3: what a module is. metadata.c has its metadata, module_methods.c its
 * methods. */
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "clrie/model/model_internal.h"
#include "clrie/object/strings.h"

const uint32_t clrie_module_size = sizeof(struct clrie_module);

enum { VERSION_SIZE = 52 /* of VS_FIXEDFILEINFO */ };

/* ---- making ----------------------------------------------------------------------------------- */

static HRESULT store_path(struct clrie_module *module, const WCHAR *path)
{
    size_t n = clrie_string_length(path), name = n;
    while (name && path[name - 1] != '/' && path[name - 1] != '\\')
        name--;
    module->path = clrie_string_new(path, n);
    module->name = clrie_string_new(path + name, n - name);
    return module->path && module->name ? S_OK : E_OUTOFMEMORY;
}

/* Reads base address, path and flags; @assembly receives the ID of the assembly. */
static HRESULT read_info(struct clrie_module *module, ICorProfilerInfo10 *info,
                         AssemblyID *assembly)
{
    ULONG   n = 0;
    WCHAR  *path;
    HRESULT hr = info->vtbl->GetModuleInfo2(info, module->id, NULL, 0, &n, NULL, NULL, NULL);
    if (FAILED(hr))
        return hr;
    path = calloc(n + 1, sizeof(*path));
    if (!path)
        return E_OUTOFMEMORY;
    hr = info->vtbl->GetModuleInfo2(info, module->id, &module->base, n, &n, path, assembly,
                                    &module->flags);
    if (SUCCEEDED(hr))
        hr = store_path(module, path);
    free(path);
    return hr;
}

/* When a module is unloaded, nothing can be opened any more. */
static HRESULT open_early(struct clrie_module *module)
{
    IUnknown *import = NULL;
    HRESULT   hr = clrie_module_GetMetaDataAssemblyImport(module, &import);
    if (import)
        import->vtbl->Release(import);
    return FAILED(hr) ? hr : clrie_module_read_mvid(module);
}

static HRESULT set_up(struct clrie_module *module, ICorProfilerInfo10 *info)
{
    AssemblyID assembly = 0;
    HRESULT    hr = read_info(module, info, &assembly);
    if (SUCCEEDED(hr) && module->flags & COR_PRF_MODULE_RESOURCE) /* has no metadata */
        hr = E_FAIL;
    if (FAILED(hr))
        return hr;
    if (module->flags & COR_PRF_MODULE_COLLECTIBLE)
        hr = open_early(module);
    if (FAILED(hr))
        return hr;
    module->assembly = clrie_model_assembly(module->model, assembly);
    if (!module->assembly)
        return E_FAIL;
    clrie_hold(&module->assembly->object);
    module->domain = module->assembly->domain;
    clrie_hold(&module->domain->object);
    if (module->base)
        module->image =
            clrie_image_read(module->base, (module->flags & COR_PRF_MODULE_FLAT_LAYOUT) != 0);
    return S_OK;
}

struct clrie_module *clrie_module_new(struct clrie_model *model, ModuleID id)
{
    ICorProfilerInfo10  *info = clrie_model_info(model);
    struct clrie_module *module = info ? clrie_new(&clrie_module) : NULL;
    if (!module)
        return NULL;
    module->model = clrie_model_ref(model);
    module->id = id;
    pthread_mutex_init(&module->lock, NULL);
    module->types = (struct clrie_types_module){clrie_module_face(module), clrie_module_type_name,
                                                clrie_module_signature, clrie_module_token};
    if (SUCCEEDED(set_up(module, info)))
        return module;
    clrie_unref(&module->object);
    return NULL;
}

void clrie_module_unload(struct clrie_module *module)
{
    struct clrie_bodies *bodies;
    atomic_store(&module->is_unloaded, 1);
    clrie_assembly_remove_module(module->assembly, module);
    clrie_module_close(module);
    pthread_mutex_lock(&module->lock);
    bodies = module->bodies;
    module->bodies = NULL;
    pthread_mutex_unlock(&module->lock);
    clrie_bodies_free(bodies);
}

void clrie_module_end(struct clrie_object *object)
{
    struct clrie_module *module = (struct clrie_module *)object;
    if (module->type_creator) {
        module->type_creator->owner = NULL;
        clrie_unref(module->type_creator);
    }
    clrie_module_close(module);
    clrie_bodies_free(module->bodies);
    clrie_image_free(module->image);
    clrie_string_free(module->path);
    clrie_string_free(module->name);
    pthread_mutex_destroy(&module->lock);
    if (module->assembly)
        clrie_unhold(&module->assembly->object);
    if (module->domain)
        clrie_unhold(&module->domain->object);
    clrie_model_unref(module->model);
}

IModuleInfo *clrie_module_face(struct clrie_module *module)
{
    return clrie_face(&module->object, CLRIE_FACE_module_IModuleInfo3);
}

ModuleID clrie_module_id(const struct clrie_module *module)
{
    return module->id;
}

int clrie_module_is_dynamic(const struct clrie_module *module)
{
    return module->base == NULL;
}

int clrie_module_is_in_domain(struct clrie_object *module, const void *domain)
{
    return ((struct clrie_module *)module)->domain == domain;
}

/* ---- names and IDs ---------------------------------------------------------------------------- */

HRESULT clrie_module_GetModuleName(struct clrie_module *self, BSTR *pbstrModuleName)
{
    return clrie_string_out(self->name, pbstrModuleName);
}

HRESULT clrie_module_GetFullPath(struct clrie_module *self, BSTR *pbstrFullPath)
{
    return clrie_string_out(self->path, pbstrFullPath);
}

HRESULT clrie_module_GetAssemblyInfo(struct clrie_module *self, IAssemblyInfo **ppAssemblyInfo)
{
    return clrie_hand_out(&self->assembly->object, CLRIE_FACE_assembly_IAssemblyInfo,
                          (void **)ppAssemblyInfo);
}

HRESULT clrie_module_GetAppDomainInfo(struct clrie_module *self, IAppDomainInfo **ppAppDomainInfo)
{
    return clrie_hand_out(&self->domain->object, CLRIE_FACE_domain_IAppDomainInfo,
                          (void **)ppAppDomainInfo);
}

HRESULT clrie_module_GetModuleID(struct clrie_module *self, ModuleID *pModuleId)
{
    *pModuleId = self->id;
    return S_OK;
}

HRESULT clrie_module_GetMVID(struct clrie_module *self, GUID *pguidMvid)
{
    HRESULT hr = clrie_module_read_mvid(self);
    *pguidMvid = self->mvid;
    return hr;
}

/* ---- kind ------------------------------------------------------------------------------------- */

/* The answer is CLRIE's, which is the opposite of the name. */
HRESULT clrie_module_GetIsILOnly(struct clrie_module *self, BOOL *pbValue)
{
    *pbValue = !(self->base &&
                 (!self->image || clrie_image_cli(self->image)->Flags & COMIMAGE_FLAGS_ILONLY));
    return S_OK;
}

HRESULT clrie_module_GetIsMscorlib(struct clrie_module *self, BOOL *pbValue)
{
    *pbValue = self->base && clrie_wide_is(self->name, u"mscorlib.dll");
    return S_OK;
}

HRESULT clrie_module_GetIsDynamic(struct clrie_module *self, BOOL *pbValue)
{
    *pbValue = clrie_module_is_dynamic(self);
    return S_OK;
}

static HRESULT flag_out(const struct clrie_module *self, DWORD flag, BOOL *out)
{
    *out = (self->flags & flag) != 0;
    return S_OK;
}

HRESULT clrie_module_GetIsNgen(struct clrie_module *self, BOOL *pbValue)
{
    return flag_out(self, COR_PRF_MODULE_NGEN, pbValue);
}

HRESULT clrie_module_GetIsWinRT(struct clrie_module *self, BOOL *pbValue)
{
    return flag_out(self, COR_PRF_MODULE_WINDOWS_RUNTIME, pbValue);
}

HRESULT clrie_module_GetIsFlatLayout(struct clrie_module *self, BOOL *pbValue)
{
    return flag_out(self, COR_PRF_MODULE_FLAT_LAYOUT, pbValue);
}

HRESULT clrie_module_GetIsLoadedFromDisk(struct clrie_module *self, BOOL *pbValue)
{
    return flag_out(self, COR_PRF_MODULE_DISK, pbValue);
}

/* ---- image ------------------------------------------------------------------------------------ */

HRESULT clrie_module_GetIs64bit(struct clrie_module *self, BOOL *pbValue)
{
    *pbValue = self->image ? clrie_image_is_64bit(self->image) : 0;
    return S_OK;
}

HRESULT clrie_module_GetImageBase(struct clrie_module *self, LPCBYTE *pbValue)
{
    *pbValue = self->base;
    return S_OK;
}

/* CLRIE copies as many bytes as it is asked for, whatever is after the header. */
HRESULT clrie_module_GetCorHeader(struct clrie_module *self, DWORD cbValue, BYTE *pbValue)
{
    if (!self->image)
        return E_FAIL;
    if (cbValue > sizeof(IMAGE_COR20_HEADER))
        return E_INVALIDARG;
    memcpy(pbValue, clrie_image_cli(self->image), cbValue);
    return S_OK;
}

HRESULT clrie_module_GetEntrypointToken(struct clrie_module *self, DWORD *pdwEntrypointToken)
{
    *pdwEntrypointToken = self->image ? clrie_image_cli(self->image)->EntryPointToken : 0;
    return *pdwEntrypointToken ? S_OK : E_FAIL;
}

/* CLRIE reads no versions on Linux. */
HRESULT clrie_module_GetModuleVersion(struct clrie_module *self, DWORD cbValue, BYTE *pbValue)
{
    (void)self;
    (void)pbValue;
    return cbValue == VERSION_SIZE ? E_FAIL : E_INVALIDARG;
}

HRESULT clrie_module_ResolveRva(struct clrie_module *self, DWORD rva, LPCBYTE *ppbResolvedAddress)
{
    *ppbResolvedAddress = NULL;
    if (!self->base)
        return E_NOTIMPL;
    if (!self->image || atomic_load(&self->is_unloaded))
        return E_FAIL;
    return clrie_image_resolve(self->image, rva, ppbResolvedAddress);
}

HRESULT clrie_module_ImportModule(struct clrie_module *self, IUnknown *pSourceModuleMetadataImport,
                                  LPCBYTE *pSourceImage)
{
    (void)self;
    (void)pSourceModuleMetadataImport;
    (void)pSourceImage;
    return E_NOTIMPL;
}
