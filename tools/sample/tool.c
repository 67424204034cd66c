/* SPDX-License-Identifier: MIT */
/* tools/sample/tool.c - the tool "sample" on each runtime: the events that it asks for, and what they
 * mean for samples. */
#include "tools/sample/tool.h"

#include "manager/own_sessions.h"
#include "sampling/activities.h"
#include "stackwalk/snapshot/dispatch.h"
#include "symbols/compiled.h"
#include "symbols/early.h"
#include "symbols/tier_sessions.h"
#include "tools/sample/sampler.h"
#include "tools/sample/snapshot.h"

/* How long a runtime may take to start its session of tiers: 60 ms of CPU time, if it does not hang. */
#define TIERS_NS UINT64_C(5000000000)

static const struct sxs_events no_events; /* of the tool that shares the other's sampling */

static HRESULT start_sampling(struct sxs_sub *sub, const struct sxs_sampler *sampler, int for_wait)
{
    if (!sampler)
        return E_FAIL;
    if (sampler->is_of_wait != for_wait) {
        sub->on = &no_events;
        return S_OK;
    }
    sub->low = COR_PRF_MONITOR_MODULE_LOADS;
    if (sampler->options.walker == SXS_WALKER_SNAPSHOT)
        sub->low |= (uint32_t)COR_PRF_ENABLE_STACK_SNAPSHOT;
    if (sampler->options.tiers && sxs_runtime_has(sub->rt, SXS_INFO_EVENT_PIPE)) {
        sub->high |= COR_PRF_HIGH_MONITOR_EVENT_PIPE;
        /* Needed for all code that is compiled until the session runs. */
        if (!sxs_runtime_is_attached(sub->rt))
            sub->low |= SXS_TIER_SESSIONS_LOW;
        sxs_tier_sessions_expect(sub);
    }
    if (sampler->options.trace) {
        sub->low |= COR_PRF_MONITOR_THREADS | COR_PRF_MONITOR_SUSPENDS |
                    COR_PRF_MONITOR_ASSEMBLY_LOADS;
        sub->state = sxs_activities_start(sub->rt, sampler->writer);
    }
    return S_OK;
}

static HRESULT start_sample(struct sxs_sub *sub, const char *text)
{
    return start_sampling(sub, sxs_sampler_start(text), 0);
}

static HRESULT start_wait(struct sxs_sub *sub, const char *text)
{
    return start_sampling(sub, sxs_sampler_start_wait(text), 1);
}

static HRESULT event_delivered(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id,
                               DWORD version, ULONG metadata_size, LPCBYTE metadata, ULONG size,
                               LPCBYTE data, LPCGUID activity, LPCGUID related, sxs_thread thread,
                               ULONG n_frames, UINT_PTR *frames)
{
    (void)version, (void)metadata_size, (void)metadata, (void)activity;
    (void)related, (void)thread, (void)n_frames, (void)frames;
    if (sxs_runtime_provider_is(sub->rt, provider))
        sxs_compiled_event(sub->rt, id, data, size);
    return S_OK;
}

static HRESULT on_compiling(struct sxs_sub *sub, sxs_function function, BOOL safe)
{
    (void)function, (void)safe;
    sxs_tier_sessions_compiling(sub->rt, 1);
    return S_OK;
}

static HRESULT on_recompiling(struct sxs_sub *sub, sxs_function function, sxs_rejit id, BOOL safe)
{
    (void)id;
    return on_compiling(sub, function, safe);
}

static HRESULT on_recompiled(struct sxs_sub *sub, sxs_function function, sxs_rejit id,
                             HRESULT status, BOOL safe)
{
    (void)safe;
    if (SUCCEEDED(status))
        sxs_early_compiled(function, id.id);
    sxs_tier_sessions_compiling(sub->rt, 0);
    return S_OK;
}

static HRESULT on_compiled(struct sxs_sub *sub, sxs_function function, HRESULT status, BOOL safe)
{
    return on_recompiled(sub, function, (sxs_rejit){sub->rt, 0}, status, safe);
}

static HRESULT module_loaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    if (SUCCEEDED(status) && sxs_sampler()->options.walker == SXS_WALKER_SNAPSHOT)
        sxs_dispatch_module(module);
    if (SUCCEEDED(status) && sub->state)
        sxs_activities_module(sub->state, module);
    return S_OK;
}

static HRESULT module_unloading(struct sxs_sub *sub, sxs_module module)
{
    if (sub->state)
        sxs_activities_unloading(sub->state, module);
    /* New code may be placed where unloaded early code was, so not all compilations are known. */
    if (sxs_tier_sessions_is_expected(sub->rt))
        sxs_compiled_incomplete(sub->rt);
    return S_OK;
}

static HRESULT assembly_unloading(struct sxs_sub *sub, sxs_assembly assembly)
{
    if (sub->state)
        sxs_activities_unloading(sub->state, (sxs_module){assembly.rt, 0});
    return S_OK;
}

static HRESULT thread_assigned(struct sxs_sub *sub, sxs_thread thread, DWORD tid)
{
    if (sub->state)
        sxs_activities_thread(sub->state, thread, tid);
    return S_OK;
}

static HRESULT thread_destroyed(struct sxs_sub *sub, sxs_thread thread)
{
    if (sub->state)
        sxs_activities_thread_ended(sub->state, thread);
    return S_OK;
}

static HRESULT suspend_started(struct sxs_sub *sub, COR_PRF_SUSPEND_REASON reason)
{
    (void)reason;
    if (sub->state)
        sxs_activities_stopping(sub->state);
    return S_OK;
}

static HRESULT resume_started(struct sxs_sub *sub)
{
    if (sub->state)
        sxs_activities_resuming(sub->state);
    return S_OK;
}

static HRESULT running_again(struct sxs_sub *sub)
{
    if (sub->state)
        sxs_activities_running(sub->state);
    return S_OK;
}

static void stop_tool(struct sxs_sub *sub, int how)
{
    if (sub->state)
        sxs_activities_end(sub->state);
    if (how == SXS_STOP_SESSION)
        sxs_sampler_quiet(); /* the recorder can look up all samples now */
    if (sub->on == &no_events)
        return;
    if (how == SXS_STOP_SESSION)
        sxs_tier_sessions_end(sub->rt, TIERS_NS); /* sxs_sampler_end() deals with a failure */
    if (sxs_sampler()->options.walker == SXS_WALKER_SNAPSHOT)
        sxs_snapshot_ended();
    sxs_tier_sessions_forget(sub->rt);
}

static void release_runtime(struct sxs_sub *sub)
{
    if (sub->on == &no_events)
        return;
    /* If the runtime refused the tool, stop_tool() was not called. */
    sxs_tier_sessions_forget(sub->rt);
}

static const struct sxs_events events = {
    .JITCompilationStarted = on_compiling,
    .ReJITCompilationStarted = on_recompiling,
    .JITCompilationFinished = on_compiled,
    .ReJITCompilationFinished = on_recompiled,
    .ModuleLoadFinished = module_loaded,
    .ModuleUnloadStarted = module_unloading,
    .AssemblyUnloadStarted = assembly_unloading,
    .ThreadAssignedToOSThread = thread_assigned,
    .ThreadDestroyed = thread_destroyed,
    .RuntimeSuspendStarted = suspend_started,
    .RuntimeSuspendAborted = running_again,
    .RuntimeResumeStarted = resume_started,
    .RuntimeResumeFinished = running_again,
    .EventPipeEventDelivered = event_delivered,
};

const struct sxs_tool sxs_sample_tool = {.name = "sample",
                                         .needs = "recorder",
                                         .on = &events,
                                         .start = start_sample,
                                         .stop = stop_tool,
                                         .release = release_runtime,
                                         .end_session = sxs_sampler_end,
                                         .restarts = 1};

const struct sxs_tool sxs_wait_tool = {.name = "wait",
                                       .needs = "recorder",
                                       .on = &events,
                                       .start = start_wait,
                                       .stop = stop_tool,
                                       .release = release_runtime,
                                       .end_session = sxs_sampler_end,
                                       .restarts = 1};
