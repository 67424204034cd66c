/* SPDX-License-Identifier: MIT */
/*
 * metadata.c - the metadata of a module.
 *
 * The interfaces for reading are opened when the module is loaded. Those for writing are opened when
 * they are first asked for, because a runtime copies the metadata of a module into a form that can
 * be changed then, which takes time and memory.
 */
#include <string.h>

#include "base/text/utf8.h"
#include "clrie/model/model_internal.h"
#include "clrie/object/strings.h"
#include "symbols/type_name.h"

enum { TYPE_REF = 0x01, TYPE_DEF = 0x02 };

/* ---- interfaces ------------------------------------------------------------------------------- */

HRESULT clrie_module_open(struct clrie_module *module, ICorProfilerInfo10 *info)
{
    IUnknown *assemblies = NULL, *import = NULL;
    HRESULT   hr = info->vtbl->GetModuleMetaData(info, module->id, ofRead,
                                                 &IID_IMetaDataAssemblyImport, &assemblies);
    if (hr != S_OK || !assemblies)
        return E_FAIL; /* a resource */
    module->assembly_import = (IMetaDataAssemblyImport *)(void *)assemblies;
    hr = info->vtbl->GetModuleMetaData(info, module->id, ofRead, &IID_IMetaDataImport2, &import);
    if (FAILED(hr) || !import)
        return FAILED(hr) ? hr : E_FAIL;
    module->import = (IMetaDataImport2 *)(void *)import;
    return module->import->vtbl->GetScopeProps(module->import, NULL, 0, NULL, &module->mvid);
}

void clrie_module_close(struct clrie_module *module)
{
    IUnknown *all[5];
    pthread_mutex_lock(&module->lock);
    all[0] = (IUnknown *)(void *)module->import;
    all[1] = (IUnknown *)(void *)module->live_import;
    all[2] = (IUnknown *)(void *)module->assembly_import;
    all[3] = (IUnknown *)(void *)module->emit;
    all[4] = (IUnknown *)(void *)module->assembly_emit;
    module->import = module->live_import = NULL;
    module->assembly_import = NULL;
    module->emit = NULL;
    module->assembly_emit = NULL;
    pthread_mutex_unlock(&module->lock);
    for (unsigned i = 0; i < ARRAY_LEN(all); i++)
        if (all[i])
            all[i]->vtbl->Release(all[i]);
}

/* Stores the interface at @slot, which is one of the module's fields, in @out with a reference. When
 * it was not opened yet, it is opened for writing first. */
static HRESULT open_for_writing(struct clrie_module *module, void *slot, const GUID *iid,
                                IUnknown **out)
{
    ICorProfilerInfo10 *info = clrie_model_info(module->model);
    IUnknown           *fresh = NULL;
    HRESULT             hr = E_FAIL;
    if (info && !atomic_load(&module->is_unloaded))
        hr = info->vtbl->GetModuleMetaData(info, module->id, ofRead | ofWrite, iid, &fresh);
    if (FAILED(hr) || !fresh)
        return FAILED(hr) ? hr : E_FAIL;
    pthread_mutex_lock(&module->lock);
    if (!*(IUnknown **)slot && !atomic_load(&module->is_unloaded)) {
        fresh->vtbl->AddRef(fresh);
        *(IUnknown **)slot = fresh;
    }
    pthread_mutex_unlock(&module->lock);
    *out = fresh;
    return S_OK;
}

/* Stores the interface at @slot in @out with a reference. E_FAIL: it is not open. */
static HRESULT open_interface(struct clrie_module *module, void *slot, IUnknown **out)
{
    pthread_mutex_lock(&module->lock);
    *out = *(IUnknown **)slot;
    if (*out)
        (*out)->vtbl->AddRef(*out);
    pthread_mutex_unlock(&module->lock);
    return *out ? S_OK : E_FAIL;
}

IMetaDataImport2 *clrie_module_import(struct clrie_module *module)
{
    IUnknown *import = NULL;
    open_interface(module, &module->import, &import);
    return (IMetaDataImport2 *)(void *)import;
}

IMetaDataImport2 *clrie_module_live_import(struct clrie_module *module)
{
    IUnknown *import = NULL;
    if (FAILED(open_interface(module, &module->live_import, &import)))
        open_for_writing(module, &module->live_import, &IID_IMetaDataImport2, &import);
    return (IMetaDataImport2 *)(void *)import;
}

HRESULT clrie_module_GetMetaDataImport(struct clrie_module *self, IUnknown **ppMetaDataImport)
{
    return open_interface(self, &self->import, ppMetaDataImport);
}

HRESULT clrie_module_GetMetaDataAssemblyImport(struct clrie_module *self,
                                               IUnknown           **ppMetaDataAssemblyImport)
{
    return open_interface(self, &self->assembly_import, ppMetaDataAssemblyImport);
}

HRESULT clrie_module_GetMetaDataEmit(struct clrie_module *self, IUnknown **ppMetaDataEmit)
{
    if (SUCCEEDED(open_interface(self, &self->emit, ppMetaDataEmit)))
        return S_OK;
    return open_for_writing(self, &self->emit, &IID_IMetaDataEmit2, ppMetaDataEmit);
}

HRESULT clrie_module_GetMetaDataAssemblyEmit(struct clrie_module *self,
                                             IUnknown           **ppMetaDataAssemblyEmit)
{
    if (SUCCEEDED(open_interface(self, &self->assembly_emit, ppMetaDataAssemblyEmit)))
        return S_OK;
    return open_for_writing(self, &self->assembly_emit, &IID_IMetaDataAssemblyEmit,
                            ppMetaDataAssemblyEmit);
}

/* ---- what types need -------------------------------------------------------------------------- */

static struct clrie_module *module_of(struct clrie_types_module *types)
{
    return container_of(types, struct clrie_module, types);
}

/* The BSTR of a TypeRef counts the zero at its end, as CLRIE's does. */
static HRESULT type_ref_name(IMetaDataImport2 *import, mdToken token, BSTR *out)
{
    WCHAR   name[1024] = {0};
    ULONG   n = 0;
    HRESULT hr = import->vtbl->GetTypeRefProps(import, token, NULL, name, ARRAY_LEN(name), &n);
    if (FAILED(hr))
        return hr;
    n = n < ARRAY_LEN(name) ? n : ARRAY_LEN(name);
    if (!n || !name[0])
        return E_FAIL;
    *out = clrie_string_new(name, n);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT type_def_name(IMetaDataImport2 *import, mdToken token, BSTR *out)
{
    static const struct sxs_type_style style = {.nested = "+"};
    struct sxs_type_source             from = sxs_types_of_import(import);
    char                               text[4096];
    struct sxs_text                    t = sxs_text_in(text, sizeof(text));
    if (sxs_type_put(&t, &from, &style, token) || !text[0])
        return CLDB_E_RECORD_NOTFOUND;
    return clrie_string_hand_out(text, out);
}

HRESULT clrie_module_type_name(struct clrie_types_module *types, mdToken token, BSTR *out)
{
    IMetaDataImport2 *import = clrie_module_import(module_of(types));
    HRESULT           hr = E_FAIL;
    *out = NULL;
    if (import && token >> 24 == TYPE_DEF)
        hr = type_def_name(import, token, out);
    else if (import && token >> 24 == TYPE_REF)
        hr = type_ref_name(import, token, out);
    if (import)
        import->vtbl->Release(import);
    return hr;
}

HRESULT clrie_module_signature(struct clrie_types_module *types, mdSignature token,
                               const uint8_t **bytes, uint32_t *size)
{
    struct clrie_module *module = module_of(types);
    IMetaDataImport2    *import = clrie_module_import(module);
    HRESULT              hr = E_FAIL;
    *bytes = NULL;
    *size = 0;
    if (import) {
        hr = import->vtbl->GetSigFromToken(import, token, bytes, size);
        import->vtbl->Release(import);
    }
    if (SUCCEEDED(hr) && *bytes)
        return S_OK;
    import = clrie_module_live_import(module); /* a plug-in may have added the token */
    if (!import)
        return FAILED(hr) ? hr : E_FAIL;
    hr = import->vtbl->GetSigFromToken(import, token, bytes, size);
    import->vtbl->Release(import);
    return FAILED(hr) ? hr : *bytes ? S_OK : E_FAIL;
}

HRESULT clrie_module_token(struct clrie_types_module *types, const uint8_t *bytes, uint32_t size,
                           mdSignature *token)
{
    IMetaDataEmit2 *emit = NULL;
    HRESULT         hr = clrie_module_GetMetaDataEmit(module_of(types), (IUnknown **)(void *)&emit);
    if (FAILED(hr))
        return hr;
    hr = emit->vtbl->GetTokenFromSig(emit, bytes, size, token);
    emit->vtbl->Release(emit);
    return hr;
}
