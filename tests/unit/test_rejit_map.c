/* SPDX-License-Identifier: MIT */
/* test_rejit_map.c - maps of IL offsets of several tools are put together. The expected rows are
 * worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rejit/map.h"

#define MAX_ROWS 6

struct rows {
    ULONG      n;
    COR_IL_MAP rows[MAX_ROWS];
};

/* Appends one map after the other, and compares the result. */
static void check_maps(const struct rows *maps, unsigned n_maps, const struct rows *expected)
{
    struct rejit_map map = {0};
    for (unsigned i = 0; i < n_maps; i++) {
        COR_IL_MAP       copy[MAX_ROWS];
        struct rejit_map next = {copy, maps[i].n};
        memcpy(copy, maps[i].rows, sizeof(copy));
        assert_int_equal(rejit_map_append(&map, &next), 0);
    }
    assert_int_equal(map.n, expected->n);
    for (ULONG i = 0; i < map.n; i++) {
        assert_int_equal(map.rows[i].oldOffset, expected->rows[i].oldOffset);
        assert_int_equal(map.rows[i].newOffset, expected->rows[i].newOffset);
        assert_int_equal(map.rows[i].fAccurate, expected->rows[i].fAccurate);
    }
    free(map.rows);
}

static void one_map_stays_as_it_is(void **state)
{
    static const struct rows map = {3, {{0, 4, 1}, {2, 6, 0}, {5, 20, 1}}};
    (void)state;
    check_maps(&map, 1, &map);
}

/* The first tool inserts 4 bytes at 0 and 3 at 5; the second one 10 at its own start. */
static void code_that_is_inserted_at_the_start_moves_all(void **state)
{
    static const struct rows maps[] = {{2, {{0, 4, 1}, {5, 12, 1}}}, {1, {{0, 10, 1}}}};
    static const struct rows expected = {2, {{0, 14, 1}, {5, 22, 1}}};
    (void)state;
    check_maps(maps, 2, &expected);
}

/* The first tool inserts 4 bytes at 5: old 0..4 is 0..4, old 5 is 9. The second tool inserts 4 bytes
 * at its 3, which is old 3: what is after it moves by 4. */
static void a_row_of_the_second_map_between_two_of_the_first_stays(void **state)
{
    static const struct rows maps[] = {{2, {{0, 0, 1}, {5, 9, 1}}},
                                       {3, {{0, 0, 1}, {3, 7, 1}, {9, 13, 1}}}};
    static const struct rows expected = {3, {{0, 0, 1}, {3, 7, 1}, {5, 13, 1}}};
    (void)state;
    check_maps(maps, 2, &expected);
}

/* The first tool inserts 6 bytes at 5, as 5..10. The second one inserts 2 bytes at 8, in the middle
 * of them: that row has no old offset, but old 5, which is 11, moves on to 13. */
static void a_row_within_inserted_code_has_no_old_offset(void **state)
{
    static const struct rows maps[] = {{2, {{0, 0, 1}, {5, 11, 1}}}, {2, {{0, 0, 1}, {8, 10, 1}}}};
    static const struct rows expected = {2, {{0, 0, 1}, {5, 13, 1}}};
    (void)state;
    check_maps(maps, 2, &expected);
}

/* Each inserts one byte before everything, and knows the offsets 0 and 3 of its own input. */
static void three_maps_in_a_row(void **state)
{
    static const struct rows maps[] = {
        {2, {{0, 1, 1}, {3, 4, 1}}}, {2, {{0, 1, 1}, {3, 4, 0}}}, {2, {{0, 1, 1}, {3, 4, 1}}}};
    static const struct rows expected = {4, {{0, 3, 1}, {1, 4, 1}, {2, 5, 0}, {3, 6, 1}}};
    (void)state;
    check_maps(maps, 3, &expected);
}

static void an_offset_before_the_first_row_does_not_move(void **state)
{
    static const struct rows maps[] = {{1, {{8, 10, 1}}}, {1, {{4, 5, 1}}}};
    static const struct rows expected = {2, {{4, 5, 1}, {8, 11, 1}}};
    (void)state;
    check_maps(maps, 2, &expected);
}

static void rows_in_any_order(void **state)
{
    static const struct rows maps[] = {{2, {{5, 9, 1}, {0, 0, 1}}}, {2, {{9, 13, 1}, {0, 0, 1}}}};
    static const struct rows expected = {2, {{0, 0, 1}, {5, 13, 1}}};
    (void)state;
    check_maps(maps, 2, &expected);
}

static void an_empty_map_moves_nothing(void **state)
{
    static const struct rows maps[] = {{1, {{2, 6, 1}}}, {0, {{0}}}};
    (void)state;
    check_maps(maps, 2, &maps[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_map_stays_as_it_is),
        cmocka_unit_test(code_that_is_inserted_at_the_start_moves_all),
        cmocka_unit_test(a_row_of_the_second_map_between_two_of_the_first_stays),
        cmocka_unit_test(a_row_within_inserted_code_has_no_old_offset),
        cmocka_unit_test(three_maps_in_a_row),
        cmocka_unit_test(an_offset_before_the_first_row_does_not_move),
        cmocka_unit_test(rows_in_any_order),
        cmocka_unit_test(an_empty_map_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
