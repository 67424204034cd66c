/* SPDX-License-Identifier: MIT */
/*
 * flags.c - a profiler that asks for flags in Initialize and later, and prints the answers.
 *
 * FLAGS=none: no flag but MONITOR_MODULE_LOADS in Initialize; late, each flag of the list.
 * FLAGS=all: all flags of the list in Initialize; late, each of them taken away.
 * FLAGS=combinations: in Initialize, combinations that a runtime may refuse.
 * FLAGS=rejit: ENABLE_REJIT in Initialize, taken away again; then asks to be detached.
 * FLAGS=detaches: asks to be detached.
 * FLAGS=rewrites: sets the IL of a method, then asks to be detached.
 * FLAGS=hooks1, hooks2, hooks3: sets hooks in Initialize, then masks with and without the flags for
 * them, then asks to be detached.
 */
#include "tests/guests/names.h"

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000F1A65}";
const char prof_name[] = "flags";

#define BASE ((DWORD)COR_PRF_MONITOR_MODULE_LOADS)
#define FLAG(name)                      \
    {                                   \
#name, (DWORD)COR_PRF_##name, 0 \
    }
#define HIGH(name)                           \
    {                                        \
#name, 0, (DWORD)COR_PRF_HIGH_##name \
    }

struct flag {
    const char *name;
    DWORD       low, high;
};

static const struct flag flags[] = {
    FLAG(ENABLE_REJIT),
    FLAG(DISABLE_ALL_NGEN_IMAGES),
    FLAG(DISABLE_INLINING),
    FLAG(DISABLE_OPTIMIZATIONS),
    FLAG(ENABLE_STACK_SNAPSHOT),
    FLAG(ENABLE_FUNCTION_ARGS),
    FLAG(ENABLE_FUNCTION_RETVAL),
    FLAG(ENABLE_FRAME_INFO),
    FLAG(ENABLE_OBJECT_ALLOCATED),
    FLAG(MONITOR_ENTERLEAVE),
    FLAG(MONITOR_CODE_TRANSITIONS),
    FLAG(MONITOR_REMOTING),
    FLAG(MONITOR_REMOTING_ASYNC),
    FLAG(ENABLE_JIT_MAPS),
    FLAG(ENABLE_INPROC_DEBUGGING),
    FLAG(USE_PROFILE_IMAGES),
    FLAG(DISABLE_TRANSPARENCY_CHECKS_UNDER_FULL_TRUST),
    FLAG(MONITOR_GC),
    FLAG(MONITOR_SUSPENDS),
    HIGH(ADD_ASSEMBLY_REFERENCES),
    HIGH(IN_MEMORY_SYMBOLS_UPDATED),
    HIGH(MONITOR_DYNAMIC_FUNCTION_UNLOADS),
    HIGH(DISABLE_TIERED_COMPILATION),
    HIGH(BASIC_GC),
    HIGH(MONITOR_GC_MOVED_OBJECTS),
    HIGH(MONITOR_LARGEOBJECT_ALLOCATED),
    HIGH(MONITOR_EVENT_PIPE),
    HIGH(MONITOR_PINNEDOBJECT_ALLOCATED),
};

#define N_FLAGS (sizeof(flags) / sizeof(flags[0]))

static int is(const char *what)
{
    const char *value = getenv("FLAGS");
    return value && strcmp(value, what) == 0;
}

static void say_mask(const struct prof *p, const char *when)
{
    DWORD low = 0, high = 0;
    p->info->vtbl->GetEventMask2(p->info, &low, &high);
    prof_say(p, "%s: mask 0x%08x 0x%08x", when, low, high);
}

static HRESULT try_mask(const struct prof *p, const char *when, const char *name, DWORD low,
                        DWORD high)
{
    HRESULT hr = p->info->vtbl->SetEventMask2(p->info, low, high);
    DWORD   got_low = 0, got_high = 0;
    p->info->vtbl->GetEventMask2(p->info, &got_low, &got_high);
    prof_say(p, "%s %s 0x%08x, mask 0x%08x 0x%08x", when, name, (unsigned)hr, got_low, got_high);
    return hr;
}

static void all_flags(DWORD *low, DWORD *high)
{
    *low = BASE;
    *high = 0;
    for (size_t i = 0; i < N_FLAGS; i++) {
        *low |= flags[i].low;
        *high |= flags[i].high;
    }
}

/* Each bit alone, defined or not, and all of them. */
static void try_combinations(const struct prof *p)
{
    char name[32];
    for (unsigned bit = 0; bit < 32; bit++) {
        snprintf(name, sizeof(name), "low bit %u", bit);
        try_mask(p, "in Initialize", name, BASE | 1u << bit, 0);
        snprintf(name, sizeof(name), "high bit %u", bit);
        try_mask(p, "in Initialize", name, BASE, 1u << bit);
    }
    try_mask(p, "in Initialize", "all low bits", 0xffffffff, 0);
    try_mask(p, "in Initialize", "all bits", 0xffffffff, 0xffffffff);
    try_mask(p, "in Initialize", "the others", BASE, 0);
}

static void on_function(UINT_PTR fn)
{
    (void)fn;
}

/* Sets hooks of the version that FLAGS names, then masks with and without the flags for them. */
static void set_hooks(const struct prof *p)
{
    static const DWORD masks[] = {
        (DWORD)COR_PRF_MONITOR_ENTERLEAVE,
        (DWORD)(COR_PRF_MONITOR_ENTERLEAVE | COR_PRF_ENABLE_FUNCTION_ARGS),
        (DWORD)COR_PRF_ENABLE_FUNCTION_ARGS, 0};
    ICorProfilerInfo15 *info = p->info;
    HRESULT             hr = S_FALSE;
    if (is("hooks1"))
        hr = info->vtbl->SetEnterLeaveFunctionHooks(info, on_function, NULL, NULL);
    else if (is("hooks2"))
        hr = info->vtbl->SetEnterLeaveFunctionHooks2(info, (FunctionEnter2 *)(void *)on_function,
                                                     NULL, NULL);
    else if (is("hooks3"))
        hr = info->vtbl->SetEnterLeaveFunctionHooks3(info, (FunctionEnter3 *)(void *)on_function,
                                                     NULL, NULL);
    prof_say(p, "hooks 0x%08x", (unsigned)hr);
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
        try_mask(p, "in Initialize", "for hooks", BASE | masks[i], 0);
}

HRESULT prof_initialize(struct prof *p)
{
    const char *rule = getenv("FLAGS");
    DWORD       low, high;
    if (is("combinations"))
        try_combinations(p);
    if (rule && strncmp(rule, "hooks", 5) == 0)
        set_hooks(p);
    if (is("rejit"))
        try_mask(p, "in Initialize", "ENABLE_REJIT", BASE | (DWORD)COR_PRF_ENABLE_REJIT, 0);
    all_flags(&low, &high);
    if (is("all"))
        try_mask(p, "in Initialize", "all flags", low, high);
    return is("all") ? S_OK : try_mask(p, "in Initialize", "the last", BASE, 0);
}

/* Adds each flag to the mask, or takes it away; then the first mask again. */
static void set_late(struct prof *p)
{
    DWORD low = BASE, high = 0;
    if (is("all"))
        all_flags(&low, &high);
    for (size_t i = 0; i < N_FLAGS; i++) {
        try_mask(p, "late", flags[i].name, low ^ flags[i].low, high ^ flags[i].high);
        try_mask(p, "late", "back", low, high);
    }
}

/* Sets the IL that the method has already. */
static void set_il(struct prof *p, ModuleID module)
{
    ICorProfilerInfo15 *info = p->info;
    LPCBYTE             body = NULL;
    ULONG               size = 0;
    IMethodMalloc      *memory = NULL;
    void               *copy = NULL;
    mdToken             method = 0;
    for (mdToken token = 0x06000001; !method && token < 0x06000010; token++)
        if (info->vtbl->GetILFunctionBody(info, module, token, &body, &size) == S_OK)
            method = token;
    if (SUCCEEDED(info->vtbl->GetILFunctionBodyAllocator(info, module, &memory)))
        copy = memory->vtbl->Alloc(memory, size);
    if (copy && method) {
        memcpy(copy, body, size);
        prof_say(p, "SetILFunctionBody 0x%08x",
                 (unsigned)info->vtbl->SetILFunctionBody(info, module, method, copy));
    }
    if (memory)
        memory->vtbl->Release(memory);
}

HRESULT prof_ModuleLoadFinished(ICorProfilerCallback11 *self, ModuleID module, HRESULT status)
{
    struct prof *p = prof_of(self);
    char         name[200];
    (void)status;
    prof_module_name(p, module, name, sizeof(name));
    if (strcmp(name, "profiled.dll") != 0)
        return S_OK;
    say_mask(p, "first");
    if (is("rewrites"))
        set_il(p, module);
    else if (is("all") || is("none"))
        set_late(p);
    if (!is("none"))
        prof_say(p, "detach 0x%08x", (unsigned)p->info->vtbl->RequestProfilerDetach(p->info, 100));
    say_mask(p, "last");
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    say_mask(p, "at Shutdown");
}
