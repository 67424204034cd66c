/* SPDX-License-Identifier: MIT */
/* test_tier_sessions.c - how long a runtime is asked for JITCompilationFinished. */
#include "sampling/recorder_tool.h"
#include "symbols/tier_sessions.h"
#include "tests/unit/manager_fixture.h"
#include "tools/sample/tool.h"

enum { LONG_NS = 100 * 1000 * 1000 };

static struct sxs_runtime *rt;

/* Keeps the runtime, and asks it for nothing. */
static HRESULT keep_runtime(struct sxs_sub *sub, const char *options)
{
    (void)options;
    rt = sub->rt;
    return S_OK;
}

static const struct sxs_tool runtime_keeper = {
    .name = "runtime", .always = 1, .start = keep_runtime};
static const struct sxs_tool *const tools[] = {&sxs_recorder_tool, &sxs_sample_tool, &runtime_keeper};

static int is_asked_for_compilations(void)
{
    DWORD low = 0;
    CHECK_EQ(sxs_info_GetEventMask(rt, &low), S_OK);
    return (low & LOW(JIT_COMPILATION)) != 0;
}

static void start_sampling(const char *dir)
{
    setenv("SXSPROF_OUT", dir, 1);
    setenv("SXSPROF_TOOLS", "sample:cpu=99", 1);
    profile_without_signals(tools, ARRAY_LEN(tools));
    eight = fake_start("8.0");
    CHECK(rt);
    CHECK(is_asked_for_compilations());
    CHECK(sxs_tier_sessions_is_expected(rt));
}

static void wait_for_the_session(void)
{
    while (sxs_tier_sessions_is_expected(rt))
        usleep(1000);
}

static void compilation_body(void)
{
    static const char *dir;
    const uint64_t     failed = (uint32_t)E_FAIL; /* nothing is asked about these methods */
    dir = temporary();
    start_sampling(dir);
    fake_raise0(&eight, "JITCompilationStarted", 0x1234, 1);
    fake_raise0(&eight, "JITCompilationStarted", 0x5678, 1);
    fake_raise0(&eight, "JITCompilationFinished", 0x5678, failed);
    wait_for_the_session();
    nanosleep(&(struct timespec){0, LONG_NS}, NULL); /* longer than the service thread sleeps */
    CHECK(is_asked_for_compilations());
    fake_raise0(&eight, "JITCompilationFinished", 0x1234, failed);
    while (is_asked_for_compilations())
        usleep(1000);
    fake_end(&eight);
    remove_tree(dir);
}

static void a_compilation_under_way_is_waited_for(void **state)
{
    (void)state;
    PASSES(compilation_body);
}

static void end_body(void)
{
    static const char *dir;
    dir = temporary();
    start_sampling(dir);
    fake_raise0(&eight, "JITCompilationStarted", 0x1234, 1);
    wait_for_the_session();
    fake_end(&eight);
    CHECK(!sxs_tier_sessions_is_expected(rt));
    CHECK(!sxs_tier_sessions_due());
    remove_tree(dir);
}

static void a_runtime_may_end_before_its_compilations(void **state)
{
    (void)state;
    PASSES(end_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compilation_under_way_is_waited_for),
        cmocka_unit_test(a_runtime_may_end_before_its_compilations),
    };
    return cmocka_run_group_tests(tests, plain_environment, NULL);
}
