/* SPDX-License-Identifier: MIT */
/* test_fakeclr_hosting.c - scenarios, delegates and signals of the simulated runtime. */
#include "tests/unit/fakeclr_fixture.h"

/* -- Hosting and signals -- */

static void a_scenario_runs_and_returns_its_exit_code(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    unsigned code = 0;
    assert_int_equal(rt.execute(rt.host, rt.domain, 0, NULL,
                                "!modules 3; jit 100; throw 5\nframes 10; exit 7; gc 1", &code),
                     S_OK);
    assert_int_equal(code, 7);
    assert_int_equal(rt.p->jitted, 100);
    assert_int_equal(rt.execute(rt.host, rt.domain, 0, NULL, "/no/such/file", &code),
                     (HRESULT)0x80070002);
    assert_int_equal(rt.execute(rt.host, rt.domain, 0, NULL, "!dance", &code), E_INVALIDARG);
    end(&rt);
}

static uint64_t forty_two(void *arg)
{
    (void)arg;
    return 42;
}

static void a_delegate_is_compiled_code(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    uint64_t (*call)(uint64_t (*)(void *), void *);
    void *delegate = NULL;
    assert_int_equal(rt.delegate(rt.host, rt.domain, "App", "Demo.Bridge", "Hop", &delegate), S_OK);
    memcpy(&call, &delegate, sizeof(call));
    assert_int_equal(call(forty_two, NULL), 42);
    FunctionID fn = 0;
    assert_int_equal(rt.p->info->vtbl->GetFunctionFromIP(rt.p->info, delegate, &fn), S_OK);
    assert_int_equal(fn, rt.p->last_jitted);
    end(&rt);
}

static void faults_in_its_code_are_handled_and_every_second_handler_never_returns(void **state)
{
    (void)state;
    setenv("FAKECLR_SIGNALS", "on", 1);
    struct runtime rt = start("8.0");
    struct fakeclr_counts n;
    unsigned code;
    rt.c->faults(8);
    rt.c->counts(&n);
    assert_int_equal(n.faults, 8);
    assert_int_equal(n.faults_left, 4);
    assert_int_equal(rt.execute(rt.host, rt.domain, 0, NULL,
                                "!threads 3; gc 5; thread-faults 20 2; join", &code), S_OK);
    rt.c->counts(&n);
    assert_int_equal(n.faults, 48);
    assert_int_equal(n.gc_hangs, 0);
    assert_int_equal(n.activations, 15);
    end(&rt);
}

static void an_earlier_runtimes_fault_passes_through_the_later_one(void **state)
{
    (void)state;
    setenv("FAKECLR_SIGNALS", "on", 1);
    struct runtime earlier = start("8.0"), later = start("9.0");
    struct fakeclr_counts n;
    earlier.c->faults(4);
    later.c->counts(&n);
    assert_int_equal(n.faults_chained, 4);
    assert_int_equal(n.after_previous, 2); /* the other two never came back */
    end(&earlier);
    end(&later);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, before_each)
        T(a_scenario_runs_and_returns_its_exit_code),
        T(a_delegate_is_compiled_code),
        T(faults_in_its_code_are_handled_and_every_second_handler_never_returns),
        T(an_earlier_runtimes_fault_passes_through_the_later_one),
    };
    return cmocka_run_group_tests_name("fakeclr", tests, NULL, NULL);
}
