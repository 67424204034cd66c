/* SPDX-License-Identifier: MIT */
/* gc.c - suspends threads by SIGRTMIN, and simulates collections. */
#include "tests/fake/fake.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

/* How long a suspension waits for a thread. */
#ifdef SXS_SANITIZED
#define PATIENCE_MS 60000
#else
#define PATIENCE_MS 10000
#endif

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Sends one signal to each thread and waits for the answers. A lost signal is never sent again, as
 * in a real runtime, which keeps a "pending" mark; a real suspension would then never end. Returns
 * 0 or ETIMEDOUT. */
static int stop_threads(void)
{
    struct {
        struct fake_thread *thread;
        unsigned before;
    } *sent = calloc(FAKE_MAX_THREADS, sizeof(*sent));
    unsigned n_sent = 0, n = atomic_load(&fake.n_threads);
    int result = 0;
    if (!sent)
        return 0;
    for (unsigned i = 0; i < n && i < FAKE_MAX_THREADS; i++) {
        struct fake_thread *thread = atomic_load(&fake.threads[i]);
        if (!thread || thread == fake_self || atomic_load(&thread->state) != FAKE_RUNNING)
            continue;
        sent[n_sent].thread = thread;
        sent[n_sent++].before = atomic_load(&thread->answered);
        if (fake.signals)
            pthread_kill(thread->pthread, SIGRTMIN);
        else
            atomic_fetch_add(&thread->answered, 1);
    }
    uint64_t deadline = now_ms() + PATIENCE_MS;
    for (unsigned i = 0; i < n_sent && result == 0; i++) {
        while (atomic_load(&sent[i].thread->answered) == sent[i].before) {
            if (now_ms() > deadline) {
                result = ETIMEDOUT;
                break;
            }
            fake_nap(50);
        }
    }
    free(sent);
    return result;
}

int fake_suspend(COR_PRF_SUSPEND_REASON reason)
{
    FAKE_RAISE(RuntimeSuspendStarted, (uint64_t)reason);
    while (pthread_mutex_trylock(&fake.gc_lock) != 0)
        fake_nap(100); /* do not block: another collection may need this thread's answer */
    atomic_store(&fake.gc_running, 1);
    atomic_store(&fake.suspended, 1);
    int result = stop_threads();
    atomic_store(&fake.gc_running, 0);
    if (result)
        FAKE_RAISE(RuntimeSuspendAborted);
    else
        FAKE_RAISE(RuntimeSuspendFinished);
    return result;
}

void fake_resume(void)
{
    FAKE_RAISE(RuntimeResumeStarted);
    atomic_store(&fake.suspended, 0);
    pthread_mutex_unlock(&fake.gc_lock);
    FAKE_RAISE(RuntimeResumeFinished);
}

/* Reports the heap to a profiler that asks for COR_PRF_MONITOR_GC: the newest object is held by a
 * handle, the second newest by a stack, and each refers to the one before. All objects survive. */
static void report_heap(void)
{
    struct fake_object *newest = atomic_load(&fake.newest_object);
    struct fake_object *second = newest ? newest->before : NULL;
    ObjectID roots[2] = {(ObjectID)(uintptr_t)newest, (ObjectID)(uintptr_t)second};
    int32_t kinds[2] = {COR_PRF_GC_ROOT_HANDLE, COR_PRF_GC_ROOT_STACK}, flags[2] = {0};
    UINT_PTR ids[2] = {0x1234, 0};
    ULONG n = second ? 2 : newest ? 1 : 0;
    if (!(atomic_load(&fake.mask_low) & (uint32_t)COR_PRF_MONITOR_GC) || !n)
        return;
    FAKE_RAISE(RootReferences2, n, (uint64_t)(uintptr_t)roots, (uint64_t)(uintptr_t)kinds,
               (uint64_t)(uintptr_t)flags, (uint64_t)(uintptr_t)ids);
    for (struct fake_object *o = newest; o; o = o->before) {
        ObjectID before = (ObjectID)(uintptr_t)o->before;
        if (FAILED(FAKE_RAISE(ObjectReferences, (uint64_t)(uintptr_t)o, (uint64_t)(uintptr_t)o->type,
                              before ? 1 : 0, (uint64_t)(uintptr_t)&before)))
            return; /* as real runtimes do */
    }
}

int fake_gc(unsigned generation)
{
    BOOL collected[5] = {0};
    for (unsigned i = 0; i <= generation && i < 5; i++)
        collected[i] = 1;
    int result = fake_suspend(COR_PRF_SUSPEND_FOR_GC);
    if (result)
        atomic_fetch_add(&fake.gc_hangs, 1);
    FAKE_RAISE(GarbageCollectionStarted, 5, (uint64_t)(uintptr_t)collected, COR_PRF_GC_INDUCED);
    report_heap();
    atomic_fetch_add(&fake.gcs, 1);
    FAKE_RAISE(GarbageCollectionFinished);
    fake_resume();
    return result;
}
