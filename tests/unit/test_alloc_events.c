/* SPDX-License-Identifier: MIT */
/* test_alloc_events.c - events of allocations, the estimates made from them, random numbers, and the
 * options of the tool alloc. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/chance.h"
#include "tools/alloc/events.h"
#include "tools/alloc/sizes.h"
#include "tools/options/alloc_options.h"

#define EVERY (UINT64_C(512) << 10)

/* ---- decoding --------------------------------------------------------------------------------- */

struct bytes {
    unsigned char at[256];
    size_t        n;
};

static void put(struct bytes *b, uint64_t value, size_t size)
{
    memcpy(b->at + b->n, &value, size);
    b->n += size;
}

static void put_name(struct bytes *b, const char *name)
{
    for (size_t i = 0; i <= strlen(name); i++)
        put(b, (unsigned char)name[i], 2);
}

static struct bytes sampled(uint32_t heap)
{
    struct bytes b = {.n = 0};
    put(&b, heap, 4);
    put(&b, 0, 2);
    put(&b, 0x7001, 8);
    put_name(&b, "System.String");
    put(&b, 0xabc0, 8);
    put(&b, 48, 8);
    put(&b, 17, 8); /* offset of the sampled byte */
    return b;
}

static struct bytes tick(uint64_t amount)
{
    struct bytes b = {.n = 0};
    put(&b, amount, 4);
    put(&b, SXS_HEAP_SMALL, 4);
    put(&b, 0, 2);
    put(&b, amount, 8);
    put(&b, 0x7002, 8);
    put_name(&b, "");
    put(&b, 3, 4);
    put(&b, 0xdef0, 8);
    put(&b, 24, 8);
    return b;
}

static void both_events_are_decoded(void **state)
{
    struct sxs_alloc_event event;
    struct bytes           b = sampled(SXS_HEAP_PINNED);
    (void)state;
    assert_true(sxs_alloc_decode(SXS_ALLOC_SAMPLED, 0, b.at, b.n, &event));
    assert_int_equal(event.type, 0x7001);
    assert_int_equal(event.address, 0xabc0);
    assert_int_equal(event.size, 48);
    assert_int_equal(event.amount, 0);
    assert_int_equal(event.heap, SXS_HEAP_PINNED);
    b = tick(UINT64_C(5000000000));
    assert_true(sxs_alloc_decode(SXS_ALLOC_TICK, 4, b.at, b.n, &event));
    assert_int_equal(event.type, 0x7002);
    assert_int_equal(event.address, 0xdef0);
    assert_int_equal(event.size, 24);
    assert_int_equal(event.amount, 5000000000);
    assert_int_equal(event.heap, SXS_HEAP_SMALL);
}

static void cut_and_other_events_are_refused(void **state)
{
    struct sxs_alloc_event event;
    struct bytes           whole = sampled(SXS_HEAP_SMALL), ticked = tick(100000);
    (void)state;
    for (size_t n = 0; n < whole.n - 8; n++) /* the offset of the byte is not read */
        assert_false(sxs_alloc_decode(SXS_ALLOC_SAMPLED, 0, whole.at, n, &event));
    for (size_t n = 0; n < ticked.n; n++)
        assert_false(sxs_alloc_decode(SXS_ALLOC_TICK, 4, ticked.at, n, &event));
    assert_false(sxs_alloc_decode(SXS_ALLOC_TICK, 3, ticked.at, ticked.n, &event));
    assert_false(sxs_alloc_decode(11, 4, ticked.at, ticked.n, &event));
    whole = sampled(3);
    assert_false(sxs_alloc_decode(SXS_ALLOC_SAMPLED, 0, whole.at, whole.n, &event));
}

/* ---- estimates -------------------------------------------------------------------------------- */

#define OBJECTS 400000

/* Fails unless the mean of OBJECTS numbers is @expected within five standard errors. */
static void assert_mean(double sum, double squares, double expected)
{
    double mean = sum / OBJECTS, variance = squares / OBJECTS - mean * mean;
    assert_true(fabs(mean - expected) <= 5 * sqrt(variance / OBJECTS) + 1e-9);
}

static void every_object_counts_as_one_on_average(void **state)
{
    static const uint64_t      sizes[] = {24, 1000, 100000, 1000000, 50000000};
    struct sxs_alloc_countdown countdown = {.random = 3};
    uint64_t                   random = 1;
    (void)state;
    sxs_alloc_draw(&countdown, EVERY);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        double sum = 0, squares = 0, size = (double)sizes[i];
        double runtime = -expm1(size * log1p(-1.0 / (double)SXS_ALLOC_RUNTIME_INTERVAL));
        double sum_of_chosen = 0, squares_of_chosen = 0;
        for (int n = 0; n < OBJECTS; n++) {
            double one = sxs_alloc_count_down(&countdown, sizes[i], EVERY)
                             ? sxs_alloc_stands_for(sizes[i], EVERY)
                             : 0;
            double chosen = 0;
            if (sxs_random_fraction(&random) <= runtime)
                chosen = sxs_alloc_keep_sampled(sizes[i], EVERY, sxs_random_fraction(&random));
            sum += one;
            squares += one * one;
            sum_of_chosen += chosen;
            squares_of_chosen += chosen * chosen;
        }
        assert_mean(sum, squares, 1);
        assert_mean(sum_of_chosen, squares_of_chosen, 1);
    }
}

/* Each interval is as likely after a chosen object as at the beginning. */
static void the_countdown_remembers_nothing(void **state)
{
    struct sxs_alloc_countdown c = {.random = 5};
    unsigned                   chosen = 0, again = 0;
    (void)state;
    sxs_alloc_draw(&c, 1000);
    for (int n = 0, last = 0; n < OBJECTS; n++) {
        int now = sxs_alloc_count_down(&c, 400, 1000);
        chosen += (unsigned)now;
        again += now && last;
        last = now;
    }
    assert_true(fabs((double)again / chosen + expm1(-0.4)) < 0.01);
}

/* ---- sizes ------------------------------------------------------------------------------------- */

struct array {
    uint64_t type;
    uint32_t n, zero;
};

static void sizes_are_learned(void **state)
{
    struct sxs_alloc_sizes sizes = {0}, fixed = {0};
    struct array           a = {.n = 3}, b = {.n = 3}, c = {.n = 1000}, d = {.n = 0};
    (void)state;
    assert_int_equal(sxs_alloc_size(&sizes, (uintptr_t)&a), 0);
    sxs_alloc_size_learn(&sizes, 1, (uintptr_t)&a, 22 + 3 * 2);
    assert_int_equal(sxs_alloc_size(&sizes, (uintptr_t)&a), 0);
    sxs_alloc_size_learn(&sizes, 1, (uintptr_t)&b, 22 + 3 * 2); /* of one length nothing follows */
    assert_int_equal(sxs_alloc_size(&sizes, (uintptr_t)&a), 0);
    sxs_alloc_size_learn(&sizes, 1, (uintptr_t)&c, 22 + 1000 * 2);
    assert_int_equal(sxs_alloc_size(&sizes, (uintptr_t)&a), 32);
    assert_int_equal(sxs_alloc_size(&sizes, (uintptr_t)&c), 2024);
    assert_int_equal(sxs_alloc_size(&sizes, (uintptr_t)&d), 24);
    c.n = UINT32_MAX;
    assert_int_equal(sxs_alloc_size(&sizes, (uintptr_t)&c),
                     (22 + UINT64_C(2) * UINT32_MAX + 7) / 8 * 8);
    sxs_alloc_size_learn(&fixed, 0, 0, 20);
    assert_int_equal(sxs_alloc_size(&fixed, (uintptr_t)&a), 24);
}

static void wrong_sizes_teach_nothing(void **state)
{
    static const struct {
        uint64_t size;
        uint32_t n;
    } wrong[] = {{0, 1},  {24, 1},     {24, 2},         {16, 3},
                 {25, 7}, {900000, 8}, {UINT64_MAX, 9}, {3, 900}};
    struct sxs_alloc_sizes sizes = {0};
    struct array           a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        a.n = wrong[i].n;
        sxs_alloc_size_learn(&sizes, 1, (uintptr_t)&a, wrong[i].size);
        assert_int_equal(sxs_alloc_size(&sizes, (uintptr_t)&a), 0);
    }
}

static void sizes_are_padded(void **state)
{
    (void)state;
    assert_int_equal(sxs_object_padded(0), 0); /* not known */
    assert_int_equal(sxs_object_padded(1), 24);
    assert_int_equal(sxs_object_padded(24), 24);
    assert_int_equal(sxs_object_padded(100), 104); /* int[3, 5] */
    assert_true(sxs_object_padded(UINT64_MAX) == UINT64_MAX);
}

static void of_a_tick_the_amount_is_right_on_average(void **state)
{
    static const double amounts[] = {105000, 600000};
    uint64_t            random = 1;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        double sum = 0, squares = 0;
        for (int n = 0; n < OBJECTS; n++) {
            double of = sxs_alloc_keep_tick(40, amounts[i], EVERY, sxs_random_fraction(&random));
            sum += of;
            squares += of * of;
        }
        assert_mean(sum, squares, amounts[i] / 40);
    }
}

static void the_average_follows_the_amounts(void **state)
{
    sxs_alloc_average average = 0;
    (void)state;
    assert_true(sxs_alloc_average_of(&average, 110000) == 110000);
    for (int i = 0; i < 300; i++)
        sxs_alloc_average_of(&average, i % 2 ? 100000 : 120000);
    assert_true(fabs(sxs_alloc_average_of(&average, 110000) - 110000) < 500);
    for (int i = 0; i < 300; i++)
        sxs_alloc_average_of(&average, 200000);
    assert_true(fabs(sxs_alloc_average_of(&average, 200000) - 200000) < 100);
}

/* ---- random numbers --------------------------------------------------------------------------- */

static void both_functions_are_those_of_libm(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        double x = sxs_random_fraction(&random), y = 60 * x * x * x;
        assert_true(x > 0 && x <= 1);
        assert_true(fabs(sxs_chance(y) + expm1(-y)) <= 1e-14 * -expm1(-y));
        x = pow(x, 1 + i % 40);
        if (x > 1e-300)
            assert_true(fabs(sxs_minus_log(x) + log(x)) <= 1e-14 * fabs(log(x)) + 1e-15);
    }
    assert_true(sxs_chance(0) == 0 && sxs_chance(1e6) == 1 && sxs_minus_log(1) == 0);
}

/* ---- options ---------------------------------------------------------------------------------- */

static int parses(const char *text, struct sxs_alloc_options *out)
{
    char why[SXS_TOOL_WHY] = "";
    int  result = sxs_alloc_options_parse(text, out, why, sizeof(why));
    assert_true((result == 0) == (why[0] == '\0'));
    return result == 0;
}

static void options_are_read(void **state)
{
    static const char *const wrong[] = {
        "interval",    "interval=",     "interval=0",    "interval=1k",
        "interval=2g", "interval=512q", "interval=1kk",  "interval=-1",
        "exact=1",     "exact=on",      "live",          "live=maybe",
        "ticks=1",     "ticks=on",      "interval=0x10", "interval=18446744073709551615k"};
    struct sxs_alloc_options o;
    (void)state;
    assert_true(parses("", &o) && o.interval == EVERY && !o.exact && !o.live && !o.ticks);
    assert_true(parses("interval=100k", &o) && o.interval == 102400);
    assert_true(parses("interval=102400", &o) && o.interval == 102400);
    assert_true(parses("interval=1g,live=on", &o) && o.interval == UINT64_C(1) << 30 && o.live);
    assert_true(parses("exact,interval=2m,live=on,live=off", &o) && o.exact && !o.live &&
                o.interval == UINT64_C(2) << 20);
    assert_true(parses("ticks,live=on", &o) && o.ticks && o.live && !o.exact);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(parses(wrong[i], &o));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_events_are_decoded),
        cmocka_unit_test(cut_and_other_events_are_refused),
        cmocka_unit_test(every_object_counts_as_one_on_average),
        cmocka_unit_test(the_countdown_remembers_nothing),
        cmocka_unit_test(sizes_are_learned),
        cmocka_unit_test(wrong_sizes_teach_nothing),
        cmocka_unit_test(sizes_are_padded),
        cmocka_unit_test(of_a_tick_the_amount_is_right_on_average),
        cmocka_unit_test(the_average_follows_the_amounts),
        cmocka_unit_test(both_functions_are_those_of_libm),
        cmocka_unit_test(options_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
