/* SPDX-License-Identifier: MIT */
/* test_calls_no_memory.c - a function is not hooked if no memory can be allocated for the decision. The decision is made
 * again later. The test's own reallocarray() fails on demand. */
#include "elt/calls_hooks.h"
#include "session/read/calls_read.h"
#include "tests/unit/manager_fixture.h"
#include "tests/unit/sanitized.h"
#include "tools/calls/calls.h"
#include "tools/calls/functions.h"

/* Initial capacity of the array of decisions, in elements. */
#define DECISIONS 1024

static _Atomic int refuse, n_refused;

#ifndef SXS_SANITIZED
__attribute__((visibility("default"))) void *reallocarray(void *block, size_t n, size_t size)
{
    if (atomic_load(&refuse) && n == DECISIONS) {
        atomic_fetch_add(&n_refused, 1);
        return NULL;
    }
    return realloc(block, n * size); /* @n is small in this program */
}
#endif

/* A tool that asks, in the callback before each compilation, as the tool "calls" does. */
static int answer;

static HRESULT asked(struct sxs_sub *sub, sxs_function fn, BOOL safe)
{
    (void)sub, (void)safe;
    answer = sxs_functions_decide(fn);
    return S_OK;
}

static HRESULT asker_start(struct sxs_sub *sub, const char *options)
{
    (void)options;
    sub->low = LOW(JIT_COMPILATION);
    kept[1] = sub->rt;
    return S_OK;
}

static const struct sxs_events asker_events = {.JITCompilationStarted = asked};
static const struct sxs_tool   asker = {
      .name = "asker", .always = 1, .on = &asker_events, .start = asker_start};
static const struct sxs_tool *const tools[] = {&asker, &sxs_calls_tool};

/* What the session's file says of functions, as its readers see it. */
static void file_says(uint64_t hooked, int some_lost)
{
    struct sxs_calls *c;
    char              why[256] = "";
    int fd = open(sxs_session_folder("calls")->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(sxs_calls_read(SXS_FILES_OF(fd), &c, why, sizeof(why)), 0);
    CHECK_EQ(c->head.n_functions, hooked);
    CHECK_EQ(c->head.functions_lost > 0, some_lost);
    sxs_calls_free(c);
    close(fd);
}

static void refused_body(void)
{
    const char *dir = temporary();
    FunctionID  fn;
    ModuleID    module;
    setenv("SXSPROF_OUT", dir, 1);
    setenv("SXSPROF_TOOLS", "calls", 1);
    sxs_calls_use_hooks(sxs_elt_hooks());
    profile_without_signals(tools, ARRAY_LEN(tools));
    eight = fake_start("8.0");
    module = eight.c->module_load("/app.dll");
    fn = eight.c->method_new(eight.c->class_new(module, "App.Type", 0, 0, NULL), "M", NULL, 0, 0,
                             NULL);
    answer = -1;
    atomic_store(&refuse, 1);
    CHECK_EQ(eight.c->jit(fn), S_OK);
    CHECK_EQ(answer, 0);
    CHECK_EQ(eight.c->elt(fn, 0), 0); /* what the mapper said */
    CHECK(!sxs_functions_find(kept[1], fn));
    atomic_store(&refuse, 0);
    CHECK(atomic_load(&n_refused) > 0);
    file_says(0, 1);
    fake_raise0(&eight, "JITCompilationStarted", fn, 1); /* the next tier, with memory */
    CHECK_EQ(answer, 1);
    CHECK(sxs_functions_find(kept[1], fn));
    CHECK_EQ(sxs_functions_find(kept[1], fn)->number, 0);
    file_says(1, 1);
    fake_end(&eight);
    remove_tree(dir);
}

static void a_function_without_memory_for_its_decision_is_not_hooked(void **state)
{
    (void)state;
    skip_if_sanitized("sanitizers have a reallocarray() of their own");
    PASSES(refused_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_function_without_memory_for_its_decision_is_not_hooked,
                               plain_environment),
    };
    return cmocka_run_group_tests_name("calls without memory", tests, NULL, NULL);
}
