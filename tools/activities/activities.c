/* SPDX-License-Identifier: MIT */
/* activities.c - the runtimes whose activities are followed, and what their callbacks say. */
#include "tools/activities/activities_internal.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/session_state.h"

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
    /* Reported by the thread itself as a rule. If not, the check of both pointers in read.c
     * must do. */
    if (t && atomic_load(&t->managed[a->index]) == thread.id)
        sxs_threads_set_managed(tid, a->index, 0);
}

/* ---- suspensions ----------------------------------------------------------------------------- */

SXS_SIGSAFE static enum sxs_found look(struct sxs_activities *a, const struct sxs_thread_slot *t,
                                       struct sxs_sample_context *out)
{
    struct sxs_activity_text endpoint;
    uintptr_t      native = atomic_load_explicit(&t->managed[a->index], memory_order_acquire);
    enum sxs_found found = native ? sxs_activities_read(a, native, out, &endpoint) : SXS_FOUND_NONE;
    if (found != SXS_FOUND_ONE)
        return found;
    out->endpoint = endpoint.n ? sxs_activities_endpoint(a, &endpoint) : 0;
    out->runtime = (uint16_t)a->number;
    out->zero = 0;
    return found;
}

void sxs_activities_stopping(struct sxs_activities *a)
{
    uint32_t                      tid = (uint32_t)syscall(SYS_gettid);
    const struct sxs_thread_slot *t = sxs_threads_find(tid);
    struct sxs_sample_context     context = {0};
    enum sxs_found                found = SXS_FOUND_UNKNOWN;
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
SXS_SIGSAFE static enum sxs_found of_stopper(struct sxs_activities *a, uint32_t tid,
                                             struct sxs_sample_context *out)
{
    if (atomic_load(&a->stopper) != tid)
        return SXS_FOUND_UNKNOWN;
    if (!atomic_load(&a->stopper_has))
        return SXS_FOUND_NONE;
    *out = a->stopper_context;
    return SXS_FOUND_ONE;
}

SXS_SIGSAFE static enum sxs_found look_at(struct sxs_activities *a, const struct sxs_thread_slot *t,
                                          struct sxs_sample_context *out)
{
    uint32_t n_stops;
    if (!atomic_load_explicit(&a->learned, memory_order_acquire))
        return atomic_load(&a->diagnostics) ? SXS_FOUND_UNKNOWN : SXS_FOUND_NONE;
    if (!sxs_activities_running_since(a, &n_stops))
        return of_stopper(a, atomic_load(&t->tid), out);
    return look(a, t, out);
}

SXS_SIGSAFE size_t sxs_activities_look(const struct sxs_thread_slot *t,
                                       struct sxs_sample_context     out[SXS_SLOT_RUNTIMES],
                                       unsigned                     *missed)
{
    size_t n = 0;
    *missed = 0;
    for (unsigned i = 0; i < SXS_SLOT_RUNTIMES; i++) {
        enum sxs_found found;
        if (!atomic_load_explicit(&t->managed[i], memory_order_acquire))
            continue;
        found = look_at(&followed[i], t, &out[n]);
        n += found == SXS_FOUND_ONE;
        *missed += found == SXS_FOUND_UNKNOWN;
    }
    return n;
}
