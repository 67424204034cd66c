/* SPDX-License-Identifier: MIT */
/* attach.c - the engine on a runtime that is running already: InitializeForAttach, with the settings
 * of plug-ins, and ProfilerAttachComplete. */
#include "clrie/config/attach.h"

#include <stdlib.h>

#include "base/log.h"
#include "clrie/engine.h"
#include "clrie/object/enumerator.h"
#include "clrie/object/strings.h"

/* ---- settings ---------------------------------------------------------------------------------- */

struct clrie_setting {
    CLRIE_OBJECT(CLRIE_FACES_setting);
    BSTR name, value;
};
const uint32_t clrie_setting_size = sizeof(struct clrie_setting);

void clrie_setting_end(struct clrie_object *object)
{
    struct clrie_setting *setting = (struct clrie_setting *)object;
    clrie_string_free(setting->name);
    clrie_string_free(setting->value);
}

HRESULT clrie_setting_GetName(struct clrie_setting *self, BSTR *pbstrName)
{
    *pbstrName = clrie_string_new(self->name, clrie_string_length(self->name));
    return *pbstrName ? S_OK : E_OUTOFMEMORY;
}

HRESULT clrie_setting_GetValue(struct clrie_setting *self, BSTR *pbstrValue)
{
    *pbstrValue = clrie_string_new(self->value, clrie_string_length(self->value));
    return *pbstrValue ? S_OK : E_OUTOFMEMORY;
}

static struct clrie_setting *make_setting(const struct clrie_attach_setting *from)
{
    struct clrie_setting *setting = clrie_new(&clrie_setting);
    if (!setting)
        return NULL;
    setting->name = clrie_string_of(from->name);
    setting->value = clrie_string_of(from->value);
    if (setting->name && setting->value)
        return setting;
    clrie_unref(&setting->object);
    return NULL;
}

/* One reference, or NULL without memory. */
static struct clrie_object *list_settings(const struct clrie_attach_source *source)
{
    size_t               n = source->n_settings, made = 0;
    void               **items = calloc(n ? n : 1, sizeof(*items));
    struct clrie_object *list = NULL;
    for (; items && made < n; made++) {
        struct clrie_setting *setting = make_setting(&source->settings[made]);
        if (!setting)
            break;
        items[made] = clrie_face(&setting->object, 0);
    }
    if (items && made == n)
        list = clrie_enumerator_new(&clrie_setting_list, items, (uint32_t)n);
    for (size_t i = 0; i < made; i++)
        ((IUnknown *)items[i])->vtbl->Release(items[i]);
    free(items);
    return list;
}

/* ---- the context ------------------------------------------------------------------------------- */

struct clrie_attach_context {
    CLRIE_OBJECT(CLRIE_FACES_attach_context);
    struct clrie_object *list; /* one reference */
};
const uint32_t clrie_attach_context_size = sizeof(struct clrie_attach_context);

struct clrie_attach_context *clrie_attach_context_new(struct clrie_object *list)
{
    struct clrie_attach_context *context = clrie_new(&clrie_attach_context);
    if (!context)
        return NULL;
    if (list)
        clrie_ref(list);
    else
        list = clrie_enumerator_new(&clrie_setting_list, NULL, 0);
    context->list = list;
    if (list)
        return context;
    clrie_unref(&context->object);
    return NULL;
}

void clrie_attach_context_end(struct clrie_object *object)
{
    clrie_unref(((struct clrie_attach_context *)object)->list);
}

/* The same enumerator for all plug-ins of a configuration file. */
HRESULT clrie_attach_context_EnumSettings(struct clrie_attach_context         *self,
                                          IEnumInstrumentationMethodSettings **ppEnum)
{
    return clrie_hand_out(self->list, 0, (void **)ppEnum);
}

/* ---- the engine -------------------------------------------------------------------------------- */

static void report(void *arg, const char *line)
{
    (void)arg;
    sxs_error("%s", line);
    clrie_log_print(CLRIE_LOG_ERRORS, "%s", line);
}

static void load_source(struct clrie_engine *engine, const struct clrie_attach_source *source)
{
    struct clrie_plugin_list list = {NULL, 0};
    struct clrie_object     *settings = list_settings(source);
    if (settings) {
        clrie_config_read_file(&list, source->path, report, NULL);
        clrie_plugins_load(engine, &list, settings);
    }
    clrie_config_free(&list);
    clrie_unref(settings);
}

static void load_attached(struct clrie_engine *engine, void *arg)
{
    const struct clrie_attach *attach = arg;
    for (size_t i = 0; i < attach->n_sources; i++)
        load_source(engine, &attach->sources[i]);
}

/* The log has the settings before the first plug-in is loaded. */
static void set_log(const struct clrie_attach *attach)
{
    if (attach->log_file_path)
        clrie_log_set_file_path(attach->log_file_path);
    if (attach->log_level)
        clrie_log_set_flags(clrie_log_parse(attach->log_level));
    if (attach->log_file_level)
        clrie_log_set_file_flags(clrie_log_parse(attach->log_file_level));
}

HRESULT clrie_engine_InitializeForAttach(struct clrie_engine *self, IUnknown *runtime, void *data,
                                         UINT size)
{
    struct clrie_attach attach;
    HRESULT             hr;
    if (!data || !size) {
        clrie_log_print(CLRIE_LOG_ERRORS, "attach: there is no client data, which names plug-ins");
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    }
    if (clrie_attach_parse(data, size, &attach, report, NULL) < 0)
        return E_OUTOFMEMORY;
    self->attached = 1;
    set_log(&attach);
    hr = clrie_engine_start(self, runtime, load_attached, &attach);
    clrie_attach_free(&attach);
    return hr;
}

/* Plug-ins get no events of what was loaded before. They can ask for it in AttachComplete. */
HRESULT clrie_engine_ProfilerAttachComplete(struct clrie_engine *self)
{
    ICorProfilerModuleEnum *modules = NULL;
    struct clrie_plugins    list = clrie_plugins(self);
    ModuleID                id;
    ULONG                   n;
    HRESULT                 hr;
    if (!self->model)
        return E_UNEXPECTED;
    hr = self->info->vtbl->EnumModules(self->info, &modules);
    if (FAILED(hr) || !modules)
        return hr;
    while (modules->vtbl->Next(modules, 1, &id, &n) == S_OK)
        clrie_model_module_add(self->model, id); /* fails for resources, which have no metadata */
    modules->vtbl->Release(modules);
    hr = S_OK;
    for (unsigned i = 0; i < list.n; i++) {
        IInstrumentationMethodAttach *on = list.at[i]->attach;
        if (on)
            hr = on->vtbl->AttachComplete(on);
    }
    return hr;
}
