/* SPDX-License-Identifier: MIT */
/* test_cost_intervals.c - the countdown that chooses objects, and the intervals that reports print: simulated
 * programs, whose objects are known, allocate in random orders and in rhythms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/costs/sums.h"
#include "tools/alloc/events.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { EVERY = 4096, PROGRAMS = 1000, TYPES = 6, MOST = 20000 };

/* Numbers from 0 to 1, the same in each run of the test. */
static double next_random(void)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (double)(x >> 11) / 0x1p53;
}

/* ---- programs --------------------------------------------------------------------------------- */

struct type {
    double              least, largest; /* size of an object: evenly distributed as its logarithm */
    unsigned            left;           /* objects that the program has yet to allocate */
    double              n, value;       /* the truth */
    double              expected;       /* how many records there are on average */
    struct sxs_cost_sum sum;
};

/* A third of the types have one size, a third differ by up to 4, a third by up to 30. */
static void make_type(struct type *t, unsigned number)
{
    static const double spreads[] = {1, 4, 30};
    *t = (struct type){.least = 24 * pow(1000, next_random())};
    t->largest = t->least * spreads[number % 3];
    t->left = (unsigned)(pow(400, next_random()) * EVERY / t->least) + 1;
    t->left = t->left > MOST ? MOST : t->left;
}

static void allocate(struct type *t, struct sxs_alloc_countdown *c)
{
    double   size = t->least * pow(t->largest / t->least, next_random());
    uint64_t bytes = ((uint64_t)size + 7) & ~UINT64_C(7);
    double   n = sxs_alloc_stands_for(bytes, EVERY);
    t->left--;
    t->n++;
    t->value += (double)bytes;
    t->expected += 1 / n;
    if (sxs_alloc_count_down(c, bytes, EVERY))
        sxs_cost_sum_add(&t->sum, n, bytes);
}

/* Allocates the objects of all types, a few of one after a few of another. */
static void run_program(struct type types[TYPES], struct sxs_alloc_countdown *c)
{
    unsigned left = 0;
    for (unsigned i = 0; i < TYPES; i++) {
        make_type(&types[i], i);
        left += types[i].left;
    }
    for (unsigned i = 0; left; left--) {
        while (next_random() < 0.3 || !types[i].left)
            i = (i + 1) % TYPES;
        allocate(&types[i], c);
    }
}

static struct sxs_alloc_countdown begin_countdown(void)
{
    struct sxs_alloc_countdown c = {.random = (uint64_t)(next_random() * 0x1p60) | 1};
    sxs_alloc_draw(&c, EVERY);
    return c;
}

/* ---- intervals -------------------------------------------------------------------------------- */

enum { GROUPS = 4 };

struct group {
    double   least; /* records that are expected */
    unsigned cases, hold_n, hold_value;
};

static int holds(struct sxs_cost_interval i, double truth)
{
    return i.low <= truth * (1 + 1e-9) && truth <= i.high * (1 + 1e-9);
}

static void note_case(struct group *groups, const struct type *t)
{
    for (int i = GROUPS - 1; i >= 0; i--) {
        if (t->expected < groups[i].least)
            continue;
        /* A type without a record is not listed, which is no wrong number. */
        groups[i].cases++;
        groups[i].hold_n += !t->sum.records || holds(sxs_cost_interval_n(&t->sum), t->n);
        groups[i].hold_value +=
            !t->sum.records || holds(sxs_cost_interval_value(&t->sum), t->value);
        return;
    }
}

static void intervals_hold_the_true_value_in_19_of_20_cases(void **state)
{
    struct group groups[GROUPS] = {{.least = 2}, {.least = 8}, {.least = 30}, {.least = 100}};
    struct sxs_alloc_countdown c = begin_countdown();
    struct type                types[TYPES];
    unsigned                   cases = 0, hold_n = 0, hold_value = 0;
    (void)state;
    for (unsigned program = 0; program < PROGRAMS; program++) {
        run_program(types, &c);
        for (unsigned i = 0; i < TYPES; i++)
            note_case(groups, &types[i]);
    }
    for (unsigned i = 0; i < GROUPS; i++) {
        const struct group *g = &groups[i];
        print_message("%4.0f or more records: %4u cases; number %.1f %%, bytes %.1f %%\n", g->least,
                      g->cases, 100.0 * g->hold_n / g->cases, 100.0 * g->hold_value / g->cases);
        assert_true(g->cases > 500);
        assert_in_range(1000 * g->hold_n / g->cases, 930, 985);
        assert_in_range(1000 * g->hold_value / g->cases, 930, 985);
        cases += g->cases;
        hold_n += g->hold_n;
        hold_value += g->hold_value;
    }
    assert_in_range(1000 * hold_n / cases, 930, 970);
    assert_in_range(1000 * hold_value / cases, 930, 970);
}

/* Objects of one size: with few records, where a normal distribution would not do. */
static void of_few_records_the_intervals_hold_too(void **state)
{
    static const double expected[] = {0.5, 1, 2, 4, 7};
    unsigned            cases = 0, hold = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        unsigned objects = (unsigned)(expected[i] * EVERY / 32), good = 0;
        for (unsigned run = 0; run < 2000; run++) {
            struct sxs_alloc_countdown c = begin_countdown();
            struct type                t = {.least = 32, .largest = 32, .left = objects};
            while (t.left)
                allocate(&t, &c);
            good += t.sum.records ? holds(sxs_cost_interval_n(&t.sum), t.n) : expected[i] <= 3;
        }
        assert_in_range(good, 2000 * 92 / 100, 2000);
        cases += 2000;
        hold += good;
    }
    assert_in_range(1000 * hold / cases, 930, 985);
}

static void intervals_of_known_numbers(void **state)
{
    struct sxs_cost_sum      s = {0};
    struct sxs_cost_interval i;
    (void)state;
    i = sxs_cost_interval_n(&s);
    assert_true(i.low == 0 && i.high == 0);
    for (unsigned k = 0; k < 10; k++)
        sxs_cost_sum_add(&s, 1e6,
                         24); /* mid-P of a Poisson distribution: 10 are 5.0795 to 17.8249 */
    i = sxs_cost_interval_n(&s);
    assert_true(fabs(i.low / 1e6 - 5.0795) < 0.001 && fabs(i.high / 1e6 - 17.8249) < 0.001);
    i = sxs_cost_interval_value(&s);
    assert_true(fabs(i.low / 24e6 - 5.0795) < 0.001 && fabs(i.high / 24e6 - 17.8249) < 0.001);
    memset(&s, 0, sizeof(s));
    for (unsigned k = 0; k < 10000; k++)
        sxs_cost_sum_add(&s, 1e6, 24);
    i = sxs_cost_interval_n(&s);
    assert_true(fabs(i.low / 1e10 - 0.98054) < 0.0001 && fabs(i.high / 1e10 - 1.01974) < 0.0001);
    memset(&s, 0, sizeof(s));
    for (unsigned k = 0; k < 10; k++)
        sxs_cost_sum_add(&s, 1, 1000);
    i = sxs_cost_interval_value(&s);
    assert_true(i.low == 10000 && i.high == 10000);
    s.n = s.var_n = INFINITY; /* a damaged file */
    i = sxs_cost_interval_n(&s);
    assert_true(i.low == INFINITY && i.high == INFINITY);
}

/* ---- rhythms ---------------------------------------------------------------------------------- */

/* Arrays of 4 to 20 kB between small objects, in all rhythms: the same order again and again. */
static void no_rhythm_makes_an_estimate_wrong(void **state)
{
    static const uint64_t      sizes[] = {104, 4120, 8192, 8216, 12824, 20024};
    struct sxs_alloc_countdown c = begin_countdown();
    (void)state;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (unsigned small = 1; small <= 64; small *= 4) {
            struct sxs_cost_sum sum = {0};
            double              off;
            const unsigned n = 200000 / small;
            for (unsigned i = 0; i < n; i++) {
                sxs_alloc_count_down(&c, sizes[k], EVERY);
                for (unsigned j = 0; j < small; j++)
                    if (sxs_alloc_count_down(&c, 24, EVERY))
                        sxs_cost_sum_add(&sum, sxs_alloc_stands_for(24, EVERY), 24);
            }
            off = sum.n - (double)(n * small);
            assert_true(off * off < 16 * sum.var_n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_hold_the_true_value_in_19_of_20_cases),
        cmocka_unit_test(of_few_records_the_intervals_hold_too),
        cmocka_unit_test(intervals_of_known_numbers),
        cmocka_unit_test(no_rhythm_makes_an_estimate_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
