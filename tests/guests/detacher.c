/* SPDX-License-Identifier: MIT */
/*
 * detacher.c - a profiler that detaches under load.
 *
 * A thread of its own waits for some callbacks, requests the detach, requests it again, and checks
 * that no callback follows ProfilerDetachSucceeded. DETACH=immutable, rewrites, initialize: the
 * request is made when it must be refused.
 */
#include "tests/guests/names.h"

#include <unistd.h>

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000C7}";
const char prof_name[] = "detacher";

struct detacher {
    _Atomic unsigned calls, after, detached;
    pthread_t        thread;
    _Atomic unsigned requested;
    _Atomic HRESULT  first, second;
};

static _Atomic unsigned n_detaching; /* threads in ProfilerDetachSucceeded */

/* Keeps the process from ending before ProfilerDetachSucceeded has said everything. */
__attribute__((destructor)) static void wait_for_detach(void)
{
    for (int ms = 0; ms < 20000 && n_detaching; ms++)
        usleep(1000);
}

static int is(const char *what)
{
    const char *value = getenv("DETACH");
    return value && strcmp(value, what) == 0;
}

static void *detach(void *arg)
{
    struct prof     *p = arg;
    struct detacher *d = p->own;
    while (d->calls < 50)
        usleep(1000);
    d->first = p->info->vtbl->RequestProfilerDetach(p->info, 10);
    d->second = p->info->vtbl->RequestProfilerDetach(p->info, 10);
    d->requested = 1;
    return NULL;
}

HRESULT prof_initialize(struct prof *p)
{
    struct detacher *d = calloc(1, sizeof(*d));
    DWORD            low = COR_PRF_MONITOR_EXCEPTIONS | COR_PRF_MONITOR_THREADS;
    HRESULT          hr;
    p->own = d;
    if (is("immutable"))
        low |= COR_PRF_MONITOR_CODE_TRANSITIONS;
    hr = p->info->vtbl->SetEventMask(p->info, low);
    if (is("initialize"))
        prof_say(p, "in Initialize 0x%08x",
                 (unsigned)p->info->vtbl->RequestProfilerDetach(p->info, 10));
    if (SUCCEEDED(hr) && pthread_create(&d->thread, NULL, detach, p) != 0)
        hr = E_FAIL;
    return hr;
}

static HRESULT count(ICorProfilerCallback11 *self)
{
    struct detacher *d = prof_of(self)->own;
    d->calls++;
    d->after += d->detached;
    if (d->requested && SUCCEEDED(d->first) && !d->detached)
        usleep(2000); /* so that the program still runs when the detach comes */
    return S_OK;
}

HRESULT prof_ExceptionThrown(ICorProfilerCallback11 *self, ObjectID object)
{
    (void)object;
    return count(self);
}

HRESULT prof_ExceptionSearchFunctionEnter(ICorProfilerCallback11 *self, FunctionID fn)
{
    (void)fn;
    return count(self);
}

HRESULT prof_ProfilerDetachSucceeded(ICorProfilerCallback11 *self)
{
    struct prof     *p = prof_of(self);
    struct detacher *d = p->own;
    n_detaching++;
    d->detached = 1;
    pthread_join(d->thread, NULL);
    prof_say(p, "detached: first 0x%08x, second 0x%08x", (unsigned)d->first, (unsigned)d->second);
    usleep(20000);
    prof_say(p, "callbacks after that: %u", d->after);
    n_detaching--;
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    struct detacher *d = p->own;
    prof_say(p, "shut down: first 0x%08x, second 0x%08x", (unsigned)d->first, (unsigned)d->second);
}
