/* SPDX-License-Identifier: MIT */
/* A search of a module's metadata that fails says nothing of what the module has: methods keep what they have. */
#include <pthread.h>

#include "tests/unit/manager_fixture.h"

#include "rejit/methods/instrumented.h"
#include "rejit/methods/requests.h"

#define N_METHODS 3u

static ModuleID last_module(struct sxs_runtime *rt)
{
    ICorProfilerModuleEnum *all = NULL;
    ModuleID                id, last = 0;
    ULONG                   n = 0;
    CHECK_EQ(sxs_info_EnumModules(rt, &all), S_OK);
    while (SUCCEEDED(all->vtbl->Next(all, 1, &id, &n)) && n)
        last = id;
    all->vtbl->Release(all);
    return last;
}

static struct sxs_plan *plan_of(uint32_t generation, const char *match)
{
    char               text[512];
    int                n = snprintf(text, sizeof(text),
                                    "<instrumentation xmlns=\"urn:sxsprof:instrumentation:1\"><rule><match "
                                                   "assembly=\"Work\" type=\"Fake.Work.Methods\" %s/><count/></rule>"
                                                   "</instrumentation>",
                                    match);
    struct sxs_config *config = sxs_config_parse("rules.xml", text, (size_t)n);
    CHECK(config && config->n_rules == 1);
    return sxs_plan_new(config, generation);
}

static void *apply_here(void *requests)
{
    sxs_requests_apply(requests);
    return NULL;
}

/* On a thread of its own: the runtime refuses its metadata to its own threads outside of callbacks. */
static void apply(ModuleID module, uint32_t generation, const char *match)
{
    struct sxs_plan    *plan = plan_of(generation, match);
    struct sxs_requests all = {
        .rt = kept[1], .sub = &kept[1]->subs[0], .modules = &module, .n = 1, .plan = plan};
    pthread_t           thread;
    CHECK_EQ(pthread_create(&thread, NULL, apply_here, &all), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    sxs_plan_unref(plan);
}

/* How many of the module's methods rules are wanted of. */
static unsigned wanted(ModuleID module)
{
    unsigned n = 0;
    for (mdToken token = 0x06000001; token < 0x06000100; token++)
        n += sxs_instrumented_is_wanted((struct sxs_instrumented_key){{kept[1], module}, token}) !=
             0;
    return n;
}

static ModuleID begin(struct fake_host *host, const char *version)
{
    prepare();
    *host = fake_start(version);
    CHECK_EQ(fake_run(host, "!work module 3"), 0);
    return last_module(kept[1]);
}

static void failed_searches_body(void)
{
    static const char *const calls[] = {"AssemblyImport.GetAssemblyFromScope",
                                        "Import.EnumTypeDefs", "Import.EnumMethods",
                                        "Import.GetMethodProps"};
    ModuleID                 module = begin(&nine, "9.0");
    uint32_t                 generation = 0;
    for (unsigned i = 0; i < ARRAY_LEN(calls); i++) {
        apply(module, ++generation, "method=\"*\"");
        CHECK_EQ(wanted(module), N_METHODS);
        CHECK_EQ(nine.c->fail_call(calls[i], E_FAIL, 0), S_OK);
        apply(module, ++generation, "method=\"None\"");
        dprintf(check_fd, "%s failed: %u of %u methods keep their rules\n", calls[i],
                wanted(module), N_METHODS);
        CHECK_EQ(wanted(module), N_METHODS);
        CHECK_EQ(nine.c->fail_call(calls[i], S_OK, 0), S_OK);
        apply(module, ++generation, "method=\"None\"");
        CHECK_EQ(wanted(module), 0);
    }
    fake_end(&nine);
}

static void what_cannot_be_searched_keeps_what_it_has(void **state)
{
    (void)state;
    PASSES(failed_searches_body);
}

static void one_method_body(void)
{
    ModuleID module = begin(&eight, "8.0");
    apply(module, 1, "method=\"*\"");
    CHECK_EQ(eight.c->fail_call("Import.GetMethodProps", E_FAIL, 2),
             S_OK); /* of the second method */
    apply(module, 2, "method=\"None\"");
    dprintf(check_fd, "one of %u could not be read: %u keep their rules\n", N_METHODS,
            wanted(module));
    CHECK_EQ(wanted(module), 1);
    apply(module, 3, "method=\"None\"");
    CHECK_EQ(wanted(module), 0);
    fake_end(&eight);
}

static void of_several_methods_the_one_that_cannot_be_read_keeps_what_it_has(void **state)
{
    (void)state;
    PASSES(one_method_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_cannot_be_searched_keeps_what_it_has, plain_environment),
        cmocka_unit_test_setup(of_several_methods_the_one_that_cannot_be_read_keeps_what_it_has,
                               plain_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
