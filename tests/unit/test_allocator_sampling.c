/* SPDX-License-Identifier: MIT */
/* test_allocator_sampling.c - bytes are taken at random, each with the same probability, and the
 * tables of what was taken find it again. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/live.h"
#include "allocator/mappings.h"
#include "allocator/pace.h"
#include "allocator/sampling.h"

#define DRAWS 1000000u
#define EVERY 524288u

/* Bounds are four standard deviations wide. The generators begin with a fixed number, so the results
 * are the same in each run. */
#define SIGMAS 4.0

static void assert_near(double value, double expected, double deviation)
{
    if (fabs(value - expected) > SIGMAS * deviation)
        fail_msg("%g, expected %g, four standard deviations are %g", value, expected,
                 SIGMAS * deviation);
}

static void intervals_have_the_mean_and_the_variance_of_the_exponential_distribution(void **state)
{
    uint64_t random = 20260101;
    double   sum = 0, squares = 0, interval = EVERY;
    (void)state;
    for (uint32_t i = 0; i < DRAWS; i++) {
        double d = (double)sxs_sampling_draw(&random, EVERY) + 0.5; /* it is rounded down */
        sum += d;
        squares += d * d;
    }
    /* The second moment is 2 D^2; its own variance is that of the fourth moment, 24 D^4 - 4 D^4. */
    assert_near(sum / DRAWS, interval, interval / sqrt(DRAWS));
    assert_near(squares / DRAWS, 2 * interval * interval, interval * interval * sqrt(20.0 / DRAWS));
}

static void intervals_below_any_bound_are_as_frequent_as_they_should_be(void **state)
{
    static const double bounds[] = {0.001, 0.01, 0.1, 0.5, 1, 2, 5, 8};
    uint32_t            n[ARRAY_LEN(bounds)] = {0};
    uint64_t            random = 20260101;
    (void)state;
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint64_t d = sxs_sampling_draw(&random, EVERY);
        for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
            n[b] += (double)d < bounds[b] * EVERY;
    }
    for (size_t b = 0; b < ARRAY_LEN(bounds); b++) {
        double p = 1 - exp(-bounds[b]);
        assert_near(n[b], p * DRAWS, sqrt(p * (1 - p) * DRAWS));
    }
}

static void weights_are_those_of_the_formula(void **state)
{
    (void)state;
    for (uint64_t bytes = 1; bytes < UINT64_C(1) << 50; bytes = bytes * 5 / 4 + 1) {
        double expected = -1 / expm1(-(double)bytes / EVERY);
        double got = sxs_sampling_weight(bytes, EVERY);
        if (fabs(got / expected - 1) > 1e-12)
            fail_msg("%ju bytes: %.17g, expected %.17g", (uintmax_t)bytes, got, expected);
    }
}

/* Simulates a thread that allocates @n blocks of @size bytes, and returns the estimate of @n. */
static double estimate(uint64_t *random, uint32_t n, uint64_t size)
{
    uint64_t remaining = sxs_sampling_draw(random, EVERY);
    double   all = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (size <= remaining) {
            remaining -= size;
            continue;
        }
        all += sxs_sampling_weight(size, EVERY);
        remaining = sxs_sampling_draw(random, EVERY);
    }
    return all;
}

static void estimates_are_unbiased_for_small_and_large_blocks(void **state)
{
    static const uint64_t sizes[] = {16, 1000, 100000, EVERY, 10 * EVERY};
    uint64_t              random = 20260101;
    (void)state;
    for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
        double   w = sxs_sampling_weight(sizes[s], EVERY), missed = exp(-(double)sizes[s] / EVERY);
        /* So many blocks that 50 of them and more contain no chosen byte: the bounds are those of a
         * normal distribution. */
        uint32_t n = (uint32_t)(2000 * EVERY / sizes[s]) + 1000 + (uint32_t)(50 / missed);
        /* Each block contributes w with probability 1/w: variance w - 1. */
        assert_near(estimate(&random, n, sizes[s]), n, sqrt(n * (w - 1)) + 1e-9);
    }
}

static void numbers_below_a_limit_are_uniform(void **state)
{
    uint32_t n[10] = {0};
    uint64_t random = 20260101;
    (void)state;
    for (uint32_t i = 0; i < DRAWS; i++)
        n[sxs_sampling_below(&random, ARRAY_LEN(n))]++;
    for (size_t i = 0; i < ARRAY_LEN(n); i++)
        assert_near(n[i], DRAWS / 10.0, sqrt(DRAWS * 0.1 * 0.9));
}

/* ---- pace ------------------------------------------------------------------------------------ */

static void the_interval_grows_with_many_reports_and_shrinks_again(void **state)
{
    struct sxs_thread_pace pace = {0}, other = {0};
    uint64_t               now = 1000 * SXS_PACE_NS;
    (void)state;
    for (uint32_t i = 0; i < SXS_PACE_MAX; i++)
        sxs_pace_report(&pace, now);
    assert_int_equal(pace.shift, 0);
    sxs_pace_report(&pace, now);
    assert_int_equal(pace.shift, 1);
    sxs_pace_report(&other, now); /* of another thread */
    assert_int_equal(other.shift, 1);
    for (uint32_t i = 0; i < 100 * SXS_PACE_STEP; i++)
        sxs_pace_report(&pace, now + SXS_PACE_NS - 1);
    assert_int_equal(pace.shift, SXS_PACE_SHIFT);
    for (uint32_t i = 1; i <= 2 * SXS_PACE_SHIFT; i++) {
        sxs_pace_report(&pace, now + i * SXS_PACE_NS);
        assert_int_equal(pace.shift, i < SXS_PACE_SHIFT ? SXS_PACE_SHIFT - i : 0);
    }
    for (uint32_t i = 0; i < 100 * SXS_PACE_STEP; i++)
        sxs_pace_report(&pace, now + 100 * SXS_PACE_NS);
    assert_int_equal(pace.shift, SXS_PACE_SHIFT);
    sxs_pace_report(&pace, now + 104 * SXS_PACE_NS);
    assert_int_equal(pace.shift, SXS_PACE_SHIFT - 4);
}

/* Simulates a thread that makes @n allocations of @size bytes, @pause_ns apart. */
static void estimates_stay_right_when_the_interval_changes(void **state)
{
    const uint64_t         size = 3000, base = 65536, n = 3000000, pause_ns = 100;
    uint64_t               random = 20260101, interval = base, now = SXS_PACE_NS;
    uint64_t               remaining = sxs_sampling_draw(&random, interval), reports = 0;
    struct sxs_thread_pace pace = {0};
    double                 all = 0, variance = 0;
    (void)state;
    for (uint64_t i = 0; i < n; i++, now += pause_ns) {
        double w = sxs_sampling_weight(size, interval);
        if (size <= remaining) {
            remaining -= size;
            continue;
        }
        all += w;
        variance += w * (w - 1);
        reports++;
        sxs_pace_report(&pace, now);
        interval = base << pace.shift;
        remaining = sxs_sampling_draw(&random, interval);
    }
    assert_near(all, (double)n, sqrt(variance));
    assert_in_range(reports, n * pause_ns / SXS_PACE_NS * SXS_PACE_MAX / 2,
                    n * pause_ns / SXS_PACE_NS * SXS_PACE_MAX * 3);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void *block_at(uint32_t i)
{
    return (void *)(UINT64_C(0x7f0000000000) + UINT64_C(16) * i * 3);
}

static int add_block(uint32_t i)
{
    int64_t place = sxs_live_reserve(block_at(i));
    if (place >= 0)
        sxs_live_fill(place, block_at(i), i + 1);
    return place >= 0;
}

static void blocks_are_found_once_with_their_numbers(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(add_block(i));
    for (uint32_t i = 0; i < 1000; i += 2)
        assert_int_equal(sxs_live_take(block_at(i)), i + 1);
    for (uint32_t i = 0; i < 1000; i++) {
        if (i % 2)
            assert_true(sxs_live_may_be(block_at(i)));
        assert_int_equal(sxs_live_take(block_at(i)), i % 2 ? i + 1 : 0);
    }
    assert_int_equal(sxs_live_take(NULL), 0);
    for (uint32_t i = 0; i < 1000; i++)
        assert_false(sxs_live_may_be(block_at(i)));
}

static void a_reserved_place_that_is_returned_is_free_again(void **state)
{
    int64_t place = sxs_live_reserve(block_at(7));
    (void)state;
    assert_true(place >= 0);
    sxs_live_fill(place, block_at(7), 0);
    assert_false(sxs_live_may_be(block_at(7)));
    assert_int_equal(sxs_live_reserve(block_at(7)), place);
    sxs_live_fill(place, block_at(7), 0);
}

static void a_full_table_refuses_blocks_and_keeps_the_others(void **state)
{
    uint32_t added = 0;
    uint8_t *is_added = test_calloc(2 * SXS_LIVE_BLOCKS, 1);
    (void)state;
    for (uint32_t i = 0; i < 2 * SXS_LIVE_BLOCKS; i++)
        added += is_added[i] = (uint8_t)add_block(i);
    assert_in_range(added, SXS_LIVE_BLOCKS / 2, SXS_LIVE_BLOCKS);
    for (uint32_t i = 0; i < 2 * SXS_LIVE_BLOCKS; i++)
        assert_int_equal(sxs_live_take(block_at(i)), is_added[i] ? i + 1 : 0);
    for (uint32_t i = 0; i < SXS_LIVE_FILTER; i++)
        assert_int_equal(sxs_live_filter[i], 0);
    test_free(is_added);
}

#define THREADS 4u
#define ROUNDS  200000u

static _Atomic uint32_t n_wrong;

/* Each thread has blocks of its own, next to those of the others. */
static void *add_and_take(void *number)
{
    uint32_t own = (uint32_t)(uintptr_t)number;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t block = i % 500 * THREADS + own;
        n_wrong += !add_block(block);
        if (i % 3)
            n_wrong += sxs_live_take(block_at(block)) != block + 1;
        else
            n_wrong +=
                sxs_live_take(block_at(block)) != block + 1 || sxs_live_take(block_at(block)) != 0;
    }
    return NULL;
}

static void threads_share_the_table(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_take, (void *)i), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(n_wrong, 0);
    for (uint32_t i = 0; i < SXS_LIVE_FILTER; i++)
        assert_int_equal(sxs_live_filter[i], 0);
}

/* ---- mappings -------------------------------------------------------------------------------- */

static void bytes_of_mappings_are_taken_by_range(void **state)
{
    uintptr_t address;
    uint64_t  id;
    (void)state;
    for (uint64_t i = 1; i <= 10; i++)
        sxs_mapping_fill(sxs_mapping_reserve(), i << 20, i);
    assert_false(sxs_mapping_take(0, 1 << 20, &address, &id));
    assert_true(sxs_mapping_take(3 << 20, (3 << 20) + 1, &address, &id));
    assert_int_equal(address, 3 << 20);
    assert_int_equal(id, 3);
    assert_false(sxs_mapping_take(3 << 20, (3 << 20) + 1, &address, &id));
    for (int n = 0; n < 9; n++)
        assert_true(sxs_mapping_take(0, UINTPTR_MAX, &address, &id));
    assert_false(sxs_mapping_take(0, UINTPTR_MAX, &address, &id));
}

static void no_more_bytes_of_mappings_are_kept_than_there_are_places(void **state)
{
    uintptr_t address;
    uint64_t  id;
    (void)state;
    for (uint64_t i = 1; i <= SXS_MAPPINGS; i++)
        sxs_mapping_fill(sxs_mapping_reserve(), i << 12, i);
    assert_int_equal(sxs_mapping_reserve(), -1);
    for (uint64_t i = 1; i <= SXS_MAPPINGS; i++)
        assert_true(sxs_mapping_take(i << 12, (i << 12) + 1, &address, &id));
    assert_true(sxs_mapping_reserve() >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_have_the_mean_and_the_variance_of_the_exponential_distribution),
        cmocka_unit_test(intervals_below_any_bound_are_as_frequent_as_they_should_be),
        cmocka_unit_test(weights_are_those_of_the_formula),
        cmocka_unit_test(estimates_are_unbiased_for_small_and_large_blocks),
        cmocka_unit_test(numbers_below_a_limit_are_uniform),
        cmocka_unit_test(the_interval_grows_with_many_reports_and_shrinks_again),
        cmocka_unit_test(estimates_stay_right_when_the_interval_changes),
        cmocka_unit_test(blocks_are_found_once_with_their_numbers),
        cmocka_unit_test(a_reserved_place_that_is_returned_is_free_again),
        cmocka_unit_test(a_full_table_refuses_blocks_and_keeps_the_others),
        cmocka_unit_test(threads_share_the_table),
        cmocka_unit_test(bytes_of_mappings_are_taken_by_range),
        cmocka_unit_test(no_more_bytes_of_mappings_are_kept_than_there_are_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
