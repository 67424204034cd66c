/* SPDX-License-Identifier: MIT */
/* test_fleet_functions.c - the functions of two selections of a fleet: which frames are compared when the versions of
 * their runtimes differ, and that nothing is added up or lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/fleet/functions.h"
#include "tests/unit/dice.h"

/* A frame of the server: of a function, with a version. */
struct frame {
    uint64_t    function, frame;
    const char *version;
    uint64_t    self[2], total[2];
};

static size_t make_sums(const struct frame *frames, size_t n, struct sxs_fleet_sums *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct frame *f = &frames[i];
        out[i] = (struct sxs_fleet_sums){f->function, f->frame, strdup(f->version), {f->self[0], f->self[1]},
                                         {f->total[0], f->total[1]}};
    }
    return n;
}

/* Checks the functions: "frame/other frame: self total -> self total, ...". */
static void check_functions(const struct frame *frames, size_t n, size_t limit, const char *expected)
{
    struct sxs_fleet_sums      sums[16];
    struct sxs_fleet_functions of = {.value = 100, .other_value = 100};
    char                       got[1000] = "";
    size_t                     size = 0;
    make_sums(frames, n, sums);
    sxs_fleet_match(sums, n, limit, &of);
    for (size_t i = 0; i < of.n; i++) {
        const struct sxs_fleet_function *f = &of.all[i];
        size += (size_t)snprintf(got + size, sizeof(got) - size, "%s%lu/%lu: %lu %lu -> %lu %lu", i ? ", " : "", f->frame,
                                 f->other_frame, f->self, f->total, f->other_self, f->other_total);
    }
    for (size_t i = 0; i < n; i++)
        free(sums[i].version);
    free(of.all);
    assert_string_equal(got, expected);
}

#define CHECK(frames, limit, expected) check_functions(frames, sizeof(frames) / sizeof(*(frames)), limit, expected)

static void frames_of_another_version_are_matched(void **state)
{
    static const struct frame frames[] = {
        {7, 70, "9.0.18", {30, 0}, {40, 0}},
        {7, 71, "10.0.11", {0, 50}, {0, 60}},
        {8, 80, "9.0.18", {10, 0}, {10, 0}},
    };
    (void)state;
    CHECK(frames, 10, "70/71: 30 40 -> 50 60, 80/80: 10 10 -> 0 0");
    CHECK(frames, 1, "70/71: 30 40 -> 50 60");
}

static void versions_beside_each_other_stay_apart(void **state)
{
    static const struct frame frames[] = {
        {7, 70, "8.0.29", {1, 0}, {1, 0}},
        {7, 71, "9.0.18", {20, 25}, {20, 25}},
        {7, 72, "10.0.11", {0, 3}, {0, 3}},
    };
    static const struct frame fewer[] = {
        {7, 70, "8.0.29", {30, 0}, {30, 0}},
        {7, 71, "9.0.18", {20, 0}, {20, 0}},
        {7, 72, "10.0.11", {0, 5}, {0, 5}},
    };
    (void)state;
    CHECK(frames, 10, "71/71: 20 20 -> 25 25, 70/72: 1 1 -> 3 3");
    CHECK(fewer, 10, "70/70: 30 30 -> 0 0, 71/72: 20 20 -> 5 5");
}

static void frames_without_a_function_or_weight_are_not_matched(void **state)
{
    static const struct frame frames[] = {
        {0, 0, "", {9, 1}, {9, 1}}, /* no stack */
        {0, 5, "", {0, 2}, {0, 2}},
        {0, 6, "", {1, 0}, {1, 0}},
        {7, 70, "9.0.18", {0, 0}, {0, 0}},
        {7, 71, "10.0.11", {0, 0}, {0, 0}},
    };
    (void)state;
    CHECK(frames, 10, "0/0: 9 9 -> 1 1, 5/5: 0 0 -> 2 2, 6/6: 1 1 -> 0 0, 70/70: 0 0 -> 0 0, 71/71: 0 0 -> 0 0");
    check_functions(frames, 0, 10, "");
}

static void a_version_that_is_there_twice_is_counted_once(void **state)
{
    static const struct frame frames[] = {
        {7, 70, "9.0.18", {10, 0}, {10, 0}},
        {7, 71, "9.0.18", {20, 0}, {20, 0}},
        {7, 72, "10.0.11", {0, 40}, {0, 40}},
    };
    (void)state;
    CHECK(frames, 10, "70/72: 10 10 -> 40 40, 71/71: 20 20 -> 0 0");
}

static void each_selection_keeps_its_sums(void **state)
{
    static const char *const versions[] = {"8.0.29", "8.0.34", "9.0.18", "9.0.23", "10.0.11", "11.0.0"};
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct sxs_fleet_sums      sums[100];
        struct sxs_fleet_functions of = {.value = 1, .other_value = 1};
        size_t                     n = roll(100);
        uint64_t                   want[5][2] = {{0}}, got[5][2] = {{0}};
        for (size_t i = 0; i < n; i++) {
            sums[i] = (struct sxs_fleet_sums){.function = roll(5), .version = strdup(versions[roll(6)])};
            sums[i].frame = i * 5 + sums[i].function;
            for (int side = 0; side < 2; side++) {
                sums[i].total[side] = roll(3) * roll(50);
                want[sums[i].function][side] += sums[i].total[side];
            }
        }
        sxs_fleet_match(sums, n, SIZE_MAX, &of);
        for (size_t i = 0; i < of.n; i++) {
            assert_int_equal(of.all[i].frame % 5, of.all[i].other_frame % 5); /* of one function */
            got[of.all[i].frame % 5][0] += of.all[i].total;
            got[of.all[i].frame % 5][1] += of.all[i].other_total;
        }
        assert_memory_equal(got, want, sizeof(want));
        for (size_t i = 0; i < n; i++)
            free(sums[i].version);
        free(of.all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_another_version_are_matched),
        cmocka_unit_test(versions_beside_each_other_stay_apart),
        cmocka_unit_test(frames_without_a_function_or_weight_are_not_matched),
        cmocka_unit_test(a_version_that_is_there_twice_is_counted_once),
        cmocka_unit_test(each_selection_keeps_its_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
