/* SPDX-License-Identifier: MIT */
/* test_early_end.c - one runtime's end leaves what is known of another runtime's early code, even without memory. */
#include "sampler/early.h"
#include "tests/unit/manager_fixture.h"
#include "tests/unit/sanitized.h"

enum { METHODS = 400 }; /* of each runtime: some of the table's entries are not where they belong */

static int refuse; /* calloc() fails */

#ifndef SXS_SANITIZED
extern void                                 *__libc_calloc(size_t n, size_t size);
__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    return refuse ? NULL : __libc_calloc(n, size);
}
#endif

static unsigned n_news;

static void count_news(const struct sxs_compiled *piece)
{
    (void)piece;
    n_news++;
}

static unsigned compile(const FunctionID *methods, struct sxs_runtime *rt)
{
    n_news = 0;
    for (int i = 0; i < METHODS; i++)
        sxs_early_compiled((sxs_function){rt, methods[i]}, 0);
    sxs_compiled_update(count_news);
    return n_news;
}

static void define(const struct fake_host *h, FunctionID *methods)
{
    ModuleID module = h->c->module_load("/app.dll");
    ClassID  type = h->c->class_new(module, "App.Type", 0, 0, NULL);
    char     name[16];
    for (int i = 0; i < METHODS; i++) {
        snprintf(name, sizeof(name), "M%d", i);
        methods[i] = h->c->method_new(type, name, NULL, 0, 0, NULL);
        CHECK_EQ(h->c->jit(methods[i]), S_OK);
    }
}

static void end_body(void)
{
    static FunctionID of_eight[METHODS], of_nine[METHODS];
    prepare();
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    define(&eight, of_eight);
    define(&nine, of_nine);
    CHECK_EQ(compile(of_eight, kept[1]), METHODS);
    CHECK_EQ(compile(of_nine, kept[2]), METHODS);
    refuse = 1;
    sxs_early_end(kept[1]);
    refuse = 0;
    CHECK_EQ(compile(of_nine, kept[2]), 0); /* all known */
    CHECK_EQ(compile(of_eight, kept[1]), METHODS);
    sxs_early_end(kept[2]);
    CHECK_EQ(compile(of_eight, kept[1]), 0);
    sxs_early_end(kept[1]);
    CHECK_EQ(compile(of_nine, kept[2]), METHODS);
    fake_end(&eight);
    fake_end(&nine);
}

static void the_end_of_a_runtime_leaves_the_code_of_others_known(void **state)
{
    (void)state;
    skip_if_sanitized("sanitizers have a calloc() of their own");
    PASSES(end_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_end_of_a_runtime_leaves_the_code_of_others_known,
                               plain_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
