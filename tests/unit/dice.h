/* SPDX-License-Identifier: MIT */
/** dice.h - pseudo-random numbers that are the same in every run. */
#ifndef SXS_TESTS_DICE_H
#define SXS_TESTS_DICE_H

#include <stdint.h>

/** Returns a number below @below. */
static inline uint64_t roll(uint64_t below)
{
    static uint64_t dice = 88172645463325252u;
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice % below;
}

#endif
