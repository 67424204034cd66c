/* SPDX-License-Identifier: MIT */
/*
 * bare_hooks.c - minimal and naive enter and leave hooks, which the benchmark compares with the
 * library's hooks. The environment variable BARE_HOOKS selects them:
 *   empty   return at once
 *   stamps  read the time stamp counter once in each hook
 *   naive   use clock_gettime(), and one lock and one hash table for all threads
 *   args    hooks with information: get the arguments from the runtime and read two of them
 *   unwanted  as empty, with a function ID mapper that wants no function
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sxs_abi.h"
#include "tests/bench/bare_hooks.h"

void bare_empty(void), bare_stamp(void), bare_naive_enter(void), bare_naive_leave(void);
void bare_count_enter(FunctionIDOrClientID id), bare_count_leave(FunctionIDOrClientID id);

/* ---- hooks that save the registers they use ------------------------------------------------------------- */

__asm__(".macro saving name, function, argument\n"
        ".globl \\name\n.p2align 4\n\\name:\n"
        "  push %rax\n  push %rcx\n  push %rdx\n  push %rsi\n  push %rdi\n"
        "  push %r8\n  push %r9\n  push %r10\n  push %r11\n"
        "  mov \\argument, %rdi\n"
        "  sub $256, %rsp\n"
        ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n  movdqu %xmm\\n, 16*\\n(%rsp)\n.endr\n"
        "  call \\function@PLT\n"
        ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n  movdqu 16*\\n(%rsp), %xmm\\n\n.endr\n"
        "  add $256, %rsp\n"
        "  pop %r11\n  pop %r10\n  pop %r9\n  pop %r8\n"
        "  pop %rdi\n  pop %rsi\n  pop %rdx\n  pop %rcx\n  pop %rax\n  ret\n"
        ".endm\n"
        ".text\n"
        ".globl bare_empty\n.p2align 4\nbare_empty:\n  ret\n"
        ".globl bare_stamp\n.p2align 4\nbare_stamp:\n"
        "  push %rax\n  push %rdx\n  rdtsc\n  pop %rdx\n  pop %rax\n  ret\n"
        "saving bare_naive_enter, bare_count_enter, %r14\n"
        "saving bare_naive_leave, bare_count_leave, %rdi\n");

#define SLOTS 65536
#define DEEP  4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards table */
static struct {
    uintptr_t id;
    uint64_t  calls, ns;
} table[SLOTS];
static __thread uint64_t starts[DEEP];
static __thread unsigned depth;

static void add_up(uintptr_t id, uint64_t calls, uint64_t ns)
{
    size_t i = (id >> 4) * 2654435761u % SLOTS;
    pthread_mutex_lock(&lock);
    while (table[i].id && table[i].id != id)
        i = (i + 1) % SLOTS;
    table[i].id = id;
    table[i].calls += calls;
    table[i].ns += ns;
    pthread_mutex_unlock(&lock);
}

void bare_count_enter(FunctionIDOrClientID id)
{
    add_up(id.functionID, 1, 0);
    starts[depth++ % DEEP] = sxs_now_ns(CLOCK_MONOTONIC);
}

void bare_count_leave(FunctionIDOrClientID id)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    add_up(id.functionID, 0, now - starts[--depth % DEEP]);
}

/* ---- the slow path: the runtime has saved all registers ---------------------------------------- */

static ICorProfilerInfo15 *info;
static volatile uint64_t   sink;

static void enter_with_info(FunctionIDOrClientID id, COR_PRF_ELT_INFO elt)
{
    union {
        COR_PRF_FUNCTION_ARGUMENT_INFO info;
        char                           room[512];
    } args;
    ULONG              size = sizeof(args);
    COR_PRF_FRAME_INFO frame;
    uint32_t           value;
    if (FAILED(
            info->vtbl->GetFunctionEnter3Info(info, id.functionID, elt, &frame, &size, &args.info)))
        return;
    const COR_PRF_FUNCTION_ARGUMENT_RANGE *ranges = args.info.ranges; /* the first of several */
    for (ULONG i = 0; i < args.info.numRanges && i < 2; i++) {
        memcpy(&value, (const void *)ranges[i].startAddress, sizeof(value));
        sink += value;
    }
}

static void leave_with_info(FunctionIDOrClientID id, COR_PRF_ELT_INFO elt)
{
    (void)id;
    (void)elt;
}

static UINT_PTR want_none(FunctionID id, BOOL *hook)
{
    *hook = 0;
    return id;
}

int bare_hooks_are(const char *name)
{
    const char *which = getenv("BARE_HOOKS");
    return name ? which && strcmp(which, name) == 0 : which != NULL;
}

HRESULT bare_set_hooks(ICorProfilerInfo15 *runtime)
{
    void (*enter)(void) = bare_empty, (*leave)(void) = bare_empty;
    int     args = bare_hooks_are("args");
    HRESULT hr = runtime->vtbl->SetEventMask2(
        runtime, COR_PRF_MONITOR_ENTERLEAVE | (args ? COR_PRF_ENABLE_FUNCTION_ARGS : 0), 0);
    info = runtime;
    if (FAILED(hr))
        return hr;
    if (bare_hooks_are("unwanted"))
        hr = info->vtbl->SetFunctionIDMapper(info, want_none);
    if (FAILED(hr))
        return hr;
    if (args) /* hooks with information, which the event mask must allow */
        return info->vtbl->SetEnterLeaveFunctionHooks3WithInfo(
            info, (FunctionEnter3WithInfo *)(uintptr_t)enter_with_info,
            (FunctionLeave3WithInfo *)(uintptr_t)leave_with_info,
            (FunctionTailcall3WithInfo *)(uintptr_t)leave_with_info);
    if (bare_hooks_are("stamps"))
        enter = leave = bare_stamp;
    if (bare_hooks_are("naive")) {
        enter = bare_naive_enter;
        leave = bare_naive_leave;
    }
    return info->vtbl->SetEnterLeaveFunctionHooks3(info, (FunctionEnter3 *)(uintptr_t)enter,
                                                   (FunctionLeave3 *)(uintptr_t)leave,
                                                   (FunctionTailcall3 *)(uintptr_t)leave);
}
