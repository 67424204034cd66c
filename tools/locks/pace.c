/* SPDX-License-Identifier: MIT */
#include "tools/locks/pace.h"

#include "base/chance.h"
#include "base/clock.h"

#define WINDOW_NS 100000000u
#define WINDOWS   (1000000000u / WINDOW_NS) /* in a second */

void sxs_pace_init(struct sxs_pace *pace, unsigned a_second)
{
    pace->max = a_second / WINDOWS;
    atomic_store(&pace->every, 1);
    atomic_store(&pace->random, sxs_random_seed(pace));
}

SXS_SIGSAFE double sxs_pace_take_at(struct sxs_pace *pace, uint64_t now_ns)
{
    uint64_t window = now_ns / WINDOW_NS, before = atomic_load(&pace->window);
    uint32_t every;
    if (window != before && atomic_compare_exchange_strong(&pace->window, &before, window)) {
        uint32_t n = atomic_exchange(&pace->count, 0);
        atomic_store(&pace->every,
                     window == before + 1 && n > pace->max ? (n + pace->max - 1) / pace->max : 1);
    }
    atomic_fetch_add(&pace->count, 1);
    every = atomic_load(&pace->every);
    return every <= 1 || sxs_random_shared(&pace->random) % every == 0 ? every : 0;
}

SXS_SIGSAFE double sxs_pace_take(struct sxs_pace *pace)
{
    return sxs_pace_take_at(pace, sxs_now_ns(CLOCK_MONOTONIC));
}
