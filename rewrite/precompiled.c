/* SPDX-License-Identifier: MIT */
#include "rewrite/precompiled.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "manager/base/fork.h"
#include "manager/base/log.h"
#include "rewrite/utf16.h"

#define PATH 2048

struct place {
    sxs_module module;
    int        left; /* 0: the framework's */
};

static struct place   *places;
static size_t          n, cap; /* all three under lock */
static _Atomic int     any;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);

static struct place *find_locked(sxs_module module)
{
    for (size_t i = 0; i < n; i++)
        if (places[i].module.id == module.id && places[i].module.rt == module.rt)
            return &places[i];
    return NULL;
}

/* 1: left, 0: not, -1: not known. */
static int look(sxs_module module)
{
    struct place *p;
    int           left;
    pthread_mutex_lock(&lock);
    p = find_locked(module);
    left = p ? p->left : -1;
    pthread_mutex_unlock(&lock);
    return left;
}

/* It lies beside the runtime, or in a shared framework. */
static int is_framework(sxs_module module)
{
    const char *clr = sxs_runtime_path(module.rt), *slash = strrchr(clr, '/');
    size_t      len = slash ? (size_t)(slash + 1 - clr) : 0;
    WCHAR       wide[1024] = {0};
    char        path[PATH];
    ULONG       size = 0;
    if (FAILED(sxs_info_GetModuleInfo(module.rt, module, NULL, ARRAY_LEN(wide), &size, wide, NULL)))
        return 1;
    sxs_utf8_of(wide, ARRAY_LEN(wide), path, sizeof(path));
    return (len && strncmp(path, clr, len) == 0 && !strchr(path + len, '/')) ||
           strstr(path, "/shared/Microsoft.") != NULL;
}

/* Returns 0 when there is no memory for one more. */
static int make_room_locked(void)
{
    size_t more = cap ? 2 * cap : 64;
    void  *grown;
    if (n < cap)
        return 1;
    grown = realloc(places, more * sizeof(*places));
    if (!grown)
        return 0;
    places = grown;
    cap = more;
    return 1;
}

void sxs_precompiled_leave(sxs_module module)
{
    static _Atomic int said;
    int                left, kept = 1;
    if (look(module) >= 0)
        return;
    left = !is_framework(module);
    pthread_mutex_lock(&lock);
    if (!find_locked(module)) {
        kept = make_room_locked();
        if (kept)
            places[n++] = (struct place){module, left};
    }
    pthread_mutex_unlock(&lock);
    if (left)
        atomic_store(&any, 1);
    if (left && !kept && !atomic_exchange(&said, 1))
        sxs_warn("tool instrument: no memory: precompiled code of some modules is used: calls "
                 "inlined in it are not seen");
}

int sxs_precompiled_is_left(sxs_function fn)
{
    sxs_module  module;
    sxs_class   cls;
    mdMethodDef token;
    return atomic_load_explicit(&any, memory_order_relaxed) &&
           SUCCEEDED(sxs_info_GetFunctionInfo(fn.rt, fn, &cls, &module, &token)) &&
           look(module) == 1;
}

void sxs_precompiled_forget(sxs_module module)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n;)
        if (places[i].module.rt == module.rt && (!module.id || places[i].module.id == module.id))
            places[i] = places[--n];
        else
            i++;
    pthread_mutex_unlock(&lock);
}
