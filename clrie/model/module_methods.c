/* SPDX-License-Identifier: MIT */
/* module_methods.c - IModuleInfo3: methods and types of a module. */
#include "clrie/model/model_internal.h"

HRESULT clrie_module_creator(struct clrie_module *module, struct clrie_object **out)
{
    struct clrie_object *fresh = NULL;
    pthread_mutex_lock(&module->lock);
    if (!module->type_creator) {
        fresh = (struct clrie_object *)clrie_type_creator_new(&module->types);
        if (fresh)
            fresh->owner = &module->object;
        module->type_creator = fresh;
    }
    *out = module->type_creator;
    pthread_mutex_unlock(&module->lock);
    return *out ? S_OK : E_OUTOFMEMORY;
}

HRESULT clrie_module_CreateTypeFactory(struct clrie_module *self, ITypeCreator **ppTypeFactory)
{
    struct clrie_object *creator;
    HRESULT              hr = clrie_module_creator(self, &creator);
    *ppTypeFactory = NULL;
    return FAILED(hr) ? hr
                      : clrie_hand_out(creator, CLRIE_FACE_type_creator_ITypeCreator,
                                       (void **)ppTypeFactory);
}

HRESULT clrie_module_RequestRejit(struct clrie_module *self, mdToken methodToken)
{
    struct clrie_model_host *host = atomic_load(&self->model->host);
    if (!host || !host->request_rejit || atomic_load(&self->is_unloaded))
        return E_FAIL;
    return host->request_rejit(host, self->id, methodToken);
}

static HRESULT method_out(HRESULT hr, struct clrie_method *method, IMethodInfo **out)
{
    *out = SUCCEEDED(hr) ? clrie_method_face(method) : NULL;
    return hr;
}

HRESULT clrie_module_GetMethodInfoById(struct clrie_module *self, FunctionID functionID,
                                       IMethodInfo **ppMethodInfo)
{
    struct clrie_method *method = NULL;
    HRESULT              hr =
        clrie_method_new(self->model, CLRIE_METHOD_ALONE, self->id, 0, functionID, &method);
    return method_out(hr, method, ppMethodInfo);
}

HRESULT clrie_module_GetMethodInfoByToken(struct clrie_module *self, mdToken token,
                                          IMethodInfo **ppMethodInfo)
{
    struct clrie_method *method = NULL;
    HRESULT hr = clrie_method_new(self->model, CLRIE_METHOD_ALONE, self->id, token, 0, &method);
    return method_out(hr, method, ppMethodInfo);
}
