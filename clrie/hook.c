/* SPDX-License-Identifier: MIT */
/* hook.c - the raw profiler that a plug-in brings: an object with ICorProfilerCallback. The engine only
 * keeps it. guests/ makes it a guest of the runtime (struct clrie_hook_user). */
#include "clrie/engine.h"

HRESULT clrie_engine_add_hook(struct clrie_engine *engine, IUnknown *hook)
{
    HRESULT hr = E_FAIL;
    pthread_mutex_lock(&engine->lock);
    if (engine->hook)
        clrie_log_print(CLRIE_LOG_ERRORS, "AddRawProfilerHook: there is a raw profiler already");
    else if (!engine->in_initialize)
        clrie_log_print(CLRIE_LOG_ERRORS,
                        "AddRawProfilerHook: only while the engine is initialized");
    else
        hr = S_OK;
    if (SUCCEEDED(hr)) {
        hook->vtbl->AddRef(hook);
        engine->hook = hook;
    }
    pthread_mutex_unlock(&engine->lock);
    return hr;
}

void clrie_engine_drop_hook(struct clrie_engine *engine, int removed)
{
    struct clrie_hook_user user;
    IUnknown              *hook;
    pthread_mutex_lock(&engine->lock);
    hook = engine->hook;
    user = engine->hook_user;
    engine->hook = NULL;
    engine->hook_user = (struct clrie_hook_user){0};
    pthread_mutex_unlock(&engine->lock);
    if (user.arg && removed)
        user.removed(user.arg);
    if (user.arg)
        user.drop(user.arg);
    if (hook)
        hook->vtbl->Release(hook);
}

static struct clrie_engine *engine_of(IUnknown *callback)
{
    static const struct clrie_class *const classes[] = {&clrie_engine};
    return (struct clrie_engine *)clrie_object_of(callback, classes, 1);
}

void clrie_engine_first_body(IUnknown *callback, ModuleID id, mdMethodDef token,
                             const uint8_t **bytes, uint32_t *size)
{
    struct clrie_engine *engine = engine_of(callback);
    struct clrie_module *module = engine ? clrie_model_module(engine->model, id) : NULL;
    if (module)
        clrie_module_first_body(module, token, bytes, size);
}

IUnknown *clrie_engine_hook(IUnknown *callback)
{
    struct clrie_engine *engine = engine_of(callback);
    IUnknown            *hook;
    if (!engine)
        return NULL;
    pthread_mutex_lock(&engine->lock);
    hook = engine->hook;
    if (hook)
        hook->vtbl->AddRef(hook);
    pthread_mutex_unlock(&engine->lock);
    return hook;
}

int clrie_engine_use_hook(IUnknown *callback, const struct clrie_hook_user *user)
{
    struct clrie_engine *engine = engine_of(callback);
    int                  used = 0;
    if (!engine)
        return 0;
    pthread_mutex_lock(&engine->lock);
    if (engine->hook && !engine->hook_user.arg) {
        engine->hook_user = *user;
        used = 1;
    }
    pthread_mutex_unlock(&engine->lock);
    return used;
}
