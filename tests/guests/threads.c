/* SPDX-License-Identifier: MIT */
/*
 * threads.c - a profiler of threads: the named threads of the program, and Info calls from threads
 * of its own that the runtime does not know.
 */
#include "tests/guests/names.h"

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000C3}";
const char prof_name[] = "threads";

#define CALLERS 4

struct threads {
    pthread_mutex_t  lock;
    ThreadID         named[64];
    unsigned         n_named, n_ended, n_with_id, n_assigned;
    ThreadID         assigned[4096]; /* threads that got their kernel thread */
    pthread_t        callers[CALLERS];
    _Atomic int      stop;
    _Atomic unsigned wrong; /* unexpected results on the profiler's own threads */
};

/* Calls methods that may be called on any thread. */
static void *call_info(void *arg)
{
    struct prof    *p = arg;
    struct threads *t = p->own;
    for (unsigned i = 0; i < 2000 && !atomic_load(&t->stop); i++) {
        ThreadID thread = 1;
        DWORD    mask = 0;
        if (p->info->vtbl->GetCurrentThreadID(p->info, &thread) != CORPROF_E_NOT_MANAGED_THREAD)
            t->wrong++;
        if (p->info->vtbl->GetEventMask(p->info, &mask) != S_OK || mask != COR_PRF_MONITOR_THREADS)
            t->wrong++;
        p->info->vtbl->AddRef(p->info);
        p->info->vtbl->Release(p->info);
    }
    return NULL;
}

HRESULT prof_initialize(struct prof *p)
{
    struct threads *t = calloc(1, sizeof(*t));
    HRESULT         hr = p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_THREADS);
    pthread_mutex_init(&t->lock, NULL);
    p->own = t;
    for (unsigned i = 0; i < CALLERS; i++)
        if (pthread_create(&t->callers[i], NULL, call_info, p) != 0)
            abort();
    return hr;
}

HRESULT prof_ThreadAssignedToOSThread(ICorProfilerCallback11 *self, ThreadID thread,
                                      DWORD os_thread)
{
    struct threads *t = prof_of(self)->own;
    (void)os_thread;
    pthread_mutex_lock(&t->lock);
    if (t->n_assigned < 4096)
        t->assigned[t->n_assigned++] = thread;
    pthread_mutex_unlock(&t->lock);
    return S_OK;
}

HRESULT prof_ThreadNameChanged(ICorProfilerCallback11 *self, ThreadID thread, ULONG length,
                               WCHAR *name)
{
    struct prof    *p = prof_of(self);
    struct threads *t = p->own;
    char            text[64];
    DWORD           id = 0;
    WCHAR           wide[64] = {0};
    memcpy(wide, name, (length < 63 ? length : 63) * sizeof(WCHAR));
    prof_narrow(wide, text, sizeof(text));
    if (strncmp(text, "profiled-", 9) != 0)
        return S_OK;
    pthread_mutex_lock(&t->lock);
    if (t->n_named < 64)
        t->named[t->n_named++] = thread;
    if (SUCCEEDED(p->info->vtbl->GetThreadInfo(p->info, thread, &id)))
        t->n_with_id++;
    pthread_mutex_unlock(&t->lock);
    return S_OK;
}

HRESULT prof_ThreadDestroyed(ICorProfilerCallback11 *self, ThreadID thread)
{
    struct threads *t = prof_of(self)->own;
    pthread_mutex_lock(&t->lock);
    for (unsigned i = 0; i < t->n_named; i++)
        if (t->named[i] == thread) {
            t->named[i] = 0;
            t->n_ended++;
            break;
        }
    pthread_mutex_unlock(&t->lock);
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    struct threads *t = p->own;
    atomic_store(&t->stop, 1);
    for (unsigned i = 0; i < CALLERS; i++)
        pthread_join(t->callers[i], NULL);
    prof_say(p, "named %u, with a kernel thread %u, ended %u", t->n_named, t->n_with_id,
             t->n_ended);
    prof_say(p, "unexpected results %u", t->wrong);
}
