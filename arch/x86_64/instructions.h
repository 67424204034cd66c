/* SPDX-License-Identifier: MIT */
/** instructions.h - single instructions that C has no expression for. Any thread; signal-safe. */
#ifndef SXS_ARCH_X86_64_INSTRUCTIONS_H
#define SXS_ARCH_X86_64_INSTRUCTIONS_H

#include <stdint.h>
#include <string.h>

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

#define SXS_ADDRESSING_BYTES 7 /* bytes of code that sxs_addressed_variable() reads */

/** sxs_addressed_variable - return the address that an instruction computes or loads from relative to itself,
 *  or 0 if the code is not such an instruction (lea or mov of 64 bits with a RIP-relative operand).
 *  @code: SXS_ADDRESSING_BYTES readable bytes, at which an instruction may begin. */
SXS_SIGSAFE static inline uintptr_t sxs_addressed_variable(const uint8_t *code)
{
    int32_t distance;
    if ((code[0] & 0xfb) != 0x48 || (code[1] != 0x8d && code[1] != 0x8b) ||
        (code[2] & 0xc7) != 0x05)
        return 0;
    memcpy(&distance, code + 3, sizeof(distance));
    return (uintptr_t)code + SXS_ADDRESSING_BYTES + (uintptr_t)(intptr_t)distance;
}

#endif
