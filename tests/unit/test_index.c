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

/* Returns 1 when the index has @value, and removes it if @remove is set. */
static int has_value(struct sxs_index *index, const uint32_t *array, uint32_t value, int remove)
{
    uint32_t hash = value / 1000, number;
    for (size_t at = hash; (number = sxs_index_next(index, hash, &at)) != 0; at++)
        if (array[number - 1] == value) {
            if (remove)
                sxs_index_remove(index, at);
            return 1;
        }
    return 0;
}

static void an_element_that_was_removed_is_not_found_and_all_others_are(void **state)
{
    static uint32_t  array[MANY];
    static uint8_t   removed[MANY];
    struct sxs_index index = {0};
    uint32_t         n = 0;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        number_of(&index, array, &n, i * 7);
    for (uint32_t turn = 0; turn < 3; turn++) {
        for (uint32_t i = turn; i < MANY; i += 3) {
            assert_int_equal(has_value(&index, array, i * 7, 1), 1);
            removed[i] = 1;
        }
        for (uint32_t i = 0; i < MANY; i++)
            assert_int_equal(has_value(&index, array, i * 7, 0), !removed[i]);
    }
    assert_int_equal(index.n, 0);
    for (size_t i = 0; i < index.n_slots; i++)
        assert_int_equal(index.slots[i].number, 0);
    sxs_index_free(&index);
}

static void elements_at_the_end_of_the_table_are_moved_over_its_end(void **state)
{
    static const uint32_t hashes[] = {14, 15, 14, 0, 15}; /* in 16 slots: 14, 15, 0, 1, 2 */
    struct sxs_index      index = {0};
    (void)state;
    for (uint32_t gone = 0; gone < 5; gone++) {
        sxs_index_clear(&index);
        for (uint32_t i = 0; i < 5; i++) {
            size_t at = hashes[i];
            assert_int_equal(sxs_index_reserve(&index), 0);
            while (sxs_index_next(&index, hashes[i], &at))
                at++;
            sxs_index_put(&index, at, hashes[i], i);
        }
        assert_int_equal(index.n_slots, 16);
        for (uint32_t turn = 0; turn < 2; turn++) /* find and remove @gone, then find the others */
            for (uint32_t i = 0; i < 5; i++) {
                uint32_t number;
                size_t   at = hashes[i];
                while ((number = sxs_index_next(&index, hashes[i], &at)) != 0 && number != i + 1)
                    at++;
                assert_int_equal(number, turn && i == gone ? 0 : i + 1);
                if (!turn && i == gone)
                    sxs_index_remove(&index, at);
            }
        assert_int_equal(index.n, 4);
    }
    sxs_index_free(&index);
}

static void an_index_that_was_never_filled_finds_nothing(void **state)
{
    struct sxs_index index = {0};
    size_t           at = 7;
    (void)state;
    assert_int_equal(sxs_index_next(&index, 7, &at), 0);
    sxs_index_clear(&index);
    sxs_index_free(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_element_is_found_again_however_the_table_grows),
        cmocka_unit_test(an_element_that_was_removed_is_not_found_and_all_others_are),
        cmocka_unit_test(elements_at_the_end_of_the_table_are_moved_over_its_end),
        cmocka_unit_test(an_index_that_was_never_filled_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
