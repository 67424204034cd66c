/* SPDX-License-Identifier: MIT */
/* Conditions of --fail-if: the parser, which says where a text is wrong, intervals, verdicts and sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/report/condition.h"

static struct sxs_condition parsed(const char *text)
{
    struct sxs_condition c;
    char                 why[256] = "";
    int                  err = sxs_condition_parse(text, &c, why, sizeof(why));
    if (err)
        fail_msg("%s: %s", text, why);
    return c;
}

static void refused(const char *text, const char *expected)
{
    struct sxs_condition c;
    char                 why[256] = "";
    assert_int_equal(sxs_condition_parse(text, &c, why, sizeof(why)), -EINVAL);
    assert_string_equal(why, expected);
}

static void a_condition_has_a_pattern_a_comparison_and_a_bound(void **state)
{
    (void)state;
    struct sxs_condition c = parsed("self(Shop.*)>5%");
    assert_false(c.total);
    assert_true(c.any_assembly);
    assert_int_equal(c.comparison, SXS_MORE);
    assert_int_equal(c.unit, SXS_CONDITION_PERCENT);
    assert_true(c.bound == 5);
    assert_string_equal(c.what, "self(Shop.*)");
    c = parsed(" total(8/app:Shop.Orders.Add)  >=  1.5 ms ");
    assert_true(c.total);
    assert_false(c.any_assembly);
    assert_string_equal(c.pattern.version, "8");
    assert_string_equal(c.pattern.assembly, "app");
    assert_string_equal(c.pattern.name, "Shop.Orders.Add");
    assert_int_equal(c.comparison, SXS_AT_LEAST);
    assert_true(c.bound == 1.5e6 && c.unit == SXS_CONDITION_NS);
    assert_string_equal(c.what, "total(8/app:Shop.Orders.Add)");
}

static void names_may_have_brackets_and_comparisons(void **state)
{
    (void)state;
    struct sxs_condition c = parsed("self(Program.<Main>$)<7");
    assert_string_equal(c.pattern.name, "Program.<Main>$");
    assert_int_equal(c.comparison, SXS_LESS);
    assert_int_equal(c.unit, SXS_CONDITION_COUNT);
    c = parsed("self(A.F(System.Int32))<=7");
    assert_string_equal(c.what, "self(A.F(System.Int32))");
    c = parsed("self(gc_heap::*)<=7");
    assert_true(c.any_assembly);
    assert_string_equal(c.pattern.name, "gc_heap::*");
    assert_int_equal(c.comparison, SXS_NOT_MORE);
}

static void all_units_are_read(void **state)
{
    static const struct {
        const char             *text;
        enum sxs_condition_unit unit;
        double                  bound;
    } all[] = {
        {"self(F)>0", SXS_CONDITION_COUNT, 0},
        {"self(F)>100%", SXS_CONDITION_PERCENT, 100},
        {"self(F)>3ns", SXS_CONDITION_NS, 3},
        {"self(F)>3us", SXS_CONDITION_NS, 3e3},
        {"self(F)>3ms", SXS_CONDITION_NS, 3e6},
        {"self(F)>0.25s", SXS_CONDITION_NS, 0.25e9},
        {"self(F)>3B", SXS_CONDITION_BYTES, 3},
        {"self(F)>3KiB", SXS_CONDITION_BYTES, 3072},
        {"self(F)>2MiB", SXS_CONDITION_BYTES, 2097152},
        {"self(F)>1GiB", SXS_CONDITION_BYTES, 1073741824},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct sxs_condition c = parsed(all[i].text);
        assert_int_equal(c.unit, all[i].unit);
        assert_true(c.bound == all[i].bound);
    }
}

static void the_message_names_the_place(void **state)
{
    char long_text[1000] = "self(";
    (void)state;
    refused("", "at its end: expected self(PATTERN) or total(PATTERN)");
    refused("own(F)>5%", "at character 1, 'own(F)>5%': expected self(PATTERN) or total(PATTERN)");
    refused("self(F>5%", "at its end: expected ')' after the pattern");
    refused("self()>5%", "at character 6, ')>5%': expected NAME, ASSEMBLY:NAME or "
                         "VERSION/ASSEMBLY:NAME in the brackets");
    refused("self(:F)>5%", "at character 6, ':F)>5%': expected NAME, ASSEMBLY:NAME or "
                           "VERSION/ASSEMBLY:NAME in the brackets");
    refused("self(F)=5%", "at character 8, '=5%': expected <, <=, > or >=");
    refused("self(F)", "at its end: expected <, <=, > or >=");
    refused("self(F)>", "at its end: expected a number");
    refused("self(F)>-5%", "at character 9, '-5%': expected a number");
    refused("self(F)>.5%", "at character 9, '.5%': expected a number");
    refused("self(F)>1.2.3%", "at character 9, '1.2.3%': expected a number");
    refused("self(F)>inf", "at character 9, 'inf': expected a number");
    refused("self(F)>101%", "at character 9, '101%': expected at most 100 %");
    refused("self(F)>5kg",
            "at character 10, 'kg': expected %, ns, us, ms, s, B, KiB, MiB, GiB or no unit");
    refused("self(F)>5 % of all", "at character 13, 'of all': expected nothing more");
    memset(long_text + 5, 'x', 900);
    strcpy(long_text + 905, ")>5%");
    struct sxs_condition c;
    char                 why[64];
    assert_int_equal(sxs_condition_parse(long_text, &c, why, sizeof(why)), -EINVAL);
}

static void patterns_fit_functions(void **state)
{
    (void)state;
    struct sxs_condition any = parsed("self(Shop.*)>1%"),
                         one = parsed("self(8/app:Shop.Orders.Add)>1%"),
                         native = parsed("self(native/libc*:malloc)>1%");
    assert_true(sxs_condition_pattern_fits(&any, "8.0.29", "app", "Shop.Orders.Add(System.Int32)"));
    assert_true(sxs_condition_pattern_fits(&any, "native", "libshop.so", "Shop.x"));
    assert_false(sxs_condition_pattern_fits(&any, "8.0.29", "app", "System.Shop.Add"));
    assert_true(sxs_condition_pattern_fits(&one, "8.0.29", "app", "Shop.Orders.Add(System.Int32)"));
    assert_false(sxs_condition_pattern_fits(&one, "9.0.1", "app", "Shop.Orders.Add(System.Int32)"));
    assert_false(
        sxs_condition_pattern_fits(&one, "8.0.29", "other", "Shop.Orders.Add(System.Int32)"));
    assert_true(sxs_condition_pattern_fits(&native, "native", "libc.so.6", "malloc"));
    assert_false(sxs_condition_pattern_fits(&native, "8.0.29", "libc.so.6", "malloc"));
}

static enum sxs_verdict decide(const char *text, double low, double value, double high)
{
    struct sxs_condition      c = parsed(text);
    const struct sxs_measured v = {value, low, high};
    return sxs_condition_decide(&c, &v);
}

static void an_interval_with_the_bound_decides_nothing(void **state)
{
    (void)state;
    assert_int_equal(decide("self(F)>5%", 6, 7, 8), SXS_MET);
    assert_int_equal(decide("self(F)>5%", 4, 7, 8), SXS_UNDECIDED);
    assert_int_equal(decide("self(F)>5%", 3, 4, 5), SXS_NOT_MET);
    assert_int_equal(decide("self(F)>=5%", 3, 4, 5), SXS_UNDECIDED);
    assert_int_equal(decide("self(F)<5%", 3, 4, 4.9), SXS_MET);
    assert_int_equal(decide("self(F)<5%", 3, 4, 5), SXS_UNDECIDED);
    assert_int_equal(decide("self(F)<5%", 5, 6, 7), SXS_NOT_MET);
    assert_int_equal(decide("self(F)<=5%", 3, 4, 5), SXS_MET);
    assert_int_equal(decide("self(F)>5%", 4, 4, INFINITY), SXS_UNDECIDED);
    assert_int_equal(decide("self(F)>5%", 6, 6, INFINITY), SXS_MET);
}

static void a_counted_value_is_always_decided(void **state)
{
    (void)state;
    assert_int_equal(decide("self(F)>5", 5, 5, 5), SXS_NOT_MET);
    assert_int_equal(decide("self(F)>=5", 5, 5, 5), SXS_MET);
    assert_int_equal(decide("self(F)<5", 5, 5, 5), SXS_NOT_MET);
    assert_int_equal(decide("self(F)<=5", 5, 5, 5), SXS_MET);
}

static void near(double got, double expected)
{
    if (fabs(got - expected) > 0.0001)
        fail_msg("%.6f, expected %.6f", got, expected);
}

static void shares_have_the_interval_of_wilson(void **state)
{
    (void)state;
    struct sxs_measured v = sxs_condition_share(0.5, 10);
    near(v.low, 0.236593); /* as in tables */
    near(v.high, 0.763407);
    v = sxs_condition_share(0, 100);
    assert_true(v.low == 0);
    near(v.high, 0.036995);
    v = sxs_condition_share(1, 100);
    near(v.low, 0.963005);
    assert_true(v.high == 1);
    v = sxs_condition_share(0.07, 1e9);
    near(v.low, 0.07);
    near(v.high, 0.07);
}

static void says(const char *text, double low, double value, double high, const char *expected)
{
    struct sxs_condition      c = parsed(text);
    const struct sxs_measured v = {value, low, high};
    char                      buf[1400];
    assert_string_equal(sxs_condition_say(&c, &v, buf, sizeof(buf)), expected);
}

static void sentences_have_the_measured_value(void **state)
{
    (void)state;
    says("self(Shop.*)>5%", 7, 7.2, 7.4, "self(Shop.*) is 7.2 %, more than 5 %");
    says("self(F)>5%", 5.001, 5.0012, 5.002, "self(F) is 5.001 %, more than 5 %");
    says("total(F)>=100ms", 1.5e9, 1.5e9, 1.5e9, "total(F) is 1500 ms, at least 100 ms");
    says("self(F)<3", 0, 0, 0, "self(F) is 0, less than 3");
    says("self(F)<=1.5KiB", 1536, 1536, 1536, "self(F) is 1.5 KiB, at most 1.5 KiB");
    says("self(F)>5%", 3.9, 4.8, 5.9,
         "self(F) is 4.8 % (3.9 % to 5.9 % in 19 of 20 runs), which does not decide whether it is "
         "more than 5 %");
    says("self(F)>5B", 4, 4, INFINITY,
         "self(F) is 4 B (4 B to an unknown value in 19 of 20 runs), which does not decide whether "
         "it is more than 5 B");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_condition_has_a_pattern_a_comparison_and_a_bound),
        cmocka_unit_test(names_may_have_brackets_and_comparisons),
        cmocka_unit_test(all_units_are_read),
        cmocka_unit_test(the_message_names_the_place),
        cmocka_unit_test(patterns_fit_functions),
        cmocka_unit_test(an_interval_with_the_bound_decides_nothing),
        cmocka_unit_test(a_counted_value_is_always_decided),
        cmocka_unit_test(shares_have_the_interval_of_wilson),
        cmocka_unit_test(sentences_have_the_measured_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
