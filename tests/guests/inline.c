/* SPDX-License-Identifier: MIT */
/*
 * inline.c - a profiler that answers JITInlining with TRUE, FALSE or not at all, depending on the
 * callee, and that lets precompiled code be used or not.
 */
#include "tests/guests/names.h"

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000C4}";
const char prof_name[] = "inline";

struct inlining {
    _Atomic unsigned asked[3], compiled[3]; /* callees: allowed, refused, unanswered */
    _Atomic unsigned searched, proposed;    /* precompiled methods; those proposed to be used */
};

static const char *const callees[] = {"Profiled.Inlining.Allowed", "Profiled.Inlining.Refused",
                                      "Profiled.Inlining.Unanswered"};

HRESULT prof_initialize(struct prof *p)
{
    p->own = calloc(1, sizeof(struct inlining));
    return p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_JIT_COMPILATION |
                                                    COR_PRF_MONITOR_CACHE_SEARCHES);
}

static int callee_number(struct prof *p, FunctionID fn)
{
    char name[200];
    prof_method_name(p, fn, name, sizeof(name));
    for (int i = 0; i < 3; i++)
        if (strcmp(name, callees[i]) == 0)
            return i;
    return -1;
}

HRESULT prof_JITInlining(ICorProfilerCallback11 *self, FunctionID caller, FunctionID callee,
                         BOOL *should_inline)
{
    struct prof *p = prof_of(self);
    int          n = callee_number(p, callee);
    (void)caller;
    if (n >= 0)
        ((struct inlining *)p->own)->asked[n]++;
    if (n == 0)
        *should_inline = 1;
    else if (n == 1)
        *should_inline = 0;
    return S_OK;
}

HRESULT prof_JITCompilationStarted(ICorProfilerCallback11 *self, FunctionID fn, BOOL safe)
{
    struct prof *p = prof_of(self);
    int          n = callee_number(p, fn);
    (void)safe;
    if (n >= 0)
        ((struct inlining *)p->own)->compiled[n]++;
    return S_OK;
}

/* Leaves the proposal alone. */
HRESULT prof_JITCachedFunctionSearchStarted(ICorProfilerCallback11 *self, FunctionID fn, BOOL *use)
{
    struct inlining *in = prof_of(self)->own;
    (void)fn;
    in->searched++;
    in->proposed += *use != 0;
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    struct inlining *in = p->own;
    for (int i = 0; i < 3; i++)
        prof_say(p, "%s asked %s compiled %u", callees[i], in->asked[i] ? "yes" : "no",
                 in->compiled[i]);
    prof_say(p, "searches %s, all proposed %s", in->searched ? "yes" : "no",
             in->searched == in->proposed ? "yes" : "no");
}
