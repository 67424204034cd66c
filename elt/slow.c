/* SPDX-License-Identifier: MIT */
/*
 * slow.c - calls of hooks that are C functions: all hooks when a user needs information about calls
 * (then the runtime's helper has saved the registers), and hooks of version 1 and 2.
 *
 * Hooks run in cooperative mode on any thread: no lock, no allocation.
 */
#include <alloca.h>

#include "arch/arch.h"
#include "base/log.h"
#include "base/session_state.h"
#include "elt/hooks_internal.h"

/* A COR_PRF_ELT_INFO points to a pointer to the registers that the runtime's helper saved, as
 * 8-byte words; their order is the same in 8, 9 and 10. */
#define FAR (256u << 10) /* bytes from this frame to the saved words; more: unknown layout */

uintptr_t sxs_hooks_sp(COR_PRF_ELT_INFO info)
{
    const uintptr_t *saved = *(const uintptr_t *const *)(uintptr_t)info;
    uintptr_t        here = (uintptr_t)__builtin_frame_address(0), at = (uintptr_t)saved, sp;
    if (at > here && at - here < FAR && !(at & 7)) {
        sp = saved[SXS_HELPER_SP_WORD];
        if (sp > at && !(sp & 7))
            return sp;
    }
    return 0;
}

static FunctionIDOrClientID client_of(const struct hooks_entry *e)
{
    return (FunctionIDOrClientID){.clientID = e->client};
}

static ICorProfilerInfo15 *info_of(const struct hooks_entry *e)
{
    return e->user->sub->rt->hooks->info;
}

/* ---- version 2 ---------------------------------------------------------------------------------- */

/* The largest argument information that is read without asking for its size. */
struct argument_info {
    COR_PRF_FUNCTION_ARGUMENT_INFO  info;
    COR_PRF_FUNCTION_ARGUMENT_RANGE more[15];
};

/* Calls the enter hook of a function with many arguments: @size bytes of information. */
static __attribute__((noinline)) void enter_2_large(const struct hooks_entry *e,
                                                    FunctionEnter2 *hook, COR_PRF_ELT_INFO elt,
                                                    ULONG size)
{
    COR_PRF_FUNCTION_ARGUMENT_INFO *args = alloca(size);
    COR_PRF_FRAME_INFO              frame = 0;
    HRESULT                         hr =
        info_of(e)->vtbl->GetFunctionEnter3Info(info_of(e), e->fn, elt, &frame, &size, args);
    if (FAILED(hr))
        args->numRanges = args->totalArgumentSize = 0;
    hook(e->fn, e->client, e->user->low & (uint32_t)COR_PRF_ENABLE_FRAME_INFO ? frame : 0, args);
}

/* The user gets only the information that its own mask asks for. @elt: 0 on the fast path. */
static void enter_2(const struct hooks_entry *e, COR_PRF_ELT_INFO elt)
{
    FunctionEnter2      *hook = (FunctionEnter2 *)e->user->hooks.enter;
    struct argument_info args = {.info.numRanges = 0};
    COR_PRF_FRAME_INFO   frame = 0;
    ULONG                size = sizeof(args);
    uint32_t             low = e->user->low;
    HRESULT              hr = S_OK;
    if (elt && low & ((uint32_t)COR_PRF_ENABLE_FUNCTION_ARGS | (uint32_t)COR_PRF_ENABLE_FRAME_INFO))
        hr = info_of(e)->vtbl->GetFunctionEnter3Info(info_of(e), e->fn, elt, &frame, &size,
                                                     &args.info);
    if (hr == HRESULT_WIN32_ERROR_INSUFFICIENT_BUFFER && size > sizeof(args) &&
        low & (uint32_t)COR_PRF_ENABLE_FUNCTION_ARGS) {
        enter_2_large(e, hook, elt, size);
        return;
    }
    hook(e->fn, e->client, low & (uint32_t)COR_PRF_ENABLE_FRAME_INFO ? frame : 0,
         elt && low & (uint32_t)COR_PRF_ENABLE_FUNCTION_ARGS ? &args.info : NULL);
}

static void leave_2(const struct hooks_entry *e, COR_PRF_ELT_INFO elt)
{
    FunctionLeave2                 *hook = (FunctionLeave2 *)e->user->hooks.leave;
    COR_PRF_FUNCTION_ARGUMENT_RANGE range = {0, 0};
    COR_PRF_FRAME_INFO              frame = 0;
    uint32_t                        low = e->user->low;
    if (elt &&
        low & ((uint32_t)COR_PRF_ENABLE_FUNCTION_RETVAL | (uint32_t)COR_PRF_ENABLE_FRAME_INFO))
        info_of(e)->vtbl->GetFunctionLeave3Info(info_of(e), e->fn, elt, &frame, &range);
    hook(e->fn, e->client, low & (uint32_t)COR_PRF_ENABLE_FRAME_INFO ? frame : 0,
         elt && low & (uint32_t)COR_PRF_ENABLE_FUNCTION_RETVAL ? &range : NULL);
}

static void tailcall_2(const struct hooks_entry *e, COR_PRF_ELT_INFO elt)
{
    FunctionTailcall2 *hook = (FunctionTailcall2 *)e->user->hooks.tailcall;
    COR_PRF_FRAME_INFO frame = 0;
    if (elt && e->user->low & (uint32_t)COR_PRF_ENABLE_FRAME_INFO)
        info_of(e)->vtbl->GetFunctionTailcall3Info(info_of(e), e->fn, elt, &frame);
    hook(e->fn, e->client, frame);
}

/* ---- versions 1 and 2 on the fast path ---------------------------------------------------------- */

void hooks_old_enter(const struct hooks_entry *e)
{
    if (e->user->kind == SXS_HOOKS_1)
        ((FunctionEnter *)e->user->hooks.enter)(e->client);
    else
        enter_2(e, 0);
}

void hooks_old_leave(const struct hooks_entry *e)
{
    if (e->user->kind == SXS_HOOKS_1)
        ((FunctionLeave *)e->user->hooks.leave)(e->client);
    else
        leave_2(e, 0);
}

void hooks_old_tailcall(const struct hooks_entry *e)
{
    if (e->user->kind == SXS_HOOKS_1)
        ((FunctionTailcall *)e->user->hooks.tailcall)(e->client);
    else
        tailcall_2(e, 0);
}

/* ---- the slow path ------------------------------------------------------------------------------ */

/* Returns what sxs_hooks_sp() returns; says once that it returns nothing. */
static uintptr_t sp_of(COR_PRF_ELT_INFO info)
{
    static _Atomic int said;
    SXS_SESSION_KEEPS(said);
    uintptr_t          sp = sxs_hooks_sp(info);
    if (!sp && !atomic_exchange(&said, 1))
        sxs_error("this runtime's hooks with information are of another form: hooks without "
                  "information are not called beside them");
    return sp;
}

/* Returns the function's first argument if its user needs it and the runtime reports it, else 0. */
static uint64_t first_argument(const struct hooks_entry *e, COR_PRF_ELT_INFO elt)
{
    struct argument_info args = {.info.numRanges = 0};
    COR_PRF_FRAME_INFO   frame = 0;
    ULONG                size = sizeof(args);
    if (!e->user->needs_argument ||
        FAILED(info_of(e)->vtbl->GetFunctionEnter3Info(info_of(e), e->fn, elt, &frame, &size,
                                                       &args.info)) ||
        !args.info.numRanges || args.info.ranges[0].length != sizeof(uint64_t))
        return 0;
    return *(const uint64_t *)args.info.ranges[0].startAddress;
}

static void call_enter(const struct hooks_entry *e, COR_PRF_ELT_INFO elt)
{
    uintptr_t sp;
    switch (e->user->kind) {
    case SXS_HOOKS_1: ((FunctionEnter *)e->user->hooks.enter)(e->client); break;
    case SXS_HOOKS_2: enter_2(e, elt); break;
    case SXS_HOOKS_3_INFO:
        ((FunctionEnter3WithInfo *)e->user->hooks.enter)(client_of(e), elt);
        break;
    default:
        sp = sp_of(elt);
        if (sp)
            sxs_hooks_call_enter(e->user->hooks.enter, e->client, sp, first_argument(e, elt));
    }
}

static void call_leave(const struct hooks_entry *e, COR_PRF_ELT_INFO elt)
{
    uintptr_t sp;
    switch (e->user->kind) {
    case SXS_HOOKS_1: ((FunctionLeave *)e->user->hooks.leave)(e->client); break;
    case SXS_HOOKS_2: leave_2(e, elt); break;
    case SXS_HOOKS_3_INFO:
        ((FunctionLeave3WithInfo *)e->user->hooks.leave)(client_of(e), elt);
        break;
    default:
        sp = sp_of(elt);
        if (sp)
            sxs_hooks_call_leave(e->user->hooks.leave, e->client, sp);
    }
}

static void call_tailcall(const struct hooks_entry *e, COR_PRF_ELT_INFO elt)
{
    uintptr_t sp;
    switch (e->user->kind) {
    case SXS_HOOKS_1: ((FunctionTailcall *)e->user->hooks.tailcall)(e->client); break;
    case SXS_HOOKS_2: tailcall_2(e, elt); break;
    case SXS_HOOKS_3_INFO:
        ((FunctionTailcall3WithInfo *)e->user->hooks.tailcall)(client_of(e), elt);
        break;
    default:
        sp = sp_of(elt);
        if (sp)
            sxs_hooks_call_leave(e->user->hooks.tailcall, e->client, sp);
    }
}

static const struct hooks_entry *first_entry(FunctionIDOrClientID id)
{
    return (const struct hooks_entry *)id.clientID;
}

static int is_called(const struct hooks_entry *e, uintptr_t hook)
{
    return hook && !atomic_load_explicit(&e->user->ended, memory_order_relaxed);
}

void hooks_slow_enter(FunctionIDOrClientID id, COR_PRF_ELT_INFO info)
{
    for (const struct hooks_entry *e = first_entry(id); e->enter; e++)
        if (is_called(e, e->user->hooks.enter))
            call_enter(e, info);
}

void hooks_slow_leave(FunctionIDOrClientID id, COR_PRF_ELT_INFO info)
{
    for (const struct hooks_entry *e = first_entry(id); e->enter; e++)
        if (is_called(e, e->user->hooks.leave))
            call_leave(e, info);
}

void hooks_slow_tailcall(FunctionIDOrClientID id, COR_PRF_ELT_INFO info)
{
    for (const struct hooks_entry *e = first_entry(id); e->enter; e++)
        if (is_called(e, e->user->hooks.tailcall))
            call_tailcall(e, info);
}
