/* SPDX-License-Identifier: MIT */
/* tools/alloc/tool.c - the tool "alloc" on each runtime. */
#include "tools/alloc/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/chance.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/session_state.h"
#include "manager/exit_method.h"
#include "manager/own_sessions.h"
#include "sampling/cost.h"
#include "tools/alloc/events.h"
#include "tools/alloc/live.h"
#include "tools/alloc/types.h"
#include "tools/options/alloc_options.h"

/** Which objects of a runtime are recorded. */
enum object_source {
    BY_COUNTDOWN, /* ObjectAllocated reports all; a countdown in each thread chooses */
    BY_SAMPLES,   /* the runtime chooses at random, and reports those: AllocationSampled */
    BY_TICKS,     /* it reports one in each amount, AllocationTick; and large and pinned ones */
};

#define MAYBE_LARGE   UINT64_C(85000) /* smaller objects are not on the large object heap */
#define REPEAT_CYCLES UINT64_C(100000)

/** The state of one runtime. */
struct alloc_on_runtime {
    struct sxs_runtime      *rt;    /* borrowed */
    struct sxs_alloc_types  *types; /* owned */
    struct sxs_alloc_live   *live;  /* owned; NULL: objects are not followed */
    struct sxs_alloc_options options;
    enum object_source       source;
    int                      events; /* 1: there is a session of events */
    sxs_alloc_average        amount; /* of the ticks of small objects */
    EVENTPIPE_SESSION        session; /* 0: none */
    _Atomic unsigned         n_modules;
    struct sxs_exit_method   exit; /* live only: the method that is called when the program ends */
};

/** The state of one thread. */
static SXS_TLS struct {
    unsigned                   session; /* 1 + the number of the countdown's session; 0: none yet */
    struct sxs_alloc_countdown countdown;
    uint64_t                   last_address; /* of the last event */
    uint64_t                   last_amount, last_tick;
} own;

static uint64_t *own_random(void)
{
    if (!own.countdown.random)
        own.countdown.random = sxs_random_seed(&own);
    return &own.countdown.random;
}

static double fraction(void)
{
    return sxs_random_fraction(own_random());
}

/* ---- recording -------------------------------------------------------------------------------- */

static uint8_t flags_of(uint32_t heap)
{
    return heap == SXS_HEAP_LARGE ? SXS_COST_LARGE : heap == SXS_HEAP_PINNED ? SXS_COST_PINNED : 0;
}

/* Records an object that stands for @n. */
static void record(struct alloc_on_runtime *on, uint64_t object, const struct sxs_alloc_type *type,
                   uint64_t size, uint8_t flags, double n)
{
    struct sxs_cost cost = {.kind = SXS_COST_ALLOCATION,
                            .n = n,
                            .value = size,
                            .name = type->name,
                            .runtime = (uint16_t)sxs_runtime_number(on->rt),
                            .flags = flags};
    if (on->live) {
        cost.id = sxs_recorder_cost_id();
        if (!sxs_live_follow(on->live, object, cost.id))
            cost.id = 0;
    }
    sxs_recorder_cost(&cost, 0);
}

/* A guest profiler may have a session with the same event; then it arrives twice in a row. The same
 * address can come again only after a collection, which takes longer. */
static int is_repeated(const struct sxs_alloc_event *event)
{
    return event->address == own.last_address && event->amount == own.last_amount &&
           sxs_tick() - own.last_tick < REPEAT_CYCLES;
}

static void take_event(struct alloc_on_runtime *on, const struct sxs_alloc_event *event)
{
    uint64_t interval = on->options.interval;
    double   n;
    if (on->source == BY_SAMPLES)
        n = sxs_alloc_keep_sampled(event->size, interval, fraction());
    else if (event->heap == SXS_HEAP_PINNED && sxs_runtime_is_attached(on->rt))
        n = sxs_alloc_keep_tick(event->size, (double)event->amount, interval, fraction());
    else if (event->heap == SXS_HEAP_SMALL)
        n = sxs_alloc_keep_tick(event->size, sxs_alloc_average_of(&on->amount, event->amount),
                                interval, fraction());
    else
        return; /* ObjectAllocated reports each of these */
    if (n > 0)
        record(on, event->address, sxs_alloc_types_find(on->types, event->type), event->size,
               flags_of(event->heap), n);
}

static HRESULT event_delivered(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id,
                               DWORD version, ULONG metadata_size, LPCBYTE metadata, ULONG size,
                               LPCBYTE data, LPCGUID activity, LPCGUID related, sxs_thread thread,
                               ULONG n_frames, UINT_PTR *frames)
{
    struct alloc_on_runtime *on = sub->state;
    struct sxs_alloc_event   event;
    (void)metadata_size, (void)metadata, (void)activity, (void)related;
    (void)thread, (void)n_frames, (void)frames;
    if (id != (on->source == BY_TICKS ? SXS_ALLOC_TICK : SXS_ALLOC_SAMPLED) || !on->events ||
        !sxs_runtime_provider_is(on->rt, provider))
        return S_OK;
    if (!sxs_alloc_decode(id, version, data, size, &event) || is_repeated(&event))
        return S_OK;
    event.size = sxs_object_padded(event.size);
    take_event(on, &event);
    own.last_address = event.address;
    own.last_amount = event.amount;
    own.last_tick = sxs_tick();
    return S_OK;
}

/* ---- every object ----------------------------------------------------------------------------- */

/* Asks the runtime for the size of an object, and learns from it. */
static __attribute__((noinline)) uint64_t ask_size(struct alloc_on_runtime *on, sxs_object object,
                                                   struct sxs_alloc_type *type)
{
    SIZE_T bytes = 0;
    ULONG  older = 0;
    if (FAILED(sxs_info_GetObjectSize2(on->rt, object, &bytes)) &&
        SUCCEEDED(sxs_info_GetObjectSize(on->rt, object, &older)))
        bytes = older;
    if (type->id)
        sxs_alloc_size_learn(&type->sizes, (int)type->varies, object.id, bytes);
    return sxs_object_padded(bytes);
}

static uint8_t flags_of_object(struct alloc_on_runtime *on, sxs_object object,
                               const struct sxs_alloc_type *type, uint64_t size)
{
    COR_PRF_GC_GENERATION_RANGE range = {.generation = 0};
    if ((!type->varies && size < MAYBE_LARGE) ||
        FAILED(sxs_info_GetObjectGeneration(on->rt, object, &range)))
        return 0;
    return range.generation == COR_PRF_GC_LARGE_OBJECT_HEAP    ? SXS_COST_LARGE
           : range.generation == COR_PRF_GC_PINNED_OBJECT_HEAP ? SXS_COST_PINNED
                                                               : 0;
}

/* Begins the countdown of a thread that has none in this session. */
static __attribute__((noinline)) void begin_countdown(uint64_t interval)
{
    own.session = sxs_session_generation() + 1;
    own_random();
    sxs_alloc_draw(&own.countdown, interval);
}

/* Records or counts an object if it is to be. @chosen: the countdown has ended in it. */
static __attribute__((noinline)) void take_object(struct alloc_on_runtime *on, sxs_object object,
                                                  struct sxs_alloc_type *type, uint64_t size,
                                                  int chosen)
{
    uint8_t flags = flags_of_object(on, object, type, size);
    if (on->options.exact)
        sxs_alloc_types_count(on->types, type, size, flags);
    if (chosen)
        record(on, object.id, type, size, flags, sxs_alloc_stands_for(size, on->options.interval));
}

/* For every object that a program allocates, so it does little for one that is not recorded. */
static HRESULT object_allocated(struct sxs_sub *sub, sxs_object object, sxs_class cls)
{
    struct alloc_on_runtime *on = sub->state;
    struct sxs_alloc_type   *type = sxs_alloc_types_find(on->types, cls.id);
    uint64_t                 size = sxs_alloc_size(&type->sizes, object.id);
    int                      chosen = 0;
    if (!size)
        size = ask_size(on, object, type);
    if (on->source != BY_SAMPLES) {
        if (own.session != sxs_session_generation() + 1)
            begin_countdown(on->options.interval);
        chosen = size && sxs_alloc_count_down(&own.countdown, size, on->options.interval);
    }
    if (chosen || on->options.exact)
        take_object(on, object, type, size, chosen);
    return S_OK;
}

/* ---- other events ----------------------------------------------------------------------------- */

static HRESULT suspended(struct sxs_sub *sub)
{
    struct alloc_on_runtime *on = sub->state;
    if (on->live)
        sxs_live_suspended(on->live, 1);
    return S_OK;
}

static HRESULT resuming(struct sxs_sub *sub)
{
    struct alloc_on_runtime *on = sub->state;
    if (on->live)
        sxs_live_suspended(on->live, 0);
    return S_OK;
}

static HRESULT collecting(struct sxs_sub *sub, int n, BOOL *collected, COR_PRF_GC_REASON reason)
{
    struct alloc_on_runtime *on = sub->state;
    unsigned                 oldest = 0;
    (void)reason;
    for (int i = 0; i < n && i < 3; i++) /* 3 and 4: heaps of large and pinned objects */
        if (collected[i])
            oldest = (unsigned)i;
    if (on->live)
        sxs_live_collecting(on->live, oldest);
    return S_OK;
}

static HRESULT collected(struct sxs_sub *sub)
{
    struct alloc_on_runtime *on = sub->state;
    if (on->live)
        sxs_live_collected(on->live);
    return S_OK;
}

static HRESULT module_loaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    struct alloc_on_runtime *on = sub->state;
    /* The first module has the method. */
    if (on->live && !atomic_fetch_add(&on->n_modules, 1) && SUCCEEDED(status))
        sxs_exit_method_find(&on->exit, module);
    return S_OK;
}

/* The program ends, and its runtime still collects: what is garbage is no longer listed as alive. */
static HRESULT search_started(struct sxs_sub *sub, sxs_function function, BOOL *use)
{
    struct alloc_on_runtime *on = sub->state;
    (void)use;
    if (on->live && sxs_exit_method_is(&on->exit, function))
        sxs_live_collect(on->live);
    return S_OK;
}

static HRESULT jit_started(struct sxs_sub *sub, sxs_function function, BOOL safe)
{
    (void)safe;
    return search_started(sub, function, NULL);
}

static HRESULT module_unloading(struct sxs_sub *sub, sxs_module module)
{
    struct alloc_on_runtime *on = sub->state;
    (void)module;
    sxs_alloc_types_unloading(on->types);
    return S_OK;
}

static HRESULT module_unloaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    (void)status;
    return module_unloading(sub, module);
}

/* ---- the tool --------------------------------------------------------------------------------- */

static enum sxs_allocation_events allocation_events(const struct alloc_on_runtime *on)
{
    return sxs_runtime_facts(on->rt)->allocation_events;
}

static COR_PRF_EVENTPIPE_PROVIDER_CONFIG session_config(const struct alloc_on_runtime *on)
{
    return (COR_PRF_EVENTPIPE_PROVIDER_CONFIG){
        .providerName = sxs_runtime_provider,
        .keywords = on->source == BY_TICKS ? SXS_ALLOC_TICK_KEYWORD : SXS_ALLOC_SAMPLED_KEYWORD,
        .loggingLevel = on->source == BY_TICKS ? SXS_ALLOC_TICK_LEVEL : SXS_ALLOC_SAMPLED_LEVEL,
    };
}

static HRESULT start_session(struct alloc_on_runtime *on)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = session_config(on);
    return sxs_own_session_start(on->rt, &config, &on->session);
}

static void stop_session(struct alloc_on_runtime *on)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = session_config(on);
    sxs_own_session_end(on->rt, &config, &on->session);
}

static int can_report_all(const struct alloc_on_runtime *on)
{
    return !sxs_runtime_is_late(on->rt) ||
           (sxs_runtime_immutable_set(on->rt) & COR_PRF_ENABLE_OBJECT_ALLOCATED);
}

static void ask_for_all_objects(struct sxs_sub *sub)
{
    sub->low |= (uint32_t)(COR_PRF_ENABLE_OBJECT_ALLOCATED | COR_PRF_MONITOR_OBJECT_ALLOCATED);
}

/* Fills in the mask for the runtime's events, and starts their session. */
static HRESULT start_events(struct sxs_sub *sub, struct alloc_on_runtime *on)
{
    HRESULT hr;
    if (!sxs_runtime_has(on->rt, SXS_INFO_EVENT_PIPE) ||
        allocation_events(on) == SXS_ALLOCATION_NONE) {
        sxs_error("tool alloc: .NET before 8 reports allocations only if the tool starts with the "
                  "program, and without ticks");
        return E_NOTIMPL;
    }
    sub->high |= COR_PRF_HIGH_MONITOR_EVENT_PIPE;
    if (on->source == BY_TICKS)
        sub->high |= COR_PRF_HIGH_MONITOR_LARGEOBJECT_ALLOCATED;
    if (on->source == BY_TICKS && !sxs_runtime_is_attached(on->rt)) /* else it is refused */
        sub->high |= COR_PRF_HIGH_MONITOR_PINNEDOBJECT_ALLOCATED;
    hr = start_session(on);
    if (FAILED(hr))
        sxs_error("tool alloc: runtime %u (%s) starts no EventPipe session",
                  sxs_runtime_number(on->rt), sxs_runtime_version(on->rt));
    on->events = SUCCEEDED(hr);
    return hr;
}

static HRESULT start_samples(struct sxs_sub *sub, struct alloc_on_runtime *on)
{
    on->source = allocation_events(on) == SXS_ALLOCATION_SAMPLES ? BY_SAMPLES
                 : !on->options.ticks && can_report_all(on)      ? BY_COUNTDOWN
                                                                 : BY_TICKS;
    if (on->source == BY_TICKS)
        sxs_recorder_costs_biased(sxs_runtime_number(on->rt));
    if (on->source != BY_COUNTDOWN)
        return start_events(sub, on);
    ask_for_all_objects(sub);
    return S_OK;
}

/* A runtime that leaves out boxed values from ObjectAllocated has all objects in its random sample:
 * so there the samples come from its events. */
static HRESULT start_exact(struct sxs_sub *sub, struct alloc_on_runtime *on)
{
    if (!can_report_all(on)) {
        sxs_error(
            "tool alloc: exact must be set when the program starts: a runtime that runs already "
            "cannot report every object");
        return CORPROF_E_UNSUPPORTED_CALL_SEQUENCE;
    }
    ask_for_all_objects(sub);
    on->source = allocation_events(on) == SXS_ALLOCATION_SAMPLES ? BY_SAMPLES : BY_COUNTDOWN;
    if (on->source == BY_SAMPLES && FAILED(start_events(sub, on)))
        on->source = BY_COUNTDOWN;
    return S_OK;
}

static void start_live(struct sxs_sub *sub, struct alloc_on_runtime *on)
{
    if (!sxs_runtime_has(on->rt, SXS_INFO_HANDLES)) {
        sxs_error(
            "tool alloc: live needs .NET 7 or later: objects of runtime %u (%s) are not followed",
            sxs_runtime_number(on->rt), sxs_runtime_version(on->rt));
        return;
    }
    on->live = sxs_live_new(on->rt);
    if (!on->live)
        return;
    sub->low |= COR_PRF_MONITOR_SUSPENDS;
    if (!sxs_runtime_is_late(on->rt)) /* else the method may be compiled already */
        sub->low |= COR_PRF_MONITOR_CACHE_SEARCHES | COR_PRF_MONITOR_JIT_COMPILATION;
    sub->high |= COR_PRF_HIGH_BASIC_GC;
}

static void release_runtime(struct sxs_sub *sub)
{
    struct alloc_on_runtime *on = sub->state;
    if (!on)
        return;
    stop_session(on);
    if (on->live) /* fails without harm if the runtime has ended */
        sxs_live_end(on->live, 1);
    sxs_live_free(on->live);
    sxs_alloc_types_free(on->types);
    free(on);
    sub->state = NULL;
}

static HRESULT start_tool(struct sxs_sub *sub, const char *text)
{
    char                     why[SXS_TOOL_WHY];
    struct alloc_on_runtime *on;
    struct sxs_alloc_options options;
    HRESULT                  hr;
    if (sxs_alloc_options_parse(text, &options, why, sizeof(why)) != 0) {
        sxs_error("tool alloc: %s", why);
        return E_INVALIDARG;
    }
    on = calloc(1, sizeof(*on));
    if (!on)
        return E_OUTOFMEMORY;
    sub->state = on;
    on->rt = sub->rt;
    on->options = options;
    on->types =
        sxs_alloc_types_new(sub->rt, options.exact && sxs_runtime_facts(sub->rt)->leaves_out_boxed);
    if (!on->types)
        return E_OUTOFMEMORY;
    sub->low = COR_PRF_MONITOR_MODULE_LOADS;
    if (options.live)
        start_live(sub, on);
    sxs_recorder_costs_on(SXS_COST_ALLOCATION, options.interval, options.live);
    hr = options.exact ? start_exact(sub, on) : start_samples(sub, on);
    return hr;
}

static void stop_tool(struct sxs_sub *sub, int how)
{
    struct alloc_on_runtime *on = sub->state;
    uint64_t                 uncounted = sxs_alloc_types_uncounted(on->types);
    uint64_t                 lost = on->live ? sxs_live_lost(on->live) : 0;
    if (on->live && how == SXS_STOP_SESSION) {
        sxs_live_stop(on->live); /* release_runtime() does the rest */
        sxs_live_look_last(on->live);
    } else if (on->live)
        sxs_live_end(on->live, how == SXS_STOP_DETACHED);
    if (how == SXS_STOP_SESSION)
        stop_session(on);
    if (uncounted)
        sxs_warn("alloc: %llu objects of runtime %u are not in the counts: the file has no room",
                 (unsigned long long)uncounted, sxs_runtime_number(on->rt));
    if (lost)
        sxs_warn(
            "alloc: %llu sampled objects of runtime %u could not be followed: at most %u are at "
            "a time",
            (unsigned long long)lost, sxs_runtime_number(on->rt), SXS_LIVE_OBJECTS);
}

static const struct sxs_events events = {
    .ObjectAllocated = object_allocated,
    .EventPipeEventDelivered = event_delivered,
    .RuntimeSuspendFinished = suspended,
    .RuntimeResumeStarted = resuming,
    .GarbageCollectionStarted = collecting,
    .GarbageCollectionFinished = collected,
    .ModuleLoadFinished = module_loaded,
    .JITCachedFunctionSearchStarted = search_started,
    .JITCompilationStarted = jit_started,
    .ModuleUnloadStarted = module_unloading,
    .ModuleUnloadFinished = module_unloaded,
};

const struct sxs_tool sxs_alloc_tool = {.name = "alloc",
                                        .needs = "recorder",
                                        .on = &events,
                                        .start = start_tool,
                                        .stop = stop_tool,
                                        .release = release_runtime,
                                        .end_session = sxs_live_end_session,
                                        .restarts = 1};
