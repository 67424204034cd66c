/* SPDX-License-Identifier: MIT */
/*
 * gc.c - a profiler of collections: generations, roots, references, handles, and one collection of
 * its own, which a thread of its own forces after the seven of the program.
 */
#include "tests/guests/names.h"

#include <semaphore.h>
#include <stdlib.h>

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000C1}";
const char prof_name[] = "gc";

struct gc {
    _Atomic unsigned started[4], finished; /* by the highest generation collected */
    _Atomic int      moved, survived, roots, roots2, things, allocated; /* seen at all: 1 */
    _Atomic unsigned handles_created, handles_destroyed;
    uint64_t         handles[64]; /* to the program's objects */
    pthread_mutex_t  lock;
    ClassID          thing; /* of Profiled.Thing */
    sem_t            force;
    unsigned         force_after; /* collections, PROF_FORCE_AFTER: those that the program makes itself. While
                                   * one of these goes on, a runtime takes it for the forced one as well. */
    pthread_t        forcer;
    HRESULT          forced;
};

static void *force(void *arg)
{
    struct prof *p = arg;
    struct gc   *gc = p->own;
    while (sem_wait(&gc->force) != 0)
        continue;
    if (atomic_load(&gc->finished))
        gc->forced = p->info->vtbl->ForceGC(p->info);
    return NULL;
}

HRESULT prof_initialize(struct prof *p)
{
    struct gc *gc = calloc(1, sizeof(*gc));
    HRESULT    hr = p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_GC);
    pthread_mutex_init(&gc->lock, NULL);
    sem_init(&gc->force, 0, 0);
    gc->force_after = getenv("PROF_FORCE_AFTER") ? (unsigned)atoi(getenv("PROF_FORCE_AFTER")) : 7;
    gc->forced = S_FALSE;
    p->own = gc;
    if (SUCCEEDED(hr) && pthread_create(&gc->forcer, NULL, force, p) != 0)
        hr = E_FAIL;
    return hr;
}

HRESULT prof_GarbageCollectionStarted(ICorProfilerCallback11 *self, int n, BOOL *collected,
                                      COR_PRF_GC_REASON reason)
{
    struct gc *gc = prof_of(self)->own;
    int        top = 0;
    for (int i = 0; i < n && i < 3; i++)
        if (collected[i])
            top = i;
    if (reason == COR_PRF_GC_INDUCED)
        gc->started[top]++;
    else
        gc->started[3]++;
    return S_OK;
}

HRESULT prof_GarbageCollectionFinished(ICorProfilerCallback11 *self)
{
    struct gc *gc = prof_of(self)->own;
    if (atomic_fetch_add(&gc->finished, 1) + 1 == gc->force_after)
        sem_post(&gc->force);
    return S_OK;
}

HRESULT prof_MovedReferences2(ICorProfilerCallback11 *self, ULONG n, ObjectID *from, ObjectID *to,
                              SIZE_T *sizes)
{
    (void)from, (void)to, (void)sizes;
    if (n)
        ((struct gc *)prof_of(self)->own)->moved = 1;
    return S_OK;
}

HRESULT prof_SurvivingReferences2(ICorProfilerCallback11 *self, ULONG n, ObjectID *from,
                                  SIZE_T *sizes)
{
    (void)from, (void)sizes;
    if (n)
        ((struct gc *)prof_of(self)->own)->survived = 1;
    return S_OK;
}

HRESULT prof_RootReferences(ICorProfilerCallback11 *self, ULONG n, ObjectID *roots)
{
    (void)roots;
    if (n)
        ((struct gc *)prof_of(self)->own)->roots = 1;
    return S_OK;
}

HRESULT prof_RootReferences2(ICorProfilerCallback11 *self, ULONG n, ObjectID *roots,
                             COR_PRF_GC_ROOT_KIND *kinds, COR_PRF_GC_ROOT_FLAGS *flags,
                             UINT_PTR *ids)
{
    (void)roots, (void)kinds, (void)flags, (void)ids;
    if (n)
        ((struct gc *)prof_of(self)->own)->roots2 = 1;
    return S_OK;
}

/* Returns 1 when the class is Profiled.Thing. Called while the runtime is suspended or not. */
static int is_thing(struct prof *p, ClassID class_id)
{
    struct gc *gc = p->own;
    char       name[200];
    if (!gc->thing) {
        prof_class_name(p, class_id, name, sizeof(name));
        if (strcmp(name, "Profiled.Thing") == 0)
            gc->thing = class_id;
    }
    return class_id == gc->thing;
}

/* The program's hundred things are one chain: all but the first refer to one object. */
HRESULT prof_ObjectReferences(ICorProfilerCallback11 *self, ObjectID object, ClassID class_id,
                              ULONG n, ObjectID *references)
{
    struct prof *p = prof_of(self);
    (void)object, (void)references;
    if (n == 1 && is_thing(p, class_id))
        ((struct gc *)p->own)->things++;
    return S_OK;
}

HRESULT prof_HandleCreated(ICorProfilerCallback11 *self, GCHandleID handle, ObjectID object)
{
    struct prof *p = prof_of(self);
    struct gc   *gc = p->own;
    ClassID      class_id = 0;
    char         name[200];
    if (!object || FAILED(p->info->vtbl->GetClassFromObject(p->info, object, &class_id)))
        return S_OK;
    prof_class_name(p, class_id, name, sizeof(name));
    if (strcmp(name, "Profiled.Thing[]") != 0)
        return S_OK;
    pthread_mutex_lock(&gc->lock);
    gc->handles[gc->handles_created++ % 64] = handle;
    pthread_mutex_unlock(&gc->lock);
    return S_OK;
}

HRESULT prof_HandleDestroyed(ICorProfilerCallback11 *self, GCHandleID handle)
{
    struct gc *gc = prof_of(self)->own;
    pthread_mutex_lock(&gc->lock);
    for (unsigned i = 0; i < 64; i++)
        if (gc->handles[i] == handle) {
            gc->handles[i] = 0;
            gc->handles_destroyed++;
        }
    pthread_mutex_unlock(&gc->lock);
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    struct gc *gc = p->own;
    sem_post(&gc->force);
    pthread_join(gc->forcer, NULL);
    prof_say(p, "induced collections of generation 0: %u, 1: %u, 2: %u; others: %u; finished: %u",
             gc->started[0], gc->started[1], gc->started[2], gc->started[3], gc->finished);
    prof_say(p, "ForceGC 0x%08x", (unsigned)gc->forced);
    prof_say(p, "roots %d %d moved %d survived %d", gc->roots, gc->roots2, gc->moved, gc->survived);
    prof_say(p, "references of things %s", gc->things >= 99 ? "yes" : "no");
    prof_say(p, "handles %u %u", gc->handles_created, gc->handles_destroyed);
}
