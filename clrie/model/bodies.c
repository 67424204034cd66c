/* SPDX-License-Identifier: MIT */
/* bodies.c - what is known of the methods of a module: bodies, maps, numbers of ReJITs. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/index.h"
#include "clrie/model/model_internal.h"

/* An IL map of one compilation. */
struct map {
    struct map *next;
    FunctionID  function; /* 0: of a ReJIT */
    uint32_t    n;
    COR_IL_MAP  rows[];
};

struct body {
    mdMethodDef    token;
    uint32_t       rejits;
    const uint8_t *original; /* borrowed from the runtime; NULL: not read yet */
    uint32_t       original_size;
    uint8_t        is_transformed;
    const uint8_t *written; /* what the engine gave to SetILFunctionBody(); compared only */
    struct map    *maps;    /* owned */
};

struct clrie_bodies {
    struct body     *rows;
    uint32_t         n, room;
    struct sxs_index index;
};

static uint32_t hash_of(mdMethodDef token)
{
    return (uint32_t)(sxs_hash_id(token) >> 32);
}

static struct clrie_bodies *bodies_of(struct clrie_module *module)
{
    if (!module->bodies && !atomic_load(&module->is_unloaded))
        module->bodies = calloc(1, sizeof(*module->bodies));
    return module->bodies;
}

/* Finds the row of @token, or makes one if @make. Returns NULL when there is none, or no memory. */
static struct body *find_locked(struct clrie_module *module, mdMethodDef token, int make)
{
    struct clrie_bodies *b = make ? bodies_of(module) : module->bodies;
    uint32_t             hash = hash_of(token), number;
    size_t               at = hash;
    if (!b || sxs_index_reserve(&b->index))
        return NULL;
    for (; (number = sxs_index_next(&b->index, hash, &at)) != 0; at++)
        if (b->rows[number - 1].token == token)
            return &b->rows[number - 1];
    if (!make)
        return NULL;
    if (b->n == b->room) {
        uint32_t     room = b->room ? 2 * b->room : 16;
        struct body *rows = realloc(b->rows, room * sizeof(*rows));
        if (!rows)
            return NULL;
        b->rows = rows;
        b->room = room;
    }
    sxs_index_put(&b->index, at, hash, b->n);
    b->rows[b->n] = (struct body){.token = token};
    return &b->rows[b->n++];
}

static void free_maps(struct map *map)
{
    while (map) {
        struct map *next = map->next;
        free(map);
        map = next;
    }
}

void clrie_bodies_free(struct clrie_bodies *bodies)
{
    if (!bodies)
        return;
    for (uint32_t i = 0; i < bodies->n; i++)
        free_maps(bodies->rows[i].maps);
    sxs_index_free(&bodies->index);
    free(bodies->rows);
    free(bodies);
}

/* ---- bodies ----------------------------------------------------------------------------------- */

/*
 * A runtime's GetILFunctionBody() returns what was given to SetILFunctionBody() for another instance
 * of a generic method. So the first body that was read for a compilation is used for all later ones,
 * as CLRIE does. In a ReJIT the Info returns the body that another user of the same ReJIT has written,
 * or the one of clrie_module_first_body(): that body is the one to change. An Info that knows no other
 * users returns what the engine has written: then plug-ins begin with the original one, else they would
 * make their changes twice.
 */
HRESULT clrie_module_body(struct clrie_module *module, mdMethodDef token, enum clrie_method_use use,
                          const uint8_t **bytes, uint32_t *size)
{
    ICorProfilerInfo10 *info = clrie_model_info(module->model);
    struct body         copy = {0}, *row;
    HRESULT             hr;
    *bytes = NULL;
    *size = 0;
    if (!info || atomic_load(&module->is_unloaded))
        return E_FAIL;
    pthread_mutex_lock(&module->lock);
    row = find_locked(module, token, 0);
    if (row)
        copy = *row;
    pthread_mutex_unlock(&module->lock);
    if (!copy.original || use == CLRIE_METHOD_REJITTED) {
        hr = info->vtbl->GetILFunctionBody(info, module->id, token, bytes, size);
        if ((FAILED(hr) || !*bytes) && !copy.original)
            return FAILED(hr) ? hr : E_FAIL;
    }
    if (copy.original && (!*bytes || *bytes == copy.written)) {
        *bytes = copy.original;
        *size = copy.original_size;
    }
    if (copy.original || use != CLRIE_METHOD_COMPILED)
        return S_OK;
    pthread_mutex_lock(&module->lock);
    row = find_locked(module, token, 1);
    if (row && !row->original) {
        row->original = *bytes;
        row->original_size = *size;
    }
    pthread_mutex_unlock(&module->lock);
    return S_OK;
}

void clrie_module_set_written(struct clrie_module *module, mdMethodDef token, const uint8_t *bytes)
{
    struct body *row;
    pthread_mutex_lock(&module->lock);
    row = find_locked(module, token, 1);
    if (row)
        row->written = bytes;
    pthread_mutex_unlock(&module->lock);
}

int clrie_module_first_body(struct clrie_module *module, mdMethodDef token, const uint8_t **bytes,
                            uint32_t *size)
{
    struct body *row;
    int          has;
    pthread_mutex_lock(&module->lock);
    row = find_locked(module, token, 0);
    has = row && row->original && row->written;
    if (has) {
        *bytes = row->original;
        *size = row->original_size;
    }
    pthread_mutex_unlock(&module->lock);
    return has;
}

/* ---- numbers ---------------------------------------------------------------------------------- */

uint32_t clrie_module_rejits(struct clrie_module *module, mdMethodDef token)
{
    struct body *row;
    uint32_t     n;
    pthread_mutex_lock(&module->lock);
    row = find_locked(module, token, 0);
    n = row ? row->rejits : 0;
    pthread_mutex_unlock(&module->lock);
    return n;
}

void clrie_module_add_rejit(struct clrie_module *module, mdMethodDef token)
{
    struct body *row;
    pthread_mutex_lock(&module->lock);
    row = find_locked(module, token, 1);
    if (row)
        row->rejits++;
    pthread_mutex_unlock(&module->lock);
}

int clrie_module_is_transformed(struct clrie_module *module, mdMethodDef token)
{
    struct body *row;
    int          is;
    pthread_mutex_lock(&module->lock);
    row = find_locked(module, token, 0);
    is = row && row->is_transformed;
    pthread_mutex_unlock(&module->lock);
    return is;
}

void clrie_module_set_transformed(struct clrie_module *module, mdMethodDef token, int is)
{
    struct body *row;
    pthread_mutex_lock(&module->lock);
    row = find_locked(module, token, is);
    if (row)
        row->is_transformed = is != 0;
    pthread_mutex_unlock(&module->lock);
}

/* ---- maps ------------------------------------------------------------------------------------- */

HRESULT clrie_module_set_map(struct clrie_module *module, mdMethodDef token, FunctionID function,
                             const COR_IL_MAP *map, uint32_t n)
{
    struct map  *fresh = malloc(sizeof(*fresh) + n * sizeof(*map)), *old = NULL, **at;
    struct body *row;
    if (!fresh)
        return E_OUTOFMEMORY;
    fresh->function = function;
    fresh->n = n;
    if (n)
        memcpy(fresh->rows, map, n * sizeof(*map));
    pthread_mutex_lock(&module->lock);
    row = find_locked(module, token, 1);
    if (row) {
        for (at = &row->maps; *at; at = &(*at)->next)
            if ((*at)->function == function) {
                old = *at;
                *at = old->next;
                old->next = NULL;
                break;
            }
        fresh->next = row->maps;
        row->maps = fresh;
        fresh = NULL;
    }
    pthread_mutex_unlock(&module->lock);
    free_maps(old);
    free(fresh);
    return row ? S_OK : E_OUTOFMEMORY;
}

uint32_t clrie_module_map(struct clrie_module *module, mdMethodDef token, FunctionID function,
                          COR_IL_MAP *map, uint32_t room)
{
    struct body *row;
    uint32_t     n = 0;
    pthread_mutex_lock(&module->lock);
    row = find_locked(module, token, 0);
    for (struct map *at = row ? row->maps : NULL; at; at = at->next)
        if (at->function == function) {
            n = at->n;
            if (map && room && n)
                memcpy(map, at->rows, (room < n ? room : n) * sizeof(*map));
        }
    pthread_mutex_unlock(&module->lock);
    return n;
}
