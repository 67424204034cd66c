/* SPDX-License-Identifier: MIT */
/**
 * call.h - calls of a guest's callback object.
 *
 * Every call stands between guest_call_begin() and guest_call_end(). They count it, time one of 64,
 * remember the guest for the line about a crash, and let guest_end() wait until no thread is inside
 * the guest. The usual case is inline and takes some 15 instructions; the other cases are in call.c.
 */
#ifndef SXS_GUESTS_CALL_H
#define SXS_GUESTS_CALL_H

#include "guests/guest.h"
#include "guests/thread_state.h"

#define GUEST_TIMED_EVERY 64u /* one of so many calls is timed */

/** A call in progress. On the stack. */
struct guest_call {
    ICorProfilerCallback11 *callback;  /* of the guest */
    struct guest_instance  *g, *outer; /* outer: the guest that the thread was in before, or NULL */
    struct guest_thread    *thread;
    uint64_t                since_ns; /* 0: this call is not timed */
    int                     is_usual; /* 1: nothing but the counter has to be kept */
};

int  guest_call_begin_slowly(struct guest_instance *g, struct guest_call *call);
void guest_call_end_slowly(struct guest_call *call, HRESULT hr);

/**
 * guest_call_begin - prepare a call of the guest's callback object, call->callback.
 * Returns 1, and guest_call_end() must follow; 0 when the guest has ended or there is no memory for
 * the thread's block: then it must not be called. Any thread; not signal-safe.
 */
static inline int guest_call_begin(struct guest_instance *g, struct guest_call *call)
{
    struct guest_thread   *t = guest_thread;
    struct guest_counters *c;
    uint64_t               calls;
    if (__builtin_expect(!t || atomic_load_explicit(&t->current, memory_order_relaxed), 0))
        return guest_call_begin_slowly(g, call);
    atomic_store_explicit(&t->current, g, memory_order_relaxed);
    /* guest_end() changes the state, makes every thread pass a barrier, and then reads `current`:
     * so only the compiler must keep the order here. */
    atomic_signal_fence(memory_order_seq_cst);
    c = &t->of[g->number];
    calls = atomic_load_explicit(&c->calls, memory_order_relaxed);
    if (__builtin_expect(atomic_load_explicit(&g->state, memory_order_relaxed) !=
                                 SXS_GUEST_ACTIVE ||
                             calls % GUEST_TIMED_EVERY == 0,
                         0)) {
        atomic_store_explicit(&t->current, NULL, memory_order_release);
        return guest_call_begin_slowly(g, call);
    }
    atomic_store_explicit(&c->calls, calls + 1, memory_order_relaxed);
    call->callback = g->callback;
    call->g = g;
    call->thread = t;
    call->is_usual = 1;
    return 1;
}

static inline void guest_call_end(struct guest_call *call, HRESULT hr)
{
    if (__builtin_expect(!call->is_usual || FAILED(hr), 0))
        guest_call_end_slowly(call, hr);
    else
        atomic_store_explicit(&call->thread->current, NULL, memory_order_release);
}

#endif
