/* SPDX-License-Identifier: MIT */
/* call.c - the less usual calls of guests: the first of a thread, those within another guest, those
 * that are timed, and those that fail. */
#include "guests/call.h"

#include "base/clock.h"

#define ADD_EVERY (4 * GUEST_TIMED_EVERY) /* calls after which a thread adds to the session's row */

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

int guest_call_begin_slowly(struct guest_instance *g, struct guest_call *call)
{
    struct guest_thread   *t = guest_thread_block();
    struct guest_counters *c;
    uint64_t               calls;
    if (!t)
        return 0;
    c = &t->of[g->number];
    change_inside(c, 1);
    atomic_signal_fence(memory_order_seq_cst); /* see guest_call_begin() */
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
    if (calls % GUEST_TIMED_EVERY == 0)
        call->since_ns = sxs_now_ns(CLOCK_MONOTONIC);
    return 1;
}

void guest_call_end_slowly(struct guest_call *call, HRESULT hr)
{
    struct guest_thread   *t = call->thread;
    struct guest_counters *c = &t->of[call->g->number];
    uint64_t               calls = atomic_load_explicit(&c->calls, memory_order_relaxed);
    if (FAILED(hr) && hr != E_NOTIMPL) /* E_NOTIMPL is how a guest says that it ignores an event */
        atomic_fetch_add_explicit(&call->g->row->failures, 1, memory_order_relaxed);
    if (call->is_usual) {
        atomic_store_explicit(&t->current, NULL, memory_order_release);
        return;
    }
    if (call->since_ns) {
        uint64_t took = sxs_now_ns(CLOCK_MONOTONIC) - call->since_ns;
        uint64_t sum = atomic_load_explicit(&c->ns, memory_order_relaxed);
        /* The first call of a thread stands for itself: it is often the slowest. */
        atomic_store_explicit(&c->ns, sum + took * (calls <= 1 ? 1 : GUEST_TIMED_EVERY),
                              memory_order_relaxed);
        if (calls % ADD_EVERY <= 1)
            guest_thread_add(call->g, c);
    }
    atomic_store_explicit(&t->current, call->outer, memory_order_release);
    if (call->outer)
        change_inside(&t->of[call->outer->number], -1);
    change_inside(c, -1);
}
