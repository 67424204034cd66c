/* SPDX-License-Identifier: MIT */
/**
 * chance.h - random numbers, and the two functions of random sampling by bytes. Used in hooks and
 * callbacks, and by libraries that are not linked with libm.
 *
 * If every byte is chosen with the same small chance, independently of all others, the distance from
 * one chosen byte to the next is exponentially distributed, and an object of s bytes contains a
 * chosen byte with the chance 1 - exp(-s / mean distance).
 */
#ifndef SXS_BASE_CHANCE_H
#define SXS_BASE_CHANCE_H

#include <stdint.h>
#include <string.h>

#include "base/base.h"

/** sxs_random - advance @state, which must not be 0, and return its next number, evenly distributed
 *  over 64 bits (xorshift64*). Signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/** sxs_random_fraction - the same, as a number above 0 and not above 1. Signal-safe. */
SXS_SIGSAFE static inline double sxs_random_fraction(uint64_t *state)
{
    return ((double)(sxs_random(state) >> 11) + 1) * 0x1p-53;
}

/** sxs_minus_log - return -ln(@x); @x: above 0 and not above 1, not subnormal. With a random
 *  fraction it is an exponentially distributed number with the mean 1. Signal-safe. */
SXS_SIGSAFE static inline double sxs_minus_log(double x)
{
    uint64_t bits;
    int      exponent;
    double   f, square, sum = 0;
    memcpy(&bits, &x, sizeof(bits));
    exponent = (int)(bits >> 52) - 1023;
    bits = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1023) << 52;
    memcpy(&x, &bits, sizeof(x));
    if (x > 1.4142135623730951) {
        x /= 2;
        exponent++;
    }
    f = (x - 1) / (x + 1); /* ln(x) = 2 (f + f^3/3 + f^5/5 + ...) */
    square = f * f;
    for (int i = 21; i > 1; i -= 2)
        sum = (sum + 1.0 / i) * square;
    return -(2 * f * (1 + sum) + exponent * 0.6931471805599453);
}

/** sxs_chance - return 1 - exp(-@x); @x: not negative. Signal-safe. */
SXS_SIGSAFE static inline double sxs_chance(double x)
{
    int    halved = 0;
    double sum = 0;
    if (x > 50)
        return 1;
    for (; x > 0.25; halved++)
        x /= 2;
    for (int i = 12; i > 1; i--) /* x - x^2/2! + x^3/3! - ... */
        sum = x / i * (1 - sum);
    x *= 1 - sum;
    for (; halved; halved--)
        x *= 2 - x; /* 1 - (1 - x)^2 */
    return x;
}

#endif
