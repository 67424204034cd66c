/* SPDX-License-Identifier: MIT */
#include "allocator/sampling.h"

#include "base/chance.h"

SXS_SIGSAFE static void ensure_seed(uint64_t *random)
{
    if (!*random)
        *random = sxs_random_seed(random);
}

SXS_SIGSAFE uint64_t sxs_sampling_draw(uint64_t *random, uint64_t interval)
{
    ensure_seed(random);
    return (uint64_t)(sxs_minus_log(sxs_random_fraction(random)) * (double)interval);
}

SXS_SIGSAFE double sxs_sampling_weight(uint64_t bytes, uint64_t interval)
{
    return 1 / sxs_chance((double)bytes / (double)interval);
}

SXS_SIGSAFE uint64_t sxs_sampling_below(uint64_t *random, uint64_t limit)
{
    ensure_seed(random);
    return (uint64_t)(((unsigned __int128)sxs_random(random) * limit) >> 64);
}
