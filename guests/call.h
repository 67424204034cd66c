/* SPDX-License-Identifier: MIT */
/**
 * call.h - calls of a guest's callback object.
 *
 * Every call is counted, and some are timed (call.c). During a call the thread's block names the
 * guest, for the line about a crash, and for guest_end(), which waits until no thread is inside the
 * guest.
 *
 * The generated handlers deliver an event to all guests of a runtime. Most of their calls stand
 * between guest_enter() and guest_leave(), which take some ten instructions. All other calls stand
 * between guest_call_begin() and guest_call_end(), which also know calls within another guest, the
 * first call of a thread, and calls that are timed.
 */
#ifndef SXS_GUESTS_CALL_H
#define SXS_GUESTS_CALL_H

#include "guests/guest.h"
#include "guests/thread_state.h"

/** guest_idle_thread - return the calling thread's block when the thread is in no guest; NULL when
 *  it is in one, and when it has no block yet. */
static inline struct guest_thread *guest_idle_thread(void)
{
    struct guest_thread *t = guest_thread;
    return __builtin_expect(t && !atomic_load_explicit(&t->current, memory_order_relaxed), 1)
               ? t
               : NULL;
}

/** guest_leave - record that the thread is in no guest. */
static inline void guest_leave(struct guest_thread *t)
{
    atomic_store_explicit(&t->current, NULL, memory_order_release);
}

/**
 * guest_enter - begin a usual call of the guest's callback object: not timed, not within a call of
 * another guest.
 * @t: guest_idle_thread(), or the block after a call of another guest has returned.
 * Returns 1; after the call follow guest_failed() if it has failed, and guest_leave() or guest_enter()
 * of another guest. Returns 0 when guest_call_begin() must be used; it has called guest_leave().
 */
static inline int guest_enter(struct guest_thread *t, struct guest_instance *g)
{
    struct guest_counters *c = &t->of[g->number];
    uint64_t               calls = atomic_load_explicit(&c->calls, memory_order_relaxed);
    atomic_store_explicit(&t->current, g, memory_order_release);
    /* guest_end() changes the state, makes every thread pass a barrier, and then reads `current`:
     * so only the compiler must keep the order here. */
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&g->state, memory_order_relaxed) !=
                                 SXS_GUEST_ACTIVE ||
                             calls == c->timed_at,
                         0)) {
        guest_leave(t);
        return 0;
    }
    atomic_store_explicit(&c->calls, calls + 1, memory_order_relaxed);
    return 1;
}

/** guest_failed - count the failure of a callback. @hr: what it has returned, a failure. */
void guest_failed(struct guest_instance *g, HRESULT hr);

/** A call in progress. On the stack. */
struct guest_call {
    ICorProfilerCallback11 *callback;  /* of the guest */
    struct guest_instance  *g, *outer; /* outer: the guest that the thread was in before, or NULL */
    struct guest_thread    *thread;
    uint64_t                since_ns; /* 0: this call is not timed */
    uint64_t                weight;   /* number of calls whose time this one stands for */
};

/**
 * guest_call_begin - prepare a call of the guest's callback object, call->callback.
 * Returns 1, and guest_call_end() must follow; 0 when the guest has ended or there is no memory for
 * the thread's block: then it must not be called. Any thread; not signal-safe.
 */
int guest_call_begin(struct guest_instance *g, struct guest_call *call);

/** guest_call_end - end the call. @hr: what it has returned. */
void guest_call_end(struct guest_call *call, HRESULT hr);

#endif
