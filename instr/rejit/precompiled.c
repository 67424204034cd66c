/* SPDX-License-Identifier: MIT */
#include "instr/rejit/precompiled.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/fork.h"
#include "base/utf16.h"

#define N_MODULES 512u /* for further modules precompiled code is used */
#define PATH      2048

static struct place {
    sxs_module module;
    int        left;        /* 1: precompiled code is refused; 0: a module of the framework */
} places[N_MODULES];        /* guarded by lock */
static unsigned        n;   /* used places; guarded by lock */
static _Atomic int     any; /* 1: code of some module is or was refused */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);

static struct place *find_locked(sxs_module module)
{
    for (unsigned i = 0; i < n; i++)
        if (places[i].module.id == module.id && places[i].module.rt == module.rt)
            return &places[i];
    return NULL;
}

/* Returns 1: precompiled code is refused; 0: it is used; -1: the module is not in the table. */
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

/* Whether the module's file lies beside the runtime, or in a shared framework. Returns 1 when the
 * path is not known. */
static int is_framework(sxs_module module)
{
    const char *clr = sxs_runtime_path(module.rt), *slash = strrchr(clr, '/');
    size_t      len = slash ? (size_t)(slash + 1 - clr) : 0;
    WCHAR       wide[1024] = {0};
    char        path[PATH];
    ULONG       size = 0;
    if (FAILED(sxs_info_GetModuleInfo(module.rt, module, NULL, ARRAY_LEN(wide), &size, wide,
                                      NULL)))
        return 1;
    sxs_utf8_of(wide, ARRAY_LEN(wide), path, sizeof(path));
    return (len && strncmp(path, clr, len) == 0 && !strchr(path + len, '/')) ||
           strstr(path, "/shared/Microsoft.") != NULL;
}

void sxs_precompiled_leave(sxs_module module)
{
    int left;
    if (look(module) >= 0)
        return;
    left = !is_framework(module);
    pthread_mutex_lock(&lock);
    if (!find_locked(module) && n < N_MODULES)
        places[n++] = (struct place){module, left};
    pthread_mutex_unlock(&lock);
    if (left)
        atomic_store(&any, 1);
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
    for (unsigned i = 0; i < n;)
        if (places[i].module.rt == module.rt &&
            (!module.id || places[i].module.id == module.id))
            places[i] = places[--n];
        else
            i++;
    pthread_mutex_unlock(&lock);
}
