/* SPDX-License-Identifier: MIT */
/* test_fakeclr_loading.c - how the simulated runtime loads a profiler, attaches it and detaches it. */
#include "tests/unit/fakeclr_fixture.h"

/* -- Loading -- */

static void a_profiler_named_in_the_environment_is_created_and_initialized(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    assert_non_null(rt.p);
    assert_int_equal(rt.c->load_state(), FAKECLR_ACTIVE);
    assert_int_equal(rt.c->raised("Initialize"), 1);
    end(&rt);
    assert_int_equal(rt.c->load_state(), FAKECLR_SHUT_DOWN);
    assert_int_equal(rt.c->raised("Shutdown"), 1);
}

static void nothing_is_loaded_when_profiling_is_not_enabled(void **state)
{
    (void)state;
    setenv("CORECLR_ENABLE_PROFILING", "0", 1);
    struct runtime rt = start("9.0");
    assert_null(rt.p);
    assert_int_equal(rt.c->load_state(), FAKECLR_NOT_ASKED);
    end(&rt);
}

static void the_path_with_the_bitness_wins(void **state)
{
    (void)state;
    setenv("CORECLR_PROFILER_PATH_64", "/nonexistent.so", 1);
    struct runtime rt = start("8.0");
    assert_int_equal(rt.c->load_state(), FAKECLR_FAILED);
    assert_true(logged(&rt, "/nonexistent.so"));
    end(&rt);
}

static void a_profiler_that_cancels_is_released_and_the_runtime_goes_on(void **state)
{
    (void)state;
    setup.initialize_returns = CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    struct runtime rt = start("10.0");
    assert_int_equal(rt.c->load_state(), FAKECLR_CANCELLED);
    assert_int_equal(rt.p->refs, 0);
    assert_false(logged(&rt, "failed"));
    end(&rt);
}

static void a_failed_initialize_is_logged_and_everything_released(void **state)
{
    (void)state;
    setup.initialize_returns = E_FAIL;
    struct runtime rt = start("6.0");
    assert_int_equal(rt.c->load_state(), FAKECLR_FAILED);
    assert_int_equal(rt.c->load_result(), E_FAIL);
    assert_true(logged(&rt, "0x80004005"));
    end(&rt);
}

static void every_row_of_the_compatibility_table_comes_true(void **state)
{
    (void)state;
    struct runtime any = start("8.0");
    size_t n;
    const struct fakeclr_compat_row *rows = any.c->compat_table(&n);
    assert_int_equal(n, 16);
    for (size_t i = 0; i < n; i++) {
        setup.newest_callback = rows[i].v4_profiler ? 4 : 2;
        unsetenv("COMPLUS_ProfAPI_ProfilerCompatibilitySetting");
        if (rows[i].setting)
            setenv("COMPLUS_ProfAPI_ProfilerCompatibilitySetting", rows[i].setting, 1);
        struct runtime first = start(rows[i].first), second = start(rows[i].second);
        assert_int_equal(first.c->load_state(), rows[i].first_ends);
        assert_int_equal(second.c->load_state(), rows[i].second_ends);
        end(&first);
        end(&second);
    }
    setup.newest_callback = 11;
    end(&any);
}

static void attaching_hands_over_the_client_data(void **state)
{
    (void)state;
    char data[] = "abc";
    GUID clsid = {0xA1B2C3D4, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
    setenv("CORECLR_ENABLE_PROFILING", "0", 1);
    struct runtime rt = start("8.0");
    assert_int_equal(rt.c->attach(PROFILER, &clsid, data, 3), S_OK);
    rt.p = setup.last;
    assert_int_equal(rt.c->raised("ProfilerAttachComplete"), 1);
    ICorProfilerInfo15 *info = rt.p->info;
    assert_int_equal(info->vtbl->SetEventMask(info, COR_PRF_MONITOR_JIT_COMPILATION), S_OK);
    assert_int_equal(info->vtbl->SetEventMask(info, COR_PRF_MONITOR_ENTERLEAVE),
                     CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER);
    assert_int_equal(rt.c->attach(PROFILER, &clsid, data, 3),
                     CORPROF_E_PROFILER_ALREADY_ACTIVE);
    end(&rt);
}

static void an_instance_may_be_asked_for_with_aggregation(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    GUID clsid = {0xA1B2C3D4, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
    void *out;
    assert_int_equal(rt.c->create_instance(PROFILER, &clsid, rt.c->info(), &IID_IUnknown, &out),
                     CLASS_E_NOAGGREGATION);
    assert_int_equal(rt.c->create_instance(PROFILER, &clsid, NULL, &IID_IClassFactory, &out),
                     E_NOINTERFACE);
    end(&rt);
}

static void a_detached_profiler_is_released_and_hears_no_more(void **state)
{
    (void)state;
    setup.low = COR_PRF_MONITOR_MODULE_LOADS;
    struct runtime rt = start("8.0");
    ICorProfilerInfo15 *info = rt.p->info;
    assert_int_equal(info->vtbl->RequestProfilerDetach(info, 1000), S_OK);
    for (int i = 0; i < 5000 && rt.c->load_state() != FAKECLR_DETACHED; i++)
        usleep(1000);
    assert_int_equal(rt.c->load_state(), FAKECLR_DETACHED);
    assert_int_equal(rt.p->detached, 1);
    assert_int_equal(rt.p->refs, 0);
    unsigned before = rt.p->events;
    rt.c->module_load("/fake/Late.dll");
    assert_int_equal(rt.p->events, before);
    end(&rt);
}

/* -- Unloading -- */

static char reported[512];

static void tell(const char *what)
{
    strncat(reported, what, sizeof(reported) - strlen(reported) - 1);
}

static HRESULT assembly_unloads(ICorProfilerCallback11 *self, AssemblyID id)
{
    (void)self;
    (void)id;
    tell("assembly,");
    return S_OK;
}

static HRESULT module_unloads(ICorProfilerCallback11 *self, ModuleID id)
{
    (void)self;
    (void)id;
    tell("module,");
    return S_OK;
}

static HRESULT assembly_unloaded(ICorProfilerCallback11 *self, AssemblyID id, HRESULT status)
{
    (void)self;
    (void)id;
    tell(status == S_OK ? "gone," : "failed,");
    return S_OK;
}

static HRESULT suspends(ICorProfilerCallback11 *self, COR_PRF_SUSPEND_REASON reason)
{
    (void)self;
    tell(reason == COR_PRF_SUSPEND_FOR_APPDOMAIN_SHUTDOWN ? "suspend," : "another suspension,");
    return S_OK;
}

static HRESULT resumes(ICorProfilerCallback11 *self)
{
    (void)self;
    tell("resume");
    return S_OK;
}

/* In the order of 8.0, 9.0 and 10.0: code is taken out while the threads are suspended. */
static void a_module_is_unloaded_and_then_the_threads_are_suspended(void **state)
{
    ICorProfilerCallback11Vtbl before = table.vtbl;
    (void)state;
    setup.low = COR_PRF_MONITOR_ASSEMBLY_LOADS | COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_SUSPENDS;
    table.vtbl.AssemblyUnloadStarted = assembly_unloads;
    table.vtbl.ModuleUnloadStarted = module_unloads;
    table.vtbl.AssemblyUnloadFinished = assembly_unloaded;
    table.vtbl.RuntimeSuspendStarted = suspends;
    table.vtbl.RuntimeResumeFinished = resumes;
    struct runtime rt = start("9.0");
    ModuleID       module = rt.c->module_load("/fake/Gone.dll");
    reported[0] = '\0';
    rt.c->module_unload(module);
    assert_string_equal(reported, "assembly,module,gone,suspend,resume");
    end(&rt);
    table.vtbl = before;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, before_each)
        T(a_profiler_named_in_the_environment_is_created_and_initialized),
        T(nothing_is_loaded_when_profiling_is_not_enabled),
        T(the_path_with_the_bitness_wins),
        T(a_profiler_that_cancels_is_released_and_the_runtime_goes_on),
        T(a_failed_initialize_is_logged_and_everything_released),
        T(every_row_of_the_compatibility_table_comes_true),
        T(attaching_hands_over_the_client_data),
        T(an_instance_may_be_asked_for_with_aggregation),
        T(a_detached_profiler_is_released_and_hears_no_more),
        T(a_module_is_unloaded_and_then_the_threads_are_suspended),
    };
    return cmocka_run_group_tests_name("fakeclr", tests, NULL, NULL);
}
