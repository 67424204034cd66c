/* SPDX-License-Identifier: MIT */
/* crash.c - a profiler that crashes: in a callback, on a thread of its own, or in a function of
 * another library that a callback calls. CRASH_WHERE says which: callback, thread or below; with
 * "together", two callbacks crash at the same time, in two runtimes. */
#include <pthread.h>
#include <unistd.h>

#include "tests/guests/profiler.h"

const char prof_clsid[] = "{5E5C0002-0000-4000-8000-0000000C4A54}";

static void *on_thread(void *none)
{
    usleep(1000);
    *(volatile int *)none = 1; /* not mapped */
    return NULL;
}

/* Returns when two threads are in it. */
static void meet(void)
{
    static _Atomic int n_threads;
    n_threads++;
    while (n_threads < 2)
        usleep(100);
}

HRESULT prof_ModuleLoadFinished(ICorProfilerCallback11 *self, ModuleID module, HRESULT status)
{
    const char *where = getenv("CRASH_WHERE");
    char *volatile unmapped = (char *)64;
    const char *volatile found = NULL;
    pthread_t thread;
    (void)self;
    (void)found;
    (void)module;
    (void)status;
    if (where && strcmp(where, "together") == 0)
        meet();
    if (where && (strcmp(where, "callback") == 0 || strcmp(where, "together") == 0))
        *(volatile int *)unmapped = 1;
    if (where && strcmp(where, "below") == 0)
        found = strchr(unmapped, 'x');
    if (where && strcmp(where, "thread") == 0 &&
        pthread_create(&thread, NULL, on_thread, (void *)unmapped) == 0)
        pthread_join(thread, NULL);
    return S_OK;
}

HRESULT prof_initialize(struct prof *p)
{
    return p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_MODULE_LOADS);
}

void prof_shutdown(struct prof *p)
{
    prof_say(p, "not crashed");
}
