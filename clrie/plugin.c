/* SPDX-License-Identifier: MIT */
/* plugin.c - loads plug-ins, and keeps the list of them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code_path.h"
#include "base/log.h"
#include "clrie/engine.h"

typedef HRESULT get_class_object_fn(const GUID *clsid, const GUID *iid, void **out);

static HRESULT failed(const struct clrie_plugin_declaration *declared, HRESULT hr, const char *what)
{
    sxs_error("instrumentation method %s (%s, line %u): %s", declared->name,
              declared->config ? declared->config : "?", declared->line, what);
    clrie_log_print(CLRIE_LOG_ERRORS, "%s: %s", declared->name, what);
    return hr;
}

/* Loads the library and makes the plug-in's object. A library is never unloaded, because the code that
 * its plug-in has put into methods may call it. */
static HRESULT create(const struct clrie_plugin_declaration *declared, IInstrumentationMethod **out)
{
    void                *library;
    get_class_object_fn *get = NULL;
    IClassFactory       *factory = NULL;
    void                *object = NULL;
    HRESULT              hr;
    char                 refused[512];
    if ((declared->config && sxs_code_path_refused(declared->config, refused, sizeof(refused))) ||
        sxs_code_path_refused(declared->path, refused, sizeof(refused)))
        return failed(declared, E_ACCESSDENIED, refused);
    library = dlopen(declared->path, RTLD_LAZY);
    if (!library)
        return failed(declared, E_FAIL, dlerror());
    *(void **)&get = dlsym(library, "DllGetClassObject");
    if (!get)
        return failed(declared, E_FAIL, "its library exports no DllGetClassObject");
    hr = get(&declared->clsid, &IID_IClassFactory, (void **)&factory);
    if (FAILED(hr) || !factory)
        return failed(declared, FAILED(hr) ? hr : E_FAIL, "its library has no such class");
    hr = factory->vtbl->CreateInstance(factory, NULL, &IID_IInstrumentationMethod, &object);
    factory->vtbl->Release(factory);
    if (FAILED(hr) || !object)
        return failed(declared, FAILED(hr) ? hr : E_FAIL,
                      "its class has no IInstrumentationMethod");
    *out = object;
    return S_OK;
}

static void *ask(IInstrumentationMethod *im, const GUID *iid)
{
    void *out = NULL;
    return SUCCEEDED(im->vtbl->QueryInterface(im, iid, &out)) ? out : NULL;
}

static struct clrie_plugin *make(struct clrie_engine *engine,
                                 const struct clrie_plugin_declaration *declared,
                                 IInstrumentationMethod *im)
{
    struct clrie_plugin *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->engine = engine;
    p->name = strdup(declared->name);
    p->clsid = declared->clsid;
    p->priority = declared->priority;
    p->im = im;
    p->jit2 = ask(im, &IID_IInstrumentationMethodJitEvents2);
    p->jit = ask(im, &IID_IInstrumentationMethodJitEvents);
    p->exceptions = ask(im, &IID_IInstrumentationMethodExceptionEvents);
    p->attach = ask(im, &IID_IInstrumentationMethodAttach);
    clrie_log_plugin_start(&p->log, &p->clsid);
    p->manager = clrie_manager_new(p);
    if (p->name && p->manager)
        return p;
    p->im = NULL; /* stays the caller's */
    clrie_plugin_free(p);
    return NULL;
}

static HRESULT initialize(struct clrie_plugin *p, struct clrie_object *settings)
{
    struct clrie_engine *engine = p->engine;
    struct clrie_plugin *outer = engine->initializing;
    IProfilerManager    *manager = clrie_face((struct clrie_object *)p->manager, 0);
    HRESULT              hr;
    engine->initializing = p;
    if (settings)
        hr = p->attach ? p->attach->vtbl->InitializeForAttach(p->attach, manager,
                                                              clrie_face(settings, 0))
                       : E_FAIL;
    else
        hr = p->im->vtbl->Initialize(p->im, manager);
    engine->initializing = outer;
    return hr;
}

/* After those with the same or a lower number. */
static HRESULT insert(struct clrie_plugins *list, struct clrie_plugin *p)
{
    unsigned at = list->n;
    if (list->n == CLRIE_MAX_PLUGINS)
        return E_OUTOFMEMORY;
    for (; at > 0 && list->at[at - 1]->priority > p->priority; at--)
        list->at[at] = list->at[at - 1];
    list->at[at] = p;
    list->n++;
    return S_OK;
}

/* The plug-in is called no more. Under engine->lock. */
static void set_aside(struct clrie_engine *engine, struct clrie_plugin *p)
{
    p->next_removed = engine->removed;
    engine->removed = p;
}

HRESULT clrie_plugin_load(struct clrie_engine *engine, const struct clrie_plugin_declaration *declared,
                          struct clrie_object *settings, struct clrie_plugin **out)
{
    IInstrumentationMethod *im = NULL;
    struct clrie_plugin    *p;
    HRESULT                 hr = create(declared, &im);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    p = make(engine, declared, im);
    if (!p) {
        im->vtbl->Release(im);
        return E_OUTOFMEMORY;
    }
    pthread_mutex_lock(&engine->lock);
    p->order = engine->n_loaded++;
    hr = initialize(p, settings);
    p->is_registered = hr == S_OK && declared->config;
    p->has_failed = FAILED(hr);
    if (SUCCEEDED(hr))
        hr = insert(&engine->plugins, p);
    if (FAILED(hr)) {
        if (p->low)
            clrie_info_apply_mask(engine); /* without what it has asked for */
        set_aside(engine, p);
    }
    pthread_mutex_unlock(&engine->lock);
    if (FAILED(hr)) {
        char what[120];
        snprintf(what, sizeof(what), "its %s failed (%s 0x%08x)",
                 !settings   ? "Initialize"
                 : p->attach ? "InitializeForAttach"
                             : "class lacks IInstrumentationMethodAttach, its attach",
                 sxs_hresult_name(hr), (unsigned)hr);
        return failed(declared, hr, what);
    }
    clrie_log_print(CLRIE_LOG_TRACE, "%s: loaded from %s", declared->name, declared->path);
    *out = p;
    return S_OK;
}

struct clrie_plugin *clrie_plugin_find(struct clrie_engine *engine, const GUID *clsid,
                                       const IInstrumentationMethod *im)
{
    struct clrie_plugins list = clrie_plugins(engine);
    for (unsigned i = 0; i < list.n; i++)
        if (im ? list.at[i]->im == im : memcmp(&list.at[i]->clsid, clsid, sizeof(*clsid)) == 0)
            return list.at[i];
    return NULL;
}

static int is_registered_as(const struct clrie_plugin *p, const GUID *clsid)
{
    return p->is_registered && memcmp(&p->clsid, clsid, sizeof(*clsid)) == 0;
}

void clrie_plugin_remove(struct clrie_engine *engine, struct clrie_plugin *plugin)
{
    struct clrie_plugins *list = &engine->plugins;
    unsigned              n = 0;
    HRESULT               hr = S_OK;
    pthread_mutex_lock(&engine->lock);
    for (unsigned i = 0; i < list->n; i++)
        if (list->at[i] != plugin)
            list->at[n++] = list->at[i];
    if (n < list->n) { /* not removed by another thread */
        list->n = n;
        set_aside(engine, plugin);
        hr = plugin->low ? clrie_info_apply_mask(engine) : S_OK;
    }
    pthread_mutex_unlock(&engine->lock);
    if (FAILED(hr)) /* flags that cannot be changed after Initialize: then all stay */
        clrie_log_print(CLRIE_LOG_ERRORS, "%s is removed; its event flags 0x%08x stay (%s 0x%08x)",
                        plugin->name, plugin->low, sxs_hresult_name(hr), (unsigned)hr);
}

int clrie_plugin_is_registered(struct clrie_engine *engine, const GUID *clsid)
{
    int is = 0;
    pthread_mutex_lock(&engine->lock);
    for (unsigned i = 0; i < engine->plugins.n; i++)
        is |= is_registered_as(engine->plugins.at[i], clsid);
    for (const struct clrie_plugin *p = engine->removed; p; p = p->next_removed)
        is |= is_registered_as(p, clsid);
    pthread_mutex_unlock(&engine->lock);
    return is;
}

static void load_declared(struct clrie_engine *engine,
                          const struct clrie_plugin_declaration *declared,
                          struct clrie_object                   *settings)
{
    struct clrie_attach_context *context = NULL;
    struct clrie_plugin         *plugin;
    if (engine->attached && !(context = clrie_attach_context_new(settings)))
        return;
    if (settings)
        clrie_enumerator_Reset((struct clrie_enumerator *)settings);
    clrie_plugin_load(engine, declared, (struct clrie_object *)context, &plugin);
    clrie_unref((struct clrie_object *)context);
}

void clrie_plugins_load(struct clrie_engine *engine, const struct clrie_plugin_list *list,
                        struct clrie_object *settings)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct clrie_plugin_declaration *declared = &list->items[i];
        if (clrie_plugin_is_registered(engine, &declared->clsid))
            clrie_log_print(CLRIE_LOG_TRACE, "%s: skipped, its class is loaded already", declared->name);
        else
            load_declared(engine, declared, settings);
    }
}

void clrie_plugin_free(struct clrie_plugin *p)
{
    if (p->manager) {
        clrie_manager_disconnect(p->manager);
        clrie_unhold((struct clrie_object *)p->manager);
    }
    clrie_release(p->jit2);
    clrie_release(p->jit);
    clrie_release(p->exceptions);
    clrie_release(p->attach);
    if (!p->has_failed) /* CLRIE keeps it: its Initialize may have freed what Release() needs */
        clrie_release(p->im);
    clrie_log_plugin_end(&p->log);
    free(p->name);
    free(p);
}
