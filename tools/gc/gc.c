/* SPDX-License-Identifier: MIT */
/*
 * gc.c - the tool "gc": asks each runtime for its events about collections, which EventPipe
 * delivers on the threads that raise them. Runtimes without EventPipe (.NET Core 3.1) tell by callbacks when
 * a collection begins and ends, of which generation it is, and whether it was induced.
 */
#include "tools/gc/gc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/log.h"
#include "manager/own_sessions.h"
#include "tools/events_file/events_file.h"
#include "tools/gc/collections.h"

#define GC_KEYWORD    UINT64_C(1)
#define INFORMATIONAL 4u

/** The state of one runtime. */
struct gc_state {
    struct sxs_gc_collections collections;
    _Atomic uint32_t          n_begun; /* collections that callbacks have reported */
    EVENTPIPE_SESSION         session; /* 0: none */
};

static uint32_t own_tid(void)
{
    static SXS_TLS uint32_t tid; /* it never changes for a thread */
    if (!tid)
        tid = (uint32_t)syscall(SYS_gettid);
    return tid;
}

static void take(struct sxs_sub *sub, const struct sxs_gc_event *e)
{
    struct gc_state *s = sub->state;
    if (sxs_events_forked())
        return;
    if (!sxs_gc_take(&s->collections, e, sxs_now_ns(CLOCK_MONOTONIC), own_tid()))
        atomic_fetch_add(&sxs_events_head()->lost, 1);
}

/* ---- EventPipe ---- */

/* The runtime may hold its locks, or have suspended all threads: it is not asked for more. */
static HRESULT event_delivered(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id,
                               DWORD version, ULONG metadata_size, LPCBYTE metadata, ULONG size,
                               LPCBYTE data, LPCGUID activity, LPCGUID related, sxs_thread thread,
                               ULONG n_frames, UINT_PTR *frames)
{
    struct sxs_gc_event e;
    (void)version, (void)metadata_size, (void)metadata, (void)activity;
    (void)related, (void)thread, (void)n_frames, (void)frames;
    if (sxs_gc_decode(id, data, size, &e) && sxs_runtime_provider_is(sub->rt, provider))
        take(sub, &e);
    return S_OK;
}

/* ---- callbacks, of runtimes without EventPipe ---- */

static int by_callbacks(const struct sxs_sub *sub)
{
    return !(sub->high & COR_PRF_HIGH_MONITOR_EVENT_PIPE);
}

static HRESULT gc_started(struct sxs_sub *sub, int n, BOOL *collected, COR_PRF_GC_REASON reason)
{
    struct gc_state    *s = sub->state;
    struct sxs_gc_event e = {.id = SXS_GC_START, .type = SXS_GC_UNKNOWN};
    if (!by_callbacks(sub))
        return S_OK;
    for (int i = 0; i < n && i < 3; i++) /* 3 and 4: heaps of large and pinned objects */
        if (collected[i])
            e.generation = (uint32_t)i;
    e.reason = reason == COR_PRF_GC_INDUCED ? SXS_GC_INDUCED : SXS_GC_UNKNOWN;
    e.number = atomic_fetch_add(&s->n_begun, 1) + 1;
    take(sub, &e);
    return S_OK;
}

static HRESULT gc_finished(struct sxs_sub *sub)
{
    struct sxs_gc_event e = {.id = SXS_GC_END}; /* of the collection that began last */
    if (by_callbacks(sub))
        take(sub, &e);
    return S_OK;
}

static HRESULT take_suspension(struct sxs_sub *sub, enum sxs_gc_event_id id, uint32_t reason)
{
    struct sxs_gc_event e = {.id = id, .reason = reason};
    if (by_callbacks(sub))
        take(sub, &e);
    return S_OK;
}

static HRESULT suspend_started(struct sxs_sub *sub, COR_PRF_SUSPEND_REASON reason)
{
    return take_suspension(sub, SXS_GC_SUSPEND_EE_BEGIN,
                           reason == COR_PRF_SUSPEND_FOR_GC        ? SXS_SUSPENDED_FOR_GC
                           : reason == COR_PRF_SUSPEND_FOR_GC_PREP ? SXS_SUSPENDED_FOR_GC_PREP
                                                                   : 0);
}

static HRESULT suspend_finished(struct sxs_sub *sub)
{
    return take_suspension(sub, SXS_GC_SUSPEND_EE_END, 0);
}

static HRESULT resume_started(struct sxs_sub *sub)
{
    return take_suspension(sub, SXS_GC_RESTART_EE_BEGIN, 0);
}

static HRESULT resume_finished(struct sxs_sub *sub)
{
    return take_suspension(sub, SXS_GC_RESTART_EE_END, 0);
}

/* ---- the tool ---- */

static COR_PRF_EVENTPIPE_PROVIDER_CONFIG session_config(void)
{
    return (COR_PRF_EVENTPIPE_PROVIDER_CONFIG){.providerName = sxs_runtime_provider,
                                               .keywords = GC_KEYWORD,
                                               .loggingLevel = INFORMATIONAL};
}

static int start_session(struct sxs_runtime *rt, EVENTPIPE_SESSION *id)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = session_config();
    HRESULT                           hr;
    if (!sxs_runtime_has(rt, SXS_INFO_EVENT_PIPE))
        return 0;
    hr = sxs_own_session_start(rt, &config, id);
    if (FAILED(hr))
        sxs_note("runtime %u reports no details of its collections (%s)", sxs_runtime_number(rt),
                 sxs_hresult_name(hr));
    return SUCCEEDED(hr);
}

static HRESULT start_tool(struct sxs_sub *sub, const char *options)
{
    struct gc_state *s;
    if (options[0]) {
        sxs_error("tool gc: '%s': it takes no options", options);
        return E_INVALIDARG;
    }
    if (!sxs_events_open("gc", SXS_EVENTS_OF_COLLECTIONS))
        return E_FAIL;
    s = calloc(1, sizeof(*s));
    if (!s)
        return E_OUTOFMEMORY;
    pthread_mutex_init(&s->collections.lock, NULL);
    s->collections.runtime = sxs_runtime_number(sub->rt);
    s->collections.reserve = sxs_events_reserve;
    s->collections.commit = sxs_events_commit;
    sub->state = s;
    if (start_session(sub->rt, &s->session)) {
        sub->high = COR_PRF_HIGH_MONITOR_EVENT_PIPE;
        return S_OK;
    }
    sub->low = COR_PRF_MONITOR_SUSPENDS;
    if (sxs_runtime_has(sub->rt, SXS_INFO_EVENT_MASK_2))
        sub->high = COR_PRF_HIGH_BASIC_GC;
    else
        sub->low |= COR_PRF_MONITOR_GC;
    return S_OK;
}

static void stop_session(struct sxs_sub *sub)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = session_config();
    struct gc_state                  *s = sub->state;
    sxs_own_session_end(sub->rt, &config, &s->session);
}

static void stop_tool(struct sxs_sub *sub, int how)
{
    if (how == SXS_STOP_SESSION)
        stop_session(sub);
}

static void release_runtime(struct sxs_sub *sub)
{
    struct gc_state *s = sub->state;
    if (s)
        stop_session(sub);
    sub->state = NULL;
    if (s)
        pthread_mutex_destroy(&s->collections.lock);
    free(s);
}

static void end_session(void)
{
    sxs_events_close(SXS_EVENTS_OF_COLLECTIONS);
}

static const struct sxs_events events = {
    .GarbageCollectionStarted = gc_started,
    .GarbageCollectionFinished = gc_finished,
    .RuntimeSuspendStarted = suspend_started,
    .RuntimeSuspendFinished = suspend_finished,
    .RuntimeResumeStarted = resume_started,
    .RuntimeResumeFinished = resume_finished,
    .EventPipeEventDelivered = event_delivered,
};

const struct sxs_tool sxs_gc_tool = {
    .name = "gc", .on = &events, .start = start_tool, .stop = stop_tool,
    .release = release_runtime, .end_session = end_session, .restarts = 1};
