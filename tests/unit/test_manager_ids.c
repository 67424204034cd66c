/* SPDX-License-Identifier: MIT */
/* test_manager_ids.c - who is who: numbers, Infos, and IDs of others. */
#include "tests/unit/manager_fixture.h"

/* ---- who is who ------------------------------------------------------------------------------ */

static void own_info_body(void)
{
    static const unsigned info_version[] = {2, 4, 11, 12, 12, 13, 14, 15, 15};
    static const char    *named[] = {"2.0",   "4.0.30319", "3.1.0", "5.0.0", "6.0.0",
                                     "7.0.0", "8.0.0",     "9.0.0", "10.0.0"};
    struct fake_host      h[ARRAY_LEN(versions)];
    prepare();
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        h[i] = fake_start(versions[i]);
        CHECK_EQ(n_kept, i + 1);
        CHECK_EQ(sxs_runtime_number(kept[i + 1]), i + 1);
        CHECK(strcmp(sxs_runtime_version(kept[i + 1]), named[i]) == 0);
        CHECK(strcmp(sxs_runtime_path(kept[i + 1]), h[i].path) == 0);
        CHECK_EQ(kept[i + 1]->info_version, info_version[i]);
        CHECK(sxs_runtime_is_live(kept[i + 1]) && sxs_runtime_is_picked(kept[i + 1]));
        CHECK_EQ(fake_counts(&h[i]).info_refs, 1);
    }
    struct sxs_runtime *live[32];
    CHECK_EQ(sxs_runtimes_live(live, 4), 4);
    for (int i = 0; i < 4; i++)
        sxs_runtime_unref(live[i]);
    size_t n = sxs_runtimes_live(live, 32);
    CHECK_EQ(n, ARRAY_LEN(versions));
    for (size_t i = 0; i < n; i++) {
        CHECK_EQ(sxs_runtime_number(live[i]), i + 1); /* in order of arrival */
        sxs_runtime_unref(live[i]);
    }
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        jit_one(&h[i]);
        CHECK_EQ(jitted[i + 1], 1);
        fake_end(&h[i]); /* its Info: one reference, released once */
    }
    CHECK_EQ(sxs_runtimes_live(live, 32), 0);
}

static void each_runtime_has_its_number_and_the_newest_info_it_offers(void **state)
{
    (void)state;
    PASSES(own_info_body);
}

static void no_info_body(void)
{
    prepare();
    nine = fake_start("9.0");
    ICorProfilerCallback11 *cb = new_instance(S_OK);
    CHECK_EQ(fail_to_initialize(cb), E_NOINTERFACE);
    CHECK_EQ(state_of(2), SXS_STATE_CANCELLED);
    CHECK_EQ(cb->vtbl->Release(cb), 0);
    eight = fake_start("8.0");
    CHECK_EQ(sxs_runtime_number(kept[3]), 3);
    jit_one(&nine);
    CHECK_EQ(jitted[1], 1);
    fake_end(&nine);
    fake_end(&eight);
}

static void an_info_without_any_known_interface_fails_that_runtime_alone(void **state)
{
    (void)state;
    PASSES(no_info_body);
}

/* ---- IDs of others --------------------------------------------------------------------------- */

static void foreign_call(void)
{
    struct sxs_runtime *rt8, *rt9;
    prepare();
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    rt8 = kept[1];
    rt9 = kept[2];
    ModuleID   module = nine.c->module_load("/fake/app.dll");
    ClassID    type = nine.c->class_new(module, "A.B", 0, 0, NULL);
    FunctionID function = nine.c->method_new(type, "M", NULL, 0, 0, NULL);
    sxs_class  cls;
    sxs_module mod;
    mdToken    token;
    /* to its own: fine */
    CHECK_EQ(sxs_info_GetFunctionInfo(rt9, (sxs_function){rt9, function}, &cls, &mod, &token),
             S_OK);
    CHECK(cls.rt == rt9 && cls.id == type && mod.rt == rt9 && mod.id == module);
    capture();
    CHECK_EQ(sxs_info_GetFunctionInfo(rt8, (sxs_function){rt9, function}, &cls, &mod, &token),
             E_INVALIDARG);
    CHECK_EQ(sxs_info_GetFunctionInfo(rt8, (sxs_function){NULL, function}, &cls, &mod, &token),
             E_INVALIDARG);
    CHECK_EQ(sxs_info_GetModuleInfo(rt8, mod, NULL, 0, NULL, NULL, NULL), E_INVALIDARG);
    CHECK_EQ(sxs_info_GetClassIDInfo(rt8, cls, NULL, NULL), E_INVALIDARG);
    const char *said = captured();
    CHECK_EQ(lines_of(said), 4);
    CHECK(strstr(said, "GetFunctionInfo of runtime 1 was handed an ID of runtime 2: refused"));
    CHECK_EQ(fake_counts(&eight).foreign_ids, 0);
    fake_end(&eight);
    fake_end(&nine);
}

static void an_id_of_another_runtime_never_reaches_an_info(void **state)
{
    (void)state;
#ifdef NDEBUG
    PASSES(foreign_call);
#else
    ENDS_BY(foreign_call, SIGABRT);
#endif
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_runtime_has_its_number_and_the_newest_info_it_offers),
        cmocka_unit_test(an_info_without_any_known_interface_fails_that_runtime_alone),
        cmocka_unit_test(an_id_of_another_runtime_never_reaches_an_info),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
