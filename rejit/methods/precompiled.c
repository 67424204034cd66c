/* SPDX-License-Identifier: MIT */
#include "rejit/methods/precompiled.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/text/utf8.h"

#define PATH 2048

struct precompiled_module {
    sxs_module module;
    int        left; /* 1: precompiled code is refused; 0: a module of the framework */
};

static struct precompiled_module *places; /* owned; guarded by lock */
static size_t                     n, cap; /* used and allocated places; guarded by lock */
static _Atomic int                any;    /* 1: code of some module is or was refused */
static pthread_mutex_t            lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
SXS_SESSION_KEEPS(places); /* sxs_precompiled_forget() empties it */
SXS_SESSION_KEEPS(n);
SXS_SESSION_KEEPS(cap);
SXS_SESSION_RESETS(any);
SXS_SESSION_KEEPS(lock);

static struct precompiled_module *find_locked(sxs_module module)
{
    for (size_t i = 0; i < n; i++)
        if (places[i].module.id == module.id && places[i].module.rt == module.rt)
            return &places[i];
    return NULL;
}

/* Returns 1: precompiled code is refused; 0: it is used; -1: the module is not in the table. */
static int find_refusal(sxs_module module)
{
    struct precompiled_module *p;
    int                        left;
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
    if (FAILED(sxs_info_GetModuleInfo(module.rt, module, NULL, ARRAY_LEN(wide), &size, wide, NULL)))
        return 1;
    sxs_utf8_of(wide, ARRAY_LEN(wide), path, sizeof(path));
    return (len && strncmp(path, clr, len) == 0 && !strchr(path + len, '/')) ||
           strstr(path, "/shared/Microsoft.") != NULL;
}

/* Makes room for one more place. Returns 1, or 0 when there is no memory. */
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
    SXS_SESSION_KEEPS(said);
    int                left, kept = 1;
    if (find_refusal(module) >= 0)
        return;
    left = !is_framework(module);
    pthread_mutex_lock(&lock);
    if (!find_locked(module)) {
        kept = make_room_locked();
        if (kept)
            places[n++] = (struct precompiled_module){module, left};
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
           find_refusal(module) == 1;
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
