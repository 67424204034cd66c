/* SPDX-License-Identifier: MIT */
/* test_tools_apart.c - a tool that cannot be had is left out alone; runtimes apart. */
#include "tests/unit/tools_fixture.h"

/* ---- tools that cannot be had ---------------------------------------------------------------- */

static void start_fails_body(void)
{
    spies[FIRST].low = spies[SECOND].low = spies[THIRD].low = LOW(JIT_COMPILATION);
    spies[SECOND].low |= LOW(ENTERLEAVE);
    spies[SECOND].start_result = E_OUTOFMEMORY;
    capture();
    struct fake_host h = begin("9.0", 3);
    const char      *said = captured();
    CHECK_EQ(lines_of(said), 1);
    CHECK(strstr(said, "tool second is off for runtime 1 (9.0.0)") &&
          strstr(said, "E_OUTOFMEMORY"));
    mask_is(&h, LOW(JIT_COMPILATION), 0);
    fake_raise0(&h, "JITCompilationStarted", 1, 0);
    CHECK(strcmp(order, "13") == 0);
    fake_end(&h);
    CHECK(strcmp(order, "13cazx") == 0);
    CHECK_EQ(spies[SECOND].released, 1);
    CHECK_EQ(spies[SECOND].stopped, 0);
}

static void a_tool_that_cannot_start_is_left_out_alone(void **state)
{
    (void)state;
    PASSES(start_fails_body);
}

/* An attaching profiler may not ask for everything: here the runtime itself refuses one mask. */
static void refused_body(void)
{
    GUID             clsid = {0};
    struct fake_host h = with_tools("8.0", 3);
    unsetenv("CORECLR_ENABLE_PROFILING");
    CHECK_EQ(fake_initialize(&h), S_OK);
    spies[FIRST].low = LOW(JIT_COMPILATION);
    spies[SECOND].low = LOW(CODE_TRANSITIONS) | LOW(THREADS);
    spies[THIRD].low = LOW(JIT_COMPILATION) | LOW(EXCEPTIONS);
    capture();
    CHECK_EQ(h.c->attach("@program:fake_host_class_object", &clsid, NULL, 0), S_OK);
    const char *said = captured();
    CHECK_EQ(lines_of(said), 1);
    CHECK(strstr(said, "tool second is off") && strstr(said, "refuses its event mask"));
    mask_is(&h, LOW(JIT_COMPILATION) | LOW(EXCEPTIONS), 0);
    CHECK_EQ(spies[SECOND].released, 1);
    n_order = 0;
    memset(order, 0, sizeof(order));
    fake_raise0(&h, "JITCompilationStarted", 1, 0);
    fake_raise0(&h, "ThreadCreated", 1, 0);
    fake_raise0(&h, "ExceptionThrown", 1, 0);
    CHECK(strcmp(order, "133") == 0);
    fake_end(&h);
}

static void a_tool_whose_mask_the_runtime_refuses_is_left_out_alone(void **state)
{
    (void)state;
    PASSES(refused_body);
}

/* ---- runtimes apart -------------------------------------------------------------------------- */

static void two_runtimes_body(void)
{
    spies[FIRST].low = LOW(JIT_COMPILATION);
    struct fake_host eight = begin("8.0", 1);
    struct sxs_sub  *sub8 = spies[FIRST].sub;
    struct fake_host nine = begin("9.0", 1);
    struct sxs_sub  *sub9 = spies[FIRST].sub;
    struct seen     *seen8 = sub8->state, *seen9 = sub9->state;
    CHECK(sub8 != sub9 && seen8 != seen9 && sub8->rt != sub9->rt);
    fake_raise0(&eight, "JITCompilationStarted", 0x77, 1);
    CHECK_EQ(seen8->last_id, 0x77); /* the same FunctionID may exist in both */
    CHECK_EQ(seen9->last_id, 0);
    fake_raise0(&nine, "JITCompilationStarted", 0x78, 1);
    CHECK_EQ(seen8->last_id, 0x77);
    CHECK_EQ(seen9->last_id, 0x78);
    CHECK_EQ(sxs_sub_set_mask(sub8, 0, 0), S_OK);
    mask_is(&eight, 0, 0);
    mask_is(&nine, LOW(JIT_COMPILATION), 0);
    fake_end(&eight);
    CHECK_EQ(spies[FIRST].released, 1);
    fake_raise0(&nine, "JITCompilationStarted", 0x79, 1);
    CHECK_EQ(seen9->last_id, 0x79);
    fake_end(&nine);
    CHECK_EQ(spies[FIRST].released, 2);
}

static void state_and_masks_are_each_runtimes_own(void **state)
{
    (void)state;
    PASSES(two_runtimes_body);
}

static void guarded_body(void)
{
    setenv("SXSPROF_PICK", "one:99", 1);
    spies[FIRST].low = LOW(JIT_COMPILATION);
    spies[THIRD].low = LOW(THREADS);
    struct fake_host h = begin("8.0", 3);
    mask_is(&h, LOW(THREADS), 0);
    CHECK_EQ(spies[FIRST].started, 0);
    CHECK_EQ(spies[THIRD].started, 1);
    CHECK(!sxs_runtime_is_picked(spies[THIRD].sub->rt));
    fake_end(&h);
}

static void a_guarded_runtime_has_only_the_tools_that_want_guarded_ones(void **state)
{
    (void)state;
    PASSES(guarded_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_that_cannot_start_is_left_out_alone),
        cmocka_unit_test(a_tool_whose_mask_the_runtime_refuses_is_left_out_alone),
        cmocka_unit_test(state_and_masks_are_each_runtimes_own),
        cmocka_unit_test(a_guarded_runtime_has_only_the_tools_that_want_guarded_ones),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
