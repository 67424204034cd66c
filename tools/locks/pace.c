/* SPDX-License-Identifier: MIT */
#include "tools/locks/pace.h"

#include "base/clock.h"

#define WINDOW_NS 100000000u
#define WINDOWS   (1000000000u / WINDOW_NS) /* in a second */

void sxs_pace_init(struct sxs_pace *pace, unsigned a_second)
{
    pace->max = a_second / WINDOWS;
    atomic_store(&pace->every, 1);
    atomic_store(&pace->random, sxs_now_ns(CLOCK_MONOTONIC) | 1);
}

/* splitmix64: each call adds a constant, so threads need no loop. */
SXS_SIGSAFE static uint64_t next_random(struct sxs_pace *pace)
{
    uint64_t z = atomic_fetch_add_explicit(&pace->random, UINT64_C(0x9e3779b97f4a7c15),
                                           memory_order_relaxed);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
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
    return every <= 1 || next_random(pace) % every == 0 ? every : 0;
}

SXS_SIGSAFE double sxs_pace_take(struct sxs_pace *pace)
{
    return sxs_pace_take_at(pace, sxs_now_ns(CLOCK_MONOTONIC));
}
