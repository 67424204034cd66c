/* SPDX-License-Identifier: MIT */
/* tools/heap/heap.c - the tool "heap" on each runtime: the events that it asks for. */
#include "tools/heap/heap.h"

#include <stdlib.h>

#include "base/clock.h"
#include "tools/heap/snapshot.h"
#include "tools/heap/triggers.h"

/* ---- a dump ---------------------------------------------------------------------------------- */

static HRESULT event_delivered(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id,
                               DWORD version, ULONG metadata_size, LPCBYTE metadata, ULONG size,
                               LPCBYTE data, LPCGUID activity, LPCGUID related, sxs_thread thread,
                               ULONG n_frames, UINT_PTR *frames)
{
    struct sxs_heap_runtime *h = sub->state;
    (void)provider, (void)version, (void)metadata_size, (void)metadata, (void)activity;
    (void)related, (void)thread, (void)n_frames, (void)frames;
    if (atomic_load(&h->receiving))
        sxs_bulk_event(&h->bulk, &h->sink, !h->by_callbacks, id, data, size);
    return S_OK;
}

static HRESULT gc_finished(struct sxs_sub *sub)
{
    struct sxs_heap_runtime *h = sub->state;
    if (!atomic_load(&h->receiving) || !h->bulk.objects)
        return S_OK;
    sxs_heap_sink_bounds(&h->sink);
    atomic_store(&h->receiving, 0); /* objects of another collection are not wanted */
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
    (void)assembly;
    sxs_heap_unloading(sub->state);
    return S_OK;
}

/* ---- the tool -------------------------------------------------------------------------------- */

static HRESULT module_loaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    (void)sub, (void)module, (void)status;
    return S_OK;
}

static HRESULT start_tool(struct sxs_sub *sub, const char *text)
{
    struct sxs_heap_runtime *h;
    if (sxs_heap_triggers_start(text) != 0)
        return E_INVALIDARG;
    h = calloc(1, sizeof(*h));
    if (!h)
        return E_OUTOFMEMORY;
    h->sub = sub;
    sub->state = h;
    sub->low = COR_PRF_MONITOR_ASSEMBLY_LOADS | COR_PRF_MONITOR_MODULE_LOADS;
    sxs_heap_add(h);
    return S_OK;
}

static void stop_tool(struct sxs_sub *sub, int detached)
{
    (void)detached;
    sxs_heap_remove(sub->state);
}

static void release_runtime(struct sxs_sub *sub)
{
    if (sub->state)
        sxs_heap_remove(sub->state); /* if the runtime refused the tool, it was not stopped */
    free(sub->state);
    sub->state = NULL;
}

static const struct sxs_events events = {
    .AssemblyUnloadStarted = assembly_unloading,
    .ModuleLoadFinished = module_loaded,
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
                                       .release = release_runtime};
