/* SPDX-License-Identifier: MIT */
#include "allocator/sampling.h"

#include "base/chance.h"
#include "base/hash.h"

/* Returns a number from the time and from the state's address, which differs between threads. */
SXS_SIGSAFE static uint64_t seed_for(const uint64_t *random)
{
    uint64_t seed = __builtin_ia32_rdtsc() ^ sxs_hash_id((uintptr_t)random);
    seed = (seed ^ (seed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    seed ^= seed >> 31;
    return seed ? seed : 1;
}

SXS_SIGSAFE static void ensure_seed(uint64_t *random)
{
    if (!*random)
        *random = seed_for(random);
}

SXS_SIGSAFE uint64_t sxs_sampling_distance(uint64_t *random, uint64_t every)
{
    ensure_seed(random);
    return (uint64_t)(sxs_minus_log(sxs_random_fraction(random)) * (double)every);
}

SXS_SIGSAFE double sxs_sampling_weight(uint64_t bytes, uint64_t every)
{
    return 1 / sxs_chance((double)bytes / (double)every);
}

SXS_SIGSAFE uint64_t sxs_sampling_below(uint64_t *random, uint64_t limit)
{
    ensure_seed(random);
    return (uint64_t)(((unsigned __int128)sxs_random(random) * limit) >> 64);
}
