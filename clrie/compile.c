/* SPDX-License-Identifier: MIT */
/*
 * compile.c - lets plug-ins change the IL of a method, before its first compilation and for ReJIT.
 *
 * All plug-ins change one graph, in the order of priority. The checker reads it at the end. When a
 * plug-in fails, or the checker refuses the graph, the method's object is reset and the other
 * plug-ins are called again without the one at fault, which is found by a check after each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "clrie/engine.h"

/* One compilation. */
struct compilation {
    struct clrie_engine *engine;
    struct clrie_method *method;
    IMethodInfo         *face; /* of the method */
    BOOL                 is_rejit;
    struct clrie_plugins all;                       /* in the order of priority */
    char                 wants[CLRIE_MAX_PLUGINS]; /* 1: the plug-in wants to change the method */
    struct clrie_written written;
};

static int ask_all(struct compilation *c)
{
    int any = 0;
    for (unsigned i = 0; i < c->all.n; i++) {
        IInstrumentationMethod *im = c->all.at[i]->im;
        BOOL                    wants = 0;
        im->vtbl->ShouldInstrumentMethod(im, c->face, c->is_rejit, &wants); /* its result counts for nothing */
        c->wants[i] = wants != 0;
        any |= c->wants[i];
    }
    return any;
}

/* Logs that plug-in number @i does not change this method, and leaves it out. */
static void leave_out(struct compilation *c, unsigned i, const char *why)
{
    char name[256];
    c->wants[i] = 0;
    clrie_method_name(c->method, name, sizeof(name));
    sxs_error("instrumentation method %s: %s stays without its changes: %s", c->all.at[i]->name, name,
              why);
    clrie_log_print(CLRIE_LOG_ERRORS, "%s: %s stays without its changes: %s", c->all.at[i]->name, name,
                    why);
}

/* Calls a slot of every plug-in that wants the method. Returns the index of the first that fails, or
 * @c->all.n. */
static unsigned before(struct compilation *c)
{
    struct clrie_graph_method *graph_method = clrie_method_graph_method(c->method);
    unsigned                   i = 0;
    graph_method->can_set_baseline = 1;
    for (; i < c->all.n; i++) {
        IInstrumentationMethod *im = c->all.at[i]->im;
        if (c->wants[i] && FAILED(im->vtbl->BeforeInstrumentMethod(im, c->face, c->is_rejit)))
            break;
    }
    graph_method->can_set_baseline = 0;
    return i;
}

/* @check: check the graph after each plug-in. */
static unsigned instrument(struct compilation *c, int check, char *why, size_t room)
{
    for (unsigned i = 0; i < c->all.n; i++) {
        IInstrumentationMethod *im = c->all.at[i]->im;
        HRESULT                 hr;
        if (!c->wants[i])
            continue;
        hr = im->vtbl->InstrumentMethod(im, c->face, c->is_rejit);
        if (FAILED(hr)) {
            snprintf(why, room, "its InstrumentMethod failed (0x%08x)", (unsigned)hr);
            return i;
        }
        if (check && FAILED(clrie_method_render(c->method, &c->written, why, room)))
            return i;
    }
    return c->all.n;
}

/* The last plug-in that wants the method. */
static unsigned last_of(const struct compilation *c)
{
    unsigned last = 0;
    for (unsigned i = 0; i < c->all.n; i++)
        if (c->wants[i])
            last = i;
    return last;
}

static int anybody(const struct compilation *c)
{
    return memchr(c->wants, 1, c->all.n) != NULL;
}

/* Lets those plug-ins that want the method change it. Returns 1 when c->written has the new body, 0
 * when the method stays as it is. Each round has one plug-in less. */
static int change(struct compilation *c)
{
    for (int check = 0; anybody(c); clrie_method_reset(c->method)) {
        char     why[200] = "";
        unsigned at_fault = before(c);
        if (at_fault < c->all.n) {
            leave_out(c, at_fault, "its BeforeInstrumentMethod failed");
            continue;
        }
        at_fault = instrument(c, check, why, sizeof(why));
        if (at_fault < c->all.n) {
            leave_out(c, at_fault, why);
            continue;
        }
        if (SUCCEEDED(clrie_method_render(c->method, &c->written, why, sizeof(why))))
            return 1;
        if (check)
            leave_out(c, last_of(c), why);
        check = 1;
    }
    return 0;
}

static void complete(const struct compilation *c)
{
    for (unsigned i = 0; i < c->all.n; i++) {
        IInstrumentationMethod *im = c->all.at[i]->im;
        im->vtbl->OnInstrumentationComplete(im, c->face, c->is_rejit);
    }
}

/* Gives the runtime the new body of a method that is about to be compiled for the first time. */
static HRESULT set_body(struct clrie_engine *engine, struct clrie_method *method,
                        ModuleID module, const struct clrie_written *written)
{
    ICorProfilerInfo15 *info = engine->info;
    IMethodMalloc      *memory = NULL;
    COR_IL_MAP         *map;
    void               *bytes;
    HRESULT             hr = info->vtbl->GetILFunctionBodyAllocator(info, module, &memory);
    if (FAILED(hr))
        return hr;
    bytes = memory->vtbl->Alloc(memory, (ULONG)written->size);
    memory->vtbl->Release(memory);
    if (!bytes)
        return E_OUTOFMEMORY;
    memcpy(bytes, written->bytes, written->size);
    hr = info->vtbl->SetILFunctionBody(info, module, clrie_method_token(method), bytes);
    if (SUCCEEDED(hr))
        clrie_method_set_written(method, bytes);
    if (FAILED(hr) || !written->n_map)
        return hr;
    map = malloc(written->n_map * sizeof(*map)); /* the runtime frees it */
    if (!map)
        return S_OK;
    memcpy(map, written->map, written->n_map * sizeof(*map));
    if (FAILED(info->vtbl->SetILInstrumentedCodeMap(info, clrie_method_function(method), 1,
                                                    written->n_map, map)))
        free(map);
    return hr;
}

HRESULT clrie_compile(struct clrie_engine *engine, FunctionID function)
{
    struct compilation   c = {.engine = engine, .all = clrie_plugins(engine)};
    struct clrie_method *outer;
    HRESULT              hr = S_OK;
    if (!c.all.n)
        return S_OK;
    pthread_mutex_lock(&engine->compiling);
    if (FAILED(clrie_method_new(engine->model, CLRIE_METHOD_COMPILED, 0, 0, function, &c.method))) {
        pthread_mutex_unlock(&engine->compiling);
        return S_OK; /* of a module that is not known, such as a dynamic method */
    }
    clrie_method_open(c.method);
    outer = engine->now;
    engine->now = c.method;
    c.face = clrie_method_face(c.method);
    clrie_method_set_transformed(c.method, 0);
    if (!clrie_module_is_dynamic(clrie_method_module(c.method)) && ask_all(&c) && change(&c)) {
        clrie_method_set_transformed(c.method, 1);
        clrie_method_set_map(c.method, c.written.map, c.written.n_map);
        hr = set_body(engine, c.method, clrie_module_id(clrie_method_module(c.method)), &c.written);
        complete(&c);
    }
    engine->now = outer;
    clrie_method_close(c.method);
    pthread_mutex_unlock(&engine->compiling);
    return hr;
}

HRESULT clrie_recompile(struct clrie_engine *engine, ModuleID module, mdMethodDef token,
                        ICorProfilerFunctionControl *control)
{
    struct compilation   c = {.engine = engine, .is_rejit = 1, .all = clrie_plugins(engine)};
    struct clrie_method *outer;
    HRESULT              hr = S_OK;
    if (!c.all.n)
        return S_OK;
    pthread_mutex_lock(&engine->compiling);
    if (FAILED(clrie_method_new(engine->model, CLRIE_METHOD_REJITTED, module, token, 0,
                                &c.method))) {
        pthread_mutex_unlock(&engine->compiling);
        return S_OK;
    }
    clrie_method_open(c.method);
    outer = engine->now;
    engine->now = c.method;
    c.face = clrie_method_face(c.method);
    if (!clrie_module_is_dynamic(clrie_method_module(c.method)) && ask_all(&c) && change(&c)) {
        uint32_t flags = clrie_method_codegen_flags(c.method);
        clrie_method_set_transformed(c.method, 1);
        clrie_method_set_map(c.method, c.written.map, c.written.n_map);
        hr = control->vtbl->SetILFunctionBody(control, (ULONG)c.written.size, c.written.bytes);
        if (SUCCEEDED(hr) && flags)
            hr = control->vtbl->SetCodegenFlags(control, flags);
        if (SUCCEEDED(hr) && c.written.n_map)
            hr = control->vtbl->SetILInstrumentedCodeMap(control, c.written.n_map,
                                                         (COR_IL_MAP *)(uintptr_t)c.written.map);
        complete(&c);
    }
    engine->now = outer;
    clrie_method_close(c.method);
    pthread_mutex_unlock(&engine->compiling);
    return hr;
}
