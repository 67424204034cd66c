/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stackwalk/walk.h"

/* Merging never looks into a runtime: any addresses will do. */
static char clr_a, clr_b;

static struct sxs_frame frame(char *rt, FunctionID id, uintptr_t sp)
{
    struct sxs_frame f = { .at = { .rsp = sp, .rip = 0x1000 + sp }, .info_hr = S_OK };
    f.fn.rt = (struct sxs_runtime *)(void *)rt;
    f.fn.id = id;
    return f;
}

static void runs_of_two_runtimes_come_out_youngest_first(void **state)
{
    struct sxs_frame a[] = { frame(&clr_a, 1, 0x100), frame(&clr_a, 2, 0x300) };
    struct sxs_frame b[] = { frame(&clr_b, 7, 0x200), frame(&clr_b, 8, 0x400) };
    struct sxs_run   runs[] = { { a, 2, 0 }, { b, 2, 0 } };
    struct sxs_frame out[4];

    (void)state;
    assert_int_equal(sxs_merge_by_sp(out, 4, runs, 2), 4);
    assert_int_equal(out[0].fn.id, 1);
    assert_int_equal(out[1].fn.id, 7);
    assert_int_equal(out[2].fn.id, 2);
    assert_int_equal(out[3].fn.id, 8);
}

static void the_same_id_in_two_runtimes_stays_two_frames(void **state)
{
    struct sxs_frame a[] = { frame(&clr_a, 5, 0x100) }, b[] = { frame(&clr_b, 5, 0x200) };
    struct sxs_run   runs[] = { { a, 1, 0 }, { b, 1, 0 } };
    struct sxs_frame out[2];

    (void)state;
    assert_int_equal(sxs_merge_by_sp(out, 2, runs, 2), 2);
    assert_ptr_equal(out[0].fn.rt, &clr_a);
    assert_ptr_equal(out[1].fn.rt, &clr_b);
}

static void a_managed_frame_wins_over_a_run_of_others_at_its_sp(void **state)
{
    /* a was called straight from b: a's "not mine" frame is b's caller. */
    struct sxs_frame a[] = { frame(&clr_a, 1, 0x100), frame(&clr_a, 0, 0x200),
                             frame(&clr_a, 2, 0x300) };
    struct sxs_frame b[] = { frame(&clr_b, 9, 0x200) };
    struct sxs_run   a_first[] = { { a, 3, 0 }, { b, 1, 0 } };
    struct sxs_run   b_first[] = { { b, 1, 0 }, { a, 3, 0 } };
    struct sxs_frame out[4];

    (void)state;
    assert_int_equal(sxs_merge_by_sp(out, 4, a_first, 2), 3);
    assert_int_equal(out[1].fn.id, 9);
    assert_int_equal(sxs_merge_by_sp(out, 4, b_first, 2), 3);
    assert_int_equal(out[1].fn.id, 9);
    assert_int_equal(out[2].fn.id, 2);
}

static void on_a_tie_of_equals_the_earlier_run_wins(void **state)
{
    struct sxs_frame a[] = { frame(&clr_a, 0, 0x100) }, b[] = { frame(&clr_b, 0, 0x100) };
    struct sxs_run   runs[] = { { a, 1, 0 }, { b, 1, 0 } };
    struct sxs_frame out[2];

    (void)state;
    assert_int_equal(sxs_merge_by_sp(out, 2, runs, 2), 1);
    assert_ptr_equal(out[0].fn.rt, &clr_a);
}

static void a_full_buffer_keeps_the_youngest(void **state)
{
    struct sxs_frame a[] = { frame(&clr_a, 1, 0x100), frame(&clr_a, 2, 0x300) };
    struct sxs_frame b[] = { frame(&clr_b, 7, 0x200) };
    struct sxs_run   runs[] = { { a, 2, 0 }, { b, 1, 0 } };
    struct sxs_frame out[3] = { { .fn = { NULL, 0 } } };

    (void)state;
    assert_int_equal(sxs_merge_by_sp(out, 2, runs, 2), 2);
    assert_int_equal(out[1].fn.id, 7);
    assert_int_equal(out[2].fn.id, 0);
}

static void nothing_to_merge_is_nothing(void **state)
{
    struct sxs_run   runs[] = { { NULL, 0, 0 }, { NULL, 0, 0 } };
    struct sxs_frame out[1];

    (void)state;
    assert_int_equal(sxs_merge_by_sp(out, 1, runs, 2), 0);
    assert_int_equal(sxs_merge_by_sp(out, 1, NULL, 0), 0);
    assert_int_equal(sxs_merge_by_sp(NULL, 0, runs, 2), 0);
}

static void a_frame_is_carried_whole(void **state)
{
    struct sxs_frame a[] = { frame(&clr_a, 1, 0x100) };
    struct sxs_run   runs[] = { { a, 1, 0 } };
    struct sxs_frame out[1];

    (void)state;
    a[0].at.r15 = 15;
    a[0].token = 0x06000001;
    a[0].n_type_args = 1;
    a[0].type_args[0] = 77;
    assert_int_equal(sxs_merge_by_sp(out, 1, runs, 1), 1);
    assert_int_equal(out[0].at.r15, 15);
    assert_int_equal(out[0].token, 0x06000001);
    assert_int_equal(out[0].n_type_args, 1);
    assert_int_equal(out[0].type_args[0], 77);
    assert_int_equal(runs[0].at, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_two_runtimes_come_out_youngest_first),
        cmocka_unit_test(the_same_id_in_two_runtimes_stays_two_frames),
        cmocka_unit_test(a_managed_frame_wins_over_a_run_of_others_at_its_sp),
        cmocka_unit_test(on_a_tie_of_equals_the_earlier_run_wins),
        cmocka_unit_test(a_full_buffer_keeps_the_youngest),
        cmocka_unit_test(nothing_to_merge_is_nothing),
        cmocka_unit_test(a_frame_is_carried_whole),
    };
    return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
