/* SPDX-License-Identifier: MIT */
/* test_tools_needs.c - a tool that needs another one: that is enabled before it, once, and if it
 * cannot start, the tool that needs it is off. */
#include "tests/unit/tools_fixture.h"

static const struct sxs_tool        base = {.name = "base",
                                            .on = &everything,
                                            .start = start_first,
                                            .stop = spy_stop,
                                            .release = spy_release};
static const struct sxs_tool        upper = {.name = "upper",
                                             .needs = "base",
                                             .on = &everything,
                                             .start = start_second,
                                             .stop = spy_stop,
                                             .release = spy_release};
static const struct sxs_tool        other = {.name = "other",
                                             .needs = "base",
                                             .on = &everything,
                                             .start = start_third,
                                             .stop = spy_stop,
                                             .release = spy_release};
static const struct sxs_tool *const known[] = {&upper, &other, &base};

static struct fake_host begin_with(const char *tools)
{
    struct fake_host h;
    setenv("SXSPROF_TOOLS", tools, 1);
    profile_without_signals(known, ARRAY_LEN(known));
    h = fake_load("9.0");
    CHECK_EQ(fake_initialize(&h), S_OK);
    return h;
}

static void enabled_body(void)
{
    struct fake_host h = begin_with("upper:a=1;other");
    CHECK(strcmp(order, "ABC") == 0);
    CHECK(strcmp(spies[FIRST].options, "") == 0 && strcmp(spies[SECOND].options, "a=1") == 0);
    fake_end(&h);
    CHECK(strncmp(order, "ABCcba", 6) == 0); /* stopped in the reverse order */
}

static void a_needed_tool_is_started_first_and_once(void **state)
{
    (void)state;
    PASSES(enabled_body);
}

static void named_body(void)
{
    struct fake_host h = begin_with("base:b=2;upper");
    CHECK(strcmp(order, "AB") == 0);
    CHECK(strcmp(spies[FIRST].options, "b=2") == 0);
    fake_end(&h);
}

static void a_needed_tool_that_is_named_keeps_its_options(void **state)
{
    (void)state;
    PASSES(named_body);
}

static void failed_body(void)
{
    const char *said;
    spies[FIRST].start_result = E_FAIL;
    capture();
    struct fake_host h = begin_with("upper");
    said = captured();
    CHECK(strstr(said, "tool upper is off for runtime 1 (9.0"));
    CHECK(strstr(said, "it needs the tool base, which is off"));
    CHECK_EQ(spies[FIRST].started, 1);
    CHECK_EQ(spies[SECOND].started, 0);
    fake_end(&h);
    CHECK_EQ(spies[SECOND].stopped + spies[SECOND].released, 0);
}

static void without_the_needed_tool_a_tool_is_off_and_says_so(void **state)
{
    (void)state;
    PASSES(failed_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_needed_tool_is_started_first_and_once),
        cmocka_unit_test(a_needed_tool_that_is_named_keeps_its_options),
        cmocka_unit_test(without_the_needed_tool_a_tool_is_off_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
