/* SPDX-License-Identifier: MIT */
/* test_keep.c - the settings of continuous mode, and the tools of a segment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "control/keep/keep_settings.h"
#include "tests/unit/keep_fixture.h"

#define S UINT64_C(1000000000)

/* ---- settings -------------------------------------------------------------------------------- */

static void settings_that_are_left_out_follow_from_the_others(void **state)
{
    struct sxs_keep_settings s = parsed(NULL, "", NULL, NULL);
    (void)state;
    assert_int_equal(s.is_on, 0);
    s = parsed("10m", NULL, NULL, NULL);
    assert_int_equal(s.is_on, 1);
    assert_int_equal(s.keep_ns, 600 * S);
    assert_int_equal(s.keep_bytes, UINT64_C(1) << 30);
    assert_int_equal(s.every_ns, 60 * S);
    s = parsed("20s,256M", NULL, NULL, NULL);
    assert_int_equal(s.every_ns, 4 * S);
    assert_int_equal(s.keep_bytes, 256 << 20);
    s = parsed("2s", NULL, NULL, NULL);
    assert_int_equal(s.every_ns, S);
    s = parsed(NULL, "5m", NULL, "0.5%");
    assert_int_equal(s.keep_ns, 0);
    assert_int_equal(s.keep_bytes, 0);
    assert_int_equal(s.every_ns, 300 * S);
    assert_int_equal(s.budget, 500);
    s = parsed(NULL, NULL, "gc>200ms;cpu>80%;exception=System.TimeoutException", NULL);
    assert_int_equal(s.keep_ns, 120 * S);
    assert_int_equal(s.every_ns, 24 * S);
    assert_int_equal(s.n_triggers, 3);
    assert_int_equal(parsed(NULL, "5m", "gc>1s", NULL).keep_ns, 600 * S);
    assert_int_equal(s.triggers[0].limit, S / 5);
    assert_int_equal(s.triggers[1].limit, 80000);
    assert_string_equal(s.triggers[2].type, "System.TimeoutException");
    assert_string_equal(s.triggers[2].text, "exception=System.TimeoutException");
}

static void wrong_settings_are_refused_by_name(void **state)
{
    static const struct {
        struct sxs_keep_texts texts;
        const char           *begin;
    } wrong[] = {
        {{.keep = "ten"}, "keep: 'ten': expected"},
        {{.keep = "10"}, "keep:"},
        {{.keep = "10m,"}, "keep:"},
        {{.keep = "10m,1k"}, "keep:"},
        {{.keep = "-1s"}, "keep:"},
        {{.keep = "500ms"}, "keep:"},
        {{.keep = "99999999999999999999s"}, "keep:"},
        {{.segment = "10ms"}, "segment: '10ms': expected"},
        {{.segment = "2d"}, "segment:"},
        {{.keep = "10s", .segment = "20s"},
         "keep: '10s': expected at least the time of one segment, which is 20s (segment)"},
        {{.keep = "366d", .segment = "1s"},
         "keep: '366d': expected at most 10000 segments, and one lasts 1s (segment)"},
        {{.keep = "366d"}, "keep: '366d': expected at most 10000 segments, and one lasts 60s"},
        {{.on = "gc"}, "on: 'gc': expected"},
        {{.on = "gc>"}, "on:"},
        {{.on = "gc>200ms;"}, "on: '': expected"},
        {{.on = "cpu>0%"}, "on:"},
        {{.on = "cpu>80"}, "on:"},
        {{.on = "cpu>8.%%"}, "on:"},
        {{.on = "exception="}, "on:"},
        {{.on = "exception=A B"}, "on:"},
        {{.on = "gc>1s;gc>1s;gc>1s;gc>1s;gc>1s;gc>1s;gc>1s;gc>1s;gc>1s"}, "on: expected at most 8"},
        {{.budget = "1%"}, "budget: expected keep"},
        {{.keep = "10m", .budget = "1"}, "budget: '1': expected"},
        {{.keep = "10m", .budget = "0%"}, "budget:"},
        {{.keep = "10m", .budget = "90%"}, "budget:"},
        {{.keep = "10m", .budget = "1.2345%"}, "budget:"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct sxs_keep_settings s;
        char                     why[SXS_KEEP_WHY] = "";
        assert_int_equal(sxs_keep_parse(&wrong[i].texts, &s, why, sizeof(why)), -1);
        if (strncmp(why, wrong[i].begin, strlen(wrong[i].begin)) != 0)
            fail_msg("'%s' instead of '%s'", why, wrong[i].begin);
        assert_int_equal(s.is_on, 0);
    }
}

static void a_type_fits_with_wildcards_and_without_its_namespace(void **state)
{
    struct sxs_keep_settings s =
        parsed(NULL, NULL, "exception=TimeoutException;exception=System.IO.*;gc>1s", NULL);
    (void)state;
    assert_int_equal(sxs_trigger_fits(&s.triggers[0], "System.TimeoutException"), 1);
    assert_int_equal(sxs_trigger_fits(&s.triggers[0], "TimeoutException"), 1);
    assert_int_equal(sxs_trigger_fits(&s.triggers[0], "System.MyTimeoutException"), 0);
    assert_int_equal(sxs_trigger_fits(&s.triggers[1], "System.IO.IOException"), 1);
    assert_int_equal(sxs_trigger_fits(&s.triggers[1], "System.IOException"), 0);
    assert_int_equal(sxs_trigger_fits(&s.triggers[2], "System.IOException"), 0);
}

static void check_tools(const char *tools, const struct sxs_keep_settings *s, unsigned scale,
                        const char *expected)
{
    char out[SXS_KEEP_TOOLS];
    assert_int_equal(sxs_keep_tools(tools, s, scale, out), 0);
    assert_string_equal(out, expected);
}

static void segments_have_low_rates_and_the_tools_of_conditions(void **state)
{
    struct sxs_keep_settings plain = parsed("10m", NULL, NULL, NULL);
    struct sxs_keep_settings on = parsed("10m", NULL, "gc>1s;exception=*", NULL);
    char                     out[SXS_KEEP_TOOLS], longest[SXS_KEEP_TOOLS + 8];
    (void)state;
    check_tools(NULL, &plain, 1, "sample:rate=19,tiers=off");
    check_tools("", &plain, 4, "sample:rate=4,tiers=off");
    check_tools(";;", &plain, 1, "sample:rate=19,tiers=off");
    check_tools("sample:wall", &plain, 1, "sample:wall,rate=19,tiers=off");
    check_tools("sample:cpu=99,tiers=on", &plain, 2, "sample:cpu=99,tiers=on,rate=49");
    check_tools("sample:cpu=99", &plain, 1024, "sample:cpu=99,rate=1,tiers=off");
    check_tools("sample:nonsense", &plain, 2, "sample:nonsense");
    check_tools("wait;gc", &plain, 1, "wait:rate=10;gc");
    check_tools("alloc;native:interval=1m", &plain, 1, "alloc;native:interval=1m");
    check_tools("alloc;native:interval=1m", &plain, 4,
                "alloc:interval=2097152;native:interval=1m,interval=4194304");
    check_tools("alloc", &plain, 1024, "alloc:interval=536870912");
    check_tools("events", &on, 1, "events;gc;exceptions");
    check_tools("gc;exceptions", &on, 1, "gc;exceptions");
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(sxs_keep_tools(longest, &plain, 1, out), -1);
    assert_int_equal(sxs_keep_can_scale("gc;exceptions"), 0);
    assert_int_equal(sxs_keep_can_scale("gc;alloc"), 1);
    assert_int_equal(sxs_keep_can_scale(";"), 1);
}

static void tools_that_cannot_start_late_are_refused(void **state)
{
    char why[SXS_KEEP_WHY] = "";
    (void)state;
    assert_int_equal(sxs_keep_tools_check(NULL, why, sizeof(why)), 0);
    assert_int_equal(sxs_keep_tools_check("sample;exceptions;gc;alloc;locks", why, sizeof(why)), 0);
    assert_int_equal(sxs_keep_tools_check("sample;calls:tree", why, sizeof(why)), -1);
    assert_non_null(strstr(why, "the tool calls cannot record segments: "));
    assert_int_equal(sxs_keep_tools_check("alloc:exact", why, sizeof(why)), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_that_are_left_out_follow_from_the_others),
        cmocka_unit_test(wrong_settings_are_refused_by_name),
        cmocka_unit_test(a_type_fits_with_wildcards_and_without_its_namespace),
        cmocka_unit_test(segments_have_low_rates_and_the_tools_of_conditions),
        cmocka_unit_test(tools_that_cannot_start_late_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
