/* SPDX-License-Identifier: MIT */
/*
 * scratch.c - rooms for the frames of walks, handed out without a lock.
 *
 * More walks can be under way than there are processors: a wall-clock round signals one thread after
 * the other, and each thread that wakes up may preempt the one that is just walking. Some fifty at once
 * were seen with 150 threads on two busy processors. The first N_USUAL rooms serve nearly always and
 * are all that takes memory; the others are searched when those are in use.
 */
#include "sampler/scratch.h"

#define N_USUAL 64u
#define N_ROOMS 256u

static struct sxs_scratch rooms[N_ROOMS];

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
        s = take_one(&rooms[(tid + i) % N_USUAL]);
    for (unsigned i = N_USUAL; i < N_ROOMS && !s; i++)
        s = take_one(&rooms[i]);
    return s;
}

SXS_SIGSAFE void sxs_scratch_give_back(struct sxs_scratch *s)
{
    atomic_store_explicit(&s->taken, 0, memory_order_release);
}
