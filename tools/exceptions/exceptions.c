/* SPDX-License-Identifier: MIT */
/*
 * exceptions.c - the tool "exceptions".
 *
 * Each exception has a record in the mapped file from its throw on. So the file contains the
 * exception that ends the process. When the fate of an exception is known, the exception is counted
 * at its throw site, and its record is kept or reused.
 */
#include "tools/exceptions/exceptions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/session_state.h"
#include "manager/watch.h"
#include "signals/signals.h"
#include "tools/events_file/events_file.h"
#include "tools/events_file/message.h"
#include "tools/events_file/names.h"
#include "tools/events_file/seen_set.h"
#include "tools/exceptions/in_flight.h"
#include "tools/exceptions/thread_state.h"

#define KEEP_OF_THROW_SITE 8u     /* exceptions that are kept one by one, at each throw site */
#define KEEP_MAX           20000u /* exceptions that are kept one by one, in all */
#define POOL_MAX           256u   /* records in the pool */
#define RECORD_SIZE        (offsetof(struct sxs_event_exception, message) + SXS_MESSAGE_MAX)

struct exceptions_state {
    struct sxs_message_layout layout;
    struct sxs_runtime_code   code; /* the runtime's library */
};

static struct {
    /* Throw sites; no lock. Keys have numbers of names (tools/events_file/names.h), because IDs may
     * be reused. */
    struct sxs_seen_set throw_sites;
    _Atomic uint32_t    n_throw_sites, n_kept;
    /* Record reserved for a throw site that could not be added to the table; NULL: none. */
    _Atomic(struct sxs_event_throw_site *) spare;
    /* Guards pool and n_pool. While it is held, no other lock is taken and no runtime is called,
     * because a collection may be waiting for the thread that waits for this lock. */
    pthread_mutex_t lock;
    void           *pool[POOL_MAX]; /* records of the file that can be reused */
    size_t          n_pool;
    /* Receives what is known about a crash; NULL: crashes are not noticed, or no session runs. */
    _Atomic(struct sxs_events_header *) crash_head;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(all.lock);
SXS_SESSION_RESETS(all);

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
    if (all.n_pool < POOL_MAX)
        all.pool[all.n_pool++] = r;
    pthread_mutex_unlock(&all.lock);
}

/* Returns a record for a throw site, reserved in the file and not committed: the spare record, or a
 * new one with the next number. Returns NULL when the file has no room. */
static struct sxs_event_throw_site *take_throw_site(void)
{
    struct sxs_event_throw_site *s = atomic_exchange(&all.spare, NULL);
    if (s || !(s = sxs_events_reserve(sizeof(*s))))
        return s;
    s->number = atomic_fetch_add(&all.n_throw_sites, 1) + 1;
    return s;
}

static struct sxs_seen_entry *new_throw_site(const struct sxs_in_flight *v,
                                             const struct sxs_seen_key  *key)
{
    struct sxs_event_throw_site *s = take_throw_site();
    struct sxs_seen_entry       *e;
    if (!s)
        return NULL;
    s->type = v->type;
    s->thrown = v->thrown;
    s->caught = v->caught;
    s->runtime = (uint16_t)v->runtime;
    s->fate = v->fate;
    s->rethrown = v->rethrown;
    e = sxs_seen_set_add(&all.throw_sites, key, s->number, s);
    if (e)
        sxs_events_commit(s, SXS_EVENT_THROW_SITE);
    else /* no room in the table, or no memory: keep the record for the next throw site */
        atomic_store(&all.spare, s);
    return e;
}

static struct sxs_seen_entry *count_exception(const struct sxs_in_flight *v, uint64_t duration_ns)
{
    struct sxs_seen_key          key = {(uint64_t)v->runtime << 32 | v->type,
                                        (uint64_t)v->thrown << 32 | v->caught,
                                        (uint64_t)v->fate << 1 | v->rethrown};
    struct sxs_seen_entry       *e = sxs_seen_set_find(&all.throw_sites, &key);
    struct sxs_event_throw_site *s;
    if (!e && !(e = new_throw_site(v, &key))) {
        atomic_fetch_add(&sxs_events_head()->exceptions_lost, 1);
        return NULL;
    }
    s = e->what;
    atomic_fetch_add_explicit(&s->n, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->total_ns, duration_ns, memory_order_relaxed);
    atomic_store_explicit(&s->last_ns, v->time_ns, memory_order_relaxed);
    return e;
}

static int is_to_be_kept(struct sxs_seen_entry *throw_site)
{
    if (!throw_site ||
        atomic_load_explicit(&throw_site->n, memory_order_relaxed) >= KEEP_OF_THROW_SITE ||
        atomic_load_explicit(&all.n_kept, memory_order_relaxed) >= KEEP_MAX)
        return 0;
    atomic_fetch_add(&all.n_kept, 1);
    return atomic_fetch_add(&throw_site->n, 1) < KEEP_OF_THROW_SITE;
}

void sxs_exceptions_landed(struct sxs_in_flight *v)
{
    struct sxs_event_exception *r = v->record;
    struct sxs_seen_entry      *throw_site;
    uint64_t                    duration = 0;
    if (sxs_events_forked() || !r)
        return;
    if (v->fate == SXS_FATE_CAUGHT)
        duration = sxs_now_ns(CLOCK_MONOTONIC) - v->time_ns;
    else
        v->caught = 0;
    throw_site = count_exception(v, duration);
    v->record = NULL;
    if (!is_to_be_kept(throw_site)) {
        give_back(r);
        return;
    }
    atomic_store(&r->caught, v->caught);
    atomic_store(&r->duration_ns, duration);
    atomic_store(&r->kept, 1);
    atomic_store(&r->fate, v->fate);
}

/* ---- events ----------------------------------------------------------------------------------- */

/* The stack position of this callback. */
#define HERE ((uintptr_t)__builtin_frame_address(0))

/* Returns the calling thread's in-flight exceptions; an empty list if the thread has no state
 * yet. */
static struct sxs_in_flight_list *own_in_flight(void)
{
    static struct sxs_in_flight_list none; /* stays empty */
    SXS_SESSION_KEEPS(none);
    struct sxs_exceptions_thread *thread = sxs_exceptions_thread_if_any();
    return thread ? &thread->in_flight : &none;
}

static void fill_record(struct sxs_event_exception *r, const struct sxs_in_flight *v,
                        struct sxs_runtime *rt, uint32_t tid, const struct sxs_exception_message *m)
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

/* Reports the exception if a condition waits for its type. */
static void tell_watcher(const struct sxs_in_flight *v)
{
    const char *type = sxs_names_watched(v->type);
    if (type)
        sxs_watch_exception(v->runtime, v->time_ns, type);
}

static HRESULT on_thrown(struct sxs_sub *sub, sxs_object object)
{
    struct exceptions_state      *state = sub->state;
    struct sxs_exceptions_thread *thread = sxs_exceptions_thread(sxs_exceptions_landed);
    struct sxs_exception_message  message;
    sxs_class                     cls = {sub->rt, 0};
    struct sxs_in_flight         *v;
    struct sxs_event_exception   *r;
    if (!thread || sxs_events_forked())
        return S_OK;
    v = sxs_in_flight_throw(&thread->in_flight, sxs_runtime_number(sub->rt), HERE);
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
    tell_watcher(v);
    v->rethrown = (uint8_t)message.traced;
    fill_record(r, v, sub->rt, thread->tid, &message);
    return S_OK;
}

/* Notes the throwing function: the first function that the runtime searches. */
static HRESULT on_searching(struct sxs_sub *sub, sxs_function fn)
{
    struct sxs_in_flight *v =
        sxs_in_flight_current(own_in_flight(), sxs_runtime_number(sub->rt), HERE);
    struct sxs_event_exception *r = v ? v->record : NULL;
    if (!r || v->thrown || sxs_events_forked())
        return S_OK;
    v->thrown = sxs_names_function(fn);
    atomic_store(&r->thrown, v->thrown);
    return S_OK;
}

static HRESULT catcher_found(struct sxs_sub *sub, sxs_function fn)
{
    struct sxs_in_flight *v =
        sxs_in_flight_current(own_in_flight(), sxs_runtime_number(sub->rt), HERE);
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
    sxs_in_flight_filter_enter(own_in_flight(), sxs_runtime_number(sub->rt), HERE);
    return S_OK;
}

static HRESULT filter_leave(struct sxs_sub *sub)
{
    sxs_in_flight_filter_leave(own_in_flight(), sxs_runtime_number(sub->rt));
    return S_OK;
}

static HRESULT unwind_enter(struct sxs_sub *sub, sxs_function fn)
{
    sxs_in_flight_unwind_enter(own_in_flight(), sxs_runtime_number(sub->rt), HERE, fn.id);
    return S_OK;
}

/* Stores the fates NATIVE and UNWOUND in the file as soon as they are known. */
static void tell_fate(struct sxs_sub *sub)
{
    struct sxs_in_flight *v =
        sxs_in_flight_current(own_in_flight(), sxs_runtime_number(sub->rt), HERE);
    struct sxs_event_exception *r = v ? v->record : NULL;
    if (r && (v->fate == SXS_FATE_NATIVE || v->fate == SXS_FATE_UNWOUND) && !sxs_events_forked())
        atomic_store(&r->fate, v->fate);
}

static HRESULT unwind_leave(struct sxs_sub *sub)
{
    const struct exceptions_state *state = sub->state;
    struct sxs_in_flight          *v =
        sxs_in_flight_unwind_leave(own_in_flight(), sxs_runtime_number(sub->rt), HERE);
    if (v && v->fate == SXS_FATE_UNWOUND && !v->thrower.slot)
        v->thrower = sxs_thrower_find(&state->code);
    tell_fate(sub);
    return S_OK;
}

static HRESULT finally_enter(struct sxs_sub *sub, sxs_function fn)
{
    sxs_in_flight_finally_enter(own_in_flight(), sxs_runtime_number(sub->rt), HERE, fn.id);
    tell_fate(sub);
    return S_OK;
}

static HRESULT finally_leave(struct sxs_sub *sub)
{
    sxs_in_flight_finally_leave(own_in_flight(), sxs_runtime_number(sub->rt), HERE);
    return S_OK;
}

static HRESULT catcher_enter(struct sxs_sub *sub, sxs_function fn, sxs_object object)
{
    struct sxs_in_flight *v =
        sxs_in_flight_current(own_in_flight(), sxs_runtime_number(sub->rt), HERE);
    (void)object;
    if (v && v->record && !v->caught)
        v->caught = sxs_names_function(fn);
    sxs_in_flight_catcher_enter(own_in_flight(), sxs_runtime_number(sub->rt), HERE);
    return S_OK;
}

static HRESULT catcher_leave(struct sxs_sub *sub)
{
    sxs_in_flight_catcher_leave(own_in_flight(), sxs_runtime_number(sub->rt));
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

/* ---- crashes ---------------------------------------------------------------------------------- */

/* Stores the fates of the exceptions that were in flight on the thread that has crashed. */
SXS_SIGSAFE static void note_crash(int sig, uintptr_t ip, uintptr_t sp)
{
    struct sxs_exceptions_thread *thread = sxs_exceptions_thread_if_any();
    struct sxs_events_header     *head = atomic_load(&all.crash_head);
    int                           known = 1;
    (void)sig;
    (void)ip;
    if (!head || sxs_events_forked())
        return;
    if (thread && sxs_in_flight_crash(&thread->in_flight, sp, &known))
        for (uint32_t i = 0; i < thread->in_flight.n; i++) {
            const struct sxs_in_flight *v = &thread->in_flight.all[i];
            struct sxs_event_exception *r = v->record;
            if (r && v->fate != SXS_FATE_CAUGHT)
                atomic_store(&r->fate, v->fate);
        }
    atomic_store(&head->crash_watch, known ? SXS_CRASH_SEEN : SXS_CRASH_UNKNOWN);
}

static void watch_crashes(void)
{
    const struct sxs_signals *signals = sxs_signals();
    if (signals->size > offsetof(struct sxs_signals, watch_crashes) && !signals->off &&
        signals->watch_crashes(note_crash) == 0) {
        atomic_store(&sxs_events_head()->crash_watch, SXS_CRASH_NONE);
        atomic_store(&all.crash_head, sxs_events_head());
    }
}

/* ---- the tool --------------------------------------------------------------------------------- */

static HRESULT start_tool(struct sxs_sub *sub, const char *options)
{
    (void)options;
    if (!sxs_events_open("exceptions", SXS_EVENTS_OF_EXCEPTIONS))
        return E_FAIL;
    watch_crashes();
    sub->state = calloc(1, sizeof(struct exceptions_state));
    if (!sub->state)
        return E_OUTOFMEMORY;
    ((struct exceptions_state *)sub->state)->code = sxs_runtime_code_find();
    sub->low = COR_PRF_MONITOR_EXCEPTIONS | COR_PRF_MONITOR_MODULE_LOADS;
    /* Refused after an attach; there, unloads of modules must do. */
    if (!sxs_runtime_is_attached(sub->rt))
        sub->low |= COR_PRF_MONITOR_FUNCTION_UNLOADS;
    return S_OK;
}

static void release_runtime(struct sxs_sub *sub)
{
    free(sub->state);
    sub->state = NULL;
}

static void end_session(void)
{
    atomic_store(&all.crash_head, NULL);
    sxs_exceptions_threads_end();
    sxs_seen_set_clear(&all.throw_sites);
    sxs_names_forget();
    sxs_events_close(SXS_EVENTS_OF_EXCEPTIONS);
}

static const struct sxs_events events = {
    .ExceptionThrown = on_thrown,
    .ExceptionSearchFunctionEnter = on_searching,
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

const struct sxs_tool sxs_exceptions_tool = {.name = "exceptions",
                                             .on = &events,
                                             .start = start_tool,
                                             .release = release_runtime,
                                             .end_session = end_session,
                                             .restarts = 1};
