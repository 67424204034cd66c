/* SPDX-License-Identifier: MIT */
/* test_index.c - elements of an array are found by their hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/index.h"

#define MANY 5000u

/* Returns the number of @value in @array, where it is added if it is new. @n: the array's elements.
 * The hash of a value is a thousandth of it, so that many values have the same hash. */
static uint32_t number_of(struct sxs_index *index, uint32_t *array, uint32_t *n, uint32_t value)
{
    uint32_t hash = value / 1000, number;
    size_t   at = hash;
    assert_int_equal(sxs_index_reserve(index), 0);
    for (; (number = sxs_index_next(index, hash, &at)) != 0; at++)
        if (array[number - 1] == value)
            return number - 1;
    array[*n] = value;
    sxs_index_put(index, at, hash, *n);
    return (*n)++;
}

static void each_element_is_found_again_however_the_table_grows(void **state)
{
    static uint32_t  array[MANY];
    struct sxs_index index = {0};
    uint32_t         n = 0;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(number_of(&index, array, &n, i * 7), i);
    assert_int_equal(n, MANY);
    for (uint32_t i = MANY; i-- > 0;)
        assert_int_equal(number_of(&index, array, &n, i * 7), i);
    assert_int_equal(n, MANY);
    assert_int_equal(index.n, MANY);
    sxs_index_free(&index);
    n = 0;
    assert_int_equal(number_of(&index, array, &n, 7), 0); /* empty again */
    sxs_index_free(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_element_is_found_again_however_the_table_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
