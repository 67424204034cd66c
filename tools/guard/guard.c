/* SPDX-License-Identifier: MIT */
/* tools/guard/guard.c - tells the signal router which threads belong to which runtime. Runs for
 * every admitted runtime, picked or not. A runtime that is guarded only is asked for these few
 * events and for no others. */
#include "tools/tools.h"

#include "signals/signals.h"

/* Both events come on the thread itself. `state` holds the number of the runtime as a signal
 * owner. */
static HRESULT thread_created(struct sxs_sub *sub, sxs_thread thread)
{
    (void)thread;
    sxs_signals()->own_thread((int)(intptr_t)sub->state, 1);
    return S_OK;
}

static HRESULT thread_assigned(struct sxs_sub *sub, sxs_thread thread, DWORD os_thread)
{
    (void)thread;
    (void)os_thread;
    sxs_signals()->own_thread((int)(intptr_t)sub->state, 1);
    return S_OK;
}

static const struct sxs_events events = {
    .ThreadCreated = thread_created,
    .ThreadAssignedToOSThread = thread_assigned,
};

static HRESULT start_tool(struct sxs_sub *sub, const char *options)
{
    int owner = sxs_runtime_signal_owner(sub->rt);
    (void)options;
    sub->state = (void *)(intptr_t)owner;
    sub->low = owner >= 0 ? (uint32_t)COR_PRF_MONITOR_THREADS : 0;
    return S_OK;
}

const struct sxs_tool sxs_guard_tool = {.name = "guard",
                                        .always = 1,
                                        .on_guarded = 1,
                                        .in_child = 1,
                                        .on = &events,
                                        .start = start_tool};
