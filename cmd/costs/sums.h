/* SPDX-License-Identifier: MIT */
/**
 * sums.h - sums of costs: how many, how much, and how sure that is.
 *
 * A recorded cost stands for `n` costs of `value` each (session/format/samples.h). The sums of these
 * are unbiased estimates. If a cost of size s is recorded with the probability p and n = 1/p, then
 * the sum of n * (n - 1) * value * value is an unbiased estimate of the variance of the sum of
 * n * value. Costs that are all recorded (n = 1) contribute nothing to it.
 */
#ifndef SXS_CMD_COSTS_SUMS_H
#define SXS_CMD_COSTS_SUMS_H

#include <stdint.h>

/** A sum; zeroed it is empty. */
struct sxs_cost_sum {
    double   n, value;         /* costs; bytes or ns of all of them */
    double   var_n, var_value; /* variances of the two */
    uint64_t records;          /* recorded costs */
};

/** sxs_cost_sum_add - add a recorded cost that stands for @n costs of @value each. */
static inline void sxs_cost_sum_add(struct sxs_cost_sum *s, double n, uint64_t value)
{
    double more = n > 1 ? n * (n - 1) : 0;
    s->n += n;
    s->value += n * (double)value;
    s->var_n += more;
    s->var_value += more * (double)value * (double)value;
    s->records++;
}

/**
 * sxs_cost_round - return @v as an integer: rounded, but 1 when it is less than that and not 0.
 * Sums of a damaged file may be larger than any integer: they become 2^62. */
static inline uint64_t sxs_cost_round(double v)
{
    if (!(v > 0))
        return 0;
    if (v >= 0x1p62)
        return UINT64_C(1) << 62;
    return v < 1 ? 1 : (uint64_t)(v + 0.5);
}

/**
 * sxs_cost_error - return the standard error of an estimate as a share of it, for the variance @var
 * of the value @v; 0 when it is exact, or nothing. */
double sxs_cost_error(double var, double v);

#endif
