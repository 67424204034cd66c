/* SPDX-License-Identifier: MIT */
/**
 * chance.h - the generator of random numbers, and the two functions of random sampling by bytes. Used in hooks and
 * callbacks, and by libraries that are not linked with libm.
 *
 * If every byte is chosen with the same small chance, independently of all others, the number of
 * bytes from one chosen byte to the next is exponentially distributed. Its mean is the sampling
 * interval, and an object of s bytes contains a chosen byte with the chance 1 - exp(-s / interval).
 */
#ifndef SXS_BASE_CHANCE_H
#define SXS_BASE_CHANCE_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "arch/arch.h"
#include "base/base.h"
#include "base/hash.h"

/** The step of a state of the generator, splitmix64. For this header only. */
#define SXS_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/** sxs_random_mix - return the number of a state of the generator. For this header only. */
SXS_SIGSAFE static inline uint64_t sxs_random_mix(uint64_t state)
{
    state = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    state = (state ^ state >> 27) * UINT64_C(0x94d049bb133111eb);
    return state ^ state >> 31;
}

/** sxs_random_seed - return a first state, which is not 0, from the time and from @owner, an address
 *  that differs between threads. Any thread; signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_random_seed(const void *owner)
{
    return sxs_random_mix(sxs_tick() ^ sxs_hash_id((uintptr_t)owner)) | 1;
}

/** sxs_random - advance @state, which may have any value, and return its next number, evenly distributed
 *  over 64 bits. One thread at a time uses a state; signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_random(uint64_t *state)
{
    return sxs_random_mix(*state += SXS_RANDOM_STEP);
}

/** sxs_random_shared - the same for a state that several threads use at a time. */
SXS_SIGSAFE static inline uint64_t sxs_random_shared(_Atomic uint64_t *state)
{
    return sxs_random_mix(atomic_fetch_add_explicit(state, SXS_RANDOM_STEP, memory_order_relaxed));
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
