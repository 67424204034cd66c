/* SPDX-License-Identifier: MIT */
#include "rejit/methods/requests.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "manager/module_info.h"
#include "rejit/methods/match.h"
#include "rejit/methods/precompiled.h"
#include "rejit/rejit.h"
#include "session/write/instrument_write.h"

#define AT_ONCE   256u /* methods in one request: a runtime is suspended while it handles one */
#define N_WORKERS 16u  /* further runtimes are asked one after the other */
#define WAIT_MS   20u
#define WAITS     500u /* compilations that take longer (10 s) count as left by an exception */

/* Methods in the form that the runtime's functions take: two arrays of the same length. */
struct batch {
    ModuleID    *modules;
    mdMethodDef *tokens;
    size_t       n, cap;
};

struct method_request {
    struct sxs_runtime *rt;
    struct sxs_sub     *sub;
    struct sxs_plan    *plan;
    sxs_module          module; /* the module that is searched now */
    struct batch        fresh;  /* to instrument, not loaded by the runtime, so inlined nowhere */
    struct batch        known;  /* to instrument, loaded */
    struct batch        gone;   /* to revert */
    int                 failed; /* nonzero: no memory for some of the methods found in the module */
};

static int add_method(struct batch *b, ModuleID module, mdToken token)
{
    if (b->n == b->cap) {
        size_t       cap = b->cap ? 2 * b->cap : 64;
        ModuleID    *modules = reallocarray(b->modules, cap, sizeof(*modules));
        mdMethodDef *tokens;
        if (modules)
            b->modules = modules;
        tokens = modules ? reallocarray(b->tokens, cap, sizeof(*tokens)) : NULL;
        if (!tokens)
            return -1;
        b->tokens = tokens;
        b->cap = cap;
    }
    b->modules[b->n] = module;
    b->tokens[b->n++] = token;
    return 0;
}

static void clear_batch(struct batch *b)
{
    free(b->modules);
    free(b->tokens);
}

/* Whether the runtime has loaded the method. RequestReJITWithInliners must not be called for other
 * methods: the runtime dereferences a null pointer (8, 9, 10). */
static int is_loaded(sxs_module module, mdToken token)
{
    sxs_function fn = {0};
    HRESULT      hr = sxs_info_GetFunctionFromToken(module.rt, module, token, &fn);
    return hr != E_INVALIDARG && hr != CORPROF_E_DATAINCOMPLETE;
}

/*
 * Whether the method is one of System.Private.CoreLib that must stay as it is, by the beginning of
 * its name:
 * - Cast helpers: compiled code calls them by addresses that it has from the start. A second
 *   version of a cast helper breaks casts (8).
 * - The methods that compiled code calls to let a collection begin (9, 10), and their callees. The
 *   compiler puts such a poll after each callout, because callouts make no transition. With
 *   callouts in them these methods would call themselves until the stack overflows.
 */
static int is_compilers_own(const char *assembly, const char *name)
{
    static const char *const own[] = {
        "System.Runtime.CompilerServices.CastHelpers.",
        "System.Threading.Thread.PollGC",
        "System.Threading.Thread.<PollGC>",
        "System.Threading.Thread.CatchAtSafePoint",
        "System.Threading.Thread.get_DirectOnThreadLocalData",
    };
    if (strcmp(assembly, "System.Private.CoreLib") != 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (strncmp(name, own[i], strlen(own[i])) == 0)
            return 1;
    return 0;
}

/* Whether methods of @module can get new IL only when they are compiled for the first time: in
 * collectible assemblies, and in all modules of a runtime that has no ICorProfilerInfo4. */
static int keeps_il(sxs_module module)
{
    return !sxs_runtime_has(module.rt, SXS_INFO_REJIT) || sxs_module_is_collectible(module) == 1;
}

static const char *why_it_stays(const struct sxs_runtime *rt)
{
    return !sxs_runtime_has(rt, SXS_INFO_REJIT)
               ? "this runtime compiles no method anew: it stays as it was first compiled"
               : "its assembly is collectible: it stays as it was first compiled";
}

/* The struct sxs_match_to function for a method that rules apply to. */
static void on_method_found(void *context, mdToken token, const char *assembly, const char *name,
                            const struct sxs_rule *const *rules, size_t n)
{
    struct method_request      *r = context;
    struct sxs_instrumented_key key = {r->module, token};
    int changed = sxs_instrumented_want(key, assembly, name, r->plan, rules, n);
    r->failed |= changed < 0;
    if (changed != 1)
        return;
    sxs_precompiled_leave(r->module);
    if (is_compilers_own(assembly, name))
        sxs_instrumented_set_state(key, SXS_INSTRUMENTED_FAILED, 0,
                                   "compiled code relies on it as it is");
    else if (keeps_il(r->module)) {
        if (sxs_instrumented_set_once(key) == SXS_ONCE_DONE)
            sxs_instrumented_set_state(key, SXS_INSTRUMENTED_FAILED, 0, why_it_stays(r->rt));
    } else if (add_method(is_loaded(r->module, token) ? &r->known : &r->fresh, r->module.id, token))
        sxs_instrumented_set_state(key, SXS_INSTRUMENTED_FAILED, E_OUTOFMEMORY, "no memory");
}

/* A method that cannot be read keeps its rules, because the new rules may apply to it, too. */
static void on_method_unread(void *context, mdToken token)
{
    const struct method_request *r = context;
    sxs_instrumented_keep((struct sxs_instrumented_key){r->module, token}, r->plan->generation);
}

/* ---- asking ----------------------------------------------------------------------------------- */

/* Sets the state of @n methods of @b, from index @at on, to failed. */
static void record_failure(const struct method_request *r, const struct batch *b, size_t at,
                           size_t n, HRESULT hr, const char *what)
{
    char text[128];
    snprintf(text, sizeof(text), "the runtime refused %s (0x%08x)", what, (unsigned)hr);
    for (size_t i = at; i < at + n; i++)
        sxs_instrumented_set_state(
            (struct sxs_instrumented_key){{r->rt, b->modules[i]}, b->tokens[i]},
            SXS_INSTRUMENTED_FAILED, hr, text);
}

static void request_rejit(const struct method_request *r, const struct batch *b, int with_inliners)
{
    for (size_t at = 0, n; at < b->n; at += n) {
        struct sxs_rejit_how how = {with_inliners, COR_PRF_REJIT_BLOCK_INLINING};
        uint64_t             since = sxs_instrument_begin(SXS_SPENT_REJIT);
        HRESULT              hr;
        n = b->n - at < AT_ONCE ? b->n - at : AT_ONCE;
        hr = sxs_rejit_request(r->sub, &how, (ULONG)n, b->modules + at, b->tokens + at);
        if (FAILED(hr) && with_inliners) { /* this runtime may have no RequestReJITWithInliners */
            how.with_inliners = 0;
            hr = sxs_rejit_request(r->sub, &how, (ULONG)n, b->modules + at, b->tokens + at);
        }
        sxs_instrument_took(SXS_SPENT_REJIT, since);
        if (FAILED(hr) && !sxs_sub_is_silent(r->sub)) /* else the session ends, and its mask was taken back */
            record_failure(r, b, at, n, hr, "the request");
    }
}

static void request_revert(const struct method_request *r, const struct batch *b)
{
    for (size_t at = 0, n; at < b->n; at += n) {
        HRESULT  status[AT_ONCE] = {0};
        HRESULT  hr;
        uint64_t since = sxs_instrument_begin(SXS_SPENT_REVERT);
        n = b->n - at < AT_ONCE ? b->n - at : AT_ONCE;
        hr = sxs_rejit_revert(r->sub, (ULONG)n, b->modules + at, b->tokens + at, status);
        sxs_instrument_took(SXS_SPENT_REVERT, since);
        for (size_t i = at; i < at + n; i++) {
            struct sxs_instrumented_key key = {{r->rt, b->modules[i]}, b->tokens[i]};
            HRESULT             one = FAILED(hr) ? hr : status[i - at];
            if (FAILED(one))
                record_failure(r, b, i, 1, one, "to revert");
            else
                sxs_instrumented_set_state(key, SXS_INSTRUMENTED_REVERTED, 0, "");
        }
    }
}

/* Puts the methods of @module that the plan does not want into r->gone. */
static void take_outdated(struct method_request *r, sxs_module module)
{
    struct sxs_instrumented_key keys[AT_ONCE];
    size_t              n;
    do {
        n = sxs_instrumented_drop_outdated(module, r->plan->generation, keys, AT_ONCE);
        for (size_t i = 0; i < n; i++)
            if (keeps_il(keys[i].module)) {
                int done = sxs_instrumented_set_once(keys[i]) == SXS_ONCE_DONE;
                sxs_instrumented_set_state(
                    keys[i], done ? SXS_INSTRUMENTED_FAILED : SXS_INSTRUMENTED_REVERTED, 0,
                    done ? why_it_stays(r->rt) : "");
            } else if (add_method(&r->gone, keys[i].module.id, keys[i].token))
                sxs_instrumented_set_state(keys[i], SXS_INSTRUMENTED_FAILED, E_OUTOFMEMORY,
                                           "no memory");
    } while (n == AT_ONCE);
}

/* Waits for running compilations. Prepares room in the session file meanwhile, because that is
 * otherwise done by this same thread. */
static void wait_for_compiles(struct sxs_compiles *compiles)
{
    for (unsigned n = 0; sxs_compiles_hold(compiles, WAIT_MS, n == WAITS); n++)
        sxs_instrument_keep();
}

static void rejit_all(const struct method_request *r, struct sxs_compiles *compiles)
{
    if (!r->fresh.n && !r->known.n)
        return;
    if (compiles)
        wait_for_compiles(compiles);
    request_rejit(r, &r->fresh, 0);
    request_rejit(r, &r->known, 1);
    if (compiles)
        sxs_compiles_release(compiles);
}

void sxs_requests_apply(const struct sxs_requests *all)
{
    const struct sxs_reading *reading = all->reading.start ? &all->reading : NULL;
    struct method_request     r = {.rt = all->rt, .sub = all->sub, .plan = all->plan};
    const struct sxs_match_to to = {on_method_found, on_method_unread, &r};
    for (size_t i = 0; i < all->n; i++) {
        uint64_t since;
        r.module = (sxs_module){all->rt, all->modules[i]};
        if (reading && !reading->start(reading->context, all->modules[i]))
            continue;
        since = sxs_instrument_begin(SXS_SPENT_MATCH);
        r.failed = 0;
        if (sxs_match_module(r.module, all->plan->config, &to) == 0 && !r.failed)
            take_outdated(&r, r.module);
        sxs_instrument_took(SXS_SPENT_MATCH, since);
        if (reading)
            reading->stop(reading->context);
    }
    request_revert(&r, &r.gone);
    rejit_all(&r, all->compiles);
    clear_batch(&r.fresh);
    clear_batch(&r.known);
    clear_batch(&r.gone);
}

void sxs_requests_revert(struct sxs_runtime *rt, struct sxs_sub *sub, const ModuleID *modules,
                         size_t n)
{
    struct sxs_plan none = {.generation = UINT32_MAX}; /* newer than all, and wants no method */
    struct method_request r = {.rt = rt, .sub = sub, .plan = &none};
    for (size_t i = 0; i < n; i++)
        take_outdated(&r, (sxs_module){rt, modules[i]});
    request_revert(&r, &r.gone);
    clear_batch(&r.gone);
}

/* ---- several runtimes ------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t     lock;
    pthread_cond_t      changed;
    struct sxs_runtime *of[N_WORKERS];   /* the runtime that each worker thread serves */
    struct sxs_requests todo[N_WORKERS]; /* work of each; rt NULL: none */
    /* Threads: started; that have taken their index; with work that is not done. */
    unsigned n, taken, busy;
    int      ending; /* 1: the threads shall end */
} workers = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
SXS_FORK_RESETS(workers.lock);
SXS_SESSION_KEEPS(workers); /* sxs_requests_end() empties it */

static void serve_requests(void)
{
    unsigned own;
    pthread_mutex_lock(&workers.lock);
    own = workers.taken++;
    while (!workers.ending) {
        struct sxs_requests todo = workers.todo[own];
        if (!todo.rt) {
            pthread_cond_wait(&workers.changed, &workers.lock);
            continue;
        }
        pthread_mutex_unlock(&workers.lock);
        sxs_requests_apply(&todo);
        pthread_mutex_lock(&workers.lock);
        workers.todo[own].rt = NULL;
        workers.busy--;
        pthread_cond_broadcast(&workers.changed);
    }
    workers.n--;
    pthread_cond_broadcast(&workers.changed);
    pthread_mutex_unlock(&workers.lock);
}

void sxs_requests_end(void)
{
    pthread_mutex_lock(&workers.lock);
    workers.ending = 1;
    pthread_cond_broadcast(&workers.changed);
    while (workers.n)
        pthread_cond_wait(&workers.changed, &workers.lock);
    workers.taken = 0;
    workers.ending = 0;
    pthread_mutex_unlock(&workers.lock);
}

/* Gives @r to the worker thread of its runtime, which is started if need be. Returns 0, or -1 when
 * there is no such thread. */
static int give_locked(const struct sxs_requests *r)
{
    static const struct sxs_thread thread = {"sxsprof request", serve_requests};
    unsigned                       i = 0;
    while (i < workers.n && workers.of[i] != r->rt)
        i++;
    if (i == N_WORKERS || (i == workers.n && sxs_thread_start(&thread)))
        return -1;
    if (i == workers.n)
        workers.of[workers.n++] = r->rt;
    workers.todo[i] = *r;
    workers.busy++;
    return 0;
}

void sxs_requests_apply_all(struct sxs_requests *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int err;
        pthread_mutex_lock(&workers.lock);
        err = i + 1 < n ? give_locked(&all[i]) : -1; /* the last one: on this thread */
        pthread_cond_broadcast(&workers.changed);
        pthread_mutex_unlock(&workers.lock);
        if (err)
            sxs_requests_apply(&all[i]);
    }
    pthread_mutex_lock(&workers.lock);
    while (workers.busy)
        pthread_cond_wait(&workers.changed, &workers.lock);
    pthread_mutex_unlock(&workers.lock);
}
