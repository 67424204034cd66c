/* SPDX-License-Identifier: MIT */
/* test_numbers.c - indexes for the numbers of a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "session/read/numbers.h"

#define MANY 5000u

/* Odd multiples of a number that is odd, too, differ. */
static uint32_t scattered(uint32_t i)
{
    return i * 2654435761u;
}

static uint32_t dense(uint32_t i)
{
    return i;
}

static uint32_t descending(uint32_t i)
{
    return UINT32_MAX - i;
}

static void add_all(uint32_t (*of)(uint32_t))
{
    struct sxs_numbers all = {0};
    uint32_t           index;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < MANY; i++) {
            if (!round)
                assert_int_equal(sxs_numbers_find(&all, of(i)), SXS_NUMBERS_NONE);
            assert_int_equal(sxs_numbers_add(&all, of(i), &index), 0);
            assert_int_equal(index, i);
        }
    assert_int_equal(all.n, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(sxs_numbers_find(&all, of(i)), i);
    assert_int_equal(sxs_numbers_find(&all, of(MANY)), SXS_NUMBERS_NONE);
    sxs_numbers_free(&all);
    assert_int_equal(sxs_numbers_find(&all, of(0)), SXS_NUMBERS_NONE);
}

static void each_number_keeps_the_index_that_it_got(void **state)
{
    (void)state;
    add_all(dense);
    add_all(descending);
    add_all(scattered);
}

static void memory_grows_with_how_many_numbers_there_are(void **state)
{
    struct sxs_numbers all = {0};
    uint32_t           index;
    (void)state;
    assert_int_equal(sxs_numbers_add(&all, UINT32_MAX, &index), 0);
    assert_true(all.cap_nodes <= 64);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(sxs_numbers_add(&all, scattered(i), &index), 0);
    assert_true(all.n_nodes <= 8 * MANY);
    sxs_numbers_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_keeps_the_index_that_it_got),
        cmocka_unit_test(memory_grows_with_how_many_numbers_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
