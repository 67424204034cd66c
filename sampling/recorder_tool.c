/* SPDX-License-Identifier: MIT */
/* sampling/recorder_tool.c - the tool "recorder" on each runtime: the events that it asks for, and
 * the records that they become. */
#include "sampling/recorder_tool.h"

#include <string.h>

#include "sampling/code.h"
#include "sampling/pauses.h"
#include "sampling/recorder.h"
#include "signals/signals.h"

static void record_runtime(struct sxs_samples_writer *writer, const struct sxs_runtime *rt)
{
    const char                *version = sxs_runtime_version(rt), *path = sxs_runtime_path(rt);
    size_t                     v = strlen(version), p = strlen(path);
    struct sxs_record_runtime *r = sxs_samples_reserve(writer, sizeof(*r) + v + p);
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
    (void)text;
    if (sxs_recorder_start() != 0)
        return S_FALSE; /* the reason was logged */
    record_runtime(sxs_recorder_writer(), sub->rt);
    sub->low = COR_PRF_MONITOR_THREADS | COR_PRF_MONITOR_MODULE_LOADS |
               COR_PRF_MONITOR_ASSEMBLY_LOADS | COR_PRF_MONITOR_EXCEPTIONS |
               COR_PRF_MONITOR_SUSPENDS;
    /* Refused in a runtime that runs already; there, unloads of modules must do. */
    if (!sxs_runtime_is_attached(sub->rt))
        sub->low |= COR_PRF_MONITOR_FUNCTION_UNLOADS;
    sub->state = sxs_pauses_new(sxs_recorder_writer());
    if (!sub->state || sxs_code_started(sub->rt) != 0)
        return E_OUTOFMEMORY;
    if (sxs_runtime_has(sub->rt, SXS_INFO_DYNAMIC_UNLOADS))
        sub->high = COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS;
    return S_OK;
}

static HRESULT thread_assigned(struct sxs_sub *sub, sxs_thread thread, DWORD tid)
{
    (void)thread;
    sxs_threads_mark(tid, sxs_runtime_number(sub->rt));
    return S_OK;
}

/* Unblocks the sample signal in a catch block. A runtime that handled a fault has left its
 * signal handler for the last time by now, but the handler's signal mask is still in force, except for
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

static HRESULT function_unloading(struct sxs_sub *sub, sxs_function function)
{
    sxs_code_unloading(sub->rt, function.id);
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
    sxs_code_unloading(sub->rt, 0);
    return S_OK;
}

static void stop_tool(struct sxs_sub *sub, int detached)
{
    (void)detached;
    sxs_code_ended(sub->rt);
}

static void release_runtime(struct sxs_sub *sub)
{
    sxs_pauses_free(sub->state);
    sub->state = NULL;
}

static const struct sxs_events events = {
    .ThreadAssignedToOSThread = thread_assigned,
    .ExceptionCatcherEnter = catcher_enter,
    .RuntimeSuspendStarted = suspend_started,
    .RuntimeSuspendAborted = suspend_aborted,
    .RuntimeResumeFinished = resume_finished,
    .FunctionUnloadStarted = function_unloading,
    .DynamicMethodUnloaded = function_unloading,
    .AssemblyUnloadStarted = assembly_unloading,
    .AssemblyUnloadFinished = assembly_unloaded,
    .ModuleUnloadStarted = module_unloading,
};

const struct sxs_tool sxs_recorder_tool = {.name = "recorder",
                                           .on = &events,
                                           .start = start_tool,
                                           .stop = stop_tool,
                                           .release = release_runtime,
                                           .end_session = sxs_recorder_end,
                                           .settle = sxs_recorder_name_all,
                                           .restarts = 1};
