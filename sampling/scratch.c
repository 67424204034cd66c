/* SPDX-License-Identifier: MIT */
/* sampling/scratch.c - hands out buffers for walks without a lock.
 *
 * More walks can be in progress than there are processors: in wall-clock mode one thread after
 * another gets a signal, and a thread that wakes up may preempt a thread that is in the middle of
 * its walk. Some 50 walks at a time were seen with 150 threads on two busy processors. The first
 * N_USUAL buffers are nearly always enough, so the others use no physical memory. */
#include "sampling/scratch.h"

#include "base/session_state.h"

#define N_USUAL   64u
#define N_BUFFERS 256u

static struct sxs_scratch buffers[N_BUFFERS];
SXS_SESSION_RESETS(buffers);

SXS_SIGSAFE static struct sxs_scratch *take_one(struct sxs_scratch *s)
{
    if (atomic_load_explicit(&s->taken, memory_order_relaxed) ||
        atomic_exchange_explicit(&s->taken, 1, memory_order_acquire))
        return NULL;
    return s;
}

SXS_SIGSAFE struct sxs_scratch *sxs_scratch_take(uint32_t tid)
{
    struct sxs_scratch *s = NULL;
    for (unsigned i = 0; i < N_USUAL && !s; i++)
        s = take_one(&buffers[(tid + i) % N_USUAL]);
    for (unsigned i = N_USUAL; i < N_BUFFERS && !s; i++)
        s = take_one(&buffers[i]);
    return s;
}

SXS_SIGSAFE void sxs_scratch_give_back(struct sxs_scratch *s)
{
    atomic_store_explicit(&s->taken, 0, memory_order_release);
}
