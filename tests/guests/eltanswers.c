/* SPDX-License-Identifier: MIT */
/* eltanswers.c - a profiler that sets hooks and mappers in wrong ways, and prints the answers.
 * ELTANSWERS_FAIL: its Initialize fails afterwards. */
#include "tests/guests/profiler.h"

const char prof_clsid[] = "{5E5C0016-0000-4000-8000-0000000E1740}";

#define ANSWER(p, call) prof_say(p, "%d: 0x%08x", __LINE__, (unsigned)(p)->info->vtbl->call)
#define FAST            COR_PRF_MONITOR_ENTERLEAVE
#define ARGS            (COR_PRF_MONITOR_ENTERLEAVE | COR_PRF_ENABLE_FUNCTION_ARGS)

static _Atomic uint64_t n_enters[3];

static void enter_1(FunctionID id)
{
    (void)id;
    atomic_fetch_add(&n_enters[0], 1);
}

static void enter_2(FunctionID id, UINT_PTR client, COR_PRF_FRAME_INFO frame,
                    COR_PRF_FUNCTION_ARGUMENT_INFO *args)
{
    (void)id;
    (void)client;
    (void)frame;
    (void)args;
    atomic_fetch_add(&n_enters[1], 1);
}

static void enter_3(FunctionIDOrClientID id, COR_PRF_ELT_INFO elt)
{
    (void)id;
    (void)elt;
    atomic_fetch_add(&n_enters[2], 1);
}

void eltanswers_nothing(void);
__asm__(
    ".text\n.globl eltanswers_nothing\n.hidden eltanswers_nothing\neltanswers_nothing:\n  ret\n");

static UINT_PTR map(FunctionID id, BOOL *hook)
{
    *hook = 1;
    return id;
}

static void set_all(struct prof *p)
{
    FunctionEnter3 *nothing = (FunctionEnter3 *)(uintptr_t)eltanswers_nothing;
    DWORD           low = 0;
    ANSWER(p, SetEnterLeaveFunctionHooks(p->info, NULL, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks2(p->info, NULL, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks3(p->info, NULL, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks3WithInfo(p->info, NULL, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks3WithInfo(p->info, enter_3, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks(p->info, enter_1, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks(p->info, enter_1, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks2(p->info, enter_2, NULL, NULL));
    ANSWER(p, SetEventMask(p->info, ARGS));
    ANSWER(p, SetEnterLeaveFunctionHooks3(p->info, nothing, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks3WithInfo(p->info, enter_3, NULL, NULL));
    ANSWER(p, SetEventMask(p->info, FAST));
    ANSWER(p, GetEventMask(p->info, &low));
    prof_say(p, "mask 0x%08x", (unsigned)low);
    ANSWER(p, SetFunctionIDMapper(p->info, map));
    ANSWER(p, SetFunctionIDMapper(p->info, NULL));
    ANSWER(p, SetFunctionIDMapper2(p->info, NULL, NULL));
}

HRESULT prof_initialize(struct prof *p)
{
    set_all(p);
    return getenv("ELTANSWERS_FAIL") ? E_FAIL : S_OK;
}

void prof_shutdown(struct prof *p)
{
    prof_say(p, "hooks called: %d %d %d", n_enters[0] != 0, n_enters[1] != 0, n_enters[2] != 0);
    ANSWER(p, SetEnterLeaveFunctionHooks(p->info, enter_1, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks(p->info, NULL, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks2(p->info, enter_2, NULL, NULL));
    ANSWER(p, SetEnterLeaveFunctionHooks3WithInfo(p->info, enter_3, NULL, NULL));
    ANSWER(p, SetFunctionIDMapper(p->info, map));
}
