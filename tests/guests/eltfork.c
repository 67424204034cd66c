/* SPDX-License-Identifier: MIT */
/* eltfork.c - a profiler with hooks of version 1. It counts the calls of Calls.Work.Fib in forked
 * children, in memory that they share with their parent. */
#include <sys/mman.h>
#include <unistd.h>

#include "tests/guests/elt.h"

const char prof_clsid[] = "{5E5C001B-0000-4000-8000-0000000E1760}";

static _Atomic uint64_t *enters, *leaves; /* shared with children */
static pid_t             parent;

static int elt_is_chosen(const char *type, const char *method)
{
    return strcmp(type, "Calls.Work") == 0 && strcmp(method, "Fib") == 0;
}

static void enter(FunctionID id)
{
    if (getpid() != parent && elt_find(NULL, id))
        elt_count(enters);
}

static void leave(FunctionID id)
{
    if (getpid() != parent && elt_find(NULL, id))
        elt_count(leaves);
}

static void tailcall(FunctionID id)
{
    (void)id;
}

ELT_LEARN

HRESULT prof_initialize(struct prof *p)
{
    HRESULT hr = p->info->vtbl->SetEventMask(p->info, ELT_MASK | COR_PRF_MONITOR_JIT_COMPILATION);
    void   *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return E_OUTOFMEMORY;
    enters = shared;
    leaves = enters + 1;
    parent = getpid();
    elt_begin(p);
    if (SUCCEEDED(hr))
        hr = p->info->vtbl->SetEnterLeaveFunctionHooks(p->info, enter, leave, tailcall);
    return hr;
}

void prof_shutdown(struct prof *p)
{
    prof_say(p, "in children: enters %llu leaves %llu", (unsigned long long)*enters,
             (unsigned long long)*leaves);
}
