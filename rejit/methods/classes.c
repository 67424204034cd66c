/* SPDX-License-Identifier: MIT */
#include "rejit/methods/classes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/session_state.h"
#include "manager/module_info.h"
#include "values/types.h"

#define ARGS_MAX  16
#define DEPTH_MAX 4

/* A class that was loaded before anything was traced. */
struct early {
    sxs_class cls;
    int       collectible; /* 1: it can be unloaded with a collectible assembly */
};

static struct {
    pthread_mutex_t lock;      /* guards early, n, cap */
    _Atomic int     following; /* 1: runtimes are asked about types; set under lock */
    struct early   *early;
    size_t          n, cap;
} classes = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(classes.lock);
SXS_SESSION_RESETS(classes);

static int config_traces(const struct sxs_config *config)
{
    for (uint32_t r = 0; r < config->n_rules; r++)
        for (uint32_t i = 0; i < config->rules[r]->n_actions; i++) {
            const struct sxs_action *a = &config->rules[r]->actions[i];
            if (a->kind == SXS_ACTION_TRACE && (a->n_arguments || a->with_result || a->with_exception))
                return 1;
        }
    return 0;
}

static void ask_early_locked(void)
{
    for (size_t i = 0; i < classes.n; i++)
        sxs_types_add(classes.early[i].cls);
    free(classes.early);
    classes.early = NULL;
    classes.n = classes.cap = 0;
}

void sxs_classes_follow(const struct sxs_config *config)
{
    if (atomic_load(&classes.following) || !config_traces(config))
        return;
    pthread_mutex_lock(&classes.lock);
    /* From here on a thread that loads a class asks about it itself, or has added it to `early`. */
    atomic_store(&classes.following, 1);
    ask_early_locked();
    pthread_mutex_unlock(&classes.lock);
}

/* An instantiation over a collectible type is unloaded together with that type, whichever module
 * defines the generic type. Returns 1 when the runtime cannot be asked. */
static int is_collectible(sxs_class cls, unsigned depth)
{
    CorElementType element = ELEMENT_TYPE_END;
    sxs_class      of = {cls.rt, 0};
    ULONG          rank = 0;
    sxs_module     module = {cls.rt, 0};
    ClassID        args[ARGS_MAX];
    ULONG32        n = 0;
    if (depth > DEPTH_MAX)
        return 1;
    if (sxs_info_IsArrayClass(cls.rt, cls, &element, &of, &rank) == S_OK)
        return of.id && is_collectible(of, depth + 1);
    if (FAILED(sxs_info_GetClassIDInfo2(cls.rt, cls, &module, NULL, NULL, ARGS_MAX, &n, args)) ||
        n > ARGS_MAX || sxs_module_is_collectible(module) != 0)
        return 1;
    for (ULONG32 i = 0; i < n; i++)
        if (args[i] && is_collectible((sxs_class){cls.rt, args[i]}, depth + 1))
            return 1;
    return 0;
}

static void keep_locked(sxs_class cls, int collectible)
{
    if (classes.n == classes.cap) {
        size_t        cap = classes.cap ? 2 * classes.cap : 4096;
        struct early *more = reallocarray(classes.early, cap, sizeof(*more));
        if (!more)
            return;
        classes.early = more;
        classes.cap = cap;
    }
    classes.early[classes.n++] = (struct early){cls, collectible};
}

void sxs_classes_loaded(sxs_class cls)
{
    if (!atomic_load(&classes.following)) {
        int collectible = is_collectible(cls, 0);
        pthread_mutex_lock(&classes.lock);
        if (!atomic_load(&classes.following)) {
            keep_locked(cls, collectible);
            pthread_mutex_unlock(&classes.lock);
            return;
        }
        pthread_mutex_unlock(&classes.lock);
    }
    sxs_types_add(cls);
}

/* Drops @cls (id 0: all classes of its runtime) from `early`. Places are reused, so that classes
 * that are loaded and unloaded repeatedly take no more memory than are loaded at one time. */
static void drop_class(sxs_class cls, int collectible_alone)
{
    size_t kept = 0;
    pthread_mutex_lock(&classes.lock);
    for (size_t i = 0; i < classes.n; i++) {
        const struct early *e = &classes.early[i];
        if (e->cls.rt != cls.rt || (cls.id && e->cls.id != cls.id) ||
            (collectible_alone && !e->collectible))
            classes.early[kept++] = *e;
    }
    classes.n = kept;
    pthread_mutex_unlock(&classes.lock);
}

void sxs_classes_unloading(sxs_class cls)
{
    drop_class(cls, 0);
    if (atomic_load(&classes.following))
        sxs_types_forget(cls);
}

void sxs_classes_close(struct sxs_runtime *rt, int ended)
{
    drop_class((sxs_class){rt, 0}, !ended);
    sxs_types_close(rt);
}

static int is_leaving(sxs_class cls)
{
    return is_collectible(cls, 0);
}

void sxs_classes_leave(struct sxs_runtime *rt)
{
    sxs_types_leave(rt, is_leaving);
}

void sxs_classes_end(void)
{
    pthread_mutex_lock(&classes.lock);
    free(classes.early);
    classes.early = NULL;
    classes.n = classes.cap = 0;
    pthread_mutex_unlock(&classes.lock);
}
