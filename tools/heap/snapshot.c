/* SPDX-License-Identifier: MIT */
#include "tools/heap/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/timed_wait.h"
#include "manager/force_gc.h"
#include "manager/own_sessions.h"
#include "session/write/session_write.h"
#include "tools/heap/answers_find.h"
#include "tools/heap/walk.h"
#include "values/types.h"

#define MASK_LOW   COR_PRF_MONITOR_SUSPENDS
#define MASK_HIGH  ((uint32_t)COR_PRF_HIGH_BASIC_GC | (uint32_t)COR_PRF_HIGH_MONITOR_EVENT_PIPE)
#define PATIENCE_NS UINT64_C(60000000000) /* how long the end of a runtime waits for a snapshot */
#define UNLOAD_NS \
    UINT64_C(5000000000) /* so long after an unload, heaps are not read without
                                       * a collection */

/* Lock order: taking, then list or names. */
static struct {
    pthread_mutex_t          taking; /* held while a snapshot is taken; not in callbacks */
    pthread_mutex_t          list;   /* guards first, and busy and ending of all runtimes */
    pthread_cond_t           free;   /* a runtime is no longer busy */
    struct sxs_heap_runtime *first;
    pthread_mutex_t          names; /* held while names are requested; guards `naming` */
    struct sxs_namer        *namer; /* under names */
    uint32_t                 number;
    struct sxs_heap_request  request; /* values that were asked for; under taking */
    struct sxs_heap_file    *exit_file; /* gets each runtime when its program ends; closed with the
                                       * session */
} all = {.taking = PTHREAD_MUTEX_INITIALIZER,
         .list = PTHREAD_MUTEX_INITIALIZER,
         .free = PTHREAD_COND_INITIALIZER,
         .names = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(all.taking);
SXS_FORK_RESETS(all.list);
SXS_FORK_RESETS(all.names);
SXS_SESSION_RESETS(all);

/* ---- the list of runtimes -------------------------------------------------------------------- */

void sxs_heap_add(struct sxs_heap_runtime *h)
{
    struct sxs_heap_runtime **end = &all.first;
    pthread_mutex_lock(&all.list);
    while (*end)
        end = &(*end)->next;
    *end = h;
    pthread_mutex_unlock(&all.list);
}

/* Waits until no snapshot of @h is being taken; @until_ns 0: without a limit. */
static void await_snapshot_locked(const struct sxs_heap_runtime *h, uint64_t until_ns)
{
    int err = 0;
    while (h->busy && err != ETIMEDOUT)
        err = until_ns ? sxs_cond_wait_until(&all.free, &all.list, until_ns)
                       : pthread_cond_wait(&all.free, &all.list);
}

void sxs_heap_leave(struct sxs_heap_runtime *h)
{
    pthread_mutex_lock(&all.list);
    h->ending = 1;
    await_snapshot_locked(h, sxs_now_ns(CLOCK_MONOTONIC) + PATIENCE_NS);
    pthread_mutex_unlock(&all.list);
}

void sxs_heap_remove(struct sxs_heap_runtime *h)
{
    struct sxs_heap_runtime **at = &all.first;
    pthread_mutex_lock(&all.list);
    h->ending = 1;
    await_snapshot_locked(h, 0);
    while (*at && *at != h)
        at = &(*at)->next;
    if (*at)
        *at = h->next;
    pthread_mutex_unlock(&all.list);
}

/* Marks the next runtime after @number as busy and returns it with a reference; NULL: none. */
static struct sxs_heap_runtime *take_runtime(unsigned number, const struct sxs_runtime *only)
{
    struct sxs_heap_runtime *found = NULL;
    pthread_mutex_lock(&all.list);
    for (struct sxs_heap_runtime *h = all.first; h; h = h->next) {
        unsigned n = sxs_runtime_number(h->sub->rt);
        if (n > number && !h->ending && (!only || h->sub->rt == only) &&
            (!found || n < sxs_runtime_number(found->sub->rt)))
            found = h;
    }
    if (found) {
        found->busy = 1;
        sxs_runtime_ref(found->sub->rt);
    }
    pthread_mutex_unlock(&all.list);
    return found;
}

static void give_back(struct sxs_heap_runtime *h)
{
    struct sxs_runtime *rt = h->sub->rt;
    pthread_mutex_lock(&all.list);
    h->busy = 0;
    pthread_cond_broadcast(&all.free);
    pthread_mutex_unlock(&all.list);
    sxs_runtime_unref(rt);
}

/* ---- names ----------------------------------------------------------------------------------- */

static int can_name_locked(void)
{
    if (!all.namer)
        all.namer = sxs_namer_new();
    return all.namer != NULL;
}

static void end_naming_locked(struct sxs_heap_runtime *h)
{
    sxs_heap_answers_write(h->sink.answers, h->file);
    h->sink.answers = NULL;
    sxs_types_close(h->sub->rt); /* metadata that the names of fields needed */
    atomic_store(&h->naming, 0);
    if (all.namer)
        sxs_namer_reset(all.namer);
}

/* Returns 0 when all is named. Lets unloads of assemblies in between. */
static int name_some(struct sxs_heap_runtime *h)
{
    int more = 0;
    pthread_mutex_lock(&all.names);
    if (atomic_load(&h->naming)) {
        if (!can_name_locked())
            h->sink.totals.lacking |= SXS_HEAP_SOME_TYPES;
        else
            more = sxs_heap_name_some(&h->named, &h->sink, all.namer);
        if (!more)
            end_naming_locked(h);
    }
    pthread_mutex_unlock(&all.names);
    return more;
}

void sxs_heap_unloading(struct sxs_heap_runtime *h, sxs_assembly assembly)
{
    atomic_store(&h->unload_ns, sxs_now_ns(CLOCK_MONOTONIC));
    pthread_mutex_lock(&all.names);
    if (atomic_load(&h->naming)) {
        while (can_name_locked() && sxs_heap_name_some(&h->named, &h->sink, all.namer))
            continue;
        end_naming_locked(h);
    }
    if (all.namer) /* it may hold metadata of the assembly */
        sxs_namer_reset(all.namer);
    sxs_heap_classes_unloading(&h->classes, assembly.id);
    pthread_mutex_unlock(&all.names);
}

/* ---- objects outside of the collected heap --------------------------------------------------- */

/* The runtime reports these objects with all others: its collector has their memory in the list of
 * generation 2. Only where they are is asked for here. */
static void write_frozen_bounds(struct sxs_heap_sink *sink)
{
    COR_PRF_NONGC_HEAP_RANGE ranges[256];
    ULONG                    n = 0;
    HRESULT hr = sxs_info_GetNonGCHeapBounds(sink->rt, ARRAY_LEN(ranges), &n, ranges);
    if (hr == E_NOTIMPL) /* older runtimes have no such objects */
        return;
    if (FAILED(hr) || n > ARRAY_LEN(ranges)) {
        sink->totals.lacking |= SXS_HEAP_NO_BOUNDS;
        n = FAILED(hr) ? 0 : ARRAY_LEN(ranges);
    }
    for (ULONG i = 0; i < n; i++)
        sxs_heap_bounds(sink->file, 5, ranges[i].rangeStart, ranges[i].rangeLength);
}

/* ---- one runtime ----------------------------------------------------------------------------- */

struct runtime_dump {
    struct sxs_heap_runtime *h;
    HRESULT                  result;
};

/* On the thread for collections. The keyword GCHeapCollect would collect, too, but .NET 8 and 9 collect for it a
 * second time when the session is stopped. */
static void run_dump(void *arg)
{
    struct runtime_dump              *d = arg;
    struct sxs_runtime               *rt = d->h->sub->rt;
    EVENTPIPE_SESSION                 session = 0;
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = {
        .providerName = sxs_runtime_provider,
        .keywords = SXS_BULK_DUMP,
        .loggingLevel = 4};
    if (d->h->sink.answers) /* the objects that were asked for may move */
        config.keywords |= SXS_BULK_MOVES;
    d->result = d->h->at_exit ? E_FAIL : sxs_own_session_start(rt, &config, &session);
    if (SUCCEEDED(d->result) || d->h->by_callbacks)
        d->result = sxs_info_ForceGC(rt);
    sxs_own_session_end(rt, &config, &session);
}

/* Requests the events of a dump. COR_PRF_MONITOR_GC, which is the only way to the functions of
 * roots on stacks, is refused where collections can be concurrent. */
static HRESULT ask_for_events(struct sxs_heap_runtime *h)
{
    uint32_t low = h->sub->low | MASK_LOW, high = h->sub->high | MASK_HIGH;
    HRESULT  hr = sxs_sub_set_mask(h->sub, low | COR_PRF_MONITOR_GC, high);
    h->by_callbacks = SUCCEEDED(hr);
    if (FAILED(hr))
        hr = sxs_sub_set_mask(h->sub, low, high);
    return hr;
}

void sxs_heap_received(struct sxs_heap_runtime *h, int stopped)
{
    if (h->complete)
        return;
    h->complete = 1;
    sxs_bulk_end(&h->bulk, &h->sink);
    sxs_heap_sink_complete(&h->sink);
    sxs_heap_slots_report(&h->slots, &h->sink, stopped);
    if (stopped)
        sxs_heap_answers_read(h->sink.answers, 1);
    atomic_store(&h->naming, 1);
}

/* Notes that the runtime has reported nothing, if so. */
static void note_failure(struct sxs_heap_runtime *h, HRESULT hr)
{
    struct sxs_heap_totals *totals = &h->sink.totals;
    if (SUCCEEDED(hr) && totals->objects)
        return;
    totals->status = (uint32_t)(FAILED(hr) ? hr : CORPROF_E_NOT_YET_AVAILABLE);
    totals->lacking |= SXS_HEAP_SOME_OBJECTS | SXS_HEAP_NO_ROOTS;
    sxs_warn("runtime %u (%s) reports no objects (%s)", sxs_runtime_number(h->sub->rt),
             sxs_runtime_version(h->sub->rt), sxs_hresult_name((HRESULT)totals->status));
}

/* Makes the runtime collect and report its objects. */
static void dump_runtime(struct sxs_heap_runtime *h)
{
    struct runtime_dump d = {.h = h, .result = E_OUTOFMEMORY};
    struct sxs_sub     *sub = h->sub;
    uint32_t            low = sub->low, high = sub->high;
    d.result = ask_for_events(h);
    if (SUCCEEDED(d.result)) {
        atomic_store(&h->receiving, 1);
        sxs_gc_thread_call(run_dump, &d);
        atomic_store(&h->receiving, 0);
        sxs_sub_set_mask(sub, low, high);
        if (!h->complete) /* the session has ended meanwhile: no more events were delivered */
            h->sink.totals.lacking |= SXS_HEAP_SOME_OBJECTS;
    }
    sxs_heap_received(h, 0);
    note_failure(h, d.result);
}

static void run_walk(void *arg)
{
    struct runtime_dump *d = arg;
    d->result = sxs_heap_walk(&d->h->sink, &d->h->slots);
    if (SUCCEEDED(d->result))
        sxs_heap_sink_bounds(&d->h->sink);
}

/* Reads the objects without a collection. Returns 1, or 0 when the runtime cannot do that. */
static int walk_runtime(struct sxs_heap_runtime *h)
{
    struct runtime_dump d = {.h = h, .result = E_OUTOFMEMORY};
    uint64_t            now = sxs_now_ns(CLOCK_MONOTONIC);
    /* Garbage can have types that are gone soon after. */
    if (now - atomic_load(&h->unload_ns) < UNLOAD_NS)
        return 0;
    if (!sxs_runtime_has(h->sub->rt, SXS_INFO_HEAP_WALK)) {
        sxs_warn("runtime %u (%s) cannot read its heap without a collection: it collects",
                 sxs_runtime_number(h->sub->rt), sxs_runtime_version(h->sub->rt));
        return 0;
    }
    sxs_heap_sink_begin(&h->sink, h->file, h->sub->rt, SXS_HEAP_WALKED);
    sxs_gc_thread_call(run_walk, &d);
    sxs_heap_received(h, 0);
    note_failure(h, d.result);
    return 1;
}

static void take_of_runtime(struct sxs_heap_runtime *h, struct sxs_heap_file *file,
                            enum sxs_heap_trigger trigger, int collect)
{
    h->sink = (struct sxs_heap_sink){0};
    h->bulk = (struct sxs_bulk){0};
    h->suspend_ns = h->stopped_ns = 0;
    h->in_gc = h->walked = h->complete = 0;
    h->named = (struct sxs_heap_naming){.classes = &h->classes};
    h->at_exit = trigger == SXS_HEAP_AT_EXIT;
    sxs_heap_slots_find(&h->classes, h->sub->rt, h->at_exit || !collect, &h->slots);
    h->file = file;
    pthread_mutex_lock(&all.names); /* classes are not unloaded meanwhile */
    h->sink.answers = sxs_heap_answers_begin(&all.request, &h->classes, h->sub->rt);
    pthread_mutex_unlock(&all.names);
    if (collect || !walk_runtime(h)) {
        sxs_heap_sink_begin(&h->sink, file, h->sub->rt, SXS_HEAP_COLLECTED);
        dump_runtime(h);
    }
    pthread_mutex_lock(&all.names);
    write_frozen_bounds(&h->sink);
    sxs_heap_answers_read(h->sink.answers, 0);
    if (!h->at_exit && collect)
        sxs_heap_statics_find(&h->classes, &h->sink);
    atomic_store(&h->naming, 1); /* again, if an unload has ended it */
    pthread_mutex_unlock(&all.names);
    while (name_some(h))
        continue;
    sxs_heap_slots_free(&h->slots);
    if (!h->sink.bounds)
        h->sink.totals.lacking |= SXS_HEAP_NO_BOUNDS;
    sxs_heap_end(file, &h->sink.totals);
    sxs_heap_sink_free(&h->sink);
}

static void relax_runtime(struct sxs_heap_runtime *h)
{
    uint32_t without = h->sub->low & ~(uint32_t)COR_PRF_MONITOR_GC;
    if (without != h->sub->low)
        sxs_sub_set_mask(h->sub, without, h->sub->high);
}

/* ---- a snapshot ------------------------------------------------------------------------------ */

static void take_all(enum sxs_heap_trigger trigger, int collect, struct sxs_heap_file *file,
                     struct sxs_runtime *only)
{
    struct sxs_heap_runtime *h;
    unsigned                 number = 0;
    while ((h = take_runtime(number, only)) != NULL) {
        number = sxs_runtime_number(h->sub->rt);
        take_of_runtime(h, file, trigger, collect);
        give_back(h);
    }
}

/* Creates a snapshot. Returns NULL if that is not possible: one line is logged. */
static struct sxs_heap_file *create_file_locked(enum sxs_heap_trigger trigger)
{
    const struct sxs_folder *folder = sxs_session_folder(NULL);
    struct sxs_heap_file    *file = folder ? calloc(1, sizeof(*file)) : NULL;
    int                      err = -ENOMEM;
    if (!folder)
        return NULL;
    if (file)
        err = sxs_heap_create(file, folder, ++all.number, trigger, sxs_session_open(NULL)->command);
    if (err) {
        sxs_warn("heap snapshot %u cannot be made: %s", all.number, strerror(-err));
        free(file);
        return NULL;
    }
    all.number = file->header->number;
    return file;
}

void sxs_heap_take(const struct sxs_heap_options *options, enum sxs_heap_trigger trigger,
                   struct sxs_runtime *only)
{
    struct sxs_heap_file *file;
    int                   err;
    pthread_mutex_lock(&all.taking);
    file =
        trigger == SXS_HEAP_AT_EXIT && all.exit_file ? all.exit_file : create_file_locked(trigger);
    all.request.n = 0;
    if (trigger == SXS_HEAP_ON_SIGNAL)
        sxs_heap_request_take(&all.request);
    if (file) {
        take_all(trigger, options->collect, file, only);
        err = sxs_heap_ended(file);
        if (err)
            sxs_warn("heap snapshot %u is incomplete: %s", file->header->number, strerror(err));
        if (trigger == SXS_HEAP_AT_EXIT) {
            all.exit_file = file;
        } else {
            sxs_heap_close(file);
            free(file);
        }
    }
    pthread_mutex_unlock(&all.taking);
}

void sxs_heap_relax(void)
{
    struct sxs_heap_runtime *h;
    unsigned                 number = 0;
    pthread_mutex_lock(&all.taking);
    while ((h = take_runtime(number, NULL)) != NULL) {
        number = sxs_runtime_number(h->sub->rt);
        relax_runtime(h);
        give_back(h);
    }
    pthread_mutex_unlock(&all.taking);
}

void sxs_heap_end_session(void)
{
    pthread_mutex_lock(&all.taking); /* a snapshot of runtimes that are done may be completed still */
    if (all.exit_file) {
        sxs_heap_close(all.exit_file);
        free(all.exit_file);
    }
    sxs_namer_free(all.namer);
    pthread_mutex_unlock(&all.taking);
}
