/* SPDX-License-Identifier: MIT */
/** tick.h - read the processor's own clock: the cheapest clock, with a constant rate and the same
 *  time on all CPUs. */
#ifndef SXS_BASE_TICK_H
#define SXS_BASE_TICK_H

#include <stdint.h>

/** sxs_tick - return the time of that clock in its own units (TSC). */
static inline uint64_t sxs_tick(void)
{
#if defined(__x86_64__)
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
#else
#error "no clock for this processor"
#endif
}

#endif
