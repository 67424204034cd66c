/* SPDX-License-Identifier: MIT */
/*
 * inline.c - asks plug-ins whether a method may be inlined, and remembers its inliners. When
 * ReJIT of a method is requested, its inliners are compiled again, too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "clrie/engine.h"

enum { N_BUCKETS = 1024 };

struct pair {
    struct pair *next;
    ModuleID     module, caller_module;
    mdMethodDef  method, caller;
};

struct clrie_inlined {
    struct pair *buckets[N_BUCKETS]; /* by inlinee */
};

static struct pair **bucket_of(struct clrie_inlined *inlined, ModuleID module, mdMethodDef method)
{
    return &inlined->buckets[sxs_hash_id((uint64_t)module ^ ((uint64_t)method << 20)) >> 54];
}

/* Under engine->compiling. Without memory the pair is forgotten. */
static void remember(struct clrie_engine *engine, const struct pair *pair)
{
    struct pair **bucket, *fresh;
    if (!engine->inlined)
        engine->inlined = calloc(1, sizeof(*engine->inlined));
    if (!engine->inlined)
        return;
    bucket = bucket_of(engine->inlined, pair->module, pair->method);
    for (const struct pair *at = *bucket; at; at = at->next)
        if (at->module == pair->module && at->method == pair->method &&
            at->caller_module == pair->caller_module && at->caller == pair->caller)
            return;
    fresh = malloc(sizeof(*fresh));
    if (!fresh)
        return;
    *fresh = *pair;
    fresh->next = *bucket;
    *bucket = fresh;
}

void clrie_inlined_forget(struct clrie_engine *engine, ModuleID module)
{
    if (!engine->inlined)
        return;
    for (unsigned i = 0; i < N_BUCKETS; i++)
        for (struct pair **at = &engine->inlined->buckets[i]; *at;) {
            struct pair *pair = *at;
            if (module && pair->module != module && pair->caller_module != module) {
                at = &pair->next;
                continue;
            }
            *at = pair->next;
            free(pair);
        }
    if (!module) {
        free(engine->inlined);
        engine->inlined = NULL;
    }
}

/* Asks in the order of priority until one says no. */
static BOOL ask_all(const struct clrie_plugins *list, struct clrie_method *callee,
                    struct clrie_method *caller, HRESULT *hr)
{
    BOOL allowed = 1;
    for (unsigned i = 0; i < list->n && allowed; i++) {
        IInstrumentationMethod *im = list->at[i]->im;
        *hr = im->vtbl->AllowInlineSite(im, clrie_method_face(callee), clrie_method_face(caller),
                                        &allowed);
    }
    return allowed;
}

HRESULT clrie_inlining(struct clrie_engine *engine, FunctionID caller, FunctionID callee,
                       BOOL *should_inline)
{
    struct clrie_plugins list = clrie_plugins(engine);
    struct clrie_method *of_callee = NULL, *of_caller = NULL;
    HRESULT              hr = S_OK;
    if (!list.n)
        return S_OK;
    pthread_mutex_lock(&engine->compiling);
    if (SUCCEEDED(clrie_method_new(engine->model, CLRIE_METHOD_ALONE, 0, 0, callee, &of_callee)) &&
        SUCCEEDED(clrie_method_new(engine->model, CLRIE_METHOD_ALONE, 0, 0, caller, &of_caller))) {
        BOOL allowed;
        clrie_method_open(of_callee);
        clrie_method_open(of_caller);
        allowed = ask_all(&list, of_callee, of_caller, &hr);
        *should_inline = allowed && SUCCEEDED(hr);
        if (*should_inline)
            remember(engine, &(struct pair){.module = clrie_module_id(clrie_method_module(of_callee)),
                                            .method = clrie_method_token(of_callee),
                                            .caller_module =
                                                clrie_module_id(clrie_method_module(of_caller)),
                                            .caller = clrie_method_token(of_caller)});
        clrie_method_close(of_callee);
        clrie_method_close(of_caller);
    } else { /* a module that is not known, such as that of a dynamic method */
        *should_inline = 1;
        clrie_unref((struct clrie_object *)of_callee); /* of_caller was not made */
    }
    pthread_mutex_unlock(&engine->compiling);
    return hr;
}

HRESULT clrie_request_rejit(struct clrie_engine *engine, ModuleID module, mdMethodDef token)
{
    ICorProfilerInfo15 *info = engine->info;
    ModuleID           *modules = NULL;
    mdMethodDef        *methods = NULL;
    ULONG               n = 1;
    HRESULT             hr = E_OUTOFMEMORY;
    pthread_mutex_lock(&engine->compiling);
    for (const struct pair *at =
             engine->inlined ? *bucket_of(engine->inlined, module, token) : NULL;
         at; at = at->next)
        n += at->module == module && at->method == token;
    modules = calloc(n, sizeof(*modules));
    methods = calloc(n, sizeof(*methods));
    if (modules && methods) {
        modules[0] = module;
        methods[0] = token;
        n = 1;
        for (const struct pair *at =
                 engine->inlined ? *bucket_of(engine->inlined, module, token) : NULL;
             at; at = at->next)
            if (at->module == module && at->method == token) {
                modules[n] = at->caller_module;
                methods[n++] = at->caller;
            }
    }
    pthread_mutex_unlock(&engine->compiling);
    if (modules && methods)
        hr = info->vtbl->RequestReJIT(info, n, modules, methods);
    free(modules);
    free(methods);
    return hr;
}
