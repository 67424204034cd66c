/* SPDX-License-Identifier: MIT */
/* tools/sample/tool.c - the tool "sample" on each runtime: the events that it asks for, and what they
 * mean for samples. */
#include "tools/sample/tool.h"

#include <string.h>

#include "session/write/samples_write.h"
#include "signals/signals.h"
#include "stackwalk/snapshot/dispatch.h"
#include "symbols/compiled.h"
#include "symbols/early.h"
#include "symbols/tier_sessions.h"
#include "tools/sample/code.h"
#include "tools/sample/pauses.h"
#include "tools/sample/sampler.h"
#include "tools/sample/snapshot.h"
#include "tools/sample/threads.h"

static void record_runtime(const struct sxs_sampler *sampler, const struct sxs_runtime *rt)
{
    const char                *version = sxs_runtime_version(rt), *path = sxs_runtime_path(rt);
    size_t                     v = strlen(version), p = strlen(path);
    struct sxs_record_runtime *r = sxs_samples_reserve(sampler->writer, sizeof(*r) + v + p);
    if (!r)
        return;
    r->number = sxs_runtime_number(rt);
    r->version_size = (uint16_t)v;
    r->path_size = (uint16_t)p;
    memcpy(r->text, version, v);
    memcpy(r->text + v, path, p);
    sxs_samples_commit(r, SXS_RECORD_RUNTIME);
}

static HRESULT start_tool(struct sxs_sub *sub, const char *text)
{
    const struct sxs_sampler *sampler = sxs_sampler_start(text);
    if (!sampler)
        return E_FAIL;
    record_runtime(sampler, sub->rt);
    sub->low = COR_PRF_MONITOR_THREADS | COR_PRF_MONITOR_FUNCTION_UNLOADS |
               COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_ASSEMBLY_LOADS |
               COR_PRF_MONITOR_EXCEPTIONS | COR_PRF_MONITOR_SUSPENDS;
    sub->state = sxs_pauses_new(sampler->writer);
    if (!sub->state || sxs_code_started(sub->rt) != 0)
        return E_OUTOFMEMORY;
    if (sampler->options.walker == SXS_WALKER_SNAPSHOT)
        sub->low |= (uint32_t)COR_PRF_ENABLE_STACK_SNAPSHOT;
    if (sxs_runtime_info_version(sub->rt) >= 9)
        sub->high = COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS;
    if (sampler->options.tiers && sxs_runtime_info_version(sub->rt) >= 12) {
        sub->high |= COR_PRF_HIGH_MONITOR_EVENT_PIPE;
        /* Needed for all code that is compiled until the session runs. */
        if (!sxs_runtime_is_attached(sub->rt))
            sub->low |= SXS_TIER_SESSIONS_LOW;
        sxs_tier_sessions_expect(sub);
    }
    return S_OK;
}

static HRESULT thread_assigned(struct sxs_sub *sub, sxs_thread thread, DWORD tid)
{
    (void)thread;
    sxs_threads_mark(tid, sxs_runtime_number(sub->rt));
    return S_OK;
}

/* Unblocks the sample signal in a catch block. A runtime that handled a fault has left its
 * signal handler for good by now, but the handler's signal mask is still in force, except for
 * the signals that the runtime itself had blocked (docs/internals/signals.md). */
static HRESULT catcher_enter(struct sxs_sub *sub, sxs_function function, sxs_object object)
{
    (void)sub, (void)function, (void)object;
    if (sxs_signals()->sample_uses_stack())
        sxs_signals()->unblock_samples();
    return S_OK;
}

static HRESULT suspend_started(struct sxs_sub *sub, COR_PRF_SUSPEND_REASON reason)
{
    sxs_pauses_begin(sub->state, reason);
    return S_OK;
}

static HRESULT suspend_aborted(struct sxs_sub *sub)
{
    sxs_pauses_abort(sub->state);
    return S_OK;
}

static HRESULT resume_finished(struct sxs_sub *sub)
{
    sxs_code_resumed(sub->rt, sxs_pauses_end(sub->state, sxs_runtime_number(sub->rt)));
    return S_OK;
}

static HRESULT event_delivered(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id,
                               DWORD version, ULONG metadata_size, LPCBYTE metadata, ULONG size,
                               LPCBYTE data, LPCGUID activity, LPCGUID related, sxs_thread thread,
                               ULONG n_frames, UINT_PTR *frames)
{
    (void)provider, (void)version, (void)metadata_size, (void)metadata, (void)activity;
    (void)related, (void)thread, (void)n_frames, (void)frames;
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

static HRESULT function_unloading(struct sxs_sub *sub, sxs_function function)
{
    sxs_code_unloading(sub->rt, function.id);
    return S_OK;
}

static HRESULT module_loaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    (void)sub;
    if (SUCCEEDED(status) && sxs_sampler()->options.walker == SXS_WALKER_SNAPSHOT)
        sxs_dispatch_module(module);
    return S_OK;
}

static HRESULT assembly_unloading(struct sxs_sub *sub, sxs_assembly assembly)
{
    (void)assembly;
    sxs_code_assembly_unloading(sub->rt);
    return S_OK;
}

static HRESULT assembly_unloaded(struct sxs_sub *sub, sxs_assembly assembly, HRESULT status)
{
    (void)assembly, (void)status;
    sxs_code_assembly_unloaded(sub->rt);
    return S_OK;
}

static HRESULT module_unloading(struct sxs_sub *sub, sxs_module module)
{
    (void)module;
    /* New code may be placed where unloaded early code was, so not all compilations are known. */
    if (sxs_tier_sessions_is_expected(sub->rt))
        sxs_compiled_incomplete(sub->rt);
    sxs_code_unloading(sub->rt, 0);
    return S_OK;
}

static void stop_tool(struct sxs_sub *sub, int detached)
{
    (void)detached;
    if (sxs_sampler()->options.walker == SXS_WALKER_SNAPSHOT)
        sxs_snapshot_ended();
    sxs_tier_sessions_forget(sub->rt);
    sxs_code_ended(sub->rt);
}

static void release_runtime(struct sxs_sub *sub)
{
    /* If the runtime refused the tool, stop_tool() was not called. */
    sxs_tier_sessions_forget(sub->rt);
    sxs_pauses_free(sub->state);
    sub->state = NULL;
}

static const struct sxs_events events = {
    .ThreadAssignedToOSThread = thread_assigned,
    .ExceptionCatcherEnter = catcher_enter,
    .RuntimeSuspendStarted = suspend_started,
    .RuntimeSuspendAborted = suspend_aborted,
    .RuntimeResumeFinished = resume_finished,
    .JITCompilationStarted = on_compiling,
    .ReJITCompilationStarted = on_recompiling,
    .JITCompilationFinished = on_compiled,
    .ReJITCompilationFinished = on_recompiled,
    .FunctionUnloadStarted = function_unloading,
    .DynamicMethodUnloaded = function_unloading,
    .AssemblyUnloadStarted = assembly_unloading,
    .AssemblyUnloadFinished = assembly_unloaded,
    .ModuleLoadFinished = module_loaded,
    .ModuleUnloadStarted = module_unloading,
    .EventPipeEventDelivered = event_delivered,
};

const struct sxs_tool sxs_sample_tool = {.name = "sample",
                                         .on = &events,
                                         .start = start_tool,
                                         .stop = stop_tool,
                                         .release = release_runtime};
