/* SPDX-License-Identifier: MIT */
/* instrument.c - starts and stops the tool "instrument": it holds the configuration in force and the
 * service thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "instr/weave/assembly_copy.h"
#include "instr/weave/callouts.h"
#include "instr/weave/refused.h"
#include "instr/weave/token_cache.h"
#include "manager/sessions.h"
#include "rejit/methods/classes.h"
#include "rejit/methods/precompiled.h"
#include "rejit/methods/requests.h"
#include "rejit/methods/rule_statistics.h"
#include "rejit/rejit.h"
#include "session/write/instrument_write.h"
#include "session/write/session_write.h"
#include "session/write/traced_write.h"
#include "tools/instrument/code_rules.h"
#include "tools/instrument/modules.h"
#include "tools/instrument/on_runtime.h"
#include "tools/instrument/rewrite.h"
#include "tools/instrument/watch.h"
#include "tools/options/instrument_options.h"

#define KEEP_MS 20    /* pause of the service thread */
#define AGE_MS  1000u /* copies of assemblies that were not used for this time are freed */
#define AT_ONCE 16    /* runtimes that are asked at the same time */

static struct {
    pthread_mutex_t    lock;         /* guards the struct; no runtime is called while it is held */
    int                started;      /* 1: started, -1: not, or failed; 0: not tried yet */
    char              *path;         /* of the rules, absolute; owned */
    int                is_requested; /* 1: `path` is of the options, not of the environment */
    struct sxs_plan   *plan;         /* the configuration in force; a reference */
    struct sxs_worker  service;
    _Atomic int        forked;       /* 1: this is a forked child */
} instrument = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(instrument.lock);
SXS_SESSION_RESETS(instrument);

/* ---- configurations --------------------------------------------------------------------------- */

static void say_problems(const struct sxs_config *config)
{
    char text[1024];
    for (uint32_t i = 0; i < config->n_problems; i++) {
        sxs_config_put_problem(&config->problems[i], text, sizeof(text));
        sxs_error("tool instrument: %s", text);
    }
}

/* Returns 1, and logs a line, if the rules run code and this session may not load any, or other users could
 * have written it. Rules that the environment names may run code. */
static int refuse_code(const struct sxs_config *config)
{
    char why[SXS_TOOL_WHY];
    if (sxs_rules_lie_open(config, why, sizeof(why))) {
        sxs_error("tool instrument: rules that load code are refused: %s", why);
        return 1;
    }
    if (!instrument.is_requested || sxs_session_may_load_code() ||
        !sxs_rules_have_code(config, why, sizeof(why)))
        return 0;
    sxs_error("tool instrument: %s: refused; expected SXSPROF_CONTROL=code for that, as the session "
              "was begun over the control socket",
              why);
    return 1;
}

/* Takes @config over and makes it the configuration that modules are matched against. Returns a
 * reference to its plan, or NULL: no memory, and the old one stays. */
static struct sxs_plan *put_in_force(struct sxs_config *config)
{
    struct sxs_plan *old, *plan;
    uint32_t         generation;
    pthread_mutex_lock(&instrument.lock);
    old = instrument.plan;
    generation = old ? old->generation + 1 : 1;
    plan = sxs_plan_new(config, generation);
    if (plan) {
        instrument.plan = plan;
        sxs_plan_ref(plan);
    }
    pthread_mutex_unlock(&instrument.lock);
    if (plan)
        sxs_plan_unref(old);
    return plan;
}

/* Makes a request for all modules of a runtime. The caller frees its `modules`. */
static struct sxs_requests requests_of(struct on_runtime *on, struct sxs_plan *plan)
{
    struct sxs_requests all = {
        .rt = on->rt, .sub = on->sub, .plan = plan, .compiles = &on->compiles};
    all.modules = sxs_modules_copy(on, &all.n);
    all.reading = sxs_modules_reading(on);
    return all;
}

static void apply_everywhere(struct sxs_plan *plan)
{
    struct sxs_requests all[AT_ONCE];
    struct on_runtime  *on = sxs_modules_runtimes();
    while (on) {
        size_t n = 0;
        for (; on && n < ARRAY_LEN(all); on = on->next)
            all[n++] = requests_of(on, plan);
        sxs_requests_apply_all(all, n);
        while (n > 0)
            free(all[--n].modules);
    }
}

static void reload_config(void)
{
    uint64_t           since;
    struct sxs_config *config;
    struct sxs_plan   *plan;
    if (sxs_watch_is_folder_now(instrument.path)) {
        sxs_error("tool instrument: %s is a folder now, and was a file: rules stay as they are",
                  instrument.path);
        return;
    }
    since = sxs_instrument_begin(SXS_SPENT_LOAD);
    config = sxs_config_load(instrument.path, instrument.plan->config);
    sxs_instrument_took(SXS_SPENT_LOAD, since);
    if (!config)
        return;
    if (refuse_code(config)) {
        sxs_config_free(config);
        return;
    }
    say_problems(config);
    sxs_classes_follow(config);
    plan = put_in_force(config);
    if (!plan)
        return;
    sxs_rule_stats_config(plan->config);
    apply_everywhere(plan);
    sxs_rule_stats_record();
    sxs_plan_unref(plan);
    sxs_instrument_changed();
}

static void serve_attached(void)
{
    struct sxs_requests all;
    for (struct on_runtime *on = sxs_modules_runtimes(); on; on = on->next) {
        if (!atomic_exchange(&on->find, 0))
            continue;
        sxs_modules_find(on);
        all = requests_of(on, instrument.plan); /* no lock: only this thread replaces the plan */
        sxs_requests_apply(&all);
        free(all.modules);
    }
}

/* ---- the service thread ----------------------------------------------------------------------- */

static void age_copies(void)
{
    static uint64_t last; /* used by the service thread only */
    SXS_SESSION_KEEPS(last);
    uint64_t        now = sxs_now_ns(CLOCK_MONOTONIC_COARSE);
    if (now - last < AGE_MS * UINT64_C(1000000))
        return;
    last = now;
    sxs_assembly_copies_age();
}

static void serve_tool(void)
{
    while (!atomic_load(&instrument.forked) && !sxs_worker_is_asked(&instrument.service)) {
        sxs_instrument_keep();
        sxs_traced_keep();
        serve_attached();
        age_copies();
        sxs_refused_look(0);
        if (sxs_watch_wait(KEEP_MS) && !atomic_load(&instrument.forked))
            reload_config();
    }
}

static const struct sxs_thread service = {"sxsprof instr", serve_tool};

static void child_goes_on(void)
{
    atomic_store(&instrument.forked, 1);
    sxs_modules_forget();
    sxs_instrument_end(1);
    sxs_traced_forget();
    sxs_callouts_forget();
    sxs_refused_forget();
    sxs_assembly_copies_forget();
}

/* Held while a session ends, which closes the file. */
static pthread_mutex_t closing = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(closing);
SXS_SESSION_KEEPS(closing);

__attribute__((destructor)) static void ended(void)
{
    if (pthread_mutex_trylock(&closing) != 0)
        return;
    if (instrument.started == 1 && !atomic_load(&instrument.forked)) {
        sxs_refused_look(1);
        sxs_traced_complete();
        sxs_instrument_end(0);
    }
    pthread_mutex_unlock(&closing);
}

/* ---- start ------------------------------------------------------------------------------------ */

static int open_file(const struct sxs_instrument_options *o)
{
    const struct sxs_folder *folder = sxs_session_folder(NULL);
    int                      err = sxs_instrument_create(folder);
    if (!err)
        err = sxs_traced_create(folder, o->traced_mb, o->traced_rate);
    if (err)
        sxs_error("tool instrument: the file cannot be made: %s: nothing is counted",
                  strerror(err));
    return 0;
}

/* Returns an absolute copy of @path, which stays valid when the program changes its environment or
 * its working folder. Symbolic links are not resolved, because they may be changed to another file.
 * NULL: no memory. */
static char *absolute_path(const char *path)
{
    char *folder = *path == '/' ? NULL : get_current_dir_name(), *whole = NULL;
    if (!folder)
        return strdup(path);
    if (asprintf(&whole, "%s/%s", folder, path) < 0)
        whole = NULL;
    free(folder);
    return whole;
}

static int start_all(const struct sxs_instrument_options *o)
{
    static struct sxs_fork_part part = {.child = child_goes_on};
    SXS_SESSION_KEEPS(part);

    struct sxs_config *config;
    const char        *path = sxs_env_get(SXS_ENV_INSTRUMENT);
    int                err;
    if (!path && !o->config)
        return -1;
    instrument.path = o->config ? strndup(o->config, o->config_len) : absolute_path(path);
    if (!instrument.path)
        return -1;
    instrument.is_requested = o->config != NULL;
    sxs_config_open_files_by(sxs_proc_call);
    sxs_watch(instrument.path); /* before loading, so that no change is missed */
    config = sxs_config_load(instrument.path, NULL);
    if (config && refuse_code(config)) {
        sxs_config_free(config);
        config = NULL;
    }
    if (config) {
        say_problems(config);
        sxs_classes_follow(config);
        instrument.plan = sxs_plan_new(config, 1);
    }
    if (!instrument.plan)
        return -1;
    open_file(o);
    sxs_callouts_begin_session();
    sxs_rule_stats_config(instrument.plan->config);
    sxs_rule_stats_record();
    err = sxs_worker_start(&instrument.service, &service);
    if (err) {
        sxs_error("tool instrument cannot start: %s", strerror(err));
        return -1;
    }
    sxs_fork_register(&part);
    return 1;
}

/* Reads the rules once more than start_tool(): a session that must not load code does not begin. */
static int loads_code(const char *options, char *why, size_t size)
{
    struct sxs_instrument_options o;
    struct sxs_config            *config;
    char                         *path;
    int                           result;
    if (sxs_instrument_options_parse(options, &o, why, size) != 0 || !o.config)
        return 0;
    path = strndup(o.config, o.config_len);
    if (!path)
        return 0;
    sxs_config_open_files_by(sxs_proc_call);
    config = sxs_config_load(path, NULL);
    result = config && sxs_rules_have_code(config, why, size);
    sxs_config_free(config);
    free(path);
    return result;
}

static int has_setting(void)
{
    const char *path = sxs_env_get(SXS_ENV_INSTRUMENT);
    return path && *path;
}

static HRESULT start_tool(struct sxs_sub *sub, const char *options)
{
    struct sxs_instrument_options o;
    struct on_runtime            *on;
    char                          why[SXS_TOOL_WHY];
    if (sxs_instrument_options_parse(options, &o, why, sizeof(why)))
        sxs_error("tool instrument: %s", why);
    pthread_mutex_lock(&instrument.lock);
    if (!instrument.started)
        instrument.started = start_all(&o);
    pthread_mutex_unlock(&instrument.lock);
    if (instrument.started != 1)
        return S_OK;
    on = calloc(1, sizeof(*on));
    if (!on)
        return E_OUTOFMEMORY;
    on->rt = sxs_runtime_ref(sub->rt);
    on->sub = sub;
    sxs_compiles_init(&on->compiles, sxs_runtime_facts(sub->rt)->has_rejit_race);
    sub->state = on;
    sxs_modules_add_runtime(on);
    sub->low = COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_MONITOR_MODULE_LOADS |
               COR_PRF_MONITOR_CLASS_LOADS;
    if (sxs_runtime_has(sub->rt, SXS_INFO_REJIT))
        sub->low |= COR_PRF_ENABLE_REJIT;
    else
        sxs_warn("tool instrument: runtime %u (%s) has no ReJIT: rules apply at "
                 "first compile",
                 sxs_runtime_number(sub->rt), sxs_runtime_version(sub->rt));
    if (!sxs_runtime_is_attached(sub->rt)) /* on attach the runtime would refuse the whole mask */
        sub->low |= COR_PRF_MONITOR_CACHE_SEARCHES;
    if (!o.precompiled && sxs_runtime_is_late(sub->rt))
        sxs_warn("tool instrument: runtime %u runs already: it goes on using precompiled code",
                 sxs_runtime_number(sub->rt));
    else if (!o.precompiled) /* the runtime does not report what precompiled code has inlined */
        sub->low |= COR_PRF_DISABLE_ALL_NGEN_IMAGES;
    return S_OK;
}

/* The session ends and the runtime goes on: its methods get their original IL again. The service thread
 * is ended before, so that it requests no methods meanwhile. */
static void revert_all(struct sxs_sub *sub)
{
    struct on_runtime *on = sub->state;
    ModuleID          *modules;
    size_t             n;
    sxs_worker_end(&instrument.service);
    modules = sxs_modules_copy(on, &n);
    sxs_rejit_permit(sub->rt, 1);
    sxs_requests_revert(sub->rt, sub, modules, n);
    sxs_rejit_permit(sub->rt, 0);
    free(modules);
    sxs_classes_leave(sub->rt);
}

static void stop_tool(struct sxs_sub *sub, int how)
{
    struct on_runtime *on = sub->state;
    if (!on)
        return;
    if (how == SXS_STOP_SESSION)
        revert_all(sub);
    sxs_modules_end(on);
    sxs_instrumented_set_unloaded((sxs_module){sub->rt, 0});
    sxs_classes_close(sub->rt, 1);
    sxs_tokens_forget((sxs_module){sub->rt, 0});
    sxs_precompiled_forget((sxs_module){sub->rt, 0});
}

/* The struct on_runtime is freed with the session: the service thread may use it until then. */
static void release_runtime(struct sxs_sub *sub)
{
    if (sub->state && sxs_runtime_is_live(sub->rt))
        sxs_rejit_forget(sub);
}

/* Waits until no thread is inside of a callout that has read a counter's address before
 * sxs_callouts_end_session(). Callouts run in cooperative mode, so a runtime that was suspended has no
 * thread in one. Returns 1, or 0 when a runtime could not be suspended. */
static int drain_callouts(void)
{
    int drained = 1;
    for (struct on_runtime *on = sxs_modules_runtimes(); on; on = on->next) {
        if (sxs_runtime_suspend(on->rt) == S_OK)
            sxs_runtime_resume(on->rt);
        else
            drained = 0;
    }
    return drained;
}

static void end_locked(void)
{
    int drained;
    sxs_worker_end(&instrument.service);
    sxs_requests_end();
    sxs_refused_look(1);
    sxs_callouts_end_session();
    drained = drain_callouts();
    sxs_traced_close();
    sxs_instrument_close(drained);
    sxs_rule_stats_end();
    sxs_classes_end();
    sxs_assembly_copies_age();
    sxs_assembly_copies_age(); /* those that were in use by the last compilations */
    sxs_plan_unref(instrument.plan);
    sxs_modules_free();
    free(instrument.path);
    instrument.started = 0; /* for the destructor */
}

static void end_session(void)
{
    pthread_mutex_lock(&closing);
    if (instrument.started == 1)
        end_locked();
    pthread_mutex_unlock(&closing);
}

/* ---- events ----------------------------------------------------------------------------------- */

static int is_in_force(const struct sxs_plan *plan)
{
    int is;
    pthread_mutex_lock(&instrument.lock);
    is = plan == instrument.plan;
    pthread_mutex_unlock(&instrument.lock);
    return is;
}

static struct sxs_plan *in_force(void)
{
    struct sxs_plan *plan;
    pthread_mutex_lock(&instrument.lock);
    plan = sxs_plan_ref(instrument.plan);
    pthread_mutex_unlock(&instrument.lock);
    return plan;
}

/* ModuleLoadFinished. Requests are made here, before any code of the module has run, so that the
 * first call of a method already runs its new IL. */
static HRESULT module_loaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    struct sxs_plan *plan;
    int              again;
    if (FAILED(status) || !sub->state)
        return S_OK;
    sxs_modules_note(sub->state, module.id);
    plan = in_force(); /* one that comes into force later is applied to the module, too */
    /* Repeat when another configuration has come into force meanwhile: reload_config() may have
     * matched the module while its loading was not finished. */
    do {
        sxs_requests_apply(
            &(struct sxs_requests){
                .rt = sub->rt, .sub = sub, .modules = &module.id, .n = 1, .plan = plan});
        again = !is_in_force(plan);
        sxs_plan_unref(plan);
        plan = again ? in_force() : NULL;
    } while (again);
    return S_OK;
}

static HRESULT attach_complete(struct sxs_sub *sub)
{
    struct on_runtime *on = sub->state;
    if (on)
        atomic_store(&on->find, 1); /* the service thread finds its modules */
    return S_OK;
}

static HRESULT module_unloading(struct sxs_sub *sub, sxs_module module)
{
    struct on_runtime *on = sub->state;
    if (!on)
        return S_OK;
    sxs_modules_unloading(on, module.id);
    sxs_instrumented_set_unloaded(module);
    sxs_tokens_forget(module);
    sxs_precompiled_forget(module);
    sxs_classes_close(sub->rt, 0);
    return S_OK;
}

static HRESULT class_loaded(struct sxs_sub *sub, sxs_class cls, HRESULT status)
{
    if (SUCCEEDED(status) && sub->state)
        sxs_classes_loaded(cls);
    return S_OK;
}

static HRESULT class_unloading(struct sxs_sub *sub, sxs_class cls)
{
    if (sub->state)
        sxs_classes_unloading(cls);
    return S_OK;
}

static const struct sxs_events events = {
    .ProfilerAttachComplete = attach_complete,
    .ModuleLoadFinished = module_loaded,
    .ModuleUnloadStarted = module_unloading,
    .ClassLoadFinished = class_loaded,
    .ClassUnloadStarted = class_unloading,
    .JITCachedFunctionSearchStarted = sxs_on_searching,
    .JITCompilationStarted = sxs_on_compiling,
    .JITCompilationFinished = sxs_on_compiled,
    .DynamicMethodJITCompilationStarted = sxs_on_compiling_dynamic,
    .DynamicMethodJITCompilationFinished = sxs_on_compiled_dynamic,
    .GetReJITParameters = sxs_on_parameters,
    .ReJITCompilationStarted = sxs_on_recompiling,
    .ReJITCompilationFinished = sxs_on_recompiled,
    .ReJITError = sxs_on_rejit_error,
    .JITInlining = sxs_on_inlining,
};

const struct sxs_tool sxs_instrument_tool = {
    .name = "instrument", .is_wanted = has_setting, .on = &events, .start = start_tool, .stop = stop_tool,
    .release = release_runtime,
    .end_session = end_session, .loads_code = loads_code, .restarts = 1};
