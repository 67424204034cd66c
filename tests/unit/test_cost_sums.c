/* SPDX-License-Identifier: MIT */
/* test_cost_sums.c - sums of costs: estimates without bias, and standard errors that are right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/costs/sums.h"
#include "cmd/costs/types.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RUNS = 2000, EVERY = 1000 };

/* A mix of small, middle and large objects: sizes around EVERY are the ones with a p between 0 and 1. */
static const struct {
    uint64_t size, n;
} mix[] = {{24, 2000}, {400, 200}, {1500, 50}, {20000, 3}};

/* Numbers from 0 to 1, the same in each run of the test. */
static double next_random(void)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (double)(x >> 11) / 0x1p53;
}

/* Allocates the mix, each object recorded with the probability that its size has. */
static struct sxs_cost_sum record_mix(void)
{
    struct sxs_cost_sum sum = {0};
    for (size_t i = 0; i < sizeof(mix) / sizeof(mix[0]); i++) {
        double p = 1 - exp(-(double)mix[i].size / EVERY);
        for (uint64_t k = 0; k < mix[i].n; k++)
            if (next_random() < p)
                sxs_cost_sum_add(&sum, 1 / p, mix[i].size);
    }
    return sum;
}

static void the_mean_of_estimates_is_the_truth_and_the_standard_error_their_deviation(void **state)
{
    double n = 0, value = 0, sum_n = 0, sum_value = 0, squares_n = 0, squares_value = 0;
    double var_n = 0, var_value = 0;
    unsigned within = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(mix) / sizeof(mix[0]); i++) {
        n += (double)mix[i].n;
        value += (double)(mix[i].n * mix[i].size);
    }
    for (unsigned run = 0; run < RUNS; run++) {
        struct sxs_cost_sum s = record_mix();
        double              off = s.value - value;
        sum_n += s.n;
        sum_value += s.value;
        squares_n += (s.n - n) * (s.n - n);
        squares_value += off * off;
        var_n += s.var_n;
        var_value += s.var_value;
        within += fabs(off) <= 2 * sxs_cost_error(s.var_value, s.value) * s.value;
    }
    /* The mean of the runs deviates by less than four of its own standard deviations. */
    assert_true(fabs(sum_n / RUNS - n) < 4 * sqrt(squares_n) / RUNS);
    assert_true(fabs(sum_value / RUNS - value) < 4 * sqrt(squares_value) / RUNS);
    /* The mean of the variances is that of the runs, within 15 % (their own deviation is 3 to 5 %). */
    assert_true(fabs(var_n / squares_n - 1) < 0.15);
    assert_true(fabs(var_value / squares_value - 1) < 0.15);
    /* 19 of 20 runs are within two standard errors. */
    assert_in_range(within, RUNS * 92 / 100, RUNS * 98 / 100);
}

static void costs_that_are_all_recorded_have_no_error(void **state)
{
    struct sxs_cost_sum s = {0};
    (void)state;
    for (int i = 0; i < 100; i++)
        sxs_cost_sum_add(&s, 1, 40);
    assert_true(s.n == 100 && s.value == 4000 && s.records == 100);
    assert_true(sxs_cost_error(s.var_n, s.n) == 0 && sxs_cost_error(s.var_value, s.value) == 0);
}

static void numbers_are_rounded_and_bounded(void **state)
{
    (void)state;
    assert_int_equal(sxs_cost_round(0), 0);
    assert_int_equal(sxs_cost_round(-3), 0);
    assert_int_equal(sxs_cost_round(NAN), 0);
    assert_int_equal(sxs_cost_round(0.2), 1); /* not nothing */
    assert_int_equal(sxs_cost_round(22.5), 23);
    assert_int_equal(sxs_cost_round(22.4), 22);
    assert_true(sxs_cost_round(INFINITY) == UINT64_C(1) << 62);
}

static void a_type_has_a_row_for_each_runtime_and_kind(void **state)
{
    struct sxs_cost_types  t = {0};
    struct sxs_record_cost v = {.n = 2, .value = 100, .kind = SXS_COST_ALLOCATION};
    (void)state;
    for (uint32_t name = 1; name <= 1000; name++)
        for (uint32_t runtime = 0; runtime < 3; runtime++)
            sxs_cost_type_add(sxs_cost_types_row(&t, name, runtime, SXS_COST_ALLOCATION), &v,
                              runtime == 1 ? SXS_COST_GONE : SXS_COST_ALIVE);
    assert_int_equal(t.n, 3000);
    struct sxs_cost_type *row = sxs_cost_types_row(&t, 500, 1, SXS_COST_ALLOCATION);
    assert_int_equal(t.n, 3000);
    assert_true(row->all.value == 200 && row->live.value == 0);
    row = sxs_cost_types_row(&t, 500, 1, SXS_COST_NATIVE);
    assert_int_equal(t.n, 3001);
    assert_true(row->all.records == 0);
    sxs_cost_types_free(&t);
}

static void exact_counts_come_before_sums(void **state)
{
    struct sxs_cost_types  t = {0};
    struct sxs_record_cost v = {
        .n = 2.5, .value = 100, .kind = SXS_COST_ALLOCATION, .flags = SXS_COST_LARGE};
    struct sxs_cost_type *row = sxs_cost_types_row(&t, 1, 1, SXS_COST_ALLOCATION);
    (void)state;
    sxs_cost_type_add(row, &v, SXS_COST_ALIVE);
    assert_true(sxs_cost_type_n(row) == 2.5 && sxs_cost_type_value(row) == 250);
    assert_true(sxs_cost_type_large(row) == 2.5);
    row->exact = true;
    row->n = 3;
    row->value = 290;
    assert_true(sxs_cost_type_n(row) == 3 && sxs_cost_type_value(row) == 290);
    sxs_cost_types_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_mean_of_estimates_is_the_truth_and_the_standard_error_their_deviation),
        cmocka_unit_test(costs_that_are_all_recorded_have_no_error),
        cmocka_unit_test(numbers_are_rounded_and_bounded),
        cmocka_unit_test(a_type_has_a_row_for_each_runtime_and_kind),
        cmocka_unit_test(exact_counts_come_before_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
