/* SPDX-License-Identifier: MIT */
/* tool.c - subscriptions: sets the event mask of a runtime and routes its events to tools. */
#include "manager/tool.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "manager/runtime_internal.h"

/* Recompute rt->wants; called after every change of a mask, under mask_lock. */
static void route_events_locked(struct sxs_runtime *rt)
{
#define SXS_EVENT(name, low_bits, high_bits, always)                                    \
    {                                                                                   \
        uint64_t bits = 0;                                                              \
        for (unsigned i = 0; i < rt->n_subs; i++) {                                     \
            const struct sxs_sub *sub = &rt->subs[i];                                   \
            if (sub->on && sub->on->name &&                                             \
                ((always) || (sub->low & (low_bits)) || (sub->high & (high_bits))))     \
                bits |= UINT64_C(1) << i;                                               \
        }                                                                               \
        atomic_store_explicit(&rt->wants[SXS_SLOT_##name], bits, memory_order_release); \
    }
#include "sxs_events.inc"
#undef SXS_EVENT
}

static HRESULT ask_runtime(struct sxs_runtime *rt, uint32_t low, uint32_t high)
{
    HRESULT hr = sxs_info_SetEventMask2(rt, low, high);
    if (hr != E_NOTIMPL)
        return hr;
    if (high)
        return E_NOTIMPL; /* high bits need ICorProfilerInfo5 */
    return sxs_info_SetEventMask(rt, low);
}

/* Takes the place of a tool that was left out. The other subscriptions are not moved, because their
 * tools hold pointers to them. */
static const struct sxs_tool left_out = {.name = "(left out)"};

/* Log that a tool is off, and call its release(). Called without a lock, because release() belongs
 * to the tool. */
static void turn_off(struct sxs_sub *sub, HRESULT hr, const char *why)
{
    sxs_error("tool %s is off for runtime %u (%s): %s (%s 0x%08x)", sub->tool->name, sub->rt->number,
              sub->rt->version, why, sxs_hresult_name(hr), (unsigned)hr);
    if (sub->tool->release)
        sub->tool->release(sub);
}

/* Add the subscription of a tool that has started. From now on the tool may change its mask on any
 * thread. */
static void publish_masks(struct sxs_runtime *rt)
{
    const struct sxs_tool *tool = rt->subs[rt->n_subs].tool;
    pthread_mutex_lock(&rt->mask_lock);
    rt->in_child |= (uint64_t)(tool->in_child != 0) << rt->n_subs;
    if (tool->group) {
        rt->group = tool->group;
        rt->in_group |= UINT64_C(1) << rt->n_subs;
    }
    rt->n_subs++;
    pthread_mutex_unlock(&rt->mask_lock);
}

/* Whether the tool that @tool needs has started on the runtime. If not, logs that @tool is off. */
static int has_needed(const struct sxs_runtime *rt, const struct sxs_tool *tool)
{
    for (unsigned i = 0; i < rt->n_subs && tool->needs; i++)
        if (strcmp(rt->subs[i].tool->name, tool->needs) == 0)
            return 1;
    if (tool->needs)
        sxs_error("tool %s is off for runtime %u (%s): it needs the tool %s, which is off",
                  tool->name, rt->number, rt->version, tool->needs);
    return !tool->needs;
}

/* Start each enabled tool. Called in Initialize, so no event arrives meanwhile. Holds no lock,
 * because start() may call the runtime and take locks of the tool. */
static void start_tools(struct sxs_runtime *rt, const struct sxs_enabled_tool *tools, size_t n)
{
    for (size_t i = 0; i < n && rt->n_subs < SXS_MAX_TOOLS; i++) {
        const struct sxs_tool *tool = tools[i].tool;
        struct sxs_sub        *sub = &rt->subs[rt->n_subs];
        HRESULT                hr;
        if ((rt->state != SXS_STATE_PICKED && !tool->on_guarded) || !has_needed(rt, tool))
            continue;
        *sub = (struct sxs_sub){.tool = tool, .on = tool->on, .rt = rt};
        hr = tool->start ? tool->start(sub, tools[i].options ? tools[i].options : "") : S_OK;
        if (FAILED(hr))
            turn_off(sub, hr, "it could not start");
        else if (hr == S_OK)
            publish_masks(rt);
    }
}

/* Subscriptions that were removed, each with the HRESULT with which the runtime refused its
 * mask. */
struct refused {
    struct sxs_sub subs[SXS_MAX_TOOLS];
    HRESULT        hr[SXS_MAX_TOOLS];
    unsigned       n;
};

/* Find the tools whose masks made the runtime refuse the union: add one mask after another, and
 * remove each subscription whose mask is refused. The removed subscriptions are moved to @out,
 * because turn_off() must not run under mask_lock. */
static void leave_out_refused_locked(struct sxs_runtime *rt, struct refused *out)
{
    HRESULT hr;
    rt->low = rt->high = 0;
    for (unsigned i = 0; i < rt->n_subs; i++) {
        struct sxs_sub *sub = &rt->subs[i];
        hr = ask_runtime(rt, rt->low | sub->low, rt->high | sub->high);
        if (FAILED(hr)) {
            out->hr[out->n] = hr;
            out->subs[out->n++] = *sub;
            *sub = (struct sxs_sub){.tool = &left_out, .rt = rt};
        } else {
            rt->low |= sub->low;
            rt->high |= sub->high;
        }
    }
    hr = ask_runtime(rt, rt->low, rt->high);
    if (FAILED(hr) && (rt->low || rt->high)) /* with empty masks, no events are missed */
        sxs_error("runtime %u (%s) refuses the event masks of the other tools, which may miss events "
                  "(%s 0x%08x)", rt->number, rt->version, sxs_hresult_name(hr), (unsigned)hr);
}

HRESULT sxs_runtime_subscribe(struct sxs_runtime *rt, const struct sxs_enabled_tool *tools, size_t n)
{
    struct refused refused = {.n = 0};
    start_tools(rt, tools, n);
    pthread_mutex_lock(&rt->mask_lock);
    for (unsigned i = 0; i < rt->n_subs; i++) {
        rt->low |= rt->subs[i].low;
        rt->high |= rt->subs[i].high;
    }
    if (FAILED(ask_runtime(rt, rt->low, rt->high)))
        leave_out_refused_locked(rt, &refused);
    route_events_locked(rt);
    pthread_mutex_unlock(&rt->mask_lock);
    if (rt->apply_hooks)
        rt->apply_hooks(rt);
    for (unsigned i = 0; i < refused.n; i++)
        turn_off(&refused.subs[i], refused.hr[i], "the runtime refuses its event mask");
    return S_OK;
}

HRESULT sxs_sub_try_mask(struct sxs_sub *sub, uint32_t low, uint32_t high)
{
    struct sxs_runtime *rt = sub->rt;
    HRESULT             hr;
    pthread_mutex_lock(&rt->mask_lock);
    for (unsigned i = 0; i < rt->n_subs; i++) {
        low |= rt->subs[i].low;
        high |= rt->subs[i].high;
    }
    hr = ask_runtime(rt, low, high);
    pthread_mutex_unlock(&rt->mask_lock);
    return hr;
}

/* Since .NET 10 inlining and optimizations can be disabled at any time (measured; 9.0 refuses it with
 * E_FAIL). */
uint32_t sxs_runtime_immutable(const struct sxs_runtime *rt)
{
    uint32_t immutable = (uint32_t)COR_PRF_MONITOR_IMMUTABLE;
    if (strtoul(rt->version, NULL, 10) >= 10)
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

HRESULT sxs_sub_set_mask(struct sxs_sub *sub, uint32_t low, uint32_t high)
{
    struct sxs_runtime *rt = sub->rt;
    uint32_t            all_low, all_high, immutable = sxs_runtime_immutable(rt);
    HRESULT             hr = S_OK;
    if (sxs_runtime_is_inherited(rt)) /* a thread of the parent may have held mask_lock */
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    pthread_mutex_lock(&rt->mask_lock);
    /* Immutable bits cannot be changed: keep those that were set in Initialize. */
    all_low = low | (rt->low & immutable);
    all_high = high | (rt->high & (uint32_t)COR_PRF_HIGH_MONITOR_IMMUTABLE);
    if ((low & ~rt->low & immutable) ||
        (high & ~rt->high & (uint32_t)COR_PRF_HIGH_MONITOR_IMMUTABLE)) {
        sxs_error("tool %s asks runtime %u for immutable events (low 0x%08x, high 0x%08x) after "
                  "Initialize: refused, its mask stays", sub->tool->name, rt->number, low, high);
        hr = CORPROF_E_UNSUPPORTED_CALL_SEQUENCE;
        goto done;
    }
    for (unsigned i = 0; i < rt->n_subs; i++) {
        if (&rt->subs[i] != sub) {
            all_low |= rt->subs[i].low;
            all_high |= rt->subs[i].high;
        }
    }
    hr = ask_runtime(rt, all_low, all_high);
    if (SUCCEEDED(hr) && !sxs_runtime_is_live(rt)) /* ended meanwhile: no more events */
        hr = CORPROF_E_RUNTIME_UNINITIALIZED;
    if (FAILED(hr))
        goto done;
    sub->low = low;
    sub->high = high;
    rt->low = all_low;
    rt->high = all_high;
    route_events_locked(rt);
done:
    pthread_mutex_unlock(&rt->mask_lock);
    return hr;
}
