/* SPDX-License-Identifier: MIT */
/*
 * metadata.c - the metadata of a module.
 *
 * The interfaces are opened when they are first asked for. A runtime makes another form of the
 * metadata for them: for reading, all its own look-ups in a large module are slower from then on, which
 * adds some 8 ms to the start of a program; for writing, it copies the metadata.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/text/utf8.h"
#include "clrie/model/model_internal.h"
#include "clrie/object/strings.h"
#include "symbols/type_name.h"

enum { TYPE_REF = 0x01, TYPE_DEF = 0x02 };

/* ---- interfaces ------------------------------------------------------------------------------- */

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

/* One call of GetModuleMetaData(). */
struct opening {
    ICorProfilerInfo10 *info;
    ModuleID            module;
    DWORD               flags;
    const GUID         *iid;
    IUnknown           *found;
    HRESULT             hr;
};

static void *open_now(void *arg)
{
    struct opening *o = arg;
    o->hr = o->info->vtbl->GetModuleMetaData(o->info, o->module, o->flags, o->iid, &o->found);
    return NULL;
}

/* A runtime refuses the call on a managed thread outside of its callbacks, where plug-ins are called by
 * the code that they have inserted. On a thread that the runtime does not know it is allowed. */
static void open_on_new_thread(struct opening *o)
{
    sigset_t  all, before;
    pthread_t thread;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return;
    if (pthread_create(&thread, NULL, open_now, o) == 0)
        pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Stores the interface at @slot, which is one of the module's fields, in @out with a reference. When
 * it is not open yet, it is opened with @flags. */
static HRESULT open_interface(struct clrie_module *module, void *slot, DWORD flags, const GUID *iid,
                              IUnknown **out)
{
    struct opening o = {clrie_model_info(module->model), module->id, flags, iid, NULL, E_FAIL};
    pthread_mutex_lock(&module->lock);
    *out = *(IUnknown **)slot;
    if (*out)
        (*out)->vtbl->AddRef(*out);
    pthread_mutex_unlock(&module->lock);
    if (*out)
        return S_OK;
    if (o.info && !atomic_load(&module->is_unloaded))
        open_now(&o);
    if (o.hr == CORPROF_E_UNSUPPORTED_CALL_SEQUENCE)
        open_on_new_thread(&o);
    if (FAILED(o.hr) || !o.found)
        return FAILED(o.hr) ? o.hr : E_FAIL;
    pthread_mutex_lock(&module->lock);
    if (!*(IUnknown **)slot && !atomic_load(&module->is_unloaded)) {
        o.found->vtbl->AddRef(o.found);
        *(IUnknown **)slot = o.found;
    }
    pthread_mutex_unlock(&module->lock);
    *out = o.found;
    return S_OK;
}

IMetaDataImport2 *clrie_module_import(struct clrie_module *module)
{
    IUnknown *import = NULL;
    clrie_module_GetMetaDataImport(module, &import);
    return (IMetaDataImport2 *)(void *)import;
}

IMetaDataImport2 *clrie_module_live_import(struct clrie_module *module)
{
    IUnknown *import = NULL;
    open_interface(module, &module->live_import, ofRead | ofWrite, &IID_IMetaDataImport2, &import);
    return (IMetaDataImport2 *)(void *)import;
}

HRESULT clrie_module_GetMetaDataImport(struct clrie_module *self, IUnknown **ppMetaDataImport)
{
    return open_interface(self, &self->import, ofRead, &IID_IMetaDataImport2, ppMetaDataImport);
}

HRESULT clrie_module_GetMetaDataAssemblyImport(struct clrie_module *self,
                                               IUnknown           **ppMetaDataAssemblyImport)
{
    return open_interface(self, &self->assembly_import, ofRead, &IID_IMetaDataAssemblyImport,
                          ppMetaDataAssemblyImport);
}

HRESULT clrie_module_GetMetaDataEmit(struct clrie_module *self, IUnknown **ppMetaDataEmit)
{
    return open_interface(self, &self->emit, ofRead | ofWrite, &IID_IMetaDataEmit2, ppMetaDataEmit);
}

HRESULT clrie_module_GetMetaDataAssemblyEmit(struct clrie_module *self,
                                             IUnknown           **ppMetaDataAssemblyEmit)
{
    return open_interface(self, &self->assembly_emit, ofRead | ofWrite, &IID_IMetaDataAssemblyEmit,
                          ppMetaDataAssemblyEmit);
}

HRESULT clrie_module_read_mvid(struct clrie_module *module)
{
    IMetaDataImport2 *import;
    GUID              mvid;
    HRESULT           hr;
    if (atomic_load(&module->has_mvid))
        return S_OK;
    import = clrie_module_import(module);
    if (!import)
        return E_FAIL;
    hr = import->vtbl->GetScopeProps(import, NULL, 0, NULL, &mvid);
    import->vtbl->Release(import);
    if (FAILED(hr))
        return hr;
    pthread_mutex_lock(&module->lock);
    module->mvid = mvid;
    pthread_mutex_unlock(&module->lock);
    atomic_store(&module->has_mvid, 1);
    return S_OK;
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
