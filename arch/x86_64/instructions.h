/* SPDX-License-Identifier: MIT */
/** instructions.h - single instructions that C has no expression for. Any thread; signal-safe. */
#ifndef SXS_ARCH_X86_64_INSTRUCTIONS_H
#define SXS_ARCH_X86_64_INSTRUCTIONS_H

#include <stdint.h>

#include "base/base.h"

/** sxs_tick - return the time of the processor's own clock (TSC) in its own units. It is the cheapest clock. Its
 *  rate is constant, and all CPUs have the same time. */
SXS_SIGSAFE static inline uint64_t sxs_tick(void)
{
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
}

/** sxs_pause - tell the processor that this thread waits in a loop. */
SXS_SIGSAFE static inline void sxs_pause(void)
{
    __builtin_ia32_pause();
}

#endif
