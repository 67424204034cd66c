/* SPDX-License-Identifier: MIT */
/* manager.c - IProfilerManager and its further versions: what a plug-in can ask of the engine. Each
 * plug-in has a manager of its own, so that the engine knows which plug-in calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clrie/engine.h"
#include "clrie/object/strings.h"
#include "clrie/types/types.h"
#include "manager/guid.h"

enum { API_VERSION = 7 }; /* of IProfilerManager3::GetApiVersion */

struct clrie_manager {
    CLRIE_OBJECT(CLRIE_FACES_manager);
    /* NULL when the engine has ended. A plug-in's own threads must not use the manager then; CLRIE has
     * the same rule. */
    _Atomic(struct clrie_plugin *) plugin;
};
const uint32_t clrie_manager_size = sizeof(struct clrie_manager);

struct clrie_manager *clrie_manager_new(struct clrie_plugin *plugin)
{
    struct clrie_manager *manager = clrie_new(&clrie_manager);
    if (!manager)
        return NULL;
    clrie_keep((struct clrie_object *)manager);
    atomic_init(&manager->plugin, plugin);
    return manager;
}

void clrie_manager_end(struct clrie_object *object)
{
    (void)object;
}

void clrie_manager_disconnect(struct clrie_manager *manager)
{
    atomic_store(&manager->plugin, NULL);
}

static struct clrie_plugin *plugin_of(struct clrie_manager *self)
{
    return atomic_load(&self->plugin);
}

static struct clrie_engine *engine_of(struct clrie_manager *self)
{
    struct clrie_plugin *plugin = plugin_of(self);
    return plugin ? plugin->engine : NULL;
}

/* ---- IProfilerManager --------------------------------------------------------------------------- */

static void report(void *arg, const char *line)
{
    (void)arg;
    clrie_log_print(CLRIE_LOG_ERRORS, "%s", line);
}

HRESULT clrie_manager_SetupProfilingEnvironment(struct clrie_manager *self, BSTR *bstrConfigPath,
                                                UINT numConfigPaths)
{
    struct clrie_engine     *engine = engine_of(self);
    struct clrie_plugin_list list = {NULL, 0};
    if (!bstrConfigPath)
        return E_POINTER;
    if (!engine)
        return E_FAIL;
    for (UINT i = 0; i < numConfigPaths; i++) {
        char *path = clrie_string_utf8(bstrConfigPath[i]);
        if (path)
            clrie_config_read_file(&list, path, report, NULL);
        free(path);
    }
    clrie_plugins_load(engine, &list, NULL);
    clrie_config_free(&list);
    return S_OK;
}

HRESULT clrie_manager_GetCorProfilerInfo(struct clrie_manager *self, IUnknown **ppCorProfiler)
{
    struct clrie_engine *engine = engine_of(self);
    *ppCorProfiler = NULL;
    if (!engine || !engine->wrapped)
        return E_FAIL;
    return clrie_hand_out((struct clrie_object *)engine->wrapped, 0, (void **)ppCorProfiler);
}

HRESULT clrie_manager_GetProfilerHost(struct clrie_manager *self,
                                      IProfilerManagerHost **ppProfilerManagerHost)
{
    (void)self;
    *ppProfilerManagerHost = NULL;
    return E_NOTIMPL;
}

HRESULT clrie_manager_GetLoggingInstance(struct clrie_manager *self,
                                         IProfilerManagerLogging **ppLogging)
{
    return clrie_hand_out(&self->object, CLRIE_FACE_manager_IProfilerManagerLogging,
                          (void **)ppLogging);
}

HRESULT clrie_manager_SetLoggingHost(struct clrie_manager *self,
                                     IProfilerManagerLoggingHost *pLoggingHost)
{
    struct clrie_engine *engine = engine_of(self);
    if (!engine)
        return E_FAIL;
    clrie_log_set_host(engine, pLoggingHost);
    return S_OK;
}

HRESULT clrie_manager_GetAppDomainCollection(struct clrie_manager  *self,
                                             IAppDomainCollection **ppAppDomainCollection)
{
    struct clrie_engine *engine = engine_of(self);
    *ppAppDomainCollection = NULL;
    if (!engine || !engine->model)
        return E_FAIL;
    return clrie_hand_out((struct clrie_object *)clrie_model_domains(engine->model), 0,
                          (void **)ppAppDomainCollection);
}

HRESULT clrie_manager_CreateSignatureBuilder(struct clrie_manager *self,
                                             ISignatureBuilder   **ppSignatureBuilder)
{
    struct clrie_signature_builder *builder = clrie_signature_builder_new();
    (void)self;
    *ppSignatureBuilder = builder ? clrie_face((struct clrie_object *)builder, 0) : NULL;
    return builder ? S_OK : E_OUTOFMEMORY;
}

HRESULT clrie_manager_GetInstrumentationMethod(struct clrie_manager *self, REFGUID cslid,
                                               IUnknown **ppUnknown)
{
    struct clrie_engine *engine = engine_of(self);
    struct clrie_plugin *plugin = engine ? clrie_plugin_find(engine, cslid, NULL) : NULL;
    *ppUnknown = NULL;
    if (!plugin)
        return E_NOINTERFACE;
    return plugin->im->vtbl->QueryInterface(plugin->im, &IID_IUnknown, (void **)ppUnknown);
}

HRESULT clrie_manager_RemoveInstrumentationMethod(struct clrie_manager   *self,
                                                  IInstrumentationMethod *pInstrumentationMethod)
{
    struct clrie_engine *engine = engine_of(self);
    struct clrie_plugin *plugin;
    if (!engine || !pInstrumentationMethod)
        return E_FAIL;
    plugin = clrie_plugin_find(engine, NULL, pInstrumentationMethod);
    if (plugin)
        clrie_plugin_remove(engine, plugin);
    return S_OK;
}

/* The path of a library that is named like the Module of a configuration file: below the folder. */
static char *path_below(const WCHAR *folder, const WCHAR *module)
{
    char *left = clrie_string_utf8(folder), *right = clrie_string_utf8(module), *out = NULL;
    if (left && right && asprintf(&out, "%s/%s", left, right) < 0)
        out = NULL;
    free(left);
    free(right);
    return out;
}

HRESULT clrie_manager_AddInstrumentationMethod(struct clrie_manager *self, BSTR bstrModulePath,
                                               BSTR bstrName, BSTR bstrDescription,
                                               BSTR bstrModule, BSTR bstrClassGuid,
                                               DWORD                    dwPriority,
                                               IInstrumentationMethod **pInstrumentationMethod)
{
    struct clrie_engine            *engine = engine_of(self);
    struct clrie_plugin_declaration declared = {.priority = dwPriority};
    struct clrie_attach_context    *context = NULL;
    struct clrie_plugin            *plugin = NULL;
    char                           *clsid = clrie_string_utf8(bstrClassGuid);
    HRESULT                         hr = E_OUTOFMEMORY;
    *pInstrumentationMethod = NULL;
    if (!engine) {
        free(clsid);
        return E_FAIL;
    }
    declared.name = clrie_string_utf8(bstrName);
    declared.description = clrie_string_utf8(bstrDescription);
    declared.path = path_below(bstrModulePath, bstrModule);
    if (engine->attached)
        context = clrie_attach_context_new(NULL);
    if (clsid && declared.name && declared.path && (context || !engine->attached))
        hr = sxs_guid_parse(clsid, &declared.clsid)
                 ? clrie_plugin_load(engine, &declared, (struct clrie_object *)context, &plugin)
                 : E_INVALIDARG;
    clrie_unref((struct clrie_object *)context);
    free(clsid);
    free(declared.name);
    free(declared.description);
    free(declared.path);
    if (plugin) {
        *pInstrumentationMethod = plugin->im;
        plugin->im->vtbl->AddRef(plugin->im);
    }
    return hr;
}

HRESULT clrie_manager_AddRawProfilerHook(struct clrie_manager *self, IUnknown *pUnkProfilerCallback)
{
    struct clrie_engine *engine = engine_of(self);
    if (!pUnkProfilerCallback)
        return E_POINTER;
    return engine ? clrie_engine_add_hook(engine, pUnkProfilerCallback) : E_FAIL;
}

HRESULT clrie_manager_RemoveRawProfilerHook(struct clrie_manager *self)
{
    struct clrie_engine *engine = engine_of(self);
    if (engine)
        clrie_engine_drop_hook(engine, 1);
    return S_OK;
}

HRESULT clrie_manager_GetRuntimeType(struct clrie_manager *self, COR_PRF_RUNTIME_TYPE *pRuntimeType)
{
    (void)self;
    *pRuntimeType = COR_PRF_CORE_CLR;
    return S_OK;
}

/* ---- IProfilerManager2 to 5 ---------------------------------------------------------------------- */

HRESULT clrie_manager_DisableProfiling(struct clrie_manager *self)
{
    struct clrie_engine *engine = engine_of(self);
    if (!engine)
        return E_FAIL;
    engine->disabled = 1;
    return S_OK;
}

HRESULT clrie_manager_ApplyMetadata(struct clrie_manager *self, IModuleInfo *pMethodInfo)
{
    struct clrie_engine *engine = engine_of(self);
    ModuleID             id = 0;
    HRESULT              hr;
    if (!pMethodInfo)
        return E_POINTER;
    if (!engine)
        return E_FAIL;
    hr = pMethodInfo->vtbl->GetModuleID(pMethodInfo, &id);
    return FAILED(hr) ? hr : engine->info->vtbl->ApplyMetaData(engine->info, id);
}

HRESULT clrie_manager_GetApiVersion(struct clrie_manager *self, DWORD *pApiVer)
{
    (void)self;
    *pApiVer = API_VERSION;
    return S_OK;
}

HRESULT clrie_manager_GetGlobalLoggingInstance(struct clrie_manager     *self,
                                               IProfilerManagerLogging **ppLogging)
{
    (void)self;
    return clrie_log_instance(ppLogging);
}

HRESULT clrie_manager_IsInstrumentationMethodRegistered(struct clrie_manager *self, REFGUID cslid,
                                                        BOOL *pfRegistered)
{
    struct clrie_engine *engine = engine_of(self);
    *pfRegistered = engine && clrie_plugin_is_registered(engine, cslid);
    return S_OK;
}

/* ---- logging, strings ------------------------------------------------------------------------------ */

static HRESULT write_log(struct clrie_manager *self, uint32_t level, const WCHAR *text)
{
    struct clrie_plugin *plugin = plugin_of(self);
    if (!text)
        return E_POINTER;
    clrie_log_write(plugin ? &plugin->log : NULL, level, text);
    return S_OK;
}

HRESULT clrie_manager_LogMessage(struct clrie_manager *self, const WCHAR *wszMessage)
{
    return write_log(self, CLRIE_LOG_TRACE, wszMessage);
}

HRESULT clrie_manager_LogError(struct clrie_manager *self, const WCHAR *wszError)
{
    return write_log(self, CLRIE_LOG_ERRORS, wszError);
}

HRESULT clrie_manager_LogDumpMessage(struct clrie_manager *self, const WCHAR *wszMessage)
{
    return write_log(self, CLRIE_LOG_RESULTS, wszMessage);
}

HRESULT clrie_manager_EnableDiagnosticLogToDebugPort(struct clrie_manager *self, BOOL enable)
{
    (void)self;
    (void)enable;
    return S_OK;
}

HRESULT clrie_manager_GetLoggingFlags(struct clrie_manager *self, LoggingFlags *pLoggingFlags)
{
    (void)self;
    *pLoggingFlags = (LoggingFlags)clrie_log_flags();
    return S_OK;
}

HRESULT clrie_manager_SetLoggingFlags(struct clrie_manager *self, LoggingFlags loggingFlags)
{
    (void)self;
    clrie_log_set_flags((uint32_t)loggingFlags);
    return S_OK;
}

HRESULT clrie_manager_FreeString(struct clrie_manager *self, BSTR bstr)
{
    (void)self;
    clrie_string_free(bstr);
    return bstr ? S_OK : S_FALSE;
}
