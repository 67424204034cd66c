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
#include "clrie/dump.h"
#include "clrie/engine.h"
#include "clrie/work.h"

/* One compilation. */
struct compilation {
    struct clrie_engine         *engine;
    struct clrie_method         *method;
    IMethodInfo                 *face; /* of the method */
    BOOL                         is_rejit;
    ICorProfilerFunctionControl *control;          /* of a ReJIT */
    struct clrie_plugins         all;              /* in the order of priority */
    char                 wants[CLRIE_MAX_PLUGINS]; /* 1: the plug-in wants to change the method */
    struct clrie_written written;
    struct clrie_work    work;
};

static int ask_all(struct compilation *c)
{
    int any = 0;
    for (unsigned i = 0; i < c->all.n; i++) {
        IInstrumentationMethod *im = c->all.at[i]->im;
        BOOL                    wants = 0;
        im->vtbl->ShouldInstrumentMethod(im, c->face, c->is_rejit,
                                         &wants); /* its result counts for nothing */
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
    sxs_error("instrumentation method %s: %s stays without its changes: %s", c->all.at[i]->name,
              name, why);
    clrie_log_print(CLRIE_LOG_ERRORS, "%s: %s stays without its changes: %s", c->all.at[i]->name,
                    name, why);
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

static void reset(struct compilation *c)
{
    clrie_method_reset(c->method);
    clrie_work_reset(&c->work);
}

/* Lets those plug-ins that want the method change it. c->work gets the new body; it stays without one
 * when the method stays as it is. After the first failure all are called again, with a check after each
 * of them; from then on each round has one plug-in less. */
static void change(struct compilation *c)
{
    for (int check = 0; anybody(c); reset(c)) {
        char     why[200] = "";
        unsigned at_fault = before(c);
        if (at_fault < c->all.n) {
            leave_out(c, at_fault, "its BeforeInstrumentMethod failed");
            continue;
        }
        at_fault = instrument(c, check, why, sizeof(why));
        if (at_fault < c->all.n) {
            /* It may have failed because of what another one did before. */
            if (check || memchr(c->wants, 1, at_fault) == NULL)
                leave_out(c, at_fault, why);
            check = 1;
            continue;
        }
        if (SUCCEEDED(clrie_method_render(c->method, &c->written, why, sizeof(why))) &&
            SUCCEEDED(clrie_work_rendered(&c->work, &c->written)))
            return;
        if (check)
            leave_out(c, last_of(c), why);
        check = 1;
    }
}

static void complete(const struct compilation *c)
{
    for (unsigned i = 0; i < c->all.n; i++) {
        IInstrumentationMethod *im = c->all.at[i]->im;
        im->vtbl->OnInstrumentationComplete(im, c->face, c->is_rejit);
    }
}

/* Copies the body to memory of the runtime. Returns NULL without memory. */
static const uint8_t *copy_body(ICorProfilerInfo15 *info, ModuleID module, const uint8_t *bytes,
                                uint32_t size)
{
    IMethodMalloc *memory = NULL;
    void          *copy;
    if (FAILED(info->vtbl->GetILFunctionBodyAllocator(info, module, &memory)) || !memory)
        return NULL;
    copy = memory->vtbl->Alloc(memory, size);
    memory->vtbl->Release(memory);
    return copy ? memcpy(copy, bytes, size) : NULL;
}

/* Gives the runtime the new body of a method that is about to be compiled for the first time. */
static HRESULT set_body(struct compilation *c, const uint8_t *bytes, uint32_t size)
{
    ICorProfilerInfo15 *info = c->engine->info;
    ModuleID            module = clrie_module_id(clrie_method_module(c->method));
    size_t              map_size = c->work.n_map * sizeof(COR_IL_MAP);
    COR_IL_MAP         *map;
    HRESULT             hr;
    if (!c->work.body || !c->work.is_borrowed)
        bytes = copy_body(info, module, bytes, size);
    if (!bytes)
        return E_OUTOFMEMORY;
    hr = info->vtbl->SetILFunctionBody(info, module, clrie_method_token(c->method), bytes);
    if (FAILED(hr))
        return hr;
    clrie_method_set_written(c->method, bytes);
    map = map_size ? malloc(map_size) : NULL; /* the runtime frees it */
    if (!map)
        return S_OK;
    memcpy(map, c->work.map, map_size);
    if (FAILED(info->vtbl->SetILInstrumentedCodeMap(info, clrie_method_function(c->method), 1,
                                                    c->work.n_map, map)))
        free(map);
    return S_OK;
}

/* The map of a ReJIT has one row more: its new offset is the number of ReJITs of the method. Debuggers
 * of CLRIE's users find the version of the source by it. */
static void set_rejit_map(struct compilation *c)
{
    DWORD       count = 0;
    uint32_t    n = c->work.n_map;
    COR_IL_MAP *map = malloc((n + 1) * sizeof(*map));
    if (!map)
        return;
    if (n)
        memcpy(map, c->work.map, n * sizeof(*map));
    ((IMethodInfo2 *)c->face)->vtbl->GetRejitCount((IMethodInfo2 *)c->face, &count);
    if (count)
        map[n++] = (COR_IL_MAP){0xfeefee, count, 1};
    c->control->vtbl->SetILInstrumentedCodeMap(c->control, n, map); /* copied by the receiver */
    free(map);
}

static HRESULT set_rejit_body(struct compilation *c, const uint8_t *bytes, uint32_t size)
{
    ICorProfilerFunctionControl *control = c->control;
    uint32_t                     flags = clrie_method_codegen_flags(c->method);
    HRESULT                      hr = control->vtbl->SetILFunctionBody(control, size, bytes);
    if (SUCCEEDED(hr))
        hr = control->vtbl->SetCodegenFlags(control, flags);
    if (SUCCEEDED(hr))
        set_rejit_map(c);
    return hr;
}

/* Asks the plug-ins, and gives the runtime what they have written. */
static HRESULT run(struct compilation *c)
{
    const uint8_t *bytes;
    uint32_t       size;
    HRESULT        hr = S_OK;
    clrie_method_open(c->method);
    c->face = clrie_method_face(c->method);
    clrie_work_begin(c->engine, &c->work, c->method);
    if (!clrie_module_is_dynamic(clrie_method_module(c->method)) && ask_all(c))
        change(c);
    bytes = clrie_work_result(&c->work, &size);
    if (bytes) {
        clrie_method_set_transformed(c->method, 1);
        clrie_method_set_map(c->method, c->work.map, c->work.n_map);
        clrie_dump_method(c->method, &c->work);
        hr = c->is_rejit ? set_rejit_body(c, bytes, size) : set_body(c, bytes, size);
        if (SUCCEEDED(hr))
            complete(c);
    }
    clrie_work_end(c->engine, &c->work);
    clrie_method_close(c->method);
    return hr;
}

HRESULT clrie_compile(struct clrie_engine *engine, FunctionID function)
{
    struct compilation c = {.engine = engine, .all = clrie_plugins(engine)};
    HRESULT            hr = S_OK;
    if (!c.all.n)
        return S_OK;
    pthread_mutex_lock(&engine->compiling);
    /* It fails for a module that is not known, such as that of a dynamic method. */
    if (SUCCEEDED(
            clrie_method_new(engine->model, CLRIE_METHOD_COMPILED, 0, 0, function, &c.method))) {
        clrie_method_set_transformed(c.method, 0);
        hr = run(&c);
    }
    pthread_mutex_unlock(&engine->compiling);
    return hr;
}

HRESULT clrie_recompile(struct clrie_engine *engine, ModuleID module, mdMethodDef token,
                        ICorProfilerFunctionControl *control)
{
    struct compilation c = {
        .engine = engine, .is_rejit = 1, .control = control, .all = clrie_plugins(engine)};
    HRESULT hr = S_OK;
    if (!c.all.n)
        return S_OK;
    pthread_mutex_lock(&engine->compiling);
    if (SUCCEEDED(
            clrie_method_new(engine->model, CLRIE_METHOD_REJITTED, module, token, 0, &c.method)))
        hr = run(&c);
    pthread_mutex_unlock(&engine->compiling);
    return hr;
}
