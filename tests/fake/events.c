/* SPDX-License-Identifier: MIT */
/* events.c - sequences of events: an exception, and one hooked call. */
#include "tests/fake/fake.h"

#define ID(object) ((uint64_t)(uintptr_t)(object))

void fake_throw(struct fake_function *thrower, struct fake_function *catcher)
{
    struct fake_object *object = fake_object_new(thrower->type ? thrower->type : catcher->type);
    atomic_fetch_add(&fake.exceptions, 1);
    FAKE_RAISE(ExceptionThrown, ID(object));
    FAKE_RAISE(ExceptionSearchFunctionEnter, ID(thrower));
    FAKE_RAISE(ExceptionSearchFunctionLeave);
    FAKE_RAISE(ExceptionSearchFunctionEnter, ID(catcher));
    FAKE_RAISE(ExceptionSearchCatcherFound, ID(catcher));
    FAKE_RAISE(ExceptionSearchFunctionLeave);
    FAKE_RAISE(ExceptionUnwindFunctionEnter, ID(thrower));
    FAKE_RAISE(ExceptionUnwindFunctionLeave);
    FAKE_RAISE(ExceptionUnwindFunctionEnter, ID(catcher));
    FAKE_RAISE(ExceptionCatcherEnter, ID(catcher), ID(object));
    FAKE_RAISE(ExceptionCatcherLeave);
}

/* Calls a fast-path hook. A CLR passes the arguments of enter hooks in r14 and r15, which a C call
 * cannot set, and those of leave and tailcall hooks in rdi and rsi. This function passes them in
 * both places, so that hooks written in C work too. */
static unsigned plain_hook(uintptr_t hook, uint64_t client)
{
    FunctionEnter3 *call = (FunctionEnter3 *)hook;
    if (!call)
        return 0;
    register uint64_t r14 __asm__("r14") = client;
    register uint64_t r15 __asm__("r15") = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    register uint64_t rdi __asm__("rdi") = client;
    register uint64_t rsi __asm__("rsi") = r15;
    __asm__ volatile("mov %%rsp, %%rbx\n\tsub $128, %%rsp\n\tand $-16, %%rsp\n\tcall *%[call]\n\t"
                     "mov %%rbx, %%rsp"
                     : "+r"(rdi), "+r"(rsi), "+r"(r14), "+r"(r15)
                     : [call] "a"(call)
                     : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0",
                       "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                       "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    return 1;
}

static unsigned info_hook(uintptr_t hook, uint64_t client)
{
    FunctionEnter3WithInfo *call = (FunctionEnter3WithInfo *)hook;
    FunctionIDOrClientID id = {.clientID = client};
    COR_PRF_ELT_INFO info = (COR_PRF_ELT_INFO)(uintptr_t)&id;
    if (!call)
        return 0;
    call(id, info);
    return 1;
}

unsigned fake_elt(struct fake_function *function, bool tailcall)
{
    static const uint32_t slow = (uint32_t)(COR_PRF_ENABLE_FUNCTION_ARGS |
                                            COR_PRF_ENABLE_FUNCTION_RETVAL |
                                            COR_PRF_ENABLE_FRAME_INFO);
    uint32_t mask = atomic_load(&fake.mask_low);
    uint64_t client;
    unsigned called;
    if (!(mask & (uint32_t)COR_PRF_MONITOR_ENTERLEAVE) || !fake_map(function, &client))
        return 0;
    if (mask & slow)
        called = info_hook(fake.enter3_info, client) +
                 info_hook(tailcall ? fake.tailcall3_info : fake.leave3_info, client);
    else
        called = plain_hook(fake.enter3, client) +
                 plain_hook(tailcall ? fake.tailcall3 : fake.leave3, client);
    atomic_fetch_add(&fake.elt_calls, called);
    return called;
}
