/* SPDX-License-Identifier: MIT */
/*
 * info.c - the ICorProfilerInfo that a guest gets.
 *
 * The generated methods check the IDs and call the runtime's Info. Here is what differs: identity,
 * references, and event masks. Every method exists, even those that the runtime lacks, because
 * profilers call newer methods through the pointer to an older interface.
 */
#include "base/log.h"
#include "elt/hooks.h"
#include "guests/ids.h"
#include "guests/thread_state.h"
#include "manager/guid.h"

#include "sxs_guest_info.inc"

const ICorProfilerInfo15Vtbl *const guest_info_table = &guest_info_vtbl;

HRESULT guest_info_begin(struct guest_instance *g, unsigned slot, ICorProfilerInfo15 **out)
{
    int state = atomic_load_explicit(&g->state, memory_order_relaxed);
    *out = __atomic_load_n(&g->real, __ATOMIC_ACQUIRE);
    if (slot >= g->real_slots)
        return E_NOTIMPL;
    if (state == SXS_GUEST_DETACHED && guest_current() != g) /* its last callbacks may still call */
        return CORPROF_E_PROFILER_DETACHING;
    if ((state != SXS_GUEST_DETACHED && state != SXS_GUEST_ACTIVE &&
         state != SXS_GUEST_STARTING) ||
        !*out)
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    return S_OK;
}

HRESULT guest_info_end(struct guest_instance *g, HRESULT hr)
{
    atomic_fetch_add_explicit(&g->row->info_calls, 1, memory_order_relaxed);
    return hr;
}

/* ---- identity and references ------------------------------------------------------------------ */

HRESULT guest_info_QueryInterface(ICorProfilerInfo15 *self, const GUID *iid, void **out)
{
    const struct guest_instance *g = guest_of_info(self);
    if (!self || !out)
        return E_POINTER;
    *out = iid && sxs_guid_equal(iid, &IID_IUnknown) ? self : NULL;
    for (unsigned i = 0; iid && !*out && i < ARRAY_LEN(sxs_info_versions); i++)
        if (sxs_info_versions[i].version <= g->real_version &&
            sxs_guid_equal(iid, sxs_info_versions[i].iid))
            *out = self;
    if (!*out)
        return E_NOINTERFACE;
    guest_info_AddRef(self);
    return S_OK;
}

ULONG guest_info_AddRef(ICorProfilerInfo15 *self)
{
    return atomic_fetch_add_explicit(&guest_of_info(self)->refs, 1, memory_order_relaxed) + 1;
}

ULONG guest_info_Release(ICorProfilerInfo15 *self)
{
    struct guest_instance *g = guest_of_info(self);
    unsigned               refs = atomic_load_explicit(&g->refs, memory_order_relaxed);
    /* One reference is the library's: a guest that releases too often does not get it. */
    if (refs <= 1 && !atomic_load_explicit(&g->is_released, memory_order_acquire))
        return 0;
    return guest_info_unref(g);
}

/* ---- event masks ------------------------------------------------------------------------------ */

/* What the runtime's slow path does to compiled code that holds vectors at a tail call. */
#define SLOW_HARM                                                                            \
    ", on which runtimes do not keep whole vector registers: results of the program can be " \
    "wrong, "                                                                                \
    "with this profiler alone, too"

_Static_assert(SXS_GUEST_HOOKS == (uint32_t)COR_PRF_MONITOR_ENTERLEAVE, "part of the format");
_Static_assert(SXS_GUEST_SLOW ==
                   ((uint32_t)COR_PRF_ENABLE_FUNCTION_ARGS |
                    (uint32_t)COR_PRF_ENABLE_FUNCTION_RETVAL | (uint32_t)COR_PRF_ENABLE_FRAME_INFO),
               "part of the format");

/* Flags that change the whole runtime, not only what the guest receives. */
static const struct {
    uint32_t    flag;
    const char *effect;
} effects[] = {
    {(uint32_t)COR_PRF_MONITOR_GC, "collections are not concurrent"},
    {(uint32_t)COR_PRF_MONITOR_ENTERLEAVE, "precompiled code is not used"},
    {(uint32_t)COR_PRF_DISABLE_INLINING, "nothing is inlined"},
    {(uint32_t)COR_PRF_DISABLE_OPTIMIZATIONS, "code is not optimized"},
    {(uint32_t)COR_PRF_DISABLE_ALL_NGEN_IMAGES, "precompiled code is not used"},
    {(uint32_t)COR_PRF_ENABLE_OBJECT_ALLOCATED, "allocations take the slow path"},
    {(uint32_t)COR_PRF_DISABLE_TRANSPARENCY_CHECKS_UNDER_FULL_TRUST, NULL},
    {(uint32_t)COR_PRF_ENABLE_FUNCTION_ARGS, "enter hooks take the slow path" SLOW_HARM},
    {(uint32_t)COR_PRF_ENABLE_FUNCTION_RETVAL, "leave hooks take the slow path" SLOW_HARM},
    {(uint32_t)COR_PRF_ENABLE_FRAME_INFO, "enter and leave hooks take the slow path" SLOW_HARM},
};

/* Says once per instance what its flags change for the host and for other guests. */
static void explain_flags(struct guest_instance *g, uint32_t low, uint32_t high)
{
    for (size_t i = 0; i < ARRAY_LEN(effects); i++)
        if (effects[i].effect && low & ~g->low & effects[i].flag)
            sxs_note("%s on runtime %u changes it for all: %s (flag 0x%08x)", g->guest->title,
                     sxs_runtime_number(g->rt), effects[i].effect, effects[i].flag);
    if (high & ~g->high & (uint32_t)COR_PRF_HIGH_DISABLE_TIERED_COMPILATION)
        sxs_note("%s on runtime %u changes it for all: code has one tier only", g->guest->title,
                 sxs_runtime_number(g->rt));
}

/* Returns what a runtime answers to a profiler that asks for this mask: S_OK, or the refusal. The
 * runtime sees the masks of all guests as one, so it cannot refuse the mask of one of them. */
static HRESULT check_mask(const struct guest_instance *g, uint32_t low, uint32_t high)
{
    if (g->notification_only && ((low & ~(uint32_t)COR_PRF_ALLOWABLE_NOTIFICATION_PROFILER) ||
                                 (high & ~(uint32_t)COR_PRF_HIGH_ALLOWABLE_NOTIFICATION_PROFILER)))
        return E_INVALIDARG;
    if (!g->initializing && (((low ^ g->low) & sxs_runtime_immutable(g->rt)) ||
                             ((high ^ g->high) & (uint32_t)COR_PRF_HIGH_MONITOR_IMMUTABLE)))
        return E_FAIL;
    if ((high & (uint32_t)COR_PRF_HIGH_ADD_ASSEMBLY_REFERENCES) && g->version < 6)
        return CORPROF_E_CALLBACK6_REQUIRED;
    if ((high & (uint32_t)COR_PRF_HIGH_IN_MEMORY_SYMBOLS_UPDATED) && g->version < 7)
        return CORPROF_E_CALLBACK7_REQUIRED;
    return S_OK;
}

static HRESULT set_mask(struct guest_instance *g, unsigned slot, uint32_t low, uint32_t high)
{
    ICorProfilerInfo15 *info;
    HRESULT             hr = guest_info_begin(g, slot, &info);
    if (FAILED(hr))
        return hr;
    hr = sxs_hooks_check_mask(g->sub, low);
    if (FAILED(hr))
        return guest_info_end(g, hr);
    pthread_mutex_lock(&g->mask_lock);
    hr = check_mask(g, low, high);
    if (SUCCEEDED(hr))
        hr = g->initializing ? sxs_sub_try_mask(g->sub, low, high)
                             : sxs_sub_set_mask(g->sub, low, high);
    if (SUCCEEDED(hr)) {
        explain_flags(g, low, high);
        g->low = low;
        g->high = high;
        if (low & (uint32_t)COR_PRF_ENABLE_REJIT) /* even when it is cleared later */
            atomic_store(&g->cannot_detach, 1);
        atomic_store_explicit(&g->row->low, low, memory_order_relaxed);
        atomic_store_explicit(&g->row->high, high, memory_order_relaxed);
    }
    pthread_mutex_unlock(&g->mask_lock);
    return guest_info_end(g, hr);
}

HRESULT guest_info_SetEventMask(ICorProfilerInfo15 *self, DWORD dwEvents)
{
    /* As in a runtime: this clears the flags that only SetEventMask2 can set. */
    return set_mask(guest_of_info(self), SXS_INFO_SLOT_SetEventMask, dwEvents, 0);
}

HRESULT guest_info_SetEventMask2(ICorProfilerInfo15 *self, DWORD dwEventsLow, DWORD dwEventsHigh)
{
    return set_mask(guest_of_info(self), SXS_INFO_SLOT_SetEventMask2, dwEventsLow, dwEventsHigh);
}

HRESULT guest_info_GetEventMask(ICorProfilerInfo15 *self, DWORD *pdwEvents)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_GetEventMask, &info);
    if (SUCCEEDED(hr) && !pdwEvents)
        hr = E_INVALIDARG;
    if (FAILED(hr))
        return hr;
    *pdwEvents = g->low;
    return guest_info_end(g, S_OK);
}

HRESULT guest_info_GetEventMask2(ICorProfilerInfo15 *self, DWORD *pdwEventsLow, DWORD *pdwEventsHigh)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_GetEventMask2, &info);
    if (SUCCEEDED(hr) && (!pdwEventsLow || !pdwEventsHigh))
        hr = E_INVALIDARG;
    if (FAILED(hr))
        return hr;
    *pdwEventsLow = g->low;
    *pdwEventsHigh = g->high;
    return guest_info_end(g, S_OK);
}

/* The mask of the runtime has COR_PRF_ENABLE_STACK_SNAPSHOT because the library walks stacks. A guest
 * that has not asked for it gets the runtime's refusal, which comes before checks of arguments. In
 * Initialize the runtime refuses all snapshots. */
HRESULT guest_info_DoStackSnapshot(ICorProfilerInfo15 *self, ThreadID thread,
                                   StackSnapshotCallback *callback, ULONG32 infoFlags,
                                   void *clientData, BYTE *context, ULONG32 contextSize)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_DoStackSnapshot, &info);
    if (SUCCEEDED(hr))
        hr = guest_id_check(g, SXS_INFO_SLOT_DoStackSnapshot, thread, 1);
    if (SUCCEEDED(hr) && !g->initializing && !(g->low & (uint32_t)COR_PRF_ENABLE_STACK_SNAPSHOT))
        hr = CORPROF_E_INCONSISTENT_WITH_FLAGS;
    if (FAILED(hr))
        return hr;
    return guest_info_end(g, info->vtbl->DoStackSnapshot(info, thread, callback, infoFlags,
                                                         clientData, context, contextSize));
}
