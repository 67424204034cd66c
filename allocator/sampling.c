/* SPDX-License-Identifier: MIT */
/* sampling.c - see sampling.h. The logarithm and the exponential function are computed here, because
 * the library is loaded into every program and must not bring libm with it. */
#include "allocator/sampling.h"

#include <string.h>

/* ---- random numbers -------------------------------------------------------------------------- */

/* A well mixed number from the time and from the state's address, which differs between threads. */
SXS_SIGSAFE static uint64_t seed_for(const uint64_t *random)
{
    uint64_t seed = __builtin_ia32_rdtsc() + (uintptr_t)random * UINT64_C(0x9e3779b97f4a7c15);
    seed = (seed ^ (seed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    seed = (seed ^ (seed >> 27)) * UINT64_C(0x94d049bb133111eb);
    seed ^= seed >> 31;
    return seed ? seed : 1;
}

/* The generator xorshift64*. */
SXS_SIGSAFE static uint64_t next_random(uint64_t *random)
{
    uint64_t x = *random ? *random : seed_for(random);
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *random = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

SXS_SIGSAFE uint64_t sxs_sampling_below(uint64_t *random, uint64_t limit)
{
    return (uint64_t)(((unsigned __int128)next_random(random) * limit) >> 64);
}

/* ---- functions of libm ------------------------------------------------------------------------- */

#define LN2 0.69314718055994530942

/* Returns the natural logarithm of @x, a normal number > 0. x = m * 2^e with m from 1 to 2, and
 * ln(m) = 2 * (t + t^3/3 + t^5/5 + ...) with t = (m-1)/(m+1), at most 1/3. */
SXS_SIGSAFE static double logarithm(double x)
{
    uint64_t bits;
    double   m, t, square, sum = 0;
    int      exponent;
    memcpy(&bits, &x, sizeof(bits));
    exponent = (int)(bits >> 52) - 1023;
    bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000);
    memcpy(&m, &bits, sizeof(m));
    t = (m - 1) / (m + 1);
    square = t * t;
    for (int i = 31; i > 0; i -= 2)
        sum = sum * square + 1.0 / i;
    return exponent * LN2 + 2 * t * sum;
}

/* Returns 1 - exp(-x) for x >= 0, to nearly all digits also when x is small:
 * with y = 1 - exp(-x/2) it is y * (2 - y). */
SXS_SIGSAFE static double one_minus_exp(double x)
{
    double term = 1, sum = 0;
    int    halved = 0;
    if (x > 50)
        return 1;
    for (; x > 0.25; x /= 2)
        halved++;
    for (int i = 1; i <= 12; i++) {
        term *= x / i;
        sum += i % 2 ? term : -term;
    }
    for (; halved > 0; halved--)
        sum *= 2 - sum;
    return sum;
}

/* ---- the interface --------------------------------------------------------------------------- */

SXS_SIGSAFE uint64_t sxs_sampling_distance(uint64_t *random, uint64_t every)
{
    /* Above 0, at most 1. */
    double u = (double)((next_random(random) >> 11) + 1) * (1.0 / 9007199254740992.0);
    return (uint64_t)(-logarithm(u) * (double)every);
}

SXS_SIGSAFE double sxs_sampling_weight(uint64_t bytes, uint64_t every)
{
    return 1 / one_minus_exp((double)bytes / (double)every);
}
