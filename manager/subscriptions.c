/* SPDX-License-Identifier: MIT */
/* subscriptions.c - starts tools on a runtime, in Initialize and later, and ends them while the runtime
 * goes on. */
#include "manager/subscriptions.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"

#define LOOK_AGAIN_NS 100000 /* between two looks at threads that are inside of handlers */

/* Takes the place of a tool that was left out. The other subscriptions are not moved, because their
 * tools hold pointers to them. */
static const struct sxs_tool left_out = {.name = "(left out)"};

/* ---- reasons --------------------------------------------------------------------------------- */

void sxs_reasons_add(const struct sxs_reasons *why, const char *format, ...)
{
    size_t  len;
    va_list args;
    if (!why || !why->text)
        return;
    len = strlen(why->text);
    if (len && len + 2 < why->size)
        len += (size_t)snprintf(why->text + len, why->size - len, "; ");
    va_start(args, format);
    vsnprintf(why->text + len, why->size - len, format, args);
    va_end(args);
}

static const char *words_of(HRESULT hr)
{
    if (hr == CORPROF_E_UNSUPPORTED_CALL_SEQUENCE ||
        hr == CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER)
        return "it needs events that this runtime permits only from its start on";
    return "the runtime refuses its event mask";
}

/* Log that a tool is off, and call its release(). Called without a lock, because release() belongs
 * to the tool. @what: a message that the tool has logged itself, or a reason. */
static void turn_off(struct sxs_sub *sub, HRESULT hr, const char *what, int is_logged,
                     const struct sxs_reasons *why)
{
    const struct sxs_runtime *rt = sub->rt;
    sxs_error("tool %s is off for runtime %u (%s): %s (%s 0x%08x)", sub->tool->name, rt->number,
              rt->version, is_logged ? "it could not start" : what, sxs_hresult_name(hr),
              (unsigned)hr);
    if (is_logged)
        sxs_reasons_add(why, "runtime %u (%s): %s", rt->number, rt->version, what);
    else
        sxs_reasons_add(why, "tool %s is off for runtime %u (%s): %s (%s)", sub->tool->name,
                        rt->number, rt->version, what, sxs_hresult_name(hr));
    if (sub->tool->release)
        sub->tool->release(sub);
}

/* ---- starting -------------------------------------------------------------------------------- */

/* Whether the tool that @tool needs has started on the runtime. If not, logs that @tool is off. */
static int has_needed(const struct sxs_runtime *rt, const struct sxs_tool *tool, uint64_t started,
                      const struct sxs_reasons *why)
{
    for (unsigned i = 0; i < rt->n_subs && tool->needs; i++)
        if ((started >> i & 1) && strcmp(rt->subs[i].tool->name, tool->needs) == 0)
            return 1;
    if (tool->needs) {
        sxs_error("tool %s is off for runtime %u (%s): it needs the tool %s, which is off",
                  tool->name, rt->number, rt->version, tool->needs);
        sxs_reasons_add(why,
                        "tool %s is off for runtime %u (%s): it needs the tool %s, which is off",
                        tool->name, rt->number, rt->version, tool->needs);
    }
    return !tool->needs;
}

/* Take the first free entry. Returns NULL when there is none. */
static struct sxs_sub *take_entry(struct sxs_runtime *rt, const struct sxs_enabled_tool *enabled)
{
    struct sxs_sub *sub = NULL;
    pthread_mutex_lock(&rt->mask_lock);
    if (~rt->taken) {
        unsigned i = (unsigned)__builtin_ctzll(~rt->taken);
        uint64_t bit = UINT64_C(1) << i;
        sub = &rt->subs[i];
        *sub = (struct sxs_sub){.tool = enabled->tool, .on = enabled->tool->on, .rt = rt};
        rt->taken |= bit;
        rt->stopped &= ~bit;
        rt->stop_called &= ~bit;
        rt->of_session = enabled->of_session ? rt->of_session | bit : rt->of_session & ~bit;
        if (i >= rt->n_subs)
            rt->n_subs = i + 1;
    }
    pthread_mutex_unlock(&rt->mask_lock);
    return sub;
}

static void give_back_entry(struct sxs_sub *sub)
{
    struct sxs_runtime *rt = sub->rt;
    uint64_t            bit = sxs_sub_bit(sub);
    pthread_mutex_lock(&rt->mask_lock);
    *sub = (struct sxs_sub){.tool = &left_out, .rt = rt};
    rt->taken &= ~bit;
    rt->published &= ~bit;
    rt->of_session &= ~bit;
    rt->stopped &= ~bit;
    atomic_fetch_and(&rt->in_child, ~bit);
    atomic_fetch_and(&rt->in_group, ~bit);
    pthread_mutex_unlock(&rt->mask_lock);
}

/* Start one tool. Returns its bit, or 0 when it stays off. */
static uint64_t start_tool(struct sxs_runtime *rt, const struct sxs_enabled_tool *enabled,
                           const struct sxs_reasons *why)
{
    const struct sxs_tool *tool = enabled->tool;
    struct sxs_sub        *sub = take_entry(rt, enabled);
    char                   said[256] = "";
    HRESULT                hr;
    if (!sub)
        return 0;
    if (why && why->text)
        sxs_log_listen(said, sizeof(said));
    hr = tool->start ? tool->start(sub, enabled->options ? enabled->options : "") : S_OK;
    sxs_log_listen(NULL, 0);
    if (hr == S_OK)
        return sxs_sub_bit(sub);
    if (FAILED(hr))
        turn_off(sub, hr, said[0] ? said : "it could not start", said[0] != '\0', why);
    else if (said[0])
        sxs_reasons_add(why, "runtime %u (%s): %s", rt->number, rt->version, said);
    give_back_entry(sub);
    return 0;
}

/* Start each enabled tool. No event reaches them meanwhile. Holds no lock, because start() may call
 * the runtime and take locks of the tool. Returns the bits of those that have started. */
static uint64_t start_tools(struct sxs_runtime *rt, const struct sxs_enabled_tool *tools, size_t n,
                            const struct sxs_reasons *why)
{
    uint64_t started = 0;
    for (size_t i = 0; i < n; i++) {
        if ((rt->state == SXS_STATE_PICKED || tools[i].tool->on_guarded) &&
            has_needed(rt, tools[i].tool, started | rt->published, why))
            started |= start_tool(rt, &tools[i], why);
    }
    return started;
}

/* The HRESULT with which each subscription's mask was refused; 0: it was not. */
struct refused {
    HRESULT hr[SXS_MAX_TOOLS];
};

/* Find the tools whose masks made the runtime refuse the union: add one mask of @fresh after
 * another, and leave out each subscription whose mask is refused. */
static void leave_out_refused_locked(struct sxs_runtime *rt, uint64_t *fresh, struct refused *out)
{
    HRESULT  hr;
    uint32_t low, high;
    sxs_masks_union_locked(rt, rt->published & ~rt->stopped, &low, &high);
    for (unsigned i = 0; i < rt->n_subs; i++) {
        const struct sxs_sub *sub = &rt->subs[i];
        if (!(*fresh >> i & 1))
            continue;
        hr = sxs_masks_ask(rt, low | sub->low, high | sub->high);
        if (FAILED(hr)) {
            out->hr[i] = hr;
            *fresh &= ~(UINT64_C(1) << i);
        } else {
            low |= sub->low;
            high |= sub->high;
        }
    }
    hr = sxs_masks_ask(rt, low, high);
    if (FAILED(hr) && (low || high)) /* with empty masks, no events are missed */
        sxs_error(
            "runtime %u (%s) refuses the event masks of the other tools, which may miss events "
            "(%s 0x%08x)",
            rt->number, rt->version, sxs_hresult_name(hr), (unsigned)hr);
}

/* Leave out the tools that come too late for their masks. */
static void leave_out_late_locked(struct sxs_runtime *rt, uint64_t *fresh, struct refused *out)
{
    for (unsigned i = 0; i < rt->n_subs; i++) {
        if ((*fresh >> i & 1) && sxs_masks_are_late(rt, rt->subs[i].low, rt->subs[i].high)) {
            out->hr[i] = CORPROF_E_UNSUPPORTED_CALL_SEQUENCE;
            *fresh &= ~(UINT64_C(1) << i);
        }
    }
}

/* From now on the tools receive events, and may change their masks on any thread. */
static void publish_locked(struct sxs_runtime *rt, uint64_t fresh)
{
    uint32_t low, high;
    for (unsigned i = 0; i < rt->n_subs; i++) {
        const struct sxs_tool *tool = rt->subs[i].tool;
        uint64_t               bit = UINT64_C(1) << i;
        if (!(fresh & bit))
            continue;
        if (tool->in_child)
            atomic_fetch_or(&rt->in_child, bit);
        if (tool->group) {
            atomic_store(&rt->group, tool->group);
            atomic_fetch_or(&rt->in_group, bit);
        }
    }
    rt->published |= fresh;
    sxs_masks_union_locked(rt, rt->published & ~rt->stopped, &low, &high);
    rt->low = low;
    rt->high = high;
    rt->is_subscribed = 1;
    sxs_masks_route_locked(rt);
}

/* Tools find in this event what was loaded before them. A runtime that is being attached to raises it
 * itself, soon. */
static void tell_complete(struct sxs_runtime *rt, uint64_t fresh)
{
    for (unsigned i = 0; i < rt->n_subs; i++) {
        struct sxs_sub *sub = &rt->subs[i];
        if ((fresh >> i & 1) && sub->on && sub->on->ProfilerAttachComplete)
            sub->on->ProfilerAttachComplete(sub);
    }
}

HRESULT sxs_runtime_subscribe(struct sxs_runtime *rt, const struct sxs_enabled_tool *tools,
                              size_t n, const struct sxs_reasons *why)
{
    struct refused refused = {{0}};
    uint64_t       started = start_tools(rt, tools, n, why), fresh = started;
    uint32_t       low, high;
    int            is_late = rt->is_subscribed && !rt->attach_data;
    pthread_mutex_lock(&rt->mask_lock);
    leave_out_late_locked(rt, &fresh, &refused);
    sxs_masks_union_locked(rt, (rt->published & ~rt->stopped) | fresh, &low, &high);
    if (FAILED(sxs_masks_ask(rt, low, high)))
        leave_out_refused_locked(rt, &fresh, &refused);
    publish_locked(rt, fresh);
    pthread_mutex_unlock(&rt->mask_lock);
    if (rt->apply_hooks)
        rt->apply_hooks(rt);
    for (unsigned i = 0; i < SXS_MAX_TOOLS; i++) {
        if (!((started & ~fresh) >> i & 1))
            continue;
        turn_off(&rt->subs[i], refused.hr[i], words_of(refused.hr[i]), 0, why);
        give_back_entry(&rt->subs[i]);
    }
    if (is_late)
        tell_complete(rt, fresh);
    return S_OK;
}

/* ---- ending ---------------------------------------------------------------------------------- */

void sxs_runtime_silence(struct sxs_runtime *rt, uint64_t bits)
{
    uint32_t low, high;
    pthread_mutex_lock(&rt->mask_lock);
    for (unsigned slot = 0; slot < SXS_N_CALLBACK_SLOTS; slot++)
        atomic_fetch_and(&rt->wants[slot], ~bits);
    rt->published &= ~bits;
    rt->stopped |= bits & rt->taken;
    sxs_masks_union_locked(rt, rt->published & ~rt->stopped, &low, &high);
    if (sxs_runtime_is_live(rt) && SUCCEEDED(sxs_masks_ask(rt, low, high))) {
        rt->low = low;
        rt->high = high;
    }
    pthread_mutex_unlock(&rt->mask_lock);
}

int sxs_sub_is_silent(struct sxs_sub *sub)
{
    int silent;
    pthread_mutex_lock(&sub->rt->mask_lock);
    silent = (sub->rt->stopped & sxs_sub_bit(sub)) != 0;
    pthread_mutex_unlock(&sub->rt->mask_lock);
    return silent;
}

void sxs_runtime_stop(struct sxs_runtime *rt, uint64_t bits, int how)
{
    uint64_t now;
    pthread_mutex_lock(&rt->mask_lock);
    now = bits & rt->taken & ~rt->stop_called;
    rt->stop_called |= now;
    pthread_mutex_unlock(&rt->mask_lock);
    for (unsigned i = rt->n_subs; i-- > 0;)
        if ((now >> i & 1) && rt->subs[i].tool->stop)
            rt->subs[i].tool->stop(&rt->subs[i], how);
}

static int is_column_empty(const struct sxs_runtime *rt, unsigned column)
{
    for (unsigned i = 0; i < SXS_INSIDE_STRIPES; i++)
        if (atomic_load(&rt->inside[i].column[column].n))
            return 0;
    return 1;
}

/* Threads that come meanwhile are counted in the other column. A thread that has read the number of
 * the column before it was changed may still be counted in this one, but it sees what is wanted
 * now; so may one that an earlier call has not waited for. So both columns are waited for. */
int sxs_runtime_drain(struct sxs_runtime *rt, uint64_t limit_ns)
{
    const struct timespec pause = {0, LOOK_AGAIN_NS};
    uint64_t              until = sxs_now_ns(CLOCK_MONOTONIC) + limit_ns;
    for (unsigned i = 0; i < 2; i++) {
        unsigned column = atomic_fetch_add(&rt->column, 1) & 1;
        while (!is_column_empty(rt, column)) {
            if (sxs_now_ns(CLOCK_MONOTONIC) >= until)
                return -ETIMEDOUT;
            nanosleep(&pause, NULL);
        }
    }
    return 0;
}

void sxs_runtime_release(struct sxs_runtime *rt, uint64_t bits)
{
    uint64_t now = bits & rt->taken;
    for (unsigned i = rt->n_subs; i-- > 0;) {
        if (!(now >> i & 1))
            continue;
        if (rt->subs[i].tool->release)
            rt->subs[i].tool->release(&rt->subs[i]);
        give_back_entry(&rt->subs[i]);
    }
}
