/* SPDX-License-Identifier: MIT */
/* tools/heap/heap.c - the tool "heap" on each runtime: the events that it asks for. */
#include "tools/heap/heap.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "manager/own_sessions.h"
#include "tools/heap/snapshot.h"
#include "tools/heap/triggers.h"

/* ---- a dump ---------------------------------------------------------------------------------- */

static HRESULT event_delivered(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id,
                               DWORD version, ULONG metadata_size, LPCBYTE metadata, ULONG size,
                               LPCBYTE data, LPCGUID activity, LPCGUID related, sxs_thread thread,
                               ULONG n_frames, UINT_PTR *frames)
{
    struct sxs_heap_runtime *h = sub->state;
    (void)version, (void)metadata_size, (void)metadata, (void)activity;
    (void)related, (void)thread, (void)n_frames, (void)frames;
    if (atomic_load(&h->receiving) && sxs_runtime_provider_is(sub->rt, provider))
        sxs_bulk_event(&h->bulk, &h->sink, !h->by_callbacks, id, data, size);
    return S_OK;
}

/* ---- the callbacks of COR_PRF_MONITOR_GC ----------------------------------------------------- */

static HRESULT gc_started(struct sxs_sub *sub, int n, BOOL *collected, COR_PRF_GC_REASON reason)
{
    struct sxs_heap_runtime *h = sub->state;
    if (atomic_load(&h->receiving))
        sxs_heap_answers_move(h->sink.answers, 0, NULL, NULL, NULL);
    if (atomic_load(&h->receiving) && reason == COR_PRF_GC_INDUCED && n > 2 && collected[2])
        h->in_gc = 1;
    return S_OK;
}

static int receives_callbacks(const struct sxs_heap_runtime *h)
{
    return atomic_load(&h->receiving) && h->by_callbacks && h->in_gc;
}

static HRESULT roots_reported(struct sxs_sub *sub, ULONG n, ObjectID *objects,
                              COR_PRF_GC_ROOT_KIND *kinds, COR_PRF_GC_ROOT_FLAGS *flags,
                              UINT_PTR *ids)
{
    struct sxs_heap_runtime *h = sub->state;
    for (ULONG i = 0; i < n && receives_callbacks(h); i++) {
        int on_stack = kinds[i] == COR_PRF_GC_ROOT_STACK;
        sxs_heap_sink_root(&h->sink, (enum sxs_heap_root_kind)kinds[i], (uint32_t)flags[i] & 15u,
                           objects[i], on_stack ? 0 : ids[i], on_stack ? ids[i] : 0);
    }
    return S_OK;
}

static HRESULT object_reported(struct sxs_sub *sub, sxs_object object, sxs_class cls, ULONG n,
                               ObjectID *references)
{
    struct sxs_heap_runtime *h = sub->state;
    SIZE_T                   size = 0;
    if (!receives_callbacks(h))
        return E_FAIL; /* the runtime reports no further objects of this collection */
    if (FAILED(sxs_info_GetObjectSize2(sub->rt, object, &size)))
        h->sink.totals.lacking |= SXS_HEAP_SOME_OBJECTS;
    h->walked = 1;
    sxs_heap_sink_object(&h->sink, object.id, cls.id, size, references, n);
    return S_OK;
}

static HRESULT dependent_reported(struct sxs_sub *sub, ULONG n, ObjectID *primaries,
                                  ObjectID *secondaries, GCHandleID *ids)
{
    struct sxs_heap_runtime *h = sub->state;
    for (ULONG i = 0; i < n && receives_callbacks(h); i++)
        sxs_heap_sink_dependent(&h->sink, primaries[i], secondaries[i], (uint64_t)ids[i]);
    return S_OK;
}

/* ---- collections and suspensions ------------------------------------------------------------- */

static HRESULT gc_finished(struct sxs_sub *sub)
{
    struct sxs_heap_runtime *h = sub->state;
    if (!atomic_load(&h->receiving) || !(h->by_callbacks ? h->walked : h->bulk.objects))
        return S_OK;
    sxs_heap_sink_bounds(&h->sink);
    atomic_store(&h->receiving, 0); /* objects of another collection are not wanted */
    sxs_heap_received(h, 1);
    atomic_store(&h->pausing, 1);
    return S_OK;
}

static HRESULT suspend_started(struct sxs_sub *sub, COR_PRF_SUSPEND_REASON reason)
{
    struct sxs_heap_runtime *h = sub->state;
    (void)reason;
    if (atomic_load(&h->receiving))
        h->suspend_ns = sxs_now_ns(CLOCK_MONOTONIC);
    return S_OK;
}

static HRESULT suspend_finished(struct sxs_sub *sub)
{
    struct sxs_heap_runtime *h = sub->state;
    if (atomic_load(&h->receiving))
        h->stopped_ns = sxs_now_ns(CLOCK_MONOTONIC);
    return S_OK;
}

static HRESULT resume_finished(struct sxs_sub *sub)
{
    struct sxs_heap_runtime *h = sub->state;
    if (!atomic_exchange(&h->pausing, 0) || !h->suspend_ns)
        return S_OK;
    h->sink.totals.pause_ns = sxs_now_ns(CLOCK_MONOTONIC) - h->suspend_ns;
    if (h->stopped_ns > h->suspend_ns)
        h->sink.totals.suspend_ns = h->stopped_ns - h->suspend_ns;
    return S_OK;
}

static HRESULT assembly_unloading(struct sxs_sub *sub, sxs_assembly assembly)
{
    sxs_heap_unloading(sub->state, assembly);
    return S_OK;
}

/* ---- the end of the program ------------------------------------------------------------------ */

static HRESULT search_started(struct sxs_sub *sub, sxs_function function, BOOL *use)
{
    struct sxs_heap_runtime *h = sub->state;
    (void)use;
    if (sxs_exit_method_is(&h->exit, function))
        sxs_heap_exiting(sub->rt);
    return S_OK;
}

static HRESULT jit_started(struct sxs_sub *sub, sxs_function function, BOOL safe)
{
    (void)safe;
    return search_started(sub, function, NULL);
}

/* ---- the tool -------------------------------------------------------------------------------- */

static HRESULT module_loaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    struct sxs_heap_runtime *h = sub->state;
    unsigned                 n = atomic_fetch_add(&h->n_modules, 1);
    if (n == 0 && SUCCEEDED(status) && sxs_heap_options_used()->at_exit)
        sxs_exit_method_find(&h->exit, module); /* the first module has System.Object */
    if (SUCCEEDED(status))
        sxs_heap_classes_module(&h->classes, module);
    if (n == 1)
        sxs_heap_started();
    return S_OK;
}

static HRESULT class_loaded(struct sxs_sub *sub, sxs_class cls, HRESULT status)
{
    struct sxs_heap_runtime *h = sub->state;
    if (SUCCEEDED(status))
        sxs_heap_classes_add(&h->classes, cls);
    return S_OK;
}

/* Notes the modules that a runtime had loaded before the tool was started. Their classes are not
 * known. */
static HRESULT started_late(struct sxs_sub *sub)
{
    struct sxs_heap_runtime *h = sub->state;
    ICorProfilerModuleEnum  *all = NULL;
    ModuleID                 id;
    ULONG                    n = 0;
    if (SUCCEEDED(sxs_info_EnumModules(sub->rt, &all)) && all) {
        while (all->vtbl->Next(all, 1, &id, &n) == S_OK && n)
            sxs_heap_classes_module(&h->classes, (sxs_module){sub->rt, id});
        all->vtbl->Release(all);
    }
    atomic_store(&h->n_modules, 2); /* it runs managed code */
    sxs_heap_started();
    return S_OK;
}

static int is_possible(const struct sxs_sub *sub)
{
    if (!sxs_runtime_is_late(sub->rt))
        return 1;
    if (sxs_heap_options_used()->at_exit) {
        sxs_error("tool heap: runtime %u runs already: at-exit must be set when its program starts",
                  sxs_runtime_number(sub->rt));
        return 0;
    }
    if (sxs_heap_options_used()->frames)
        sxs_warn("tool heap: runtime %u runs already: functions whose variables keep objects are "
                 "named only if its collections are not concurrent",
                 sxs_runtime_number(sub->rt));
    return 1;
}

static HRESULT start_tool(struct sxs_sub *sub, const char *text)
{
    struct sxs_heap_runtime *h;
    if (sxs_heap_triggers_start(text) != 0)
        return E_INVALIDARG;
    if (!is_possible(sub))
        return E_FAIL;
    h = calloc(1, sizeof(*h));
    if (!h)
        return E_OUTOFMEMORY;
    h->sub = sub;
    sxs_heap_classes_init(&h->classes);
    sub->state = h;
    sub->low =
        COR_PRF_MONITOR_ASSEMBLY_LOADS | COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_CLASS_LOADS;
    if (sxs_heap_options_used()->at_exit)
        sub->low |= COR_PRF_MONITOR_CACHE_SEARCHES | COR_PRF_MONITOR_JIT_COMPILATION;
    /* Allowed later only if it was asked for here. */
    if ((sxs_heap_options_used()->frames || sxs_heap_options_used()->at_exit) &&
        !sxs_runtime_is_late(sub->rt))
        sub->low |= COR_PRF_MONITOR_GC;
    sxs_heap_add(h);
    return S_OK;
}

static void stop_tool(struct sxs_sub *sub, int how)
{
    if (how != SXS_STOP_SESSION) {
        sxs_heap_leave(sub->state);
        return;
    }
    sxs_heap_triggers_stop();
    sxs_heap_remove(sub->state);
}

static void release_runtime(struct sxs_sub *sub)
{
    struct sxs_heap_runtime *h = sub->state;
    if (!h)
        return;
    /* Waits only if the runtime was refused: a snapshot holds a reference to the runtime, so none
     * is being taken when the last one is dropped; the end of a session has waited in stop_tool(). */
    sxs_heap_remove(h);
    sxs_heap_classes_free(&h->classes);
    free(h);
    sub->state = NULL;
}

static void end_session(void)
{
    sxs_heap_triggers_end();
    sxs_heap_end_session();
}

static const struct sxs_events events = {
    .ProfilerAttachComplete = started_late,
    .AssemblyUnloadStarted = assembly_unloading,
    .ModuleLoadFinished = module_loaded,
    .ClassLoadFinished = class_loaded,
    .JITCachedFunctionSearchStarted = search_started,
    .JITCompilationStarted = jit_started,
    .GarbageCollectionStarted = gc_started,
    .RootReferences2 = roots_reported,
    .ObjectReferences = object_reported,
    .ConditionalWeakTableElementReferences = dependent_reported,
    .GarbageCollectionFinished = gc_finished,
    .RuntimeSuspendStarted = suspend_started,
    .RuntimeSuspendFinished = suspend_finished,
    .RuntimeResumeFinished = resume_finished,
    .EventPipeEventDelivered = event_delivered,
};

const struct sxs_tool sxs_heap_tool = {.name = "heap",
                                       .on = &events,
                                       .start = start_tool,
                                       .stop = stop_tool,
                                       .release = release_runtime,
                                       .end_session = end_session,
                                       .restarts = 1};
