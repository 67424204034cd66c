/* SPDX-License-Identifier: MIT */
#include "rewrite/classes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "manager/base/fork.h"
#include "values/types.h"

static struct {
    pthread_mutex_t lock;
    _Atomic int     following;
    sxs_class      *early; /* loaded before anything was traced; id 0: unloaded since */
    size_t          n, cap;
} classes = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(classes.lock);

static int traces(const struct sxs_config *config)
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
        if (classes.early[i].id)
            sxs_types_add(classes.early[i]);
    free(classes.early);
    classes.early = NULL;
    classes.n = classes.cap = 0;
}

void sxs_classes_follow(const struct sxs_config *config)
{
    if (atomic_load(&classes.following) || !traces(config))
        return;
    pthread_mutex_lock(&classes.lock);
    atomic_store(&classes.following, 1); /* whoever loads one now asks, or has put it there */
    ask_early_locked();
    pthread_mutex_unlock(&classes.lock);
}

static void keep_locked(sxs_class cls)
{
    if (classes.n == classes.cap) {
        size_t     cap = classes.cap ? 2 * classes.cap : 4096;
        sxs_class *more = reallocarray(classes.early, cap, sizeof(*more));
        if (!more)
            return;
        classes.early = more;
        classes.cap = cap;
    }
    classes.early[classes.n++] = cls;
}

void sxs_classes_loaded(sxs_class cls)
{
    if (!atomic_load(&classes.following)) {
        pthread_mutex_lock(&classes.lock);
        if (!atomic_load(&classes.following)) {
            keep_locked(cls);
            pthread_mutex_unlock(&classes.lock);
            return;
        }
        pthread_mutex_unlock(&classes.lock);
    }
    sxs_types_add(cls);
}

static void drop(sxs_class cls)
{
    pthread_mutex_lock(&classes.lock);
    for (size_t i = 0; i < classes.n; i++)
        if (classes.early[i].rt == cls.rt && (!cls.id || classes.early[i].id == cls.id))
            classes.early[i].id = 0;
    pthread_mutex_unlock(&classes.lock);
}

void sxs_classes_unloading(sxs_class cls)
{
    drop(cls);
    if (atomic_load(&classes.following))
        sxs_types_forget(cls);
}

void sxs_classes_close(struct sxs_runtime *rt, int ended)
{
    if (ended)
        drop((sxs_class){rt, 0});
    sxs_types_close(rt);
}
