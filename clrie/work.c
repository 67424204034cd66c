/* SPDX-License-Identifier: MIT */
#include "clrie/work.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_SIZE = 1 << 24 }; /* limit for a body in a plug-in's own memory */

void clrie_work_begin(struct clrie_engine *engine, struct clrie_work *work,
                      struct clrie_method *method)
{
    *work = (struct clrie_work){.outer = engine->work, .method = method};
    engine->work = work;
}

void clrie_work_reset(struct clrie_work *work)
{
    if (!work->is_borrowed)
        free((void *)(uintptr_t)work->body);
    free(work->map);
    *work = (struct clrie_work){.outer = work->outer, .method = work->method};
}

void clrie_work_end(struct clrie_engine *engine, struct clrie_work *work)
{
    clrie_work_reset(work);
    engine->work = work->outer;
}

/* ---- maps -------------------------------------------------------------------------------------- */

/* The row of @work's map whose new offset is @offset; of several the last one. */
static const COR_IL_MAP *row_at(const struct clrie_work *work, uint32_t offset)
{
    for (uint32_t i = work->n_map; i > 0; i--)
        if (work->map[i - 1].newOffset == offset)
            return &work->map[i - 1];
    return NULL;
}

/* @map leads on from where the present map ends. Rows that begin at code which was new there are
 * dropped. */
static HRESULT compose(struct clrie_work *work, const COR_IL_MAP *map, uint32_t n)
{
    COR_IL_MAP *rows;
    uint32_t    kept = 0;
    if (!n && !work->n_map)
        return S_OK;
    rows = malloc((n ? n : 1) * sizeof(*rows));
    if (!rows)
        return E_OUTOFMEMORY;
    for (uint32_t i = 0; i < n; i++) {
        const COR_IL_MAP *before = work->n_map ? row_at(work, map[i].oldOffset) : NULL;
        if (work->n_map && !before)
            continue;
        rows[kept] = map[i];
        if (before)
            rows[kept].oldOffset = before->oldOffset;
        kept++;
    }
    free(work->map);
    work->map = rows;
    work->n_map = kept;
    return S_OK;
}

HRESULT clrie_work_rendered(struct clrie_work *work, const struct clrie_written *written)
{
    HRESULT hr = compose(work, written->map, written->n_map);
    if (FAILED(hr))
        return hr;
    work->rendered = written->bytes;
    work->rendered_size = (uint32_t)written->size;
    return S_OK;
}

const uint8_t *clrie_work_result(const struct clrie_work *work, uint32_t *size)
{
    *size = work->body ? work->body_size : work->rendered_size;
    return work->body ? work->body : work->rendered;
}

/* ---- for plug-ins ------------------------------------------------------------------------------ */

/* Returns the method's work with engine->compiling held, or NULL without it. Another thread's
 * compilations are not waited for: that thread may wait for this one. */
static struct clrie_work *find(struct clrie_engine *engine, ModuleID module, mdMethodDef token)
{
    if (pthread_mutex_trylock(&engine->compiling))
        return NULL;
    for (struct clrie_work *w = engine->work; w; w = w->outer)
        if (clrie_method_token(w->method) == token &&
            clrie_module_id(clrie_method_module(w->method)) == module)
            return w;
    pthread_mutex_unlock(&engine->compiling);
    return NULL;
}

int clrie_work_is(struct clrie_engine *engine, ModuleID module, mdMethodDef token)
{
    int is = find(engine, module, token) != NULL;
    if (is)
        pthread_mutex_unlock(&engine->compiling);
    return is;
}

int clrie_work_body(struct clrie_engine *engine, ModuleID module, mdMethodDef token,
                    const uint8_t **bytes, uint32_t *size)
{
    const struct clrie_work *w = find(engine, module, token);
    int                      has = 0;
    if (!w)
        return 0;
    if (w->rendered) {
        *bytes = w->rendered;
        *size = w->rendered_size;
        has = 1;
    }
    pthread_mutex_unlock(&engine->compiling);
    return has;
}

static HRESULT set_body(struct clrie_work *w, const uint8_t *bytes, uint32_t size)
{
    char     why[200], name[256];
    uint32_t used = 0;
    uint8_t *copy;
    int      is_final = w->body && !w->is_borrowed; /* comes before one in a plug-in's memory */
    if (is_final && size) {
        clrie_log_print(CLRIE_LOG_ERRORS, "SetILFunctionBody: the method has a final body already");
        return E_FAIL;
    }
    if (FAILED(clrie_method_check(w->method, bytes, size ? size : UNKNOWN_SIZE, &used, why,
                                  sizeof(why)))) {
        clrie_method_name(w->method, name, sizeof(name));
        clrie_log_print(CLRIE_LOG_ERRORS,
                        "SetILFunctionBody: no JIT would accept the body of %s: %s", name, why);
        return E_FAIL;
    }
    if (!size) {
        if (!is_final) {
            w->body = bytes;
            w->body_size = used;
            w->is_borrowed = 1;
        }
        return S_OK;
    }
    copy = malloc(size);
    if (!copy)
        return E_OUTOFMEMORY;
    memcpy(copy, bytes, size);
    w->body = copy;
    w->body_size = size;
    w->is_borrowed = 0;
    return S_OK;
}

HRESULT clrie_work_set_body(struct clrie_engine *engine, ModuleID module, mdMethodDef token,
                            const uint8_t *bytes, uint32_t size)
{
    struct clrie_work *w = find(engine, module, token);
    HRESULT            hr;
    if (!w)
        return E_FAIL;
    hr = set_body(w, bytes, size);
    pthread_mutex_unlock(&engine->compiling);
    return hr;
}

HRESULT clrie_work_set_map(struct clrie_engine *engine, FunctionID function, const COR_IL_MAP *map,
                           uint32_t n)
{
    HRESULT hr = E_FAIL;
    if (!function || pthread_mutex_trylock(&engine->compiling))
        return E_FAIL;
    for (struct clrie_work *w = engine->work; w; w = w->outer)
        if (clrie_method_function(w->method) == function) {
            hr = compose(w, map, n);
            break;
        }
    pthread_mutex_unlock(&engine->compiling);
    return hr;
}
