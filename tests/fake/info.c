/* SPDX-License-Identifier: MIT */
/* info.c - the ICorProfilerInfo object: IUnknown, the check before every method, event masks. */
#include "tests/fake/fake.h"

/* Counts the call, refuses methods that this version lacks, and fails on demand. */
HRESULT fake_info_enter(ICorProfilerInfo15 *self, unsigned slot, const char *name)
{
    (void)self;
    (void)name;
    atomic_fetch_add(&fake.called[slot], 1);
    for (size_t i = 0; i < sizeof(sxs_info_versions) / sizeof(sxs_info_versions[0]); i++) {
        if ((int)sxs_info_versions[i].version != fake.info_version)
            continue;
        if (slot < sxs_info_versions[i].n_slots)
            break;
        atomic_fetch_add(&fake.beyond_version, 1);
        fake_log("slot %u (%s) called: this version's vtable ends before it", slot, name);
        if (fake.strict)
            abort();
        return E_NOTIMPL;
    }
    int phase = atomic_load(&fake.phase);
    if (phase == FAKE_NONE || phase == FAKE_ENDED)
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    if (phase == FAKE_DETACHING && !fake_in_callback)
        return CORPROF_E_PROFILER_DETACHING;
    HRESULT hr = atomic_load(&fake.failures[slot].hr);
    if (hr == S_OK)
        return FAKE_GO_ON;
    unsigned nth = atomic_load(&fake.failures[slot].nth);
    if (nth == 0)
        return hr;
    if (atomic_fetch_sub(&fake.failures[slot].nth, 1) > 1)
        return FAKE_GO_ON;
    atomic_store(&fake.failures[slot].hr, S_OK);
    return hr;
}

void fake_info_argument(unsigned slot, unsigned n, const void *value, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, value, size < sizeof(word) ? size : sizeof(word));
    if (n < 16)
        atomic_store(&fake.arguments[slot][n], word);
}

HRESULT fake_QueryInterface(ICorProfilerInfo15 *self, REFIID riid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    bool known = memcmp(riid, &IID_IUnknown, sizeof(*riid)) == 0;
    for (size_t i = 0; i < sizeof(sxs_info_versions) / sizeof(sxs_info_versions[0]); i++)
        if ((int)sxs_info_versions[i].version <= fake.info_version &&
            memcmp(riid, sxs_info_versions[i].iid, sizeof(*riid)) == 0)
            known = true;
    if (!known)
        return E_NOINTERFACE;
    fake_AddRef(self);
    *out = self;
    return S_OK;
}

ULONG fake_AddRef(ICorProfilerInfo15 *self)
{
    (void)self;
    return (ULONG)(atomic_fetch_add(&fake.info_refs, 1) + 1);
}

/* The object is static: references are counted, but the last Release does not free it. */
ULONG fake_Release(ICorProfilerInfo15 *self)
{
    (void)self;
    int64_t left = atomic_fetch_sub(&fake.info_refs, 1) - 1;
    if (left < 0) {
        fake_log("Info released once too often");
        if (fake.strict)
            abort();
    }
    return (ULONG)left;
}

void fake_info_init(void)
{
    fake.info.vtbl = &fake_vtbl;
}

int fake_info_slot(const char *name)
{
    for (int i = 3; i < SXS_N_INFO_SLOTS; i++)
        if (strcmp(fake_slot_names[i], name) == 0)
            return i;
    return -1;
}

HRESULT fake_GetEventMask(ICorProfilerInfo15 *self, DWORD *low)
{
    (void)self;
    if (!low)
        return E_INVALIDARG;
    *low = atomic_load(&fake.mask_low);
    return S_OK;
}

HRESULT fake_GetEventMask2(ICorProfilerInfo15 *self, DWORD *low, DWORD *high)
{
    (void)self;
    if (!low || !high)
        return E_INVALIDARG;
    *low = atomic_load(&fake.mask_low);
    *high = atomic_load(&fake.mask_high);
    return S_OK;
}

static HRESULT hooks_fit(uint32_t low)
{
    static const uint32_t slow = (uint32_t)(COR_PRF_ENABLE_FUNCTION_ARGS |
                                            COR_PRF_ENABLE_FUNCTION_RETVAL |
                                            COR_PRF_ENABLE_FRAME_INFO);
    bool plain = fake.enter3 || fake.leave3 || fake.tailcall3;
    bool with_info = fake.enter3_info || fake.leave3_info || fake.tailcall3_info;
    bool elt = low & (uint32_t)COR_PRF_MONITOR_ENTERLEAVE;
    if ((plain && ((low & slow) || !elt)) || (with_info && (!(low & slow) || !elt)))
        return CORPROF_E_INCONSISTENT_WITH_FLAGS;
    return S_OK;
}

/* Immutable bits may be set only in Initialize; a later change returns E_FAIL. Since 5.0
 * COR_PRF_ENABLE_REJIT may also be set later. */
static HRESULT set_mask(uint32_t low, uint32_t high)
{
    bool starting = atomic_load(&fake.phase) == FAKE_STARTING;
    uint32_t low_change = low ^ atomic_load(&fake.mask_low);
    uint32_t immutable = (uint32_t)COR_PRF_MONITOR_IMMUTABLE |
                         (fake.major < 5 ? (uint32_t)COR_PRF_ENABLE_REJIT : 0);
    uint32_t high_change = high ^ atomic_load(&fake.mask_high);
    if (fake.notification_only &&
        ((low & ~(uint32_t)COR_PRF_ALLOWABLE_NOTIFICATION_PROFILER) ||
         (high & ~(uint32_t)COR_PRF_HIGH_ALLOWABLE_NOTIFICATION_PROFILER)))
        return E_INVALIDARG;
    if (!starting && ((low_change & immutable) ||
                      (high_change & (uint32_t)COR_PRF_HIGH_MONITOR_IMMUTABLE)))
        return E_FAIL;
    if (fake.attached && ((low & ~(uint32_t)COR_PRF_ALLOWABLE_AFTER_ATTACH) ||
                          (high & ~(uint32_t)COR_PRF_HIGH_ALLOWABLE_AFTER_ATTACH)))
        return CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER;
    HRESULT hr = starting ? hooks_fit(low) : S_OK;
    if (FAILED(hr))
        return hr;
    if ((high & (uint32_t)COR_PRF_HIGH_ADD_ASSEMBLY_REFERENCES) && !fake.callback[6])
        return CORPROF_E_CALLBACK6_REQUIRED;
    if ((high & (uint32_t)COR_PRF_HIGH_IN_MEMORY_SYMBOLS_UPDATED) && !fake.callback[7])
        return CORPROF_E_CALLBACK7_REQUIRED;
    atomic_store(&fake.mask_low, low);
    atomic_store(&fake.mask_high, high);
    return S_OK;
}

HRESULT fake_SetEventMask(ICorProfilerInfo15 *self, DWORD low)
{
    (void)self;
    return set_mask(low, atomic_load(&fake.mask_high));
}

HRESULT fake_SetEventMask2(ICorProfilerInfo15 *self, DWORD low, DWORD high)
{
    (void)self;
    return set_mask(low, high);
}

HRESULT fake_GetRuntimeInformation(ICorProfilerInfo15 *self, USHORT *instance,
                                   COR_PRF_RUNTIME_TYPE *type, USHORT *major, USHORT *minor,
                                   USHORT *build, USHORT *qfe, ULONG cch, ULONG *needed,
                                   WCHAR *text)
{
    char version[64];
    (void)self;
    if (text && !needed)
        return E_INVALIDARG;
    fake_version_text(version, sizeof(version));
    if (needed)
        fake_wide(version, text, cch, needed);
    if (instance)
        *instance = 0; /* 0 in every runtime, as in real ones */
    if (type)
        *type = fake.framework ? COR_PRF_DESKTOP_CLR : COR_PRF_CORE_CLR;
    if (major)
        *major = (USHORT)fake.major;
    if (minor)
        *minor = (USHORT)fake.minor;
    if (build)
        *build = fake.framework ? 30319 : 0;
    if (qfe)
        *qfe = 0;
    return S_OK;
}
