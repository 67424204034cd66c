/* SPDX-License-Identifier: MIT */
/* activities.c - the runtimes whose activities are followed, and the callbacks of these runtimes. */
#include "sampling/activities_internal.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/guarded.h"
#include "base/log.h"
#include "base/session_state.h"
#include "sampling/stacks.h"

static struct sxs_activities followed[SXS_SLOT_RUNTIMES];
static _Atomic unsigned      n_followed;
static _Atomic int           is_full_reported;
SXS_SESSION_RESETS(followed);
SXS_SESSION_RESETS(n_followed);
SXS_SESSION_RESETS(is_full_reported);

struct sxs_activities *sxs_activities_start(struct sxs_runtime *rt, struct sxs_samples_writer *w)
{
    unsigned               n = atomic_load(&n_followed);
    struct sxs_activities *a;
    while (n < SXS_SLOT_RUNTIMES && !atomic_compare_exchange_weak(&n_followed, &n, n + 1)) {
    }
    if (n >= SXS_SLOT_RUNTIMES) {
        if (!atomic_exchange(&is_full_reported, 1))
            sxs_warn("tool sample: traces are recorded in the first %u runtimes only",
                     (unsigned)SXS_SLOT_RUNTIMES);
        return NULL;
    }
    a = &followed[n];
    a->index = n;
    a->number = sxs_runtime_number(rt);
    a->writer = w;
    a->is_listed = !sxs_runtime_is_late(rt);
    __atomic_store_n(&a->rt, rt, __ATOMIC_RELEASE);
    return a;
}

void sxs_activities_end(struct sxs_activities *a)
{
    atomic_store(&a->learned, SXS_LEARNED_NOTHING);
    atomic_store(&a->ended, 1);
}

void sxs_activities_round(void)
{
    for (unsigned i = 0; i < SXS_SLOT_RUNTIMES; i++) {
        struct sxs_activities *a = &followed[i];
        if (__atomic_load_n(&a->rt, __ATOMIC_ACQUIRE) && !atomic_load(&a->ended))
            sxs_activities_learn(a);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

void sxs_activities_thread(struct sxs_activities *a, sxs_thread thread, uint32_t tid)
{
    unsigned at = atomic_fetch_add(&a->n_recent, 1) % SXS_RECENT_THREADS;
    atomic_store(&a->recent[at], thread.id);
    sxs_threads_set_managed(tid, a->index, thread.id);
}

void sxs_activities_thread_ended(struct sxs_activities *a, sxs_thread thread)
{
    uint32_t                      tid = (uint32_t)syscall(SYS_gettid);
    const struct sxs_thread_slot *t = sxs_threads_find(tid);
    for (size_t i = 0; i < SXS_RECENT_THREADS; i++)
        if (atomic_load(&a->recent[i]) == thread.id)
            atomic_store(&a->recent[i], 0);
    /* Reported by the thread itself as a rule. If not, the check of both pointers in activities_read.c
     * must do. */
    if (t && atomic_load(&t->managed[a->index]) == thread.id)
        sxs_threads_set_managed(tid, a->index, 0);
}

/* ---- suspensions ----------------------------------------------------------------------------- */

/* A request that was not found by so many samples is searched for by each 8th only. */
#define MANY_SEARCHES 4u
#define SEARCH_EVERY  8u
#define STACK_ROOM    (16u << 10) /* bytes that must be free below */

SXS_SIGSAFE static uint64_t span_of(const struct sxs_sample_context *c)
{
    uint64_t span;
    memcpy(&span, c->span, sizeof(span));
    return span;
}

/* Returns 1 if the search has room on the stack: it may be a coroutine's, of a few KiB. */
SXS_SIGSAFE static int has_room(const struct sxs_thread_slot *t, uintptr_t frame,
                                enum sxs_stack_kind kind, uintptr_t to)
{
    uintptr_t own = (uintptr_t)__builtin_thread_pointer(), word;
    uintptr_t lo = atomic_load_explicit(&t->stack_lo, memory_order_relaxed);
    if (kind == SXS_STACK_OWN && lo && frame >= lo)
        return frame - lo > STACK_ROOM;
    return kind == SXS_STACK_LISTED && to == (own & ~(uintptr_t)15) &&
           sxs_guarded_copy(&word, frame - STACK_ROOM, sizeof(word)) == sizeof(word);
}

/* Returns 1 if the thread's stack can be searched. */
SXS_SIGSAFE static int stack_of(const struct sxs_thread_slot *t, uintptr_t frame,
                                struct sxs_activity_stack *out)
{
    uint32_t            n = atomic_load_explicit(&t->n_route_missed, memory_order_relaxed);
    int                 skips = n >= MANY_SEARCHES && n % SEARCH_EVERY;
    enum sxs_stack_kind kind;
    out->from = frame;
    out->known = atomic_load_explicit(&t->route_span, memory_order_acquire);
    out->skipped = skips ? atomic_load_explicit(&t->missed_span, memory_order_relaxed) : 0;
    if (!sxs_guarded_reliable())
        return 0;
    kind = sxs_stacks_find(t, 0, frame, &out->to);
    return kind != SXS_STACK_UNKNOWN && has_room(t, frame, kind, out->to);
}

/* A signal handler may interrupt this, and then does the same on the same thread. */
SXS_SIGSAFE static void keep_route(struct sxs_thread_slot *t, const struct sxs_sample_context *c)
{
    atomic_store_explicit(&t->route_span, 0, memory_order_release);
    atomic_store_explicit(&t->route_name, c->endpoint, memory_order_release);
    atomic_store_explicit(&t->route_span, span_of(c), memory_order_release);
}

/* Counts searches without success. A wrong count costs time only. */
SXS_SIGSAFE static void note_miss(struct sxs_thread_slot *t, const struct sxs_sample_context *c)
{
    if (atomic_load_explicit(&t->missed_span, memory_order_relaxed) != span_of(c))
        atomic_store_explicit(&t->n_route_missed, 0, memory_order_relaxed);
    atomic_store_explicit(&t->missed_span, span_of(c), memory_order_relaxed);
    atomic_fetch_add_explicit(&t->n_route_missed, 1, memory_order_relaxed);
}

SXS_SIGSAFE static void name_endpoint(struct sxs_activities *a, struct sxs_thread_slot *t,
                                      const struct sxs_activity_text *name,
                                      struct sxs_sample_context      *out)
{
    out->source = (uint16_t)name->source;
    if (name->is_known)
        out->endpoint = atomic_load_explicit(&t->route_name, memory_order_acquire);
    else
        out->endpoint = name->n ? sxs_activities_endpoint(a, name) : 0;
    if (!name->is_known && out->endpoint && name->source == SXS_ENDPOINT_ROUTE)
        keep_route(t, out);
    else if (!name->is_known)
        note_miss(t, out);
}

SXS_SIGSAFE static enum sxs_activity_found look(struct sxs_activities *a, struct sxs_thread_slot *t,
                                                struct sxs_sample_context *out)
{
    struct sxs_activity_text  endpoint;
    struct sxs_activity_stack stack;
    int                       has = stack_of(t, (uintptr_t)__builtin_frame_address(0), &stack);
    uintptr_t native = atomic_load_explicit(&t->managed[a->index], memory_order_acquire);
    enum sxs_activity_found found =
        native ? sxs_activities_read(a, native, has ? &stack : NULL, out, &endpoint)
               : SXS_FOUND_NONE;
    if (found != SXS_FOUND_ONE)
        return found;
    name_endpoint(a, t, &endpoint, out);
    out->runtime = (uint16_t)a->number;
    return found;
}

void sxs_activities_stopping(struct sxs_activities *a)
{
    uint32_t                      tid = (uint32_t)syscall(SYS_gettid);
    struct sxs_thread_slot       *t = sxs_threads_find(tid);
    struct sxs_sample_context     context = {0};
    enum sxs_activity_found       found = SXS_FOUND_UNKNOWN;
    atomic_store(&a->stopper, 0);
    if (t && atomic_load_explicit(&a->learned, memory_order_acquire))
        found = look(a, t, &context);
    if (found == SXS_FOUND_ONE)
        a->stopper_context = context;
    atomic_store(&a->stopper_has, found == SXS_FOUND_ONE);
    if (found != SXS_FOUND_UNKNOWN)
        atomic_store(&a->stopper, tid);
    atomic_fetch_add(&a->n_stops, 1);
}

void sxs_activities_resuming(struct sxs_activities *a)
{
    atomic_store(&a->stopper, 0);
}

/* The next stop may have begun already when a runtime reports the end of a stop, so both are
 * counted. An end without a beginning is of a stop from before the start. */
void sxs_activities_running(struct sxs_activities *a)
{
    uint32_t resumed = atomic_load(&a->n_resumed);
    while (resumed != atomic_load(&a->n_stops) &&
           !atomic_compare_exchange_weak(&a->n_resumed, &resumed, resumed + 1)) {
    }
}

/* ---- samples --------------------------------------------------------------------------------- */

/* A thread of the runtime that stops the others may collect on its own stack. Until the threads are
 * let go, it runs no managed code, so it still has what it had before. */
SXS_SIGSAFE static enum sxs_activity_found of_stopper(struct sxs_activities *a, uint32_t tid,
                                                      struct sxs_sample_context *out)
{
    if (atomic_load(&a->stopper) != tid)
        return SXS_FOUND_UNKNOWN;
    if (!atomic_load(&a->stopper_has))
        return SXS_FOUND_NONE;
    *out = a->stopper_context;
    return SXS_FOUND_ONE;
}

SXS_SIGSAFE static enum sxs_activity_found look_at(struct sxs_activities     *a,
                                                   struct sxs_thread_slot    *t,
                                                   struct sxs_sample_context *out)
{
    uint32_t n_stops;
    if (!atomic_load_explicit(&a->learned, memory_order_acquire))
        return atomic_load(&a->modules[SXS_MODULE_DIAGNOSTICS]) ? SXS_FOUND_UNKNOWN
                                                                : SXS_FOUND_NONE;
    if (!sxs_activities_running_since(a, &n_stops))
        return of_stopper(a, atomic_load(&t->tid), out);
    return look(a, t, out);
}

SXS_SIGSAFE size_t sxs_activities_look(struct sxs_thread_slot   *t,
                                       struct sxs_sample_context out[SXS_SLOT_RUNTIMES],
                                       unsigned                 *missed)
{
    size_t n = 0;
    *missed = 0;
    for (unsigned i = 0; i < SXS_SLOT_RUNTIMES; i++) {
        enum sxs_activity_found found;
        if (!atomic_load_explicit(&t->managed[i], memory_order_acquire))
            continue;
        found = look_at(&followed[i], t, &out[n]);
        n += found == SXS_FOUND_ONE;
        *missed += found == SXS_FOUND_UNKNOWN;
    }
    return n;
}
