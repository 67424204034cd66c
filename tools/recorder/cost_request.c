/* SPDX-License-Identifier: MIT */
/* tools/recorder/cost_request.c - costs that one thread requests of another: the cost waits in a
 * table, the other thread gets the sample signal with its number there, and the signal's handler
 * records it with the stack that it has interrupted. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/recorder/cost.h"
#include "tools/recorder/costs.h"
#include "tools/recorder/poke.h"
#include "tools/recorder/scratch.h"
#include "tools/recorder/walk.h"

#define N_REQUESTS 128u /* the low bits of a signal's number; above them, the turn */
#define TURN_MASK  255u
#define OLD_NS     1000000000u /* an answer later than this is no longer waited for */
#define SHORT      48u         /* frames of a walk for which no buffer is free */

_Static_assert(N_REQUESTS * (TURN_MASK + 1) == SXS_POKE_COSTS, "all numbers are weights");

enum request_state { FREE, FILLING, ASKED };

/* `word` is turn * 4 + state. The turn tells a late signal from the request that uses the entry
 * now. */
struct request {
    _Atomic uint32_t word;
    _Atomic uint64_t since_ns;
    uint32_t         tid;
    struct sxs_cost  cost;
};

static struct request   requests[N_REQUESTS];
static _Atomic uint32_t next;

SXS_SIGSAFE static uint32_t word_of(uint32_t turn, enum request_state state)
{
    return (turn & TURN_MASK) * 4 + state;
}

/* Takes the entry if it is free, or if its thread does not answer. Returns 1 and sets *@turn, or
 * 0. */
SXS_SIGSAFE static int take_request(struct request *r, uint64_t now, uint32_t *turn)
{
    uint32_t word = atomic_load(&r->word), state = word % 4;
    if (state == FILLING || (state == ASKED && now - atomic_load(&r->since_ns) < OLD_NS))
        return 0;
    *turn = (word / 4 + 1) & TURN_MASK;
    return atomic_compare_exchange_strong(&r->word, &word, word_of(*turn, FILLING));
}

SXS_SIGSAFE void sxs_recorder_cost_by(uint32_t tid, const struct sxs_cost *cost)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    uint32_t at = atomic_fetch_add(&next, 1) % N_REQUESTS, turn, word;
    int      saved_errno = errno;
    if (!sxs_costs_writer() || !sxs_costs_can_answer(tid) ||
        !take_request(&requests[at], now, &turn))
        return;
    requests[at].tid = tid;
    requests[at].cost = *cost;
    atomic_store(&requests[at].since_ns, now);
    word = word_of(turn, ASKED);
    atomic_store(&requests[at].word, word);
    if (sxs_poke(tid, SXS_POKE_COST + turn * N_REQUESTS + at) != 0)
        atomic_compare_exchange_strong(&requests[at].word, &word, word_of(turn, FREE));
    errno = saved_errno;
}

int sxs_recorder_cost_by_prepare(void)
{
    return sxs_poke_install();
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

SXS_SIGSAFE void sxs_costs_serve(uint32_t number, const ucontext_t *uc)
{
    struct request     *r = &requests[number % N_REQUESTS];
    uint32_t            turn = number / N_REQUESTS, word = word_of(turn, ASKED);
    uint32_t            tid = (uint32_t)syscall(SYS_gettid);
    struct sxs_scratch *buffer;
    struct sxs_cost     cost;
    if (!atomic_compare_exchange_strong(&r->word, &word, word_of(turn, FILLING)))
        return; /* too late */
    cost = r->cost;
    if (r->tid != tid)
        cost.kind = 0;
    atomic_store(&r->word, word_of(turn, FREE));
    if (!cost.kind)
        return;
    buffer = sxs_scratch_take(tid);
    if (!buffer) {
        walk_short(&cost, tid, uc);
        return;
    }
    walk_and_put(&cost, tid, uc, buffer->ips, SXS_MAX_STACK);
    sxs_scratch_give_back(buffer);
}
