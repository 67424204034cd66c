/* SPDX-License-Identifier: MIT */
/*
 * spans.c - the tool "events": records what a runtime does, and how long it takes. The start of a
 * compilation or load is kept in the thread state, that of a collection or suspension in the
 * runtime's state. One record is written at the end.
 */
#include "tools/events/events.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tools/events_file/events_file.h"
#include "tools/events/thread_state.h"
#include "tools/events/threads.h"
#include "tools/events/tiers.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "tools/options/events_options.h"
#include "symbols/names.h"

/** The state of one runtime. */
struct spans_state {
    EVENTPIPE_SESSION tiers; /* the session that reports them; 0: none */
    _Atomic uint64_t suspend_ns, stopped_ns; /* suspension requested; all threads stopped; 0: no */
    _Atomic uint32_t suspend_tid, suspend_reason;
    _Atomic uint64_t gc_ns[2]; /* start: a background collection, and one meanwhile */
    _Atomic uint32_t gc_generation[2], gc_induced[2], gc_tid[2];
    _Atomic uint32_t n_gcs; /* collections in progress */
};

static struct {
    /* Guards namer. Held while a runtime is asked for names; only callbacks that are allowed to
     * block take it. */
    pthread_mutex_t          lock;
    struct sxs_namer        *namer;
    struct sxs_event_options options;
} spans = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(spans.lock);
SXS_SESSION_RESETS(spans);

static uint64_t now_ns(void)
{
    return sxs_now_ns(CLOCK_MONOTONIC);
}

static uint32_t own_tid(void)
{
    struct sxs_events_thread *thread = sxs_events_thread();
    return thread ? thread->tid : 0;
}

static struct sxs_event_span *write_span(const struct sxs_runtime *rt, enum sxs_event_kind kind,
                                         uint64_t from_ns, const char *text, uint32_t a, uint32_t b,
                                         int failed)
{
    return sxs_events_span(rt, kind, from_ns, now_ns() - from_ns, own_tid(), text, a, b, failed);
}

/* ---- begin and end on one thread ---- */

static void begin_span(struct sxs_sub *sub, enum sxs_event_kind kind, uint64_t id)
{
    struct sxs_events_thread *thread = sxs_events_thread();
    if (!thread)
        return;
    if (thread->n_open == SXS_OPEN_SPANS) { /* forget the oldest: its duration will be about 0 */
        thread->n_open--;
        memmove(thread->open, thread->open + 1, thread->n_open * sizeof(thread->open[0]));
    }
    thread->open[thread->n_open++] =
        (struct sxs_open_span){id, now_ns(), sxs_runtime_number(sub->rt), kind};
}

/* Ends a span and returns its start time, or the current time if the start is not known. Forgets
 * the spans of this thread that began later: their end was not reported. */
static uint64_t end_span(struct sxs_sub *sub, enum sxs_event_kind kind, uint64_t id)
{
    struct sxs_events_thread *thread = sxs_events_thread();
    for (uint32_t i = thread ? thread->n_open : 0; i > 0; i--) {
        struct sxs_open_span *s = &thread->open[i - 1];
        if (s->id == id && s->kind == (uint32_t)kind && s->runtime == sxs_runtime_number(sub->rt)) {
            thread->n_open = i - 1;
            return s->time_ns;
        }
    }
    return now_ns();
}

/* ---- compilation ---- */

static void name_function(sxs_function fn, char *out, size_t size)
{
    pthread_mutex_lock(&spans.lock);
    if (!spans.namer)
        spans.namer = sxs_namer_new();
    if (spans.namer)
        sxs_namer_function(spans.namer, fn, out, size);
    else
        out[0] = '\0';
    pthread_mutex_unlock(&spans.lock);
}

static uint32_t code_size(sxs_function fn)
{
    COR_PRF_CODE_INFO infos[16];
    ULONG32           n = 0;
    uint32_t          size = 0;
    if (FAILED(sxs_info_GetCodeInfo2(fn.rt, fn, ARRAY_LEN(infos), &n, infos)))
        return 0;
    for (ULONG32 i = 0; i < n && i < ARRAY_LEN(infos); i++)
        size += (uint32_t)infos[i].size;
    return size;
}

static HRESULT jit_started(struct sxs_sub *sub, sxs_function fn, BOOL safe)
{
    (void)safe;
    begin_span(sub, SXS_KIND_JIT, fn.id);
    return S_OK;
}

static void jit_ended(struct sxs_sub *sub, sxs_function fn, HRESULT status, uint32_t rejit)
{
    uint64_t from = end_span(sub, SXS_KIND_JIT, fn.id), until = now_ns();
    char     text[1024];
    name_function(fn, text, sizeof(text));
    sxs_tiers_compiled(fn.id, sxs_events_span(sub->rt, SXS_KIND_JIT, from, until - from, own_tid(),
                                              text, SUCCEEDED(status) && !rejit ? code_size(fn) : 0,
                                              rejit, FAILED(status)));
}

static HRESULT jit_finished(struct sxs_sub *sub, sxs_function fn, HRESULT status, BOOL safe)
{
    (void)safe;
    jit_ended(sub, fn, status, 0);
    return S_OK;
}

static HRESULT rejit_started(struct sxs_sub *sub, sxs_function fn, sxs_rejit id, BOOL safe)
{
    (void)id;
    return jit_started(sub, fn, safe);
}

static HRESULT rejit_finished(struct sxs_sub *sub, sxs_function fn, sxs_rejit id, HRESULT status,
                              BOOL safe)
{
    (void)safe;
    jit_ended(sub, fn, status, (uint32_t)id.id);
    return S_OK;
}

static HRESULT dynamic_started(struct sxs_sub *sub, sxs_function fn, BOOL safe, LPCBYTE il, ULONG n)
{
    (void)il;
    (void)n;
    return jit_started(sub, fn, safe);
}

/* ---- loads ---- */

static HRESULT module_started(struct sxs_sub *sub, sxs_module module)
{
    begin_span(sub, SXS_KIND_MODULE_LOAD, module.id);
    return S_OK;
}

static HRESULT module_finished(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    char     path[1024];
    uint64_t from = end_span(sub, SXS_KIND_MODULE_LOAD, module.id);
    sxs_namer_file(module, path, sizeof(path));
    write_span(sub->rt, SXS_KIND_MODULE_LOAD, from, path, 0, 0, FAILED(status));
    return S_OK;
}

static HRESULT module_unloading(struct sxs_sub *sub, sxs_module module)
{
    (void)sub;
    (void)module;
    pthread_mutex_lock(&spans.lock);
    if (spans.namer)
        sxs_namer_reset(spans.namer);
    pthread_mutex_unlock(&spans.lock);
    return S_OK;
}

static HRESULT class_started(struct sxs_sub *sub, sxs_class cls)
{
    begin_span(sub, SXS_KIND_CLASS_LOAD, cls.id);
    return S_OK;
}

static HRESULT class_finished(struct sxs_sub *sub, sxs_class cls, HRESULT status)
{
    uint64_t from = end_span(sub, SXS_KIND_CLASS_LOAD, cls.id), until = now_ns();
    char     text[1024] = "";
    pthread_mutex_lock(&spans.lock);
    if (!spans.namer)
        spans.namer = sxs_namer_new();
    if (spans.namer && SUCCEEDED(status))
        sxs_namer_class(spans.namer, cls, text, sizeof(text));
    pthread_mutex_unlock(&spans.lock);
    sxs_events_span(sub->rt, SXS_KIND_CLASS_LOAD, from, until - from, own_tid(), text, 0, 0,
                    FAILED(status));
    return S_OK;
}

/* ---- collections and suspensions ---- */

static HRESULT gc_started(struct sxs_sub *sub, int n, BOOL *collected, COR_PRF_GC_REASON reason)
{
    struct spans_state *s = sub->state;
    uint32_t            at = atomic_fetch_add(&s->n_gcs, 1), highest = 0;
    for (int i = 0; i < n && i < 3; i++) /* 3 and 4: heaps of large and pinned objects */
        if (collected[i])
            highest = (uint32_t)i;
    if (at > 1)
        return S_OK;
    atomic_store(&s->gc_generation[at], highest);
    atomic_store(&s->gc_induced[at], reason == COR_PRF_GC_INDUCED);
    atomic_store(&s->gc_tid[at], own_tid());
    atomic_store(&s->gc_ns[at], now_ns());
    return S_OK;
}

static HRESULT gc_finished(struct sxs_sub *sub)
{
    struct spans_state *s = sub->state;
    uint32_t            n = atomic_load(&s->n_gcs);
    uint64_t            from;
    do { /* another collection may begin or end on another thread at the same time */
        if (!n)
            return S_OK;
    } while (!atomic_compare_exchange_weak(&s->n_gcs, &n, n - 1));
    n--;
    from = n < 2 ? atomic_exchange(&s->gc_ns[n], 0) : 0;
    if (from)
        sxs_events_span(sub->rt, SXS_KIND_GC, from, now_ns() - from, atomic_load(&s->gc_tid[n]), "",
                        atomic_load(&s->gc_generation[n]), atomic_load(&s->gc_induced[n]), 0);
    return S_OK;
}

static HRESULT suspend_started(struct sxs_sub *sub, COR_PRF_SUSPEND_REASON reason)
{
    struct spans_state *s = sub->state;
    atomic_store(&s->suspend_tid, own_tid());
    atomic_store(&s->suspend_reason, (uint32_t)reason);
    atomic_store(&s->stopped_ns, 0);
    atomic_store(&s->suspend_ns, now_ns());
    return S_OK;
}

static HRESULT suspend_finished(struct sxs_sub *sub)
{
    atomic_store(&((struct spans_state *)sub->state)->stopped_ns, now_ns());
    return S_OK;
}

static HRESULT suspend_aborted(struct sxs_sub *sub)
{
    atomic_store(&((struct spans_state *)sub->state)->suspend_ns, 0);
    return S_OK;
}

static HRESULT resume_finished(struct sxs_sub *sub)
{
    struct spans_state *s = sub->state;
    uint64_t from = atomic_exchange(&s->suspend_ns, 0), stopped = atomic_load(&s->stopped_ns);
    if (from)
        sxs_events_span(sub->rt, SXS_KIND_SUSPENSION, from, now_ns() - from,
                        atomic_load(&s->suspend_tid), "", atomic_load(&s->suspend_reason),
                        stopped > from ? (uint32_t)((stopped - from) / 1000) : 0, 0);
    return S_OK;
}

/* ---- the tool ---- */

static HRESULT start_tool(struct sxs_sub *sub, const char *text)
{
    struct spans_state *s;
    char                why[SXS_TOOL_WHY];
    if (sxs_event_options_parse(text, &spans.options, why, sizeof(why)) != 0) {
        sxs_error("tool events: %s", why);
        return E_INVALIDARG;
    }
    if (!sxs_events_open("events", SXS_EVENTS_OF_RUNTIMES))
        return E_FAIL;
    s = calloc(1, sizeof(*s));
    if (!s)
        return E_OUTOFMEMORY;
    sub->state = s;
    sub->low = COR_PRF_MONITOR_THREADS | COR_PRF_MONITOR_SUSPENDS | COR_PRF_MONITOR_MODULE_LOADS |
               COR_PRF_MONITOR_JIT_COMPILATION;
    if (spans.options.classes)
        sub->low |= COR_PRF_MONITOR_CLASS_LOADS;
    if (sxs_runtime_has(sub->rt, SXS_INFO_EVENT_MASK_2))
        sub->high = COR_PRF_HIGH_BASIC_GC;
    else
        sub->low |= COR_PRF_MONITOR_GC;
    if (spans.options.tiers && sxs_tiers_start(sub->rt, &s->tiers))
        sub->high |= COR_PRF_HIGH_MONITOR_EVENT_PIPE;
    return S_OK;
}

static void stop_tool(struct sxs_sub *sub, int how)
{
    struct spans_state *s = sub->state;
    if (how == SXS_STOP_SESSION)
        sxs_tiers_end(sub->rt, &s->tiers);
}

static void release_runtime(struct sxs_sub *sub)
{
    struct spans_state *s = sub->state;
    if (s)
        sxs_tiers_end(sub->rt, &s->tiers);
    sxs_events_threads_end(sxs_runtime_number(sub->rt)); /* no callback can add a thread any more */
    free(s);
    sub->state = NULL;
}

static void end_session(void)
{
    sxs_namer_free(spans.namer);
    spans.namer = NULL;
    sxs_events_close(SXS_EVENTS_OF_RUNTIMES);
}

static const struct sxs_events events = {
    .ThreadCreated = sxs_events_thread_created,
    .ThreadDestroyed = sxs_events_thread_destroyed,
    .ThreadAssignedToOSThread = sxs_events_thread_assigned,
    .ThreadNameChanged = sxs_events_thread_named,
    .JITCompilationStarted = jit_started,
    .JITCompilationFinished = jit_finished,
    .DynamicMethodJITCompilationStarted = dynamic_started,
    .DynamicMethodJITCompilationFinished = jit_finished,
    .ReJITCompilationStarted = rejit_started,
    .ReJITCompilationFinished = rejit_finished,
    .ModuleLoadStarted = module_started,
    .ModuleLoadFinished = module_finished,
    .ModuleUnloadStarted = module_unloading,
    .ClassLoadStarted = class_started,
    .ClassLoadFinished = class_finished,
    .GarbageCollectionStarted = gc_started,
    .GarbageCollectionFinished = gc_finished,
    .RuntimeSuspendStarted = suspend_started,
    .RuntimeSuspendFinished = suspend_finished,
    .RuntimeSuspendAborted = suspend_aborted,
    .RuntimeResumeFinished = resume_finished,
    .EventPipeEventDelivered = sxs_tiers_event,
};

const struct sxs_tool sxs_events_tool = {
    .name = "events", .on = &events, .start = start_tool, .stop = stop_tool,
    .release = release_runtime, .end_session = end_session, .restarts = 1};
