/* SPDX-License-Identifier: MIT */
/* test_late_start.c - what is said of tools that start on a runtime that runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/options/late_start.h"

static const char *const names[] = {"census", "sample", "wait",   "exceptions", "events",     "gc",
                                    "alloc",  "locks",  "native", "heap",       "instrument", "calls"};

static void every_tool_has_an_answer_for_every_version(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (unsigned major = 3; major < 12; major++)
            for (int way = SXS_LATE_ATTACH; way <= SXS_LATE_REQUEST; way++) {
                const char          *why = NULL;
                enum sxs_late_result r =
                    sxs_late_start(way, names[i], "", sxs_facts_of_major(major), &why);
                assert_non_null(why);
                assert_string_not_equal(why, "there is no such tool");
                assert_true((r == SXS_LATE_FULL) == !*why);
                assert_int_equal(
                    sxs_late_start(way, names[i], NULL, sxs_facts_of_major(major), NULL), r);
            }
}

static void options_and_versions_count(void **state)
{
    const char *why;
    (void)state;
    assert_int_equal(sxs_late_start(SXS_LATE_ATTACH, "alloc", "", sxs_facts_of_major(8), &why),
                     SXS_LATE_PARTLY);
    assert_int_equal(sxs_late_start(SXS_LATE_REQUEST, "alloc", "", sxs_facts_of_major(8), &why),
                     SXS_LATE_PARTLY);
    assert_true(strstr(why, "biased") != NULL);
    assert_int_equal(sxs_late_start(SXS_LATE_ATTACH, "alloc", "", sxs_facts_of_major(10), &why),
                     SXS_LATE_FULL);
    assert_int_equal(
        sxs_late_start(SXS_LATE_ATTACH, "alloc", "exact", sxs_facts_of_major(10), &why),
        SXS_LATE_NO);
    assert_int_equal(
        sxs_late_start(SXS_LATE_ATTACH, "alloc", "wrong", sxs_facts_of_major(10), &why),
        SXS_LATE_FULL);
    assert_int_equal(sxs_late_start(SXS_LATE_ATTACH, "heap", "now", sxs_facts_of_major(9), &why),
                     SXS_LATE_PARTLY);
    assert_int_equal(
        sxs_late_start(SXS_LATE_ATTACH, "heap", "at-exit", sxs_facts_of_major(9), &why),
        SXS_LATE_NO);
    assert_int_equal(sxs_late_start(SXS_LATE_ATTACH, "calls", "", sxs_facts_of_major(9), &why),
                     SXS_LATE_NO);
    assert_int_equal(sxs_late_start(SXS_LATE_ATTACH, "instrument", "", sxs_facts_of_major(9), &why),
                     SXS_LATE_NO);
    assert_int_equal(
        sxs_late_start(SXS_LATE_ATTACH, "instrument", "config=/r.xml", sxs_facts_of_major(9), &why),
        SXS_LATE_PARTLY);
    assert_int_equal(
        sxs_late_start(SXS_LATE_REQUEST, "instrument", "", sxs_facts_of_major(9), &why),
        SXS_LATE_PARTLY);
    assert_int_equal(sxs_late_start(SXS_LATE_ATTACH, "native", "", sxs_facts_of_major(9), &why),
                     SXS_LATE_NO);
    assert_int_equal(sxs_late_start(SXS_LATE_REQUEST, "native", "", sxs_facts_of_major(9), &why),
                     SXS_LATE_PARTLY);
    assert_int_equal(sxs_late_start(SXS_LATE_ATTACH, "exceptions", "", sxs_facts_of_major(8), &why),
                     SXS_LATE_FULL);
    assert_int_equal(sxs_late_start(SXS_LATE_ATTACH, "exception", "", sxs_facts_of_major(8), &why),
                     SXS_LATE_NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tool_has_an_answer_for_every_version),
        cmocka_unit_test(options_and_versions_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
