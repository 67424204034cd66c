/* SPDX-License-Identifier: MIT */
/**
 * engine.h - the engine on one runtime: its plug-ins, its model of the runtime, and what it asks the
 * runtime for. docs/internals/clrie.md describes the whole.
 */
#ifndef SXS_CLRIE_ENGINE_H
#define SXS_CLRIE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "clrie/config/config.h"
#include "clrie/link/link.h"
#include "clrie/log/log.h"
#include "clrie/model/model.h"
#include "sxs_clrie.h"

enum {
    CLRIE_MAX_PLUGINS = 64 /* of one runtime */
};

/* What the engine asks every runtime for. */
#define CLRIE_DEFAULT_MASK                                                                        \
    ((uint32_t)(COR_PRF_MONITOR_APPDOMAIN_LOADS | COR_PRF_MONITOR_ASSEMBLY_LOADS |                \
                COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_ENABLE_REJIT))

struct clrie_engine;

/** One plug-in on one runtime. Lives as long as the engine. */
struct clrie_plugin {
    struct clrie_engine     *engine;
    char                    *name; /* owned */
    GUID                     clsid;
    uint32_t                 priority;      /* lower numbers are called first */
    int                      is_registered; /* 1: a configuration file names it, and its Initialize
                                             * returned S_OK */
    int                      has_failed;    /* 1: its Initialize failed */
    unsigned                 order;         /* in which it was loaded: 0, 1... */
    uint32_t                 low;           /* event mask that its Initialize asked for */
    struct clrie_manager    *manager;       /* one reference */
    struct clrie_log_plugin  log;
    /* The plug-in's object and its further interfaces, with a reference of each; NULL: it lacks it. */
    IInstrumentationMethod                *im;
    IInstrumentationMethodJitEvents       *jit;
    IInstrumentationMethodJitEvents2      *jit2;
    IInstrumentationMethodExceptionEvents *exceptions;
    IInstrumentationMethodAttach          *attach;
    struct clrie_plugin                   *next_removed;
};

/** The plug-ins at one moment, in the order of priority. */
struct clrie_plugins {
    struct clrie_plugin *at[CLRIE_MAX_PLUGINS];
    unsigned             n;
};

/** Callers into whose code a method was inlined. */
struct clrie_inlined;

/** The method that is being compiled. (work.c) */
struct clrie_work;

/** The engine. The runtime's callback object. */
struct clrie_engine {
    CLRIE_OBJECT(1);
    ICorProfilerInfo15     *info; /* the runtime's, as the guest that the engine is; one reference */
    struct clrie_model_host host;
    struct clrie_model     *model;

    pthread_mutex_t      lock;    /* guards what follows; recursive; held while plug-ins are loaded */
    struct clrie_plugins plugins; /* in the order of priority */
    struct clrie_plugin *removed; /* no longer in use; released with the engine */
    unsigned             n_loaded;
    struct clrie_plugin *initializing; /* whose Initialize runs now, or NULL */
    int                  in_initialize;
    int                  attached;
    int                  disabled; /* 1: a plug-in has called DisableProfiling */
    /* The default, and what was added later; without what the Initialize of a plug-in asks for. */
    uint32_t             low, high;
    struct clrie_info   *wrapped;   /* what plug-ins get as ICorProfilerInfo; one reference */
    IUnknown            *hook;      /* of AddRawProfilerHook(); one reference; NULL: none */
    struct clrie_hook_user hook_user; /* arg NULL: nobody uses the hook */

    pthread_mutex_t       compiling; /* recursive: one method at a time */
    struct clrie_work    *work;      /* the method that is being compiled, or NULL; under compiling */
    struct clrie_inlined *inlined;   /* by inlinee; under compiling */
};

/** clrie_plugins - the plug-ins as they are now. Any thread. */
struct clrie_plugins clrie_plugins(struct clrie_engine *engine);

/* ---- plug-ins (plugin.c) ----------------------------------------------------------------------- */

/** clrie_plugin_load - load a plug-in, and call its Initialize.
 *  @settings: NULL, or the context for InitializeForAttach (attach_context).
 *  @out: receives the plug-in, or NULL. Returns S_OK, or a failure that was logged. */
HRESULT clrie_plugin_load(struct clrie_engine *engine, const struct clrie_plugin_declaration *declared,
                          struct clrie_object *settings, struct clrie_plugin **out);

/** clrie_plugin_is_registered - return 1 if a configuration file named a plug-in of this class and it
 *  was loaded, even if it was removed since. */
int clrie_plugin_is_registered(struct clrie_engine *engine, const GUID *clsid);

/** clrie_plugins_load - load the plug-ins of a list, except those whose class is loaded.
 *  @settings: NULL, or a setting_list for the plug-ins of an attached engine. */
void clrie_plugins_load(struct clrie_engine *engine, const struct clrie_plugin_list *list,
                        struct clrie_object *settings);

/** clrie_plugin_remove - take a plug-in out of the list. It gets no further calls, and the runtime is
 *  not asked any more for what it alone has asked for. Its object is released when the engine ends,
 *  because another thread may be calling it. */
void clrie_plugin_remove(struct clrie_engine *engine, struct clrie_plugin *plugin);

/** clrie_plugin_find - the plug-in with this class ID or, with @im, with this object. NULL: none. */
struct clrie_plugin *clrie_plugin_find(struct clrie_engine *engine, const GUID *clsid,
                                       const IInstrumentationMethod *im);

/** clrie_plugin_free - release the plug-in's objects. */
void clrie_plugin_free(struct clrie_plugin *plugin);

/** clrie_manager_new - the IProfilerManager of a plug-in. One reference, or NULL. (manager.c) */
struct clrie_manager *clrie_manager_new(struct clrie_plugin *plugin);

/** clrie_manager_disconnect - the engine is about to end: the manager's calls fail from now on. */
void clrie_manager_disconnect(struct clrie_manager *manager);

/* ---- the profiling interface of plug-ins (info.c) ---------------------------------------------- */

/** clrie_info_new - wrap the engine's ICorProfilerInfo. One reference, or NULL. */
struct clrie_info *clrie_info_new(struct clrie_engine *engine);

/** clrie_info_disconnect - the engine is about to end: slots that need it fail from now on. */
void clrie_info_disconnect(struct clrie_info *info);

/** clrie_info_apply_mask - set the runtime's mask to what all have asked for. */
HRESULT clrie_info_apply_mask(struct clrie_engine *engine);

/* ---- attach (attach.c) ------------------------------------------------------------------------- */

/** clrie_attach_context_new - what InitializeForAttach of a plug-in gets.
 *  @list: a setting_list; a reference is taken. NULL: no settings. One reference, or NULL. */
struct clrie_attach_context *clrie_attach_context_new(struct clrie_object *list);

/* ---- raw profiler hook (hook.c) ---------------------------------------------------------------- */

/** clrie_engine_add_hook - AddRawProfilerHook. E_FAIL: there is one, or Initialize is over. */
HRESULT clrie_engine_add_hook(struct clrie_engine *engine, IUnknown *hook);

/** clrie_engine_hook - the object that a plug-in has given to AddRawProfilerHook().
 *  @callback: a callback object of the engine, or NULL. Returns a reference, or NULL. */
IUnknown *clrie_engine_hook(IUnknown *callback);

/** clrie_engine_use_hook - from now on @user calls the hook. Returns 0 when there is no hook any
 *  more. The functions of @user are called without a lock. */
int clrie_engine_use_hook(IUnknown *callback, const struct clrie_hook_user *user);

/** clrie_engine_drop_hook - forget the hook. @removed: by RemoveRawProfilerHook(). */
void clrie_engine_drop_hook(struct clrie_engine *engine, int removed);

/* ---- compilations (compile.c, inline.c) -------------------------------------------------------- */

/** clrie_compile - let plug-ins change a method before its first compilation. */
HRESULT clrie_compile(struct clrie_engine *engine, FunctionID function);

/** clrie_engine_first_body - the body that plug-ins have changed in the first compilation: a ReJIT
 *  begins with it. *@bytes, *@size: unchanged if they have not changed the method then.
 *  @callback: the engine's callback object. */
void clrie_engine_first_body(IUnknown *callback, ModuleID module, mdMethodDef token,
                             const uint8_t **bytes, uint32_t *size);

/** clrie_recompile - let plug-ins change a method for ReJIT. */
HRESULT clrie_recompile(struct clrie_engine *engine, ModuleID module, mdMethodDef token,
                        ICorProfilerFunctionControl *control);

/** clrie_inlining - ask plug-ins whether @callee may be inlined into @caller, and remember it. */
HRESULT clrie_inlining(struct clrie_engine *engine, FunctionID caller, FunctionID callee,
                       BOOL *should_inline);

/** clrie_request_rejit - request a method for ReJIT, with all methods it was seen inlined into. */
HRESULT clrie_request_rejit(struct clrie_engine *engine, ModuleID module, mdMethodDef token);

/** clrie_inlined_forget - forget what concerns a module that was unloaded. 0: everything. */
void clrie_inlined_forget(struct clrie_engine *engine, ModuleID module);

/* ---- the guest (builtin.c) --------------------------------------------------------------------- */

/** clrie_configured - the plug-ins that the environment names, read at the first call. Borrowed;
 *  constant. */
const struct clrie_plugin_list *clrie_configured(void);

/** clrie_get_class_object - the class factory of the engine, as a profiler library's
 *  DllGetClassObject. Any class ID gives the engine. */
HRESULT clrie_get_class_object(const GUID *clsid, const GUID *iid, void **out);

/** clrie_engine_start - connect to the runtime, set the mask and load plug-ins: Initialize.
 *  @load: loads the plug-ins. */
HRESULT clrie_engine_start(struct clrie_engine *engine, IUnknown *runtime,
                           void (*load)(struct clrie_engine *engine, void *arg), void *arg);

/** clrie_engine_new - an engine for a runtime. One reference, or NULL. (engine.c) */
struct clrie_engine *clrie_engine_new(void);

#endif
