/* SPDX-License-Identifier: MIT */
/* test_fleet_select.c - times and selections of sxsprof fleet, and the conditions they become. */
#include <stdlib.h>
#include <string.h>

#include "cmd/fleet/select.h"
#include "cmd/fleet/when.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char text[8192];

static FILE *begin(void)
{
    memset(text, 0, sizeof(text));
    return fmemopen(text, sizeof(text) - 1, "w");
}

static void times(void **state)
{
    static const struct {
        const char *text;
        int64_t     at; /* -1: refused */
    } cases[] = {{"now", 1000000000},
                 {"90s ago", 999999910},
                 {"2h ago", 999992800},
                 {"2 hours ago", 999992800},
                 {"1 week ago", 999395200},
                 {"@1234", 1234},
                 {"2001-09-09T01:46:40Z", 1000000000},
                 {"2001-09-09T03:46:40+02:00", 1000000000},
                 {"2001-09-09 01:46", 999999960},
                 {"2001-09-09", 999993600},
                 {"today", 999993600},
                 {"yesterday", 999907200},
                 {"", -1},
                 {"2h", -1},
                 {"0h ago", -1},
                 {"-1h ago", -1},
                 {"2x ago", -1},
                 {"2h ago ", -1},
                 {"99999 weeks ago", -1},
                 {"2001-02-30", -1},
                 {"2001-09-09T25:00", -1},
                 {"2001-09-09T01:46:40X", -1},
                 {"2001-09-09T", -1},
                 {"1901-01-01", -1},
                 {"2200-01-01", -1},
                 {"@99999999999999999999", -1},
                 {"@", -1},
                 {"now'", -1}};
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t at = -1;
        int     err = sxs_fleet_when(cases[i].text, 1000000000, &at);
        if (err != (cases[i].at < 0 ? -1 : 0) || (!err && at != cases[i].at))
            fail_msg("%s: %d, %lld", cases[i].text, err, (long long)at);
    }
    int64_t d;
    assert_int_equal(sxs_fleet_duration("5m", &d), 0);
    assert_int_equal(d, 300);
    assert_int_equal(sxs_fleet_duration("5m ago", &d), -1);
    assert_int_equal(sxs_fleet_duration("0s", &d), -1);
}

static void check_where(const char *where, const char *expected)
{
    struct sxs_fleet_selection s = {.kind = SXS_CLICKHOUSE_CPU};
    char                       why[300];
    assert_int_equal(sxs_fleet_select(&s, where, 1000000000, why, sizeof(why)), 0);
    FILE *to = begin();
    sxs_fleet_where(to, &s, false);
    fclose(to);
    assert_string_equal(text, expected);
    sxs_fleet_selection_free(&s);
}

static void selections_become_conditions(void **state)
{
    (void)state;
    check_where(
        "version=1.2*,from=@60,to=@120",
        "kind = 'cpu' AND time >= toDateTime(60) AND time < toDateTime(120) AND service IN (SELECT "
        "service_id FROM sources WHERE version LIKE '1.2%') AND source IN (SELECT source FROM "
        "sources WHERE "
        "version LIKE '1.2%')");
    check_where("runtime=8.*",
                "kind = 'cpu' AND stack IN (SELECT stack FROM stacks WHERE runtime LIKE '8.%')");
    check_where("a' b!=x\\,y",
                "kind = 'cpu' AND service IN (SELECT service_id FROM sources WHERE "
                "labels.value[indexOf(labels.key, "
                "'a\\' b')] != 'x,y') AND source IN (SELECT source FROM sources WHERE "
                "labels.value[indexOf(labels.key, 'a\\' b')] != 'x,y')");
    check_where("function!=A.B(*", "kind = 'cpu' AND stack NOT IN (SELECT stack FROM stacks ARRAY "
                                   "JOIN frames AS f WHERE f IN (SELECT "
                                   "frame FROM frames WHERE name LIKE 'A.B(%'))");
}

static void a_state_is_the_last_of_each_process(void **state)
{
    struct sxs_fleet_selection s = {.kind = SXS_CLICKHOUSE_LIVE, .from = 60, .step = 3600};
    (void)state;
    FILE *to = begin();
    sxs_fleet_where(to, &s, false);
    fclose(to);
    assert_string_equal(
        text, "kind = 'live' AND time >= toDateTime(60) AND (source, time) IN (SELECT source, "
              "max(time) FROM samples WHERE kind = 'live' AND time >= toDateTime(60) GROUP BY "
              "source, intDiv(toUInt32(time), 3600))");
}

static void wrong_selections_are_refused(void **state)
{
    static const char *const wrong[] = {"",           "version",       "=x",      "!=x",
                                        "version=1,", "from=nonsense", "to!=now", ",a=b"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct sxs_fleet_selection s = {.kind = SXS_CLICKHOUSE_CPU};
        char                       why[300] = "";
        assert_int_equal(sxs_fleet_select(&s, wrong[i], 1000000000, why, sizeof(why)), -1);
        assert_non_null(strstr(why, "expected"));
        sxs_fleet_selection_free(&s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),
        cmocka_unit_test(selections_become_conditions),
        cmocka_unit_test(a_state_is_the_last_of_each_process),
        cmocka_unit_test(wrong_selections_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
