/* SPDX-License-Identifier: MIT */
/*
 * call.c - calls of guests: the less usual ones, and how the time in callbacks is estimated.
 *
 * Reading the clock twice takes longer than most callbacks do. So each thread times a sample of its
 * calls of a guest: the first one, which counts for itself because it is often the slowest, and then
 * one of `mean` calls, which counts for `mean` calls. The interval from one timed call to the next is
 * random, from 1 to 2 * mean - 1, because callbacks often come in a pattern (started, finished), of
 * which a constant interval could hit always the same part. So every call has the same probability
 * 1/mean to be timed, and the estimate is unbiased.
 */
#include "guests/call.h"

#include "base/chance.h"
#include "base/clock.h"

/* One of so many calls is timed: while a thread has made few calls of the guest, and later. */
#define MEAN_EARLY  32u
#define MEAN_LATER  256u
#define EARLY_CALLS 4096u

#define ADD_EVERY 256u /* calls after which a thread adds to the session's row */

static int is_called(const struct guest_instance *g)
{
    int state = atomic_load_explicit(&g->state, memory_order_relaxed);
    return state == SXS_GUEST_ACTIVE || state == SXS_GUEST_STARTING;
}

/* Changes the number of the thread's calls of the guest that `current` does not show. */
static void change_inside(struct guest_counters *c, int by)
{
    uint32_t inside = atomic_load_explicit(&c->inside, memory_order_relaxed);
    atomic_store_explicit(&c->inside, inside + (uint32_t)by, memory_order_release);
}

/* Returns a random number from 1 to 2 * mean - 1. */
static uint64_t random_interval(struct guest_counters *c, uint32_t mean)
{
    if (!c->random)
        c->random = sxs_random_seed(c);
    return 1 + sxs_random(&c->random) % (2 * mean - 1);
}

/* Begins to time the call number @calls, which is one to be timed, and chooses the next one. After
 * the first call the interval is the smaller one of two random numbers. This makes the second call as
 * likely to be timed as any later one: the interval from any call to the next timed one is
 * distributed like that. */
static void begin_timing(struct guest_counters *c, uint64_t calls, struct guest_call *call)
{
    uint32_t mean = calls < EARLY_CALLS ? MEAN_EARLY : MEAN_LATER;
    uint64_t interval = random_interval(c, mean);
    if (!calls) {
        uint64_t other = random_interval(c, mean);
        interval = other < interval ? other : interval;
    }
    c->timed_at = calls + interval;
    call->weight = calls ? mean : 1;
    call->since_ns = sxs_now_ns(CLOCK_MONOTONIC);
}

int guest_call_begin(struct guest_instance *g, struct guest_call *call)
{
    struct guest_thread   *t = guest_thread_block();
    struct guest_counters *c;
    uint64_t               calls;
    if (!t)
        return 0;
    c = &t->of[g->number];
    change_inside(c, 1);
    atomic_signal_fence(memory_order_seq_cst); /* see guest_enter() */
    if (!is_called(g)) {
        change_inside(c, -1);
        return 0;
    }
    calls = atomic_load_explicit(&c->calls, memory_order_relaxed);
    atomic_store_explicit(&c->calls, calls + 1, memory_order_relaxed);
    *call = (struct guest_call){.callback = g->callback, .g = g, .thread = t};
    call->outer = atomic_load_explicit(&t->current, memory_order_relaxed);
    if (call->outer) /* `current` will not show it during this call */
        change_inside(&t->of[call->outer->number], 1);
    atomic_store_explicit(&t->current, g, memory_order_relaxed);
    if (calls == c->timed_at)
        begin_timing(c, calls, call);
    return 1;
}

void guest_failed(struct guest_instance *g, HRESULT hr)
{
    if (hr != E_NOTIMPL) /* E_NOTIMPL is how a guest says that it ignores an event */
        atomic_fetch_add_explicit(&g->row->failures, 1, memory_order_relaxed);
}

static void end_timing(const struct guest_call *call, struct guest_counters *c)
{
    uint64_t took = sxs_now_ns(CLOCK_MONOTONIC) - call->since_ns;
    uint64_t sum = atomic_load_explicit(&c->ns, memory_order_relaxed);
    uint64_t calls = atomic_load_explicit(&c->calls, memory_order_relaxed);
    uint64_t added = atomic_load_explicit(&c->added, memory_order_relaxed);
    atomic_store_explicit(&c->ns, sum + took * call->weight, memory_order_relaxed);
    if (calls - added >= ADD_EVERY || !added)
        guest_thread_add(call->g, c);
}

void guest_call_end(struct guest_call *call, HRESULT hr)
{
    struct guest_thread   *t = call->thread;
    struct guest_counters *c = &t->of[call->g->number];
    if (FAILED(hr))
        guest_failed(call->g, hr);
    if (call->since_ns)
        end_timing(call, c);
    atomic_store_explicit(&t->current, call->outer, memory_order_release);
    if (call->outer)
        change_inside(&t->of[call->outer->number], -1);
    change_inside(c, -1);
}
