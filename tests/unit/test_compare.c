/* SPDX-License-Identifier: MIT */
/* Two accounts of one stack: what counts as the same, what is distinguished, what is recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stackwalk/snapshot/compare.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static struct sxs_compared_frame merged[32];
static size_t                    n_merged;

static struct sxs_account managed(uintptr_t sp, uintptr_t ip, uint64_t function)
{
    return (struct sxs_account){.sp = sp, .ip = ip, .function = function, .runtime = 1};
}

static struct sxs_account native(uintptr_t sp, uintptr_t ip)
{
    return (struct sxs_account){.sp = sp, .ip = ip, .is_module = 1};
}

static struct sxs_account coreclr(uintptr_t sp)
{
    return (struct sxs_account){.sp = sp, .ip = 0xc0de, .is_module = 1, .module_of = 1};
}

#define COMPARE(r, w, whole) sxs_compare(r, N(r), w, N(w), whole, merged, &n_merged)

static void equal_accounts_are_alike_and_merged_by_sp(void **state)
{
    struct sxs_account    r[] = {managed(0x20, 0xa1, 7), managed(0x40, 0xb1, 8)};
    struct sxs_account    w[] = {native(0x10, 1), r[0], native(0x30, 2), r[1], native(0x50, 3)};
    struct sxs_walk_comparison c = COMPARE(r, w, 1);
    uint64_t              ips[8];
    (void)state;
    assert_int_equal(c.kind, SXS_COMPARED_ALIKE);
    assert_int_equal(c.n_frames, 2);
    assert_int_equal(n_merged, 5);
    assert_int_equal(sxs_compare_ips(merged, n_merged, 0, ips, 8), 5);
    assert_int_equal(ips[1], 0xa1);
    assert_int_equal(ips[4], 3);
    assert_int_equal(sxs_compare_ips(merged, n_merged, 0x20, ips, 8), 4); /* cut at its young end */
    assert_int_equal(ips[0], 0xa1);
    assert_int_equal(sxs_compare_ips(merged, n_merged, 0, ips, 3), 3); /* and at its old end */
}

static void a_frame_that_was_not_walked_is_lacking_and_recorded(void **state)
{
    struct sxs_account    r[] = {managed(0x20, 0xa1, 7), managed(0x40, 0xb1, 8)};
    struct sxs_account    w[] = {r[0], native(0x50, 3)};
    struct sxs_walk_comparison c = COMPARE(r, w, 1);
    uint64_t              ips[8];
    (void)state;
    assert_int_equal(c.kind, SXS_COMPARED_LACKING);
    assert_int_equal(merged[1].verdict, SXS_VERDICT_LACKING);
    assert_int_equal(sxs_compare_ips(merged, n_merged, 0, ips, 8), 3);
}

static void a_frame_that_is_not_reported_is_excess_and_not_recorded(void **state)
{
    struct sxs_account    r[] = {managed(0x20, 0xa1, 7), managed(0x40, 0xb1, 8)};
    struct sxs_account    w[] = {r[0], managed(0x30, 0xd1, 9), r[1]};
    struct sxs_walk_comparison c = COMPARE(r, w, 1);
    uint64_t              ips[8];
    (void)state;
    assert_int_equal(c.kind, SXS_COMPARED_EXCESS);
    assert_int_equal(merged[1].verdict, SXS_VERDICT_EXCESS);
    assert_int_equal(sxs_compare_ips(merged, n_merged, 0, ips, 8), 2);
}

static void another_function_at_the_same_place_is_both(void **state)
{
    struct sxs_account r[] = {managed(0x20, 0xa1, 7)}, w[] = {managed(0x20, 0xe1, 9)};
    (void)state;
    assert_int_equal(COMPARE(r, w, 1).kind, SXS_COMPARED_OTHER);
}

static void the_same_function_of_two_runtimes_is_two(void **state)
{
    struct sxs_account r[] = {managed(0x20, 0xa1, 7)}, w[] = {managed(0x20, 0xa1, 7)};
    (void)state;
    w[0].runtime = 2;
    assert_int_equal(COMPARE(r, w, 1).kind, SXS_COMPARED_OTHER);
}

static void what_a_cut_walk_did_not_reach_is_not_lacking(void **state)
{
    struct sxs_account r[] = {managed(0x20, 0xa1, 7), managed(0x40, 0xb1, 8)}, w[] = {r[0]};
    (void)state;
    assert_int_equal(COMPARE(r, w, 0).kind, SXS_COMPARED_ALIKE);
    assert_int_equal(n_merged, 2);
}

static void code_without_metadata_is_counted_apart(void **state)
{
    struct sxs_account    r[] = {managed(0x40, 0xb1, 8)};
    struct sxs_account    w[] = {managed(0x30, 0xd1, 0), r[0]};
    struct sxs_walk_comparison c = COMPARE(r, w, 1);
    (void)state;
    assert_int_equal(c.kind, SXS_COMPARED_ALIKE);
    assert_int_equal(c.n_no_metadata, 1);
}

/* handler of 8 <- the runtime <- what threw (7, unwound) <- 8 */
static void a_handler_and_what_it_has_left_behind_are_identified_by_its_function(void **state)
{
    struct sxs_account r[] = {managed(0x80, 0xb1, 8)};
    struct sxs_account w[] = {managed(0x20, 0xb9, 8), coreclr(0x30), managed(0x60, 0xa1, 7), r[0]};
    struct sxs_walk_comparison c = COMPARE(r, w, 1);
    (void)state;
    assert_int_equal(c.kind, SXS_COMPARED_ALIKE);
    assert_int_equal(c.n_funclets, 1);
    assert_int_equal(c.n_unwound, 1);
}

static void a_finally_block_that_its_function_calls_is_not_that_function(void **state)
{
    struct sxs_account    r[] = {managed(0x80, 0xb1, 8)};
    struct sxs_account    w[] = {coreclr(0x10), managed(0x40, 0xb9, 8), r[0]};
    struct sxs_walk_comparison c = COMPARE(r, w, 1);
    (void)state;
    assert_int_equal(c.kind, SXS_COMPARED_ALIKE);
    assert_int_equal(c.n_funclets, 1);
}

static void a_function_further_down_does_not_excuse_a_frame_called_by_others(void **state)
{
    struct sxs_account r[] = {managed(0x10, 0xf1, 5), managed(0x40, 0xc1, 9),
                              managed(0x80, 0xb1, 8)};
    struct sxs_account w[] = {r[0], managed(0x20, 0xb9, 8), r[1], r[2]};
    (void)state;
    assert_int_equal(COMPARE(r, w, 1).kind, SXS_COMPARED_EXCESS);
}

static void a_method_that_just_enters_is_no_excess(void **state)
{
    struct sxs_account    r[] = {managed(0x80, 0xb1, 8)};
    struct sxs_account    w[] = {native(0x10, 1), coreclr(0x20), managed(0x30, 0xa1, 7),
                                 native(0x40, 2), r[0]};
    struct sxs_walk_comparison c = COMPARE(r, w, 1);
    (void)state;
    assert_int_equal(c.kind, SXS_COMPARED_ALIKE);
    assert_int_equal(c.n_entering, 1);
}

static void what_a_runtime_gives_otherwise_is_the_same_frame(void **state)
{
    struct sxs_account r[] = {managed(0x20, 0xa0, 7), managed(0x40, 0xb1, 8),
                              managed(0x90, 0xc1, 9)};
    struct sxs_account w[] = {
        managed(0x20, 0xa1, 7),  /* a fault's IP, plus one */
        managed(0x40, 0xb8, 8),  /* reported where the P/Invoke began */
        managed(0x60, 0xc1, 9)}; /* reported with the SP before a stackalloc */
    struct sxs_walk_comparison c = COMPARE(r, w, 1);
    (void)state;
    assert_int_equal(c.kind, SXS_COMPARED_ALIKE);
    assert_int_equal(c.n_pinvokes, 1);
    assert_int_equal(merged[1].ip, 0xb8);
}

static void a_method_that_waits_behind_its_p_invoke_is_the_same_at_the_top_alone(void **state)
{
    struct sxs_account r[] = {managed(0x40, 0xb1, 8), managed(0x90, 0xc1, 9)};
    struct sxs_account top[] = {coreclr(0x10), managed(0x30, 0xb9, 8), r[1]};
    struct sxs_account deeper[] = {r[0], managed(0x80, 0xc9, 9)};
    (void)state;
    assert_int_equal(COMPARE(r, top, 1).kind, SXS_COMPARED_ALIKE);
    assert_int_equal(COMPARE(r, deeper, 1).kind, SXS_COMPARED_OTHER);
}

static void recursion_must_be_whole(void **state)
{
    struct sxs_account r[] = {managed(0x20, 0xa1, 7), managed(0x40, 0xa1, 7),
                              managed(0x60, 0xa1, 7)};
    struct sxs_account w[] = {r[0], r[2]};
    (void)state;
    assert_int_equal(COMPARE(r, r, 1).kind, SXS_COMPARED_ALIKE);
    assert_int_equal(COMPARE(r, w, 1).kind, SXS_COMPARED_LACKING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_accounts_are_alike_and_merged_by_sp),
        cmocka_unit_test(a_frame_that_was_not_walked_is_lacking_and_recorded),
        cmocka_unit_test(a_frame_that_is_not_reported_is_excess_and_not_recorded),
        cmocka_unit_test(another_function_at_the_same_place_is_both),
        cmocka_unit_test(the_same_function_of_two_runtimes_is_two),
        cmocka_unit_test(what_a_cut_walk_did_not_reach_is_not_lacking),
        cmocka_unit_test(code_without_metadata_is_counted_apart),
        cmocka_unit_test(a_handler_and_what_it_has_left_behind_are_identified_by_its_function),
        cmocka_unit_test(a_finally_block_that_its_function_calls_is_not_that_function),
        cmocka_unit_test(a_function_further_down_does_not_excuse_a_frame_called_by_others),
        cmocka_unit_test(a_method_that_just_enters_is_no_excess),
        cmocka_unit_test(what_a_runtime_gives_otherwise_is_the_same_frame),
        cmocka_unit_test(a_method_that_waits_behind_its_p_invoke_is_the_same_at_the_top_alone),
        cmocka_unit_test(recursion_must_be_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
