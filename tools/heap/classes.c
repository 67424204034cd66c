/* SPDX-License-Identifier: MIT */
#include "tools/heap/classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "manager/module_info.h"
#include "sxs_info.h"
#include "values/layout.h"
#include "values/types.h"

#define MAX_ARGS 16u /* type arguments; classes with more are not noted */
#define EACH_MAX 64u /* classes of one generic type that are passed on */

static uint32_t hash_id(uint64_t id)
{
    return (uint32_t)(sxs_hash_id(id) >> 32);
}

static uint32_t hash_token(ModuleID module, mdTypeDef token)
{
    return hash_id(sxs_hash_add(module, token));
}

void sxs_heap_classes_init(struct sxs_heap_classes *classes)
{
    *classes = (struct sxs_heap_classes){.n = 0};
    pthread_mutex_init(&classes->lock, NULL);
}

void sxs_heap_classes_free(struct sxs_heap_classes *classes)
{
    free(classes->all);
    free(classes->modules);
    free(classes->leaving);
    sxs_index_free(&classes->by_id);
    sxs_index_free(&classes->by_token);
    pthread_mutex_destroy(&classes->lock);
}

/* ---- modules --------------------------------------------------------------------------------- */

void sxs_heap_classes_module(struct sxs_heap_classes *classes, sxs_module module)
{
    if (sxs_module_is_collectible(module) != 0)
        return;
    pthread_mutex_lock(&classes->lock);
    if (classes->n_modules == classes->max_modules) {
        size_t    more = classes->max_modules ? 2 * classes->max_modules : 64;
        ModuleID *grown = realloc(classes->modules, more * sizeof(*grown));
        if (grown) {
            classes->modules = grown;
            classes->max_modules = more;
        }
    }
    if (classes->n_modules < classes->max_modules)
        classes->modules[classes->n_modules++] = module.id;
    pthread_mutex_unlock(&classes->lock);
}

ModuleID sxs_heap_classes_module_at(struct sxs_heap_classes *classes, size_t at)
{
    ModuleID id;
    pthread_mutex_lock(&classes->lock);
    id = at < classes->n_modules ? classes->modules[at] : 0;
    pthread_mutex_unlock(&classes->lock);
    return id;
}

static int is_module_locked(const struct sxs_heap_classes *classes, ModuleID module)
{
    for (size_t i = 0; i < classes->n_modules; i++)
        if (classes->modules[i] == module)
            return 1;
    return 0;
}

/* ---- classes --------------------------------------------------------------------------------- */

static int is_known_locked(struct sxs_heap_classes *classes, ClassID id)
{
    uint32_t hash = hash_id(id), number;
    size_t   at = hash;
    if (sxs_index_reserve(&classes->by_id) != 0)
        return 0;
    for (; (number = sxs_index_next(&classes->by_id, hash, &at)) != 0; at++)
        if (classes->all[number - 1].id == id)
            return 1;
    return 0;
}

static void put(struct sxs_index *index, uint32_t hash, size_t number)
{
    size_t at = hash;
    while (sxs_index_next(index, hash, &at) != 0)
        at++;
    sxs_index_put(index, at, hash, number);
}

static void add_locked(struct sxs_heap_classes *classes, const struct sxs_heap_loaded *loaded)
{
    if (sxs_index_reserve(&classes->by_id) != 0 || sxs_index_reserve(&classes->by_token) != 0)
        return;
    if (classes->n == classes->max) {
        size_t                  more = classes->max ? 2 * classes->max : 1024;
        struct sxs_heap_loaded *grown = realloc(classes->all, more * sizeof(*grown));
        if (!grown)
            return;
        classes->all = grown;
        classes->max = more;
    }
    classes->all[classes->n] = *loaded;
    put(&classes->by_id, hash_id(loaded->id), classes->n);
    put(&classes->by_token, hash_token(loaded->module, loaded->token), classes->n);
    classes->n++;
}

/* ---- classes that may be unloaded ------------------------------------------------------------ */

static void add_leaving_locked(struct sxs_heap_classes *classes,
                               const struct sxs_heap_leaving *leaving)
{
    if (classes->n_leaving == classes->max_leaving) {
        size_t                   more = classes->max_leaving ? 2 * classes->max_leaving : 64;
        struct sxs_heap_leaving *grown = realloc(classes->leaving, more * sizeof(*grown));
        if (!grown)
            return;
        classes->leaving = grown;
        classes->max_leaving = more;
    }
    classes->leaving[classes->n_leaving++] = *leaving;
}

void sxs_heap_classes_unloading(struct sxs_heap_classes *classes, AssemblyID assembly)
{
    size_t n = 0;
    pthread_mutex_lock(&classes->lock);
    for (size_t i = 0; i < classes->n_leaving; i++)
        if (classes->leaving[i].assembly != assembly && !classes->leaving[i].generic)
            classes->leaving[n++] = classes->leaving[i];
    classes->n_leaving = n;
    pthread_mutex_unlock(&classes->lock);
}

struct sxs_heap_loaded *sxs_heap_classes_all(struct sxs_heap_classes *classes, size_t *n,
                                             size_t *leaving)
{
    struct sxs_heap_loaded *all;
    pthread_mutex_lock(&classes->lock);
    *leaving = classes->n;
    *n = classes->n + classes->n_leaving;
    all = *n ? malloc(*n * sizeof(*all)) : NULL;
    for (size_t i = 0; all && i < *n; i++)
        all[i] = i < *leaving ? classes->all[i] : classes->leaving[i - *leaving].loaded;
    pthread_mutex_unlock(&classes->lock);
    if (!all)
        *n = *leaving = 0;
    return all;
}

/* ---- loads ----------------------------------------------------------------------------------- */

static AssemblyID assembly_of(sxs_module module)
{
    sxs_assembly assembly = {0};
    DWORD        flags;
    ULONG        n;
    sxs_info_GetModuleInfo2(module.rt, module, NULL, 0, &n, NULL, &assembly, &flags);
    return assembly.id;
}

void sxs_heap_classes_add(struct sxs_heap_classes *classes, sxs_class cls)
{
    ClassID    args[MAX_ARGS];
    ULONG32    n = 0;
    sxs_module module = {0};
    mdTypeDef  token = 0;
    int        stays;

    struct sxs_heap_leaving leaving;
    if (sxs_info_GetClassIDInfo2(cls.rt, cls, &module, &token, NULL, MAX_ARGS, &n, args) != S_OK ||
        n > MAX_ARGS)
        return;
    pthread_mutex_lock(&classes->lock);
    stays = is_module_locked(classes, module.id) && !is_known_locked(classes, cls.id);
    for (ULONG32 i = 0; i < n && stays; i++)
        stays = is_known_locked(classes, args[i]);
    if (stays)
        add_locked(classes, &(struct sxs_heap_loaded){cls.id, module.id, token});
    stays |= is_known_locked(classes, cls.id);
    pthread_mutex_unlock(&classes->lock);
    if (stays)
        return;
    leaving = (struct sxs_heap_leaving){
        .loaded = {cls.id, module.id, token}, .assembly = assembly_of(module), .generic = n != 0};
    pthread_mutex_lock(&classes->lock);
    add_leaving_locked(classes, &leaving);
    pthread_mutex_unlock(&classes->lock);
}

void sxs_heap_classes_each(struct sxs_heap_classes *classes, ModuleID module, mdTypeDef token,
                           int (*fn)(ClassID cls, void *arg), void *arg)
{
    ClassID  found[EACH_MAX];
    size_t   n = 0, at;
    uint32_t hash = hash_token(module, token), number;
    pthread_mutex_lock(&classes->lock);
    at = hash;
    if (classes->n)
        for (; n < EACH_MAX && (number = sxs_index_next(&classes->by_token, hash, &at)) != 0; at++)
            if (classes->all[number - 1].module == module &&
                classes->all[number - 1].token == token)
                found[n++] = classes->all[number - 1].id;
    pthread_mutex_unlock(&classes->lock);
    for (size_t i = 0; i < n; i++)
        if (fn(found[i], arg))
            return;
}

void sxs_heap_classes_add_values(struct sxs_runtime *rt, const struct sxs_heap_loaded *all,
                                 size_t n)
{
    static const char *const names[] = {"System.ValueType", "System.Enum", "System.__Canon"};
    ClassID                  parents[ARRAY_LEN(names)] = {0};
    size_t                   found = 0;
    char                     name[64];
    for (size_t i = 0; i < n && found < ARRAY_LEN(names); i++) {
        if (sxs_class_name((sxs_class){rt, all[i].id}, name, sizeof(name), NULL, NULL) != 0)
            continue;
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            if (strcmp(name, names[k]) == 0) {
                parents[k] = all[i].id;
                found++;
            }
    }
    if (parents[2])
        sxs_types_add((sxs_class){rt, parents[2]});
    for (size_t i = 0; i < n; i++) {
        sxs_class  cls = {rt, all[i].id}, parent = {rt, 0};
        sxs_module module = {rt, 0};
        mdTypeDef  token;
        if (SUCCEEDED(sxs_info_GetClassIDInfo2(rt, cls, &module, &token, &parent, 0, NULL, NULL)) &&
            parent.id && (parent.id == parents[0] || parent.id == parents[1]))
            sxs_types_add(cls);
    }
}
