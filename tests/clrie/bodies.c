/* SPDX-License-Identifier: MIT */
/*
 * bodies.c - a plug-in that reads and writes IL bodies through its ICorProfilerInfo, as old profilers
 * do. It prints what each call answers. BODIES_METHOD: the full name of the method that it works on,
 * which gets a body that only returns 77.
 */
#include "tests/clrie/plugin.h"

const char plug_name[] = "bodies";

static const uint8_t answer[] = {0x0e, 0x1f, 77, 0x2a}; /* a tiny header; ldc.i4.s 77; ret */
static const uint8_t broken[] = {0x06, 0x2a};           /* ret without a value */

HRESULT plug_initialize(struct plug *p)
{
    DWORD low = 0, high = 0;
    plug_say(p, "GetILFunctionBodyAllocator(NULL) %#x",
             (unsigned)p->info->vtbl->GetILFunctionBodyAllocator(p->info, 0, NULL));
    p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_THREADS);
    p->info->vtbl->GetEventMask(p->info, &low);
    plug_say(p, "mask %#x", low);
    p->info->vtbl->SetEventMask(p->info, 0);
    p->info->vtbl->GetEventMask(p->info, &low);
    plug_say(p, "mask %#x", low);
    p->info->vtbl->SetEventMask2(p->info, COR_PRF_MONITOR_SUSPENDS, 0x10);
    p->info->vtbl->GetEventMask2(p->info, &low, &high);
    plug_say(p, "mask %#x %#x", low, high);
    return S_OK;
}

HRESULT plug_shutdown(struct plug *p)
{
    DWORD low = 0;
    plug_say(p, "SetEventMask without ENABLE_REJIT %#x",
             (unsigned)p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_CLASS_LOADS));
    plug_say(p, "SetEventMask with it %#x",
             (unsigned)p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_CLASS_LOADS |
                                                                COR_PRF_ENABLE_REJIT));
    p->info->vtbl->GetEventMask(p->info, &low);
    plug_say(p, "mask %#x", low);
    return S_OK;
}

static int is_wanted(struct plug *p, IMethodInfo *method)
{
    const char *name = getenv("BODIES_METHOD");
    return name && strcmp(plug_method_name(p, method), name) == 0;
}

static void ids_of(IMethodInfo *method, ModuleID *module, mdToken *token, FunctionID *function)
{
    IModuleInfo *info = NULL;
    method->vtbl->GetModuleInfo(method, &info);
    info->vtbl->GetModuleID(info, module);
    info->vtbl->Release(info);
    method->vtbl->GetMethodToken(method, token);
    *function = 0;
    method->vtbl->GetFunctionId(method, function);
}

static void read(struct plug *p, const char *when, ModuleID module, mdToken token)
{
    LPCBYTE bytes = NULL;
    ULONG   size = 0;
    HRESULT hr = p->info->vtbl->GetILFunctionBody(p->info, module, token, &bytes, &size);
    plug_say(p, "%s: GetILFunctionBody %#x, header %s", when, (unsigned)hr,
             !bytes              ? "none"
             : (*bytes & 3) == 3 ? "fat"
                                 : "tiny");
}

static uint8_t *alloc(struct plug *p, ModuleID module, const uint8_t *from, ULONG size)
{
    IMethodMalloc *memory = NULL;
    uint8_t       *out;
    if (FAILED(p->info->vtbl->GetILFunctionBodyAllocator(p->info, module, &memory)))
        return NULL;
    out = memory->vtbl->Alloc(memory, size);
    memory->vtbl->Release(memory);
    return memcpy(out, from, size);
}

static void set(struct plug *p, const char *what, ModuleID module, mdToken token, const void *body)
{
    plug_say(p, "SetILFunctionBody %s %#x", what,
             (unsigned)p->info->vtbl->SetILFunctionBody(p->info, module, token, body));
}

HRESULT plug_should(struct plug *p, IMethodInfo *method, BOOL is_rejit, BOOL *wants)
{
    (void)is_rejit;
    *wants = is_wanted(p, method);
    return S_OK;
}

HRESULT plug_instrument(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    COR_IL_MAP row = {0, 0, 1};
    ModuleID   module = 0;
    mdToken    token = 0;
    FunctionID function = 0;
    uint8_t   *body;
    (void)is_rejit;
    ids_of(method, &module, &token, &function);
    read(p, "InstrumentMethod", module, token);
    set(p, "in foreign memory", module, token, answer);
    set(p, "of another method", module, token + 1, answer);
    body = alloc(p, module, broken, sizeof(broken));
    if (*plug_setting("BODIES_BROKEN"))
        set(p, "that no JIT accepts", module, token, body);
    body = alloc(p, module, answer, sizeof(answer));
    set(p, "in the allocator's memory", module, token, body);
    set(p, "again", module, token, body);
    plug_say(p, "SetILInstrumentedCodeMap %#x, of another function %#x",
             (unsigned)p->info->vtbl->SetILInstrumentedCodeMap(p->info, function, 1, 1, &row),
             (unsigned)p->info->vtbl->SetILInstrumentedCodeMap(p->info, function + 8, 1, 1, &row));
    return S_OK;
}

HRESULT plug_complete(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    ModuleID   module = 0;
    mdToken    token = 0;
    FunctionID function = 0;
    (void)is_rejit;
    if (!is_wanted(p, method))
        return S_OK;
    ids_of(method, &module, &token, &function);
    read(p, "OnInstrumentationComplete", module, token);
    read(p, "another method", module, token + 1);
    return S_OK;
}
