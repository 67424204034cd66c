/* SPDX-License-Identifier: MIT */
/**
 * sums.h - sums of costs: their number and value, with intervals of confidence.
 *
 * A recorded cost stands for `n` costs of `value` each (session/format/samples.h). The sums of these
 * are unbiased estimates. If a cost of size s is recorded with the probability p and n = 1/p, then
 * the sum of n * (n - 1) * value * value is an unbiased estimate of the variance of the sum of
 * n * value. Costs that are all recorded (n = 1) contribute nothing to it.
 *
 * An interval holds the true value in 19 of 20 runs. The lower bound is at least what was recorded itself.
 * What was not is described by two gamma distributions: one with the mean and the variance of the
 * estimate, and one with those that it would have with one more record of the largest weight. The bounds
 * are quantiles of their mean. If all weights are equal and large, this is the exact interval of a
 * Poisson distribution with the mid-P correction, so it holds for few records, too. If the recorded
 * costs stand for different numbers, those with the largest are the rarest to be recorded: the
 * further record is assumed to stand for twice as many as the largest.
 */
#ifndef SXS_CMD_COSTS_SUMS_H
#define SXS_CMD_COSTS_SUMS_H

#include <stdint.h>

/** A sum; zeroed it is empty. */
struct sxs_cost_sum {
    double   n, value;         /* costs; bytes or ns of all of them */
    double   var_n, var_value; /* variances of the two */
    double   recorded;         /* bytes or ns of the recorded costs themselves */
    double   top_n;            /* the largest n of a record */
    double   top_value,
        top_var; /* of the record that adds most to var_value: its value, what it adds */
    uint64_t records;          /* recorded costs */
    uint64_t differ;           /* 1: they do not all stand for the same number */
};

/** Between which bounds a true value lies in 19 of 20 runs. */
struct sxs_cost_interval {
    double low, high;
};

/** sxs_cost_sum_add - add a recorded cost that stands for @n costs of @value each. */
static inline void sxs_cost_sum_add(struct sxs_cost_sum *s, double n, uint64_t value)
{
    double more = n > 1 ? n * (n - 1) : 0, var = more * (double)value * (double)value;
    s->n += n;
    s->value += n * (double)value;
    s->var_n += more;
    s->var_value += var;
    s->recorded += (double)value;
    s->differ |= s->records && n != s->top_n;
    s->top_n = n > s->top_n ? n : s->top_n;
    if (var > s->top_var) {
        s->top_value = (double)value;
        s->top_var = var;
    }
    s->records++;
}

/** sxs_cost_sum_join - add the records of another sum. */
static inline void sxs_cost_sum_join(struct sxs_cost_sum *s, const struct sxs_cost_sum *more)
{
    s->differ |= more->differ || (s->records && more->records && s->top_n != more->top_n);
    s->n += more->n;
    s->value += more->value;
    s->var_n += more->var_n;
    s->var_value += more->var_value;
    s->recorded += more->recorded;
    s->top_n = more->top_n > s->top_n ? more->top_n : s->top_n;
    if (more->top_var > s->top_var) {
        s->top_value = more->top_value;
        s->top_var = more->top_var;
    }
    s->records += more->records;
}

/**
 * sxs_cost_whole - return @v as an integer, for one of several numbers whose sum counts. @rest: what the numbers
 * before have left; 0 before the first. What is not 0 can become 0, and the integers add up to the rounded sum.
 */
static inline uint64_t sxs_cost_whole(double v, double *rest)
{
    if (!(v > 0))
        return 0;
    double sum = v + *rest;
    if (sum >= 0x1p62)
        return UINT64_C(1) << 62;
    uint64_t whole = sum + 0.5 > 0 ? (uint64_t)(sum + 0.5) : 0;
    *rest = sum - (double)whole;
    return whole;
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

/** sxs_cost_floor, _ceil - return @v as an integer: the next one below, or above; at most 2^62. */
static inline uint64_t sxs_cost_floor(double v)
{
    return !(v > 0) ? 0 : v >= 0x1p62 ? UINT64_C(1) << 62 : (uint64_t)v;
}

static inline uint64_t sxs_cost_ceil(double v)
{
    uint64_t below = sxs_cost_floor(v);
    return v > (double)below && below < UINT64_C(1) << 62 ? below + 1 : below;
}

/**
 * sxs_cost_error - return the standard error of an estimate as a share of it, for the variance @var
 * of the value @v; 0 when it is exact, or nothing. */
double sxs_cost_error(double var, double v);

/** sxs_cost_interval_n, _value - return the interval of how many and of how much. Both bounds are the
 *  sum itself when it is exact, or nothing. */
struct sxs_cost_interval sxs_cost_interval_n(const struct sxs_cost_sum *s);
struct sxs_cost_interval sxs_cost_interval_value(const struct sxs_cost_sum *s);

#endif
