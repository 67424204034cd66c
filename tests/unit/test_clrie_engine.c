/* SPDX-License-Identifier: MIT */
/*
 * The engine on a simulated runtime, with plug-ins that write down what is called: order, results,
 * masks, bodies. The plug-ins are objects of this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/clrie_engine_fixture.h"

/* ---- loads, compilations -------------------------------------------------------------------------- */

static void plug_ins_are_called_in_the_order_of_priority(void **state)
{
    (void)state;
    start(3, (const unsigned[]){50, 10, 50}); /* a, b, c */
    said_is("a.Initialize b.Initialize c.Initialize ");
    load();
    said_is("b.AppDomainCreated a.AppDomainCreated c.AppDomainCreated "
            "b.ModuleLoaded a.ModuleLoaded c.ModuleLoaded b.AssemblyLoaded a.AssemblyLoaded "
            "c.AssemblyLoaded ");
    plug[0].wants = plug[2].wants = 1;
    HR(S_OK, compile());
    said_is("b.JitStarted0 a.JitStarted0 c.JitStarted0 b.Should0 a.Should0 c.Should0 a.Before0 "
            "c.Before0 "
            "a.Instrument0 c.Instrument0 b.Complete0 a.Complete0 c.Complete0 b.JitComplete0 "
            "a.JitComplete0 "
            "c.JitComplete0 ");
    assert_int_equal(clr.bodies_set, 1);
    unload();
    said_is(
        "b.ModuleUnloaded a.ModuleUnloaded c.ModuleUnloaded b.AssemblyUnloaded a.AssemblyUnloaded "
        "c.AssemblyUnloaded b.AppDomainShutdown a.AppDomainShutdown c.AppDomainShutdown ");
    stop();
    said_is("b.Shutdown a.Shutdown c.Shutdown ");
}

static void a_method_that_nobody_wants_is_left_alone(void **state)
{
    (void)state;
    start(2, (const unsigned[]){1, 2});
    load();
    plug[0].should_fails = E_FAIL; /* its result counts for nothing */
    said_is(NULL);
    HR(S_OK, compile());
    said_is("a.JitStarted0 b.JitStarted0 a.Should0 b.Should0 a.JitComplete0 b.JitComplete0 ");
    assert_int_equal(clr.bodies_set, 0);
    plug[0].wants = 1; /* it fails, and wants the method: that counts */
    HR(S_OK, compile());
    said_is("a.JitStarted0 b.JitStarted0 a.Should0 b.Should0 a.Before0 a.Instrument0 a.Complete0 "
            "b.Complete0 "
            "a.JitComplete0 b.JitComplete0 ");
    assert_int_equal(clr.bodies_set, 1);
    stop();
}

/* CLRIE leaves out everybody. Here only the plug-in at fault is left out; the others start again. */
static void a_plug_in_that_fails_is_left_out_for_the_method(void **state)
{
    (void)state;
    start(2, (const unsigned[]){1, 2});
    load();
    plug[0].wants = plug[1].wants = 1;
    plug[0].inserts = plug[1].inserts = 1;
    plug[1].instrument_fails = E_FAIL;
    said_is(NULL);
    HR(S_OK, compile());
    /* b may have failed because of what a did, so both are called again, with a check after each */
    said_is("a.JitStarted0 b.JitStarted0 a.Should0 b.Should0 a.Before0 b.Before0 a.Instrument0 "
            "b.Instrument0 a.Before0 b.Before0 a.Instrument0 b.Instrument0 "
            "a.Before0 a.Instrument0 a.Complete0 b.Complete0 a.JitComplete0 b.JitComplete0 ");
    assert_int_equal(nops(clr.body), 1);
    plug[1].instrument_fails = S_OK;
    plug[0].before_fails = E_FAIL;
    HR(S_OK, compile());
    said_is("a.JitStarted0 b.JitStarted0 a.Should0 b.Should0 a.Before0 b.Before0 b.Instrument0 "
            "a.Complete0 "
            "b.Complete0 a.JitComplete0 b.JitComplete0 ");
    plug[0].before_fails = S_FALSE; /* no failure */
    HR(S_OK, compile());
    assert_int_equal(nops(clr.body), 2);
    plug[0].wants = plug[1].wants = 1;
    plug[0].instrument_fails = plug[1].instrument_fails = E_FAIL;
    clr.bodies_set = 0;
    said_is(NULL);
    HR(S_OK, compile());
    said_is(
        "a.JitStarted0 b.JitStarted0 a.Should0 b.Should0 a.Before0 b.Before0 a.Instrument0 "
        "b.Before0 "
        "b.Instrument0 a.JitComplete0 b.JitComplete0 "); /* nobody is left: no OnInstrumentationComplete */
    assert_int_equal(clr.bodies_set, 0);
    stop();
}

static void the_result_of_the_last_plug_in_counts(void **state)
{
    (void)state;
    start(2, (const unsigned[]){1, 2});
    plug[0].event_fails = E_ABORT;
    load_with(S_OK);
    plug[0].event_fails = S_OK;
    plug[1].event_fails = E_ABORT;
    load_with(E_ABORT);
    said_is(NULL);
    HR(E_ABORT, compile_started()); /* JitStarted of the last one: the method is not looked at */
    said_is("a.JitStarted0 b.JitStarted0 ");
    stop();
}

static void a_failing_initialize_leaves_a_plug_in_out(void **state)
{
    (void)state;
    initialize_fails[1] = E_FAIL;
    initialize_fails[2] = S_FALSE;
    start(3, (const unsigned[]){1, 2, 3});
    assert_int_equal(clrie_plugins(engine).n, 2);
    said_is("a.Initialize b.Initialize c.Initialize ");
    load();
    said_is("a.AppDomainCreated c.AppDomainCreated a.ModuleLoaded c.ModuleLoaded a.AssemblyLoaded "
            "c.AssemblyLoaded ");
    stop();
    said_is("a.Shutdown c.Shutdown ");
    assert_int_equal(plug[1].refs, 1); /* CLRIE does not release its object */
    assert_int_equal(plug[0].refs, 0);
}

/* ---- ReJIT, inlining ------------------------------------------------------------------------------ */

static void a_rejit_begins_with_the_original_body(void **state)
{
    const uint8_t *before, *first = NULL;
    uint32_t       size = 0;
    (void)state;
    start(1, (const unsigned[]){1});
    load();
    clrie_engine_first_body((IUnknown *)(void *)callback, MODULE, METHOD(CCTOR), &first, &size);
    assert_null(first); /* nothing was compiled */
    HR(S_OK, compile());
    clrie_engine_first_body((IUnknown *)(void *)callback, MODULE, METHOD(CCTOR), &first, &size);
    assert_null(first); /* the plug-in did not want the method */
    before = run.body;
    plug[0].wants = plug[0].inserts = 1;
    HR(S_OK, compile());
    assert_int_equal(nops(clr.body), 1);
    clrie_engine_first_body((IUnknown *)(void *)callback, MODULE, METHOD(CCTOR), &first, &size);
    assert_ptr_equal(first, before); /* with it begins each ReJIT of which the engine is a part */
    assert_true(size > 0);
    said_is(NULL);
    HR(S_OK, recompile()); /* the runtime returns the engine's body */
    said_is("a.Should1 a.Before1 a.Instrument1 a.Complete1 ");
    assert_int_equal(nops(clr.rejit_body), 1);
    assert_int_equal(clr.rejit_rows, 2); /* the row of `ret`, and the number of the ReJIT */
    HR(S_OK, recompile());
    assert_int_equal(nops(clr.rejit_body), 1);
    /* Another user of the same ReJIT has set a body: that is the one to change. */
    run.body = memcpy(clr.other, (const uint8_t[]){0x12, 0, 0, 0, 0x2a}, 5);
    run.body_size = 5;
    HR(S_OK, recompile());
    assert_int_equal(nops(clr.rejit_body), 4);
    stop();
}

static void a_rejit_includes_the_methods_it_was_inlined_into(void **state)
{
    BOOL answer = 0;
    (void)state;
    start(2, (const unsigned[]){1, 2});
    load();
    HR(S_OK, request(METHOD(CTOR)));
    assert_int_equal(clr.n_rejits, 1);
    said_is(NULL);
    HR(S_OK, CALL(callback, JITInlining, FUNCTION + MAIN, FUNCTION + CTOR, &answer));
    assert_int_equal(answer, 1);
    said_is("a.Inline1 b.Inline1 "); /* the answer is TRUE at first */
    HR(S_OK,
       CALL(callback, JITInlining, FUNCTION + MAIN, FUNCTION + CTOR, &answer)); /* kept once */
    plug[0].refuses_inlining = 1;
    said_is(NULL);
    HR(S_OK, CALL(callback, JITInlining, FUNCTION + SETTER, FUNCTION + CTOR, &answer));
    assert_int_equal(answer, 0);
    said_is("a.Inline1 "); /* the first that refuses ends the round */
    HR(S_OK, request(METHOD(CTOR)));
    assert_int_equal(clr.n_rejits, 2);
    assert_int_equal(clr.rejit_methods[0], METHOD(CTOR));
    assert_int_equal(clr.rejit_methods[1], METHOD(MAIN));
    answer = 7;
    HR(S_OK,
       CALL(callback, JITInlining, FUNCTION, FUNCTION + CTOR, &answer)); /* of an unknown module */
    assert_int_equal(answer, 1);
    stop();
}

/* ---- masks, exceptions ----------------------------------------------------------------------------- */

static void masks_are_those_of_all_plug_ins(void **state)
{
    ICorProfilerInfo5 *info5;
    (void)state;
    initial_mask[0] = 0x40;
    initial_mask[1] = 0x8;
    start(2, (const unsigned[]){1, 2});
    assert_int_equal(clr.low, 0x0004007c);
    assert_int_equal(clr.high, 0);
    HR(S_OK, CALL(plug[0].manager, GetCorProfilerInfo, (IUnknown **)(void *)&info5));
    HR(E_FAIL,
       CALL(info5, SetEventMask, 0x40000000)); /* without the immutable flags of the default */
    assert_int_equal(clr.low, 0x0004007c);
    HR(S_OK, CALL(info5, SetEventMask, 0x00040200));
    assert_int_equal(clr.low, 0x0004027c);
    HR(S_OK, CALL(info5, SetEventMask, 0x00040000)); /* nothing is taken away */
    assert_int_equal(clr.low, 0x0004027c);
    HR(S_OK, CALL(info5, SetEventMask2, 0x00040000, 0x10));
    assert_int_equal(clr.high, 0x10);
    HR(E_FAIL, CALL(info5, SetEventMask2, 0x40000000, 0x12)); /* the high flags stay all the same */
    assert_int_equal(clr.high, 0x10);
    RELEASE(info5);
    HR(S_OK, CALL(plug[0].manager, RemoveInstrumentationMethod, &plug[0].im));
    assert_int_equal(clr.low, 0x0004023c); /* its flags go; those that were added late stay */
    HR(S_OK, CALL(plug[1].manager, RemoveInstrumentationMethod, &plug[0].im));
    HR(E_FAIL, CALL(plug[1].manager, RemoveInstrumentationMethod, NULL));
    said_is(NULL);
    load();
    said_is("b.AppDomainCreated b.ModuleLoaded b.AssemblyLoaded ");
    stop();
    said_is("b.Shutdown ");
    assert_int_equal(plug[0].refs, 0);
}

static void exceptions_are_reported_in_the_order_of_priority(void **state)
{
    (void)state;
    start(2, (const unsigned[]){2, 1});
    load();
    said_is(NULL);
    HR(S_OK, CALL(callback, ExceptionThrown, 0x1234));
    HR(S_OK, CALL(callback, ExceptionSearchFunctionEnter, FUNCTION + MAIN));
    HR(S_OK,
       CALL(callback, ExceptionSearchFunctionEnter, FUNCTION)); /* unknown module: nobody is notified */
    HR(S_OK, CALL(callback, ExceptionSearchCatcherFound, FUNCTION + MAIN));
    HR(S_OK, CALL(callback, ExceptionCatcherEnter, FUNCTION + MAIN, 0x1234));
    HR(S_OK, CALL(callback, ExceptionCatcherLeave));
    said_is(
        "b.Thrown a.Thrown b.Search a.Search b.Catcher a.Catcher b.Enter a.Enter b.Leave a.Leave ");
    stop();
}

/* ---- what is there when ----------------------------------------------------------------------------- */

static void a_plug_in_is_not_registered_in_its_own_initialize(void **state)
{
    IUnknown *found = (void *)1;
    (void)state;
    start(2, (const unsigned[]){1, 2});
    assert_int_equal(plug[0].found_itself, E_NOINTERFACE);
    HR(S_OK, CALL(plug[1].manager, GetInstrumentationMethod, &plug[0].clsid, &found));
    assert_ptr_equal(found, &plug[0].im);
    RELEASE(found);
    HR(S_OK, CALL(plug[1].manager, GetInstrumentationMethod, &plug[1].clsid, &found));
    RELEASE(found);
    stop();
    HR(E_FAIL, plug[0].late); /* GetCorProfilerInfo after the end */
}

static void a_raw_profiler_is_taken_only_in_initialize(void **state)
{
    (void)state;
    start(1, (const unsigned[]){1});
    HR(E_POINTER, CALL(plug[0].manager, AddRawProfilerHook, NULL));
    HR(E_FAIL, CALL(plug[0].manager, AddRawProfilerHook, (IUnknown *)(void *)&plug[0].im));
    HR(S_OK, CALL(plug[0].manager, RemoveRawProfilerHook));
    stop();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(plug_ins_are_called_in_the_order_of_priority),
        CASE(a_method_that_nobody_wants_is_left_alone),
        CASE(a_plug_in_that_fails_is_left_out_for_the_method),
        CASE(the_result_of_the_last_plug_in_counts),
        CASE(a_failing_initialize_leaves_a_plug_in_out),
        CASE(a_rejit_begins_with_the_original_body),
        CASE(a_rejit_includes_the_methods_it_was_inlined_into),
        CASE(masks_are_those_of_all_plug_ins),
        CASE(exceptions_are_reported_in_the_order_of_priority),
        CASE(a_plug_in_is_not_registered_in_its_own_initialize),
        CASE(a_raw_profiler_is_taken_only_in_initialize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
