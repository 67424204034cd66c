/* SPDX-License-Identifier: MIT */
/*
 * exceptions.c - the tool "exceptions". Each exception has a record in the mapped file from its throw
 * on, so that the one a process dies of is there whatever comes next; when its fate is known it is
 * counted at its site, and its record kept or used again.
 */
#include "events/exceptions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "events/events.h"
#include "events/file.h"
#include "events/flights.h"
#include "events/known.h"
#include "events/message.h"
#include "events/mine.h"
#include "events/names.h"
#include "manager/base/clock.h"
#include "manager/base/fork.h"

#define KEEP_OF_SITE  8u     /* exceptions of each site that are listed one by one */
#define KEEP_MOST     20000u /* and of all of them */
#define POOL_MOST     256u
#define RECORD_SIZE   (offsetof(struct sxs_event_exception, message) + SXS_MESSAGE_MAX)

struct state {
    struct sxs_message_layout layout;
};

static struct {
    struct sxs_known sites; /* by numbers of names, which outlive IDs: see events/names.h */
    _Atomic uint32_t n_sites, n_kept;
    _Atomic(struct sxs_event_site *) spare; /* reserved for a site that the table did not take */
    pthread_mutex_t  lock; /* guards the pool; a leaf: a collection may wait for who waits here */
    void            *pool[POOL_MOST];
    size_t           n_pool;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(all.lock);

/* ---- records ---------------------------------------------------------------------------------- */

static struct sxs_event_exception *take_record(void)
{
    void *record = NULL;
    pthread_mutex_lock(&all.lock);
    if (all.n_pool)
        record = all.pool[--all.n_pool];
    pthread_mutex_unlock(&all.lock);
    return record ? record : sxs_events_reserve(RECORD_SIZE);
}

static void give_back(struct sxs_event_exception *r)
{
    sxs_events_uncommit(r);
    pthread_mutex_lock(&all.lock);
    if (all.n_pool < POOL_MOST)
        all.pool[all.n_pool++] = r;
    pthread_mutex_unlock(&all.lock);
}

/* A record of a site in the file, not committed: the spare one, or a new one with the next number. */
static struct sxs_event_site *take_site(void)
{
    struct sxs_event_site *s = atomic_exchange(&all.spare, NULL);
    if (s || !(s = sxs_events_reserve(sizeof(*s))))
        return s;
    s->number = atomic_fetch_add(&all.n_sites, 1) + 1;
    return s;
}

static struct sxs_known_entry *new_site(const struct sxs_flight *v, const struct sxs_known_key *key)
{
    struct sxs_event_site  *s = take_site();
    struct sxs_known_entry *e;
    if (!s)
        return NULL;
    s->type = v->type;
    s->thrown = v->thrown;
    s->caught = v->caught;
    s->runtime = (uint16_t)v->runtime;
    s->fate = v->fate;
    s->rethrown = v->rethrown;
    e = sxs_known_add(&all.sites, key, s->number, s);
    if (e)
        sxs_events_commit(s, SXS_EVENT_SITE);
    else /* the table is full, or memory is: the next site gets this record, not a new one */
        atomic_store(&all.spare, s);
    return e;
}

static struct sxs_known_entry *count(const struct sxs_flight *v, uint64_t duration_ns)
{
    struct sxs_known_key    key = {(uint64_t)v->runtime << 32 | v->type,
                                   (uint64_t)v->thrown << 32 | v->caught,
                                   (uint64_t)v->fate << 1 | v->rethrown};
    struct sxs_known_entry *e = sxs_known_find(&all.sites, &key);
    struct sxs_event_site  *s;
    if (!e && !(e = new_site(v, &key))) {
        atomic_fetch_add(&sxs_events_head()->exceptions_lost, 1);
        return NULL;
    }
    s = e->what;
    atomic_fetch_add_explicit(&s->n, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->total_ns, duration_ns, memory_order_relaxed);
    atomic_store_explicit(&s->last_ns, v->time_ns, memory_order_relaxed);
    return e;
}

static int is_to_be_kept(struct sxs_known_entry *site)
{
    if (!site || atomic_load_explicit(&site->n, memory_order_relaxed) >= KEEP_OF_SITE ||
        atomic_load_explicit(&all.n_kept, memory_order_relaxed) >= KEEP_MOST)
        return 0;
    atomic_fetch_add(&all.n_kept, 1);
    return atomic_fetch_add(&site->n, 1) < KEEP_OF_SITE;
}

/* Its fate is known. */
void sxs_exceptions_landed(struct sxs_flight *v)
{
    struct sxs_event_exception *r = v->record;
    struct sxs_known_entry     *site;
    uint64_t                    duration = 0;
    if (sxs_events_forked() || !r)
        return;
    if (v->fate == SXS_FATE_CAUGHT)
        duration = sxs_now_ns(CLOCK_MONOTONIC) - v->time_ns;
    else
        v->caught = 0;
    site = count(v, duration);
    v->record = NULL;
    if (!is_to_be_kept(site)) {
        give_back(r);
        return;
    }
    atomic_store(&r->caught, v->caught);
    atomic_store(&r->duration_ns, duration);
    atomic_store(&r->kept, 1);
    atomic_store(&r->fate, v->fate);
}

/* ---- events ----------------------------------------------------------------------------------- */

/* All that is known of where this thread stands. */
#define HERE ((uintptr_t)__builtin_frame_address(0))

/* Of a thread that has thrown nothing yet: none under way. */
static struct sxs_flights *flights(void)
{
    static struct sxs_flights none;
    struct sxs_events_mine   *mine = sxs_events_mine_if_any();
    return mine ? &mine->flights : &none;
}

static void fill(struct sxs_event_exception *r, const struct sxs_flight *v, struct sxs_runtime *rt,
                 uint32_t tid, const struct sxs_message *m)
{
    r->time_ns = v->time_ns;
    r->tid = tid;
    r->runtime = (uint16_t)sxs_runtime_number(rt);
    r->rethrown = v->rethrown;
    r->type = v->type;
    atomic_store(&r->duration_ns, 0);
    atomic_store(&r->fate, SXS_FATE_SEARCHING);
    atomic_store(&r->kept, 0);
    atomic_store(&r->thrown, 0);
    atomic_store(&r->caught, 0);
    r->message_size = (uint16_t)m->size;
    r->message_cut = (uint16_t)m->cut;
    memcpy(r->message, m->text, m->size);
    sxs_events_commit(r, SXS_EVENT_EXCEPTION);
}

static HRESULT thrown(struct sxs_sub *sub, sxs_object object)
{
    struct state               *state = sub->state;
    struct sxs_events_mine     *mine = sxs_events_mine();
    struct sxs_message          message;
    sxs_class                   cls = {sub->rt, 0};
    struct sxs_flight          *v;
    struct sxs_event_exception *r;
    if (!mine || sxs_events_forked())
        return S_OK;
    v = sxs_flights_throw(&mine->flights, sxs_runtime_number(sub->rt), HERE);
    v->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    r = take_record();
    v->record = r;
    if (!r) {
        atomic_fetch_add(&sxs_events_head()->exceptions_lost, 1);
        return S_OK;
    }
    message.size = 0;
    message.cut = message.traced = 0;
    if (SUCCEEDED(sxs_info_GetClassFromObject(sub->rt, object, &cls)) && cls.id) {
        v->type = sxs_names_class(cls);
        sxs_message_read(&state->layout, object, cls, &message);
    }
    v->rethrown = (uint8_t)message.traced;
    fill(r, v, sub->rt, mine->tid, &message);
    return S_OK;
}

/* The first function that is searched is the one that threw. */
static HRESULT searching(struct sxs_sub *sub, sxs_function fn)
{
    struct sxs_flight *v = sxs_flights_current(flights(), sxs_runtime_number(sub->rt), HERE);
    struct sxs_event_exception *r = v ? v->record : NULL;
    if (!r || v->thrown || sxs_events_forked())
        return S_OK;
    v->thrown = sxs_names_function(fn);
    atomic_store(&r->thrown, v->thrown);
    return S_OK;
}

static HRESULT catcher_found(struct sxs_sub *sub, sxs_function fn)
{
    struct sxs_flight *v = sxs_flights_current(flights(), sxs_runtime_number(sub->rt), HERE);
    struct sxs_event_exception *r = v ? v->record : NULL;
    if (!r || sxs_events_forked())
        return S_OK;
    v->caught = sxs_names_function(fn);
    v->fate = SXS_FATE_UNWINDING;
    atomic_store(&r->caught, v->caught);
    atomic_store(&r->fate, SXS_FATE_UNWINDING);
    return S_OK;
}

static HRESULT filter_enter(struct sxs_sub *sub, sxs_function fn)
{
    (void)fn;
    sxs_flights_filter_enter(flights(), sxs_runtime_number(sub->rt), HERE);
    return S_OK;
}

static HRESULT filter_leave(struct sxs_sub *sub)
{
    sxs_flights_filter_leave(flights(), sxs_runtime_number(sub->rt));
    return S_OK;
}

static HRESULT unwind_enter(struct sxs_sub *sub, sxs_function fn)
{
    sxs_flights_unwind_enter(flights(), sxs_runtime_number(sub->rt), HERE, fn.id);
    return S_OK;
}

/* Readers are told as soon as it is known that it leaves managed code. */
static void tell_fate(struct sxs_sub *sub)
{
    struct sxs_flight *v = sxs_flights_current(flights(), sxs_runtime_number(sub->rt), HERE);
    struct sxs_event_exception *r = v ? v->record : NULL;
    if (r && v->fate == SXS_FATE_NATIVE && !sxs_events_forked())
        atomic_store(&r->fate, SXS_FATE_NATIVE);
}

static HRESULT unwind_leave(struct sxs_sub *sub)
{
    sxs_flights_unwind_leave(flights(), sxs_runtime_number(sub->rt), HERE);
    tell_fate(sub);
    return S_OK;
}

static HRESULT finally_enter(struct sxs_sub *sub, sxs_function fn)
{
    sxs_flights_finally_enter(flights(), sxs_runtime_number(sub->rt), HERE, fn.id);
    tell_fate(sub);
    return S_OK;
}

static HRESULT finally_leave(struct sxs_sub *sub)
{
    sxs_flights_finally_leave(flights(), sxs_runtime_number(sub->rt), HERE);
    return S_OK;
}

static HRESULT catcher_enter(struct sxs_sub *sub, sxs_function fn, sxs_object object)
{
    struct sxs_flight *v = sxs_flights_current(flights(), sxs_runtime_number(sub->rt), HERE);
    (void)object;
    if (v && v->record && !v->caught)
        v->caught = sxs_names_function(fn);
    sxs_flights_catcher_enter(flights(), sxs_runtime_number(sub->rt), HERE);
    return S_OK;
}

static HRESULT catcher_leave(struct sxs_sub *sub)
{
    sxs_flights_catcher_leave(flights(), sxs_runtime_number(sub->rt));
    return S_OK;
}

static HRESULT module_unloading(struct sxs_sub *sub, sxs_module module)
{
    (void)sub;
    (void)module;
    sxs_names_unloading();
    return S_OK;
}

static HRESULT function_unloading(struct sxs_sub *sub, sxs_function fn)
{
    (void)fn;
    return module_unloading(sub, (sxs_module){sub->rt, 0});
}

/* ---- the tool --------------------------------------------------------------------------------- */

static HRESULT start(struct sxs_sub *sub, const char *options)
{
    (void)options;
    if (!sxs_events_open("exceptions", SXS_EVENTS_OF_EXCEPTIONS))
        return E_FAIL;
    sub->state = calloc(1, sizeof(struct state));
    if (!sub->state)
        return E_OUTOFMEMORY;
    sub->low = COR_PRF_MONITOR_EXCEPTIONS | COR_PRF_MONITOR_MODULE_LOADS |
               COR_PRF_MONITOR_FUNCTION_UNLOADS;
    return S_OK;
}

static void release(struct sxs_sub *sub)
{
    free(sub->state);
    sub->state = NULL;
}

static const struct sxs_events events = {
    .ExceptionThrown = thrown,
    .ExceptionSearchFunctionEnter = searching,
    .ExceptionSearchFilterEnter = filter_enter,
    .ExceptionSearchFilterLeave = filter_leave,
    .ExceptionSearchCatcherFound = catcher_found,
    .ExceptionUnwindFunctionEnter = unwind_enter,
    .ExceptionUnwindFunctionLeave = unwind_leave,
    .ExceptionUnwindFinallyEnter = finally_enter,
    .ExceptionUnwindFinallyLeave = finally_leave,
    .ExceptionCatcherEnter = catcher_enter,
    .ExceptionCatcherLeave = catcher_leave,
    .ModuleUnloadStarted = module_unloading,
    .FunctionUnloadStarted = function_unloading,
};

const struct sxs_tool sxs_exceptions_tool = {
    .name = "exceptions", .on = &events, .start = start, .release = release};
