/* SPDX-License-Identifier: MIT */
#include "tools/instrument/modules.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/session_state.h"

static struct {
    pthread_mutex_t    lock; /* guards the list, and what on_runtime.h says; no runtime is called */
    pthread_cond_t     done; /* signalled when on_runtime.read becomes 0 */
    struct on_runtime *first; /* newest first */
} list = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
SXS_FORK_RESETS(list.lock);
SXS_SESSION_RESETS(list);

void sxs_modules_add_runtime(struct on_runtime *on)
{
    pthread_mutex_lock(&list.lock);
    on->next = list.first;
    list.first = on;
    pthread_mutex_unlock(&list.lock);
}

struct on_runtime *sxs_modules_runtimes(void)
{
    struct on_runtime *first;
    pthread_mutex_lock(&list.lock);
    first = list.first;
    pthread_mutex_unlock(&list.lock);
    return first;
}

static void note_locked(struct on_runtime *on, ModuleID id)
{
    for (size_t i = 0; i < on->n; i++)
        if (on->modules[i] == id)
            return;
    if (on->n == on->cap) {
        size_t    cap = on->cap ? 2 * on->cap : 64;
        ModuleID *more = reallocarray(on->modules, cap, sizeof(*more));
        if (!more)
            return;
        on->modules = more;
        on->cap = cap;
    }
    on->modules[on->n++] = id;
}

void sxs_modules_note(struct on_runtime *on, ModuleID id)
{
    pthread_mutex_lock(&list.lock);
    note_locked(on, id);
    pthread_mutex_unlock(&list.lock);
}

void sxs_modules_find(struct on_runtime *on)
{
    ICorProfilerModuleEnum *all = NULL;
    ModuleID                id;
    ULONG                   n = 0;
    if (FAILED(sxs_info_EnumModules(on->rt, &all)) || !all)
        return;
    while (SUCCEEDED(all->vtbl->Next(all, 1, &id, &n)) && n)
        sxs_modules_note(on, id);
    all->vtbl->Release(all);
}

ModuleID *sxs_modules_copy(const struct on_runtime *on, size_t *n)
{
    ModuleID *copy = NULL;
    pthread_mutex_lock(&list.lock);
    if (!on->ended && on->n)
        copy = malloc(on->n * sizeof(*copy));
    *n = copy ? on->n : 0;
    if (copy)
        memcpy(copy, on->modules, on->n * sizeof(*copy));
    pthread_mutex_unlock(&list.lock);
    return copy;
}

/* From here to stop_reading() the module's metadata may be read: sxs_modules_unloading() waits. Returns
 * 0 when the module is unloaded. */
static int start_reading(void *context, ModuleID id)
{
    struct on_runtime *on = context;
    int                there = 0;
    pthread_mutex_lock(&list.lock);
    for (size_t i = 0; i < on->n && !there; i++)
        there = on->modules[i] == id;
    if (there)
        on->read = id;
    pthread_mutex_unlock(&list.lock);
    return there;
}

static void stop_reading(void *context)
{
    struct on_runtime *on = context;
    pthread_mutex_lock(&list.lock);
    on->read = 0;
    pthread_cond_broadcast(&list.done);
    pthread_mutex_unlock(&list.lock);
}

struct sxs_reading sxs_modules_reading(struct on_runtime *on)
{
    return (struct sxs_reading){start_reading, stop_reading, on};
}

void sxs_modules_unloading(struct on_runtime *on, ModuleID id)
{
    pthread_mutex_lock(&list.lock);
    for (size_t i = 0; i < on->n; i++)
        if (on->modules[i] == id) {
            on->modules[i] = on->modules[--on->n];
            break;
        }
    while (on->read == id)
        pthread_cond_wait(&list.done, &list.lock);
    pthread_mutex_unlock(&list.lock);
}

void sxs_modules_end(struct on_runtime *on)
{
    pthread_mutex_lock(&list.lock);
    on->ended = 1;
    on->n = 0;
    pthread_mutex_unlock(&list.lock);
}

/* A runtime that has code with new IL, to which the library keeps one reference. */
struct kept_runtime {
    struct kept_runtime *next;
    struct sxs_runtime  *rt;
};

static struct kept_runtime *kept; /* one thread at a time ends a session */
SXS_SESSION_KEEPS(kept);

/* Keeps a reference to @rt until the process ends, in place of the session's. */
static void keep_runtime(struct sxs_runtime *rt)
{
    struct kept_runtime *k = kept;
    while (k && k->rt != rt)
        k = k->next;
    if (k) {
        sxs_runtime_unref(rt);
        return;
    }
    k = malloc(sizeof(*k));
    if (!k) /* the reference stays, and the next session keeps another one */
        return;
    *k = (struct kept_runtime){kept, rt};
    kept = k;
}

void sxs_modules_free(void)
{
    while (list.first) {
        struct on_runtime *on = list.first;
        list.first = on->next;
        keep_runtime(on->rt);
        free(on->modules);
        free(on);
    }
}

void sxs_modules_forget(void)
{
    for (struct on_runtime *on = list.first; on; on = on->next)
        on->read = 0; /* the child does not have the thread that was reading */
}
