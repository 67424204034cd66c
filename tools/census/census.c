/* SPDX-License-Identifier: MIT */
/* tools/census/census.c - counts the modules, methods, threads, collections and exceptions shown
 * at the end of each run. It also fills the pool of thread names, because it is on in all sessions,
 * and gets each event before the tools that read names. */
#include "tools/tools.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "session/format/session.h"
#include "thread_names/thread_names.h"

#define COUNT(sub, counter)                                                                  \
    atomic_fetch_add_explicit(&((struct sxs_census_runtime *)(sub)->state)->counter, 1,      \
                              memory_order_relaxed)

static HRESULT module_loaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    (void)module;
    if (SUCCEEDED(status))
        COUNT(sub, modules);
    return S_OK;
}

static HRESULT method_compiled(struct sxs_sub *sub, sxs_function function, HRESULT status,
                               BOOL safe_to_block)
{
    (void)function;
    (void)safe_to_block;
    if (SUCCEEDED(status))
        COUNT(sub, methods);
    return S_OK;
}

static HRESULT method_recompiled(struct sxs_sub *sub, sxs_function function, sxs_rejit version,
                                 HRESULT status, BOOL safe_to_block)
{
    (void)version;
    return method_compiled(sub, function, status, safe_to_block);
}

/* This event and the next come on the thread itself. */
static HRESULT thread_created(struct sxs_sub *sub, sxs_thread thread)
{
    COUNT(sub, threads);
    sxs_thread_names_started(sxs_runtime_number(sub->rt), thread.id, (uint32_t)syscall(SYS_gettid));
    return S_OK;
}

static HRESULT thread_assigned(struct sxs_sub *sub, sxs_thread thread, DWORD os_thread)
{
    (void)os_thread;
    sxs_thread_names_started(sxs_runtime_number(sub->rt), thread.id, (uint32_t)syscall(SYS_gettid));
    return S_OK;
}

static HRESULT thread_named(struct sxs_sub *sub, sxs_thread thread, ULONG n, WCHAR *name)
{
    sxs_thread_names_named(sxs_runtime_number(sub->rt), thread.id, name, n);
    return S_OK;
}

static HRESULT thread_destroyed(struct sxs_sub *sub, sxs_thread thread)
{
    sxs_thread_names_ended(sxs_runtime_number(sub->rt), thread.id);
    return S_OK;
}

static HRESULT collection_started(struct sxs_sub *sub, int n_generations, BOOL *collected,
                                  COR_PRF_GC_REASON reason)
{
    (void)n_generations;
    (void)collected;
    (void)reason;
    COUNT(sub, gcs);
    return S_OK;
}

static HRESULT exception_thrown(struct sxs_sub *sub, sxs_object exception)
{
    (void)exception;
    COUNT(sub, exceptions);
    return S_OK;
}

static const struct sxs_events events = {
    .ModuleLoadFinished = module_loaded,
    .JITCompilationFinished = method_compiled,
    .DynamicMethodJITCompilationFinished = method_compiled,
    .ReJITCompilationFinished = method_recompiled,
    .ThreadCreated = thread_created,
    .ThreadAssignedToOSThread = thread_assigned,
    .ThreadNameChanged = thread_named,
    .ThreadDestroyed = thread_destroyed,
    .GarbageCollectionStarted = collection_started,
    .ExceptionThrown = exception_thrown,
};

/* COR_PRF_MONITOR_GC turns concurrent collection off. COR_PRF_HIGH_BASIC_GC, in newer runtimes,
 * only reports collections. */
static HRESULT start_tool(struct sxs_sub *sub, const char *options)
{
    (void)options;
    sub->state = sxs_runtime_row(sub->rt);
    sub->low = COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_JIT_COMPILATION |
               COR_PRF_MONITOR_THREADS | COR_PRF_MONITOR_EXCEPTIONS;
    if (sxs_runtime_has(sub->rt, SXS_INFO_EVENT_MASK_2))
        sub->high = COR_PRF_HIGH_BASIC_GC;
    else
        sub->low |= COR_PRF_MONITOR_GC;
    return S_OK;
}

/* No callback of the runtime can add a thread any more. */
static void release_runtime(struct sxs_sub *sub)
{
    sxs_thread_names_runtime_ended(sxs_runtime_number(sub->rt));
}

const struct sxs_tool sxs_census_tool = {
    .name = "census", .always = 1, .on = &events, .start = start_tool, .release = release_runtime};
