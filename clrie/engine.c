/* SPDX-License-Identifier: MIT */
/* engine.c - the callbacks of a runtime, as the engine answers them. */
#include "clrie/engine.h"

#include <string.h>

#include "runtime_facts/info.h"

const uint32_t clrie_engine_size = sizeof(struct clrie_engine);

/* Calls a slot of each plug-in in the order of priority. The result is that of the last one. */
#define EACH(engine, plugin, call)                            \
    ({                                                        \
        struct clrie_plugins list_ = clrie_plugins(engine);   \
        HRESULT              last_ = S_OK;                    \
        for (unsigned i_ = 0; i_ < list_.n; i_++) {           \
            struct clrie_plugin *plugin = list_.at[i_];       \
            last_ = (call);                                   \
        }                                                     \
        last_;                                                \
    })

struct clrie_plugins clrie_plugins(struct clrie_engine *engine)
{
    struct clrie_plugins list;
    pthread_mutex_lock(&engine->lock);
    list.n = engine->plugins.n;
    memcpy(list.at, engine->plugins.at, list.n * sizeof(list.at[0]));
    pthread_mutex_unlock(&engine->lock);
    return list;
}

/* ---- life -------------------------------------------------------------------------------------- */

static void init_recursive(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
}

static HRESULT request_rejit(struct clrie_model_host *host, ModuleID module, mdMethodDef method)
{
    return clrie_request_rejit(container_of(host, struct clrie_engine, host), module, method);
}

struct clrie_engine *clrie_engine_new(void)
{
    struct clrie_engine *engine = clrie_new(&clrie_engine);
    if (!engine)
        return NULL;
    init_recursive(&engine->lock);
    init_recursive(&engine->compiling);
    engine->low = CLRIE_DEFAULT_MASK;
    clrie_log_open();
    return engine;
}

/* Releases everything but the engine itself. */
static void disconnect(struct clrie_engine *engine)
{
    struct clrie_plugins list = clrie_plugins(engine);
    struct clrie_plugin *removed;
    ICorProfilerInfo15  *info = engine->info;
    pthread_mutex_lock(&engine->lock);
    engine->plugins.n = 0;
    removed = engine->removed;
    engine->removed = NULL;
    pthread_mutex_unlock(&engine->lock);
    for (unsigned i = 0; i < list.n; i++)
        clrie_plugin_free(list.at[i]);
    while (removed) {
        struct clrie_plugin *next = removed->next_removed;
        clrie_plugin_free(removed);
        removed = next;
    }
    pthread_mutex_lock(&engine->compiling);
    clrie_inlined_forget(engine, 0);
    pthread_mutex_unlock(&engine->compiling);
    clrie_log_drop_host(engine);
    clrie_engine_drop_hook(engine, 0);
    if (engine->wrapped) {
        clrie_info_disconnect(engine->wrapped);
        clrie_unhold((struct clrie_object *)engine->wrapped);
    }
    engine->wrapped = NULL;
    clrie_model_free(engine->model);
    engine->model = NULL;
    engine->info = NULL;
    if (info)
        info->vtbl->Release(info);
}

void clrie_engine_end(struct clrie_object *object)
{
    struct clrie_engine *engine = (struct clrie_engine *)object;
    disconnect(engine);
    clrie_log_close();
    pthread_mutex_destroy(&engine->lock);
    pthread_mutex_destroy(&engine->compiling);
}

/* The newest ICorProfilerInfo that the object has; 0 if that has no SetEventMask2(). */
static unsigned newest_info(IUnknown *object, ICorProfilerInfo15 **out)
{
    for (size_t i = 0; i < ARRAY_LEN(sxs_info_versions); i++) {
        const struct sxs_info_version *v = &sxs_info_versions[i];
        void                          *found = NULL;
        if (v->version >= SXS_INFO_EVENT_MASK_2 &&
            SUCCEEDED(object->vtbl->QueryInterface(object, v->iid, &found)) && found) {
            *out = found;
            return v->version;
        }
    }
    return 0;
}

static HRESULT connect(struct clrie_engine *engine, IUnknown *runtime)
{
    unsigned version = runtime ? newest_info(runtime, &engine->info) : 0;
    if (!runtime)
        return E_POINTER;
    if (!version) /* before .NET Core */
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    engine->host = (struct clrie_model_host){.info = (ICorProfilerInfo10 *)engine->info,
                                             .version = version,
                                             .request_rejit = request_rejit};
    engine->model = clrie_model_new(&engine->host);
    engine->wrapped = clrie_info_new(engine);
    if (engine->wrapped)
        clrie_keep((struct clrie_object *)engine->wrapped);
    return engine->model && engine->wrapped ? S_OK : E_OUTOFMEMORY;
}

static void load_configured(struct clrie_engine *engine, void *arg)
{
    (void)arg;
    clrie_plugins_load(engine, clrie_configured(), NULL);
    if (!clrie_configured()->n)
        clrie_log_print(CLRIE_LOG_ERRORS, "No configuration of an instrumentation method was found");
}

HRESULT clrie_engine_start(struct clrie_engine *engine, IUnknown *runtime,
                           void (*load)(struct clrie_engine *engine, void *arg), void *arg)
{
    HRESULT hr = connect(engine, runtime);
    if (FAILED(hr))
        return hr;
    engine->in_initialize = 1;
    hr = clrie_info_apply_mask(engine);
    if (SUCCEEDED(hr))
        load(engine, arg);
    engine->in_initialize = 0;
    if (SUCCEEDED(hr) && !engine->plugins.n) /* nobody sees what the runtime is not asked for */
        hr = engine->info->vtbl->SetEventMask2(engine->info, 0, 0);
    /* The runtime goes on without the engine, whose plug-ins are released without OnShutdown. */
    return SUCCEEDED(hr) && engine->disabled ? CORPROF_E_PROFILER_CANCEL_ACTIVATION : hr;
}

HRESULT clrie_engine_Initialize(struct clrie_engine *self, IUnknown *runtime)
{
    return clrie_engine_start(self, runtime, load_configured, NULL);
}

HRESULT clrie_engine_Shutdown(struct clrie_engine *self)
{
    EACH(self, p, p->im->vtbl->OnShutdown(p->im));
    disconnect(self);
    return S_OK;
}

/* ---- loads and unloads ------------------------------------------------------------------------- */

HRESULT clrie_engine_AppDomainCreationStarted(struct clrie_engine *self, AppDomainID id)
{
    clrie_model_domain(self->model, id);
    return S_OK;
}

HRESULT clrie_engine_AppDomainCreationFinished(struct clrie_engine *self, AppDomainID id,
                                               HRESULT status)
{
    struct clrie_domain *domain = FAILED(status) ? NULL : clrie_model_domain(self->model, id);
    IAppDomainInfo      *face;
    if (!domain)
        return S_OK;
    clrie_domain_finish(domain);
    face = clrie_domain_face(domain);
    EACH(self, p, p->im->vtbl->OnAppDomainCreated(p->im, face));
    return S_OK;
}

HRESULT clrie_engine_AppDomainShutdownFinished(struct clrie_engine *self, AppDomainID id,
                                               HRESULT status)
{
    struct clrie_domain *domain = clrie_model_domain_remove(self->model, id);
    IAppDomainInfo      *face;
    (void)status;
    if (!domain)
        return S_OK;
    face = clrie_domain_face(domain);
    EACH(self, p, p->im->vtbl->OnAppDomainShutdown(p->im, face));
    face->vtbl->Release(face);
    return S_OK;
}

HRESULT clrie_engine_ModuleAttachedToAssembly(struct clrie_engine *self, ModuleID id,
                                              AssemblyID assembly)
{
    struct clrie_module *module = assembly ? clrie_model_module_add(self->model, id) : NULL;
    IModuleInfo         *face = module ? clrie_module_face(module) : NULL;
    if (!face)
        return S_OK;
    return EACH(self, p, p->im->vtbl->OnModuleLoaded(p->im, face));
}

HRESULT clrie_engine_AssemblyLoadFinished(struct clrie_engine *self, AssemblyID id, HRESULT status)
{
    struct clrie_assembly *assembly = clrie_model_assembly(self->model, id);
    IAssemblyInfo         *face = assembly ? clrie_assembly_face(assembly) : NULL;
    (void)status;
    if (!face)
        return S_OK;
    return EACH(self, p, p->im->vtbl->OnAssemblyLoaded(p->im, face));
}

HRESULT clrie_engine_ModuleUnloadFinished(struct clrie_engine *self, ModuleID id, HRESULT status)
{
    struct clrie_module *module = clrie_model_module(self->model, id);
    IModuleInfo         *face = module ? clrie_module_face(module) : NULL;
    (void)status;
    if (!face)
        return S_OK;
    EACH(self, p, p->im->vtbl->OnModuleUnloaded(p->im, face));
    pthread_mutex_lock(&self->compiling);
    clrie_inlined_forget(self, id);
    pthread_mutex_unlock(&self->compiling);
    if (clrie_model_module_remove(self->model, id))
        face->vtbl->Release(face);
    return S_OK;
}

HRESULT clrie_engine_AssemblyUnloadFinished(struct clrie_engine *self, AssemblyID id, HRESULT status)
{
    struct clrie_assembly *assembly = clrie_model_assembly_remove(self->model, id);
    IAssemblyInfo         *face;
    (void)status;
    if (!assembly)
        return S_OK;
    face = clrie_assembly_face(assembly);
    EACH(self, p, p->im->vtbl->OnAssemblyUnloaded(p->im, face));
    face->vtbl->Release(face);
    return S_OK;
}

/* ---- compilations ------------------------------------------------------------------------------ */

static HRESULT jit_started(struct clrie_engine *engine, FunctionID function, BOOL is_rejit)
{
    return EACH(engine, p, p->jit ? p->jit->vtbl->JitStarted(p->jit, function, is_rejit) : S_OK);
}

HRESULT clrie_engine_JITCompilationStarted(struct clrie_engine *self, FunctionID function,
                                           BOOL is_safe_to_block)
{
    HRESULT hr = jit_started(self, function, 0);
    (void)is_safe_to_block;
    return FAILED(hr) ? hr : clrie_compile(self, function);
}

HRESULT clrie_engine_ReJITCompilationStarted(struct clrie_engine *self, FunctionID function,
                                             ReJITID id, BOOL is_safe_to_block)
{
    (void)id;
    (void)is_safe_to_block;
    return jit_started(self, function, 1);
}

static HRESULT jit_complete(struct clrie_engine *engine, FunctionID function, ReJITID id, BOOL is_rejit,
                            HRESULT status)
{
    struct clrie_plugins          list = clrie_plugins(engine);
    struct clrie_compiled_method *compiled = NULL;
    HRESULT                       hr = S_OK;
    for (unsigned i = 0; i < list.n; i++) {
        struct clrie_plugin *p = list.at[i];
        if (p->jit2 && !compiled) {
            compiled = clrie_compiled_method_new(engine->model, function, is_rejit, id, status);
            if (compiled)
                clrie_keep((struct clrie_object *)compiled);
        }
        if (p->jit2 && compiled)
            hr = p->jit2->vtbl->JitComplete_5(p->jit2, clrie_compiled_method_face(compiled));
        else if (p->jit)
            hr = p->jit->vtbl->JitComplete(p->jit, function, is_rejit, status);
    }
    clrie_unhold((struct clrie_object *)compiled);
    return hr;
}

HRESULT clrie_engine_JITCompilationFinished(struct clrie_engine *self, FunctionID function,
                                            HRESULT status, BOOL is_safe_to_block)
{
    (void)is_safe_to_block;
    return jit_complete(self, function, 0, 0, status);
}

HRESULT clrie_engine_ReJITCompilationFinished(struct clrie_engine *self, FunctionID function,
                                              ReJITID id, HRESULT status, BOOL is_safe_to_block)
{
    (void)is_safe_to_block;
    return jit_complete(self, function, id, 1, status);
}

HRESULT clrie_engine_GetReJITParameters(struct clrie_engine *self, ModuleID module,
                                        mdMethodDef method, ICorProfilerFunctionControl *control)
{
    return clrie_recompile(self, module, method, control);
}

HRESULT clrie_engine_JITInlining(struct clrie_engine *self, FunctionID caller, FunctionID callee,
                                 BOOL *should_inline)
{
    return clrie_inlining(self, caller, callee, should_inline);
}

HRESULT clrie_engine_JITCachedFunctionSearchStarted(struct clrie_engine *self, FunctionID function,
                                                    BOOL *use)
{
    (void)self;
    (void)function;
    *use = 0;
    return S_OK;
}
