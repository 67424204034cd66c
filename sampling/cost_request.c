/* SPDX-License-Identifier: MIT */
/* sampling/cost_request.c - costs that one thread requests of another: the cost waits in a
 * table, the other thread gets the sample signal, and the signal's handler records it with the stack
 * that it has interrupted. A signal that is sent while another one is pending is lost, so a handler
 * serves all requests of its thread, whatever the signal was sent for. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/session_state.h"
#include "sampling/cost.h"
#include "sampling/costs.h"
#include "sampling/sample_signal.h"
#include "sampling/scratch.h"
#include "sampling/walk.h"

#define N_REQUESTS 128u
#define OLD_NS     1000000000u /* an answer later than this is no longer waited for */
#define SHORT      48u         /* frames of a walk for which no buffer is free */

enum request_state { FREE, FILLING, ASKED };

struct cost_request {
    /* enum request_state. The thread that changes it to FILLING owns the other members. */
    _Atomic uint32_t state;
    _Atomic uint32_t tid;
    _Atomic uint64_t since_ns;
    struct sxs_cost  cost;
};

static struct cost_request requests[N_REQUESTS];
static _Atomic uint32_t    next, n_asked;
SXS_SESSION_RESETS(requests);
SXS_SESSION_RESETS(next);
SXS_SESSION_RESETS(n_asked);

/* Takes the entry if it is free, or if its thread does not answer. Returns 1, or 0. */
SXS_SIGSAFE static int take_request(struct cost_request *r, uint64_t now)
{
    uint32_t state = atomic_load(&r->state);
    if (state == FILLING || (state == ASKED && now - atomic_load(&r->since_ns) < OLD_NS) ||
        !atomic_compare_exchange_strong(&r->state, &state, FILLING))
        return 0;
    if (state == ASKED)
        atomic_fetch_sub(&n_asked, 1);
    return 1;
}

SXS_SIGSAFE static void withdraw_request(struct cost_request *r)
{
    uint32_t state = ASKED;
    if (atomic_compare_exchange_strong(&r->state, &state, FREE))
        atomic_fetch_sub(&n_asked, 1);
}

SXS_SIGSAFE void sxs_recorder_cost_by(uint32_t tid, const struct sxs_cost *cost)
{
    uint64_t             now = sxs_now_ns(CLOCK_MONOTONIC);
    struct cost_request *r = &requests[atomic_fetch_add(&next, 1) % N_REQUESTS];
    int                  saved_errno = errno;
    if (!sxs_costs_writer() || !sxs_costs_can_answer(tid) || !take_request(r, now))
        return;
    r->cost = *cost;
    atomic_store(&r->tid, tid);
    atomic_store(&r->since_ns, now);
    atomic_fetch_add(&n_asked, 1);
    atomic_store(&r->state, ASKED);
    if (sxs_sample_signal_send(tid, SXS_SAMPLE_SIGNAL_COST) != 0)
        withdraw_request(r);
    errno = saved_errno;
}

/* ---- on the other thread --------------------------------------------------------------------- */

SXS_SIGSAFE static void walk_and_put(const struct sxs_cost *cost, uint32_t tid,
                                     const ucontext_t *uc, uintptr_t *ips, size_t max)
{
    const struct sxs_walk_limits limits = {.cycles = SXS_WALK_CYCLES, .max = max};
    struct sxs_samples_writer   *w = sxs_costs_writer();
    struct sxs_cost_stack        stack = {.ips = ips, .is_interrupted = 1};
    if (!w)
        return;
    stack.n = sxs_walk_interrupted(sxs_threads_find(tid), tid, SXS_WALKER_FAST, uc, limits, ips,
                                   NULL, &stack.end);
    sxs_costs_put(w, cost, tid, &stack);
}

/* Not inlined, so that other walks do not use that stack space. */
__attribute__((noinline)) SXS_SIGSAFE static void walk_short(const struct sxs_cost *cost,
                                                             uint32_t tid, const ucontext_t *uc)
{
    uintptr_t ips[SHORT];
    walk_and_put(cost, tid, uc, ips, SHORT);
}

SXS_SIGSAFE static void serve_one(const struct sxs_cost *cost, uint32_t tid, const ucontext_t *uc)
{
    struct sxs_scratch *buffer = sxs_scratch_take(tid);
    if (!buffer) {
        walk_short(cost, tid, uc);
        return;
    }
    walk_and_put(cost, tid, uc, buffer->ips, SXS_MAX_STACK);
    sxs_scratch_give_back(buffer);
}

/* Takes a request of thread @tid out of its entry. Returns 1 and fills @cost, or 0. */
SXS_SIGSAFE static int take_out(struct cost_request *r, uint32_t tid, struct sxs_cost *cost)
{
    uint32_t state = ASKED;
    if (atomic_load(&r->state) != ASKED || atomic_load(&r->tid) != tid ||
        !atomic_compare_exchange_strong(&r->state, &state, FILLING))
        return 0;
    if (atomic_load(&r->tid) != tid) { /* it was just used again, for another thread */
        atomic_store(&r->state, ASKED);
        return 0;
    }
    *cost = r->cost;
    atomic_store(&r->state, FREE);
    atomic_fetch_sub(&n_asked, 1);
    return 1;
}

/* Records the costs that other threads have requested of this one. */
SXS_SIGSAFE static void serve_requests(const ucontext_t *uc)
{
    struct sxs_cost cost;
    uint32_t        tid;
    if (!atomic_load_explicit(&n_asked, memory_order_relaxed))
        return;
    tid = (uint32_t)syscall(SYS_gettid);
    for (uint32_t i = 0; i < N_REQUESTS; i++)
        if (take_out(&requests[i], tid, &cost))
            serve_one(&cost, tid, uc);
}

int sxs_recorder_cost_by_prepare(void)
{
    sxs_sample_signal_serve(serve_requests);
    return sxs_sample_signal_install();
}
