/* SPDX-License-Identifier: MIT */
/* test_precompiled.c - precompiled code is not used in modules that have instrumented methods. */
#include "rejit/methods/precompiled.h"
#include "tests/unit/manager_fixture.h"
#include "tests/unit/sanitized.h"

enum { MODULES = 1000 };

static FunctionID add_module(const struct fake_host *h, unsigned number, sxs_module *module)
{
    char path[64];
    snprintf(path, sizeof(path), "/app/Plugin%u.dll", number);
    *module = (sxs_module){kept[1], h->c->module_load(path)};
    return h->c->method_new(h->c->class_new(module->id, "App.Plugin", 0, 0, NULL), "Run", NULL, 0,
                            0, NULL);
}

static void many_body(void)
{
    static FunctionID methods[MODULES];
    static sxs_module modules[MODULES];
    unsigned          left = 0;
    prepare();
    eight = fake_start("8.0");
    for (unsigned i = 0; i < MODULES; i++)
        methods[i] = add_module(&eight, i, &modules[i]);
    for (unsigned i = 0; i < MODULES; i++)
        sxs_precompiled_leave(modules[i]);
    for (unsigned i = 0; i < MODULES; i++)
        left += sxs_precompiled_is_left((sxs_function){kept[1], methods[i]}) != 0;
    CHECK_EQ(left, MODULES);
    sxs_precompiled_forget(modules[0]);
    CHECK(!sxs_precompiled_is_left((sxs_function){kept[1], methods[0]}));
    CHECK(sxs_precompiled_is_left((sxs_function){kept[1], methods[MODULES - 1]}));
    fake_end(&eight);
}

static void it_is_left_in_any_number_of_modules(void **state)
{
    (void)state;
    PASSES(many_body);
}

static int refuse; /* 1: realloc() fails */

#ifndef SXS_SANITIZED
extern void                                 *__libc_realloc(void *at, size_t size);
__attribute__((visibility("default"))) void *realloc(void *at, size_t size)
{
    return refuse ? NULL : __libc_realloc(at, size);
}
#endif

static void no_memory_body(void)
{
    sxs_module  module;
    FunctionID  method;
    const char *line;
    prepare();
    capture();
    eight = fake_start("8.0");
    refuse = 1;
    for (unsigned i = 0; i < 3; i++) {
        method = add_module(&eight, i, &module);
        sxs_precompiled_leave(module);
        CHECK(!sxs_precompiled_is_left((sxs_function){kept[1], method}));
    }
    refuse = 0;
    line = strstr(captured(), "precompiled code of");
    CHECK(line && !strstr(line + 1, "precompiled code of"));
    fake_end(&eight);
}

static void a_module_that_cannot_be_kept_is_reported_once(void **state)
{
    (void)state;
    skip_if_sanitized("sanitizers have a realloc() of their own");
    PASSES(no_memory_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_is_left_in_any_number_of_modules, plain_environment),
        cmocka_unit_test_setup(a_module_that_cannot_be_kept_is_reported_once, plain_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
