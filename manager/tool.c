/* SPDX-License-Identifier: MIT */
/* tool.c - event masks: asks a runtime for the union of its tools' masks and routes its events. */
#include "manager/tool.h"

#include "base/log.h"
#include "manager/subscriptions.h"

void sxs_masks_route_locked(struct sxs_runtime *rt)
{
#define SXS_EVENT(name, low_bits, high_bits, always)                                     \
    {                                                                                    \
        uint64_t bits = 0;                                                               \
        for (unsigned i = 0; i < rt->n_subs; i++) {                                      \
            const struct sxs_sub *sub = &rt->subs[i];                                    \
            if (((rt->published & ~rt->stopped) >> i & 1) && sub->on && sub->on->name && \
                ((always) || (sub->low & (low_bits)) || (sub->high & (high_bits))))      \
                bits |= UINT64_C(1) << i;                                                \
        }                                                                                \
        atomic_store(&rt->wants[SXS_SLOT_##name], bits);                                 \
    }
#include "sxs_events.inc"
#undef SXS_EVENT
}

HRESULT sxs_masks_ask(struct sxs_runtime *rt, uint32_t low, uint32_t high)
{
    HRESULT hr = sxs_info_SetEventMask2(rt, low, high);
    if (hr != E_NOTIMPL)
        return hr;
    if (high)
        return E_NOTIMPL; /* high bits need ICorProfilerInfo5 */
    return sxs_info_SetEventMask(rt, low);
}

void sxs_masks_union_locked(const struct sxs_runtime *rt, uint64_t bits, uint32_t *low,
                            uint32_t *high)
{
    *low = *high = 0;
    for (unsigned i = 0; i < rt->n_subs; i++) {
        if (bits >> i & 1) {
            *low |= rt->subs[i].low;
            *high |= rt->subs[i].high;
        }
    }
    if (rt->is_subscribed) { /* immutable bits cannot be taken back */
        *low |= rt->low & sxs_runtime_immutable(rt);
        *high |= rt->high & (uint32_t)COR_PRF_HIGH_MONITOR_IMMUTABLE;
    }
}

HRESULT sxs_sub_try_mask(struct sxs_sub *sub, uint32_t low, uint32_t high)
{
    struct sxs_runtime *rt = sub->rt;
    uint32_t            all_low, all_high;
    HRESULT             hr;
    pthread_mutex_lock(&rt->mask_lock);
    sxs_masks_union_locked(rt, rt->taken & ~rt->stopped & ~sxs_sub_bit(sub), &all_low, &all_high);
    hr = sxs_masks_ask(rt, low | all_low, high | all_high);
    pthread_mutex_unlock(&rt->mask_lock);
    return hr;
}

uint32_t sxs_runtime_immutable(const struct sxs_runtime *rt)
{
    uint32_t immutable = (uint32_t)COR_PRF_MONITOR_IMMUTABLE;
    if (sxs_runtime_facts(rt)->takes_optimization_late)
        immutable &= ~(uint32_t)(COR_PRF_DISABLE_INLINING | COR_PRF_DISABLE_OPTIMIZATIONS);
    return immutable;
}

uint32_t sxs_runtime_immutable_set(struct sxs_runtime *rt)
{
    uint32_t set;
    pthread_mutex_lock(&rt->mask_lock);
    set = rt->low & sxs_runtime_immutable(rt);
    pthread_mutex_unlock(&rt->mask_lock);
    return set;
}

int sxs_masks_are_late(const struct sxs_runtime *rt, uint32_t low, uint32_t high)
{
    return rt->is_subscribed && ((low & ~rt->low & sxs_runtime_immutable(rt)) ||
                                 (high & ~rt->high & (uint32_t)COR_PRF_HIGH_MONITOR_IMMUTABLE));
}

static HRESULT set_mask_locked(struct sxs_sub *sub, uint32_t low, uint32_t high)
{
    struct sxs_runtime *rt = sub->rt;
    uint32_t            all_low, all_high;
    HRESULT             hr;
    sxs_masks_union_locked(rt, rt->published & ~rt->stopped & ~sxs_sub_bit(sub), &all_low,
                           &all_high);
    all_low |= low;
    all_high |= high;
    hr = sxs_masks_ask(rt, all_low, all_high);
    if (SUCCEEDED(hr) && !sxs_runtime_is_live(rt)) /* ended meanwhile: no more events */
        hr = CORPROF_E_RUNTIME_UNINITIALIZED;
    if (FAILED(hr))
        return hr;
    sub->low = low;
    sub->high = high;
    rt->low = all_low;
    rt->high = all_high;
    sxs_masks_route_locked(rt);
    return hr;
}

HRESULT sxs_sub_set_mask(struct sxs_sub *sub, uint32_t low, uint32_t high)
{
    struct sxs_runtime *rt = sub->rt;
    HRESULT             hr = S_OK;
    if (sxs_runtime_is_inherited(rt)) /* a thread of the parent may have held mask_lock */
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    pthread_mutex_lock(&rt->mask_lock);
    if ((rt->stopped & sxs_sub_bit(sub)) || !sxs_runtime_is_live(rt)) {
        hr = CORPROF_E_RUNTIME_UNINITIALIZED;
    } else if (sxs_masks_are_late(rt, low, high)) {
        sxs_error("tool %s asks runtime %u for immutable events (low 0x%08x, high 0x%08x) after "
                  "Initialize: refused, its mask stays",
                  sub->tool->name, rt->number, low, high);
        hr = CORPROF_E_UNSUPPORTED_CALL_SEQUENCE;
    } else if (!(rt->published &
                 sxs_sub_bit(sub))) { /* it is starting: asked for with the others */
        sub->low = low;
        sub->high = high;
    } else {
        hr = set_mask_locked(sub, low, high);
    }
    pthread_mutex_unlock(&rt->mask_lock);
    return hr;
}
