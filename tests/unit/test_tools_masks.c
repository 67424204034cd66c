/* SPDX-License-Identifier: MIT */
/* test_tools_masks.c - the runtime is asked for the union of what tools ask for, and
 * asked again when one changes it. */
#include "tests/unit/tools_fixture.h"

#include <pthread.h>
#include <unistd.h>

/* ---- masks ----------------------------------------------------------------------------------- */

static const char *version; /* the test at hand's */

static void union_body(void)
{
    spies[FIRST].low = LOW(JIT_COMPILATION) | LOW(ENTERLEAVE);
    spies[SECOND].low = LOW(JIT_COMPILATION) | LOW(MODULE_LOADS);
    struct fake_host h = begin(version, 3);
    mask_is(&h, LOW(JIT_COMPILATION) | LOW(ENTERLEAVE) | LOW(MODULE_LOADS), 0);
    CHECK_EQ(h.c->called("SetEventMask") + h.c->called("SetEventMask2"),
             1); /* asked once, for all */
    fake_end(&h);
}

static const char *const versions[] = {"2.0", "4.0", "3.1", "5.0", "6.0",
                                       "7.0", "8.0", "9.0", "10.0"};

static void the_runtime_is_asked_once_for_the_union_of_all_masks(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        version = versions[i];
        PASSES(union_body);
    }
}

static void high_body(void)
{
    int has_high = !strstr("2.0 4.0", version);
    spies[FIRST].low = LOW(MODULE_LOADS);
    spies[SECOND].low = LOW(THREADS);
    spies[SECOND].high = COR_PRF_HIGH_BASIC_GC;
    spies[THIRD].low = LOW(EXCEPTIONS);
    capture();
    struct fake_host h = begin(version, 3);
    const char      *said = captured();
    CHECK_EQ(lines_of(said), !has_high);
    if (has_high) {
        mask_is(&h, LOW(MODULE_LOADS) | LOW(THREADS) | LOW(EXCEPTIONS), COR_PRF_HIGH_BASIC_GC);
        CHECK_EQ(h.c->called("SetEventMask"), 0);
        CHECK_EQ(spies[SECOND].released, 0);
    } else {
        CHECK(strstr(said, "tool second is off for runtime 1"));
        mask_is(&h, LOW(MODULE_LOADS) | LOW(EXCEPTIONS), 0);
        CHECK_EQ(h.c->called("SetEventMask2"), 0); /* its slot is past that runtime's vtable */
        CHECK_EQ(spies[SECOND].released, 1);
        fake_raise0(&h, "ThreadCreated", 1, 0);
        CHECK_EQ(n_order, 0);
    }
    unsigned before = COUNT(FIRST, ModuleLoadStarted);
    fake_raise0(&h, "ModuleLoadStarted", 1, 0);
    CHECK_EQ(COUNT(FIRST, ModuleLoadStarted), before + 1);
    CHECK_EQ(COUNT(THIRD, ModuleLoadStarted), 0);
    fake_end(&h);
}

static void high_bits_are_refused_to_their_tool_alone_where_there_are_none(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        version = versions[i];
        PASSES(high_body);
    }
}

/* A 4.0 runtime has no high bits, so the second tool is left out. SetEventMask is called for the
 * first tool, for the third, and for the remaining tools together; the last call fails. */
static void left_refused_body(void)
{
    spies[FIRST].low = LOW(MODULE_LOADS);
    spies[SECOND].high = COR_PRF_HIGH_BASIC_GC;
    spies[THIRD].low = LOW(EXCEPTIONS);
    struct fake_host h = with_tools("4.0", 3);
    h.c->fail_call("SetEventMask", E_FAIL, 3);
    capture();
    CHECK_EQ(fake_initialize(&h), S_OK);
    const char *said = captured();
    CHECK_EQ(h.c->called("SetEventMask"), 3);
    CHECK_EQ(lines_of(said), 2);
    CHECK(strstr(said, "tool second is off for runtime 1"));
    CHECK(strstr(said, "runtime 1 (4.0"));
    CHECK(strstr(said, "E_FAIL 0x80004005"));
    fake_end(&h);
}

static void a_runtime_that_refuses_the_masks_that_are_left_is_named(void **state)
{
    (void)state;
    PASSES(left_refused_body);
}

/* ---- changing masks -------------------------------------------------------------------------- */

static void too_late_body(void)
{
    uint32_t immutable = LOW(CODE_TRANSITIONS);
    spies[FIRST].low = LOW(MODULE_LOADS);
    spies[SECOND].low = LOW(THREADS);
    struct fake_host h = begin(version, 2);
    uint64_t         asked = h.c->called("SetEventMask") + h.c->called("SetEventMask2");
    capture();
    CHECK_EQ(sxs_sub_set_mask(spies[SECOND].sub, LOW(THREADS) | immutable, 0),
             CORPROF_E_UNSUPPORTED_CALL_SEQUENCE);
    const char *said = captured();
    CHECK_EQ(lines_of(said), 1);
    CHECK(strstr(said, "tool second"));
    CHECK_EQ(h.c->called("SetEventMask") + h.c->called("SetEventMask2"), asked);
    CHECK_EQ(spies[SECOND].sub->low, LOW(THREADS));
    mask_is(&h, LOW(MODULE_LOADS) | LOW(THREADS), 0);
    fake_raise0(&h, "ThreadCreated", 9, 0);
    fake_raise0(&h, "ModuleLoadStarted", 9, 0);
    CHECK(strcmp(order, "21") == 0);
    fake_end(&h);
}

static void an_immutable_flag_too_late_is_an_error_to_that_tool_alone(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        version = versions[i];
        PASSES(too_late_body);
    }
}

static void high_too_late_body(void)
{
    struct fake_host h = begin("9.0", 2);
    capture();
    CHECK_EQ(sxs_sub_set_mask(spies[FIRST].sub, 0, COR_PRF_HIGH_DISABLE_TIERED_COMPILATION),
             CORPROF_E_UNSUPPORTED_CALL_SEQUENCE);
    CHECK_EQ(lines_of(captured()), 1);
    mask_is(&h, 0, 0);
    fake_end(&h);
}

static void the_same_holds_for_immutable_high_bits(void **state)
{
    (void)state;
    PASSES(high_too_late_body);
}

static void change_body(void)
{
    spies[FIRST].low = LOW(MODULE_LOADS) | LOW(CODE_TRANSITIONS);
    spies[SECOND].low = LOW(THREADS);
    struct fake_host h = begin("8.0", 2);
    /* more, and what the runtime was asked for anyhow */
    CHECK_EQ(sxs_sub_set_mask(spies[SECOND].sub, LOW(JIT_COMPILATION) | LOW(CODE_TRANSITIONS),
                              COR_PRF_HIGH_BASIC_GC),
             S_OK);
    mask_is(&h, LOW(MODULE_LOADS) | LOW(CODE_TRANSITIONS) | LOW(JIT_COMPILATION),
            COR_PRF_HIGH_BASIC_GC);
    CHECK_EQ(fake_raise0(&h, "ThreadCreated", 1, 0), S_FALSE); /* nobody asks for it any more */
    fake_raise0(&h, "GarbageCollectionFinished", 0, 0);
    fake_raise0(&h, "UnmanagedToManagedTransition", 1, 0);
    CHECK(strcmp(order, "212") == 0);
    /* nothing at all: the immutable bit stays with the runtime, the events do not come here */
    CHECK_EQ(sxs_sub_set_mask(spies[FIRST].sub, 0, 0), S_OK);
    CHECK_EQ(sxs_sub_set_mask(spies[SECOND].sub, 0, 0), S_OK);
    mask_is(&h, LOW(CODE_TRANSITIONS), 0);
    fake_raise0(&h, "UnmanagedToManagedTransition", 1, 0);
    CHECK(strcmp(order, "212") == 0);
    /* and back: immutable, but asked for in Initialize */
    CHECK_EQ(sxs_sub_set_mask(spies[FIRST].sub, LOW(CODE_TRANSITIONS), 0), S_OK);
    fake_raise0(&h, "UnmanagedToManagedTransition", 1, 0);
    CHECK(strcmp(order, "2121") == 0);
    fake_end(&h);
}

static void masks_may_grow_and_shrink_while_the_runtime_runs(void **state)
{
    (void)state;
    PASSES(change_body);
}

static void change_refused_body(void)
{
    spies[FIRST].low = LOW(MODULE_LOADS);
    struct fake_host h = begin("8.0", 2);
    h.c->fail_call("SetEventMask2", E_FAIL, 1);
    CHECK_EQ(sxs_sub_set_mask(spies[SECOND].sub, LOW(THREADS), 0), E_FAIL);
    CHECK_EQ(spies[SECOND].sub->low, 0);
    CHECK_EQ(fake_raise0(&h, "ThreadCreated", 1, 0), S_FALSE);
    fake_raise0(&h, "ModuleLoadStarted", 1, 0);
    CHECK(strcmp(order, "1") == 0);
    fake_end(&h);
}

static void a_change_that_the_runtime_refuses_changes_nothing(void **state)
{
    (void)state;
    PASSES(change_refused_body);
}

/* ---- a runtime that ends during SetEventMask ------------------------------------------------- */

static struct sxs_runtime ending = {
    .number = 1, .info_slots = 200, .mask_lock = PTHREAD_MUTEX_INITIALIZER};

static HRESULT take_mask_and_end(ICorProfilerInfo15 *self, DWORD low, DWORD high)
{
    (void)self, (void)low, (void)high;
    atomic_store(&ending.info, NULL);
    atomic_store(&ending.phase, SXS_PHASE_ENDED);
    return S_OK;
}

static void a_change_that_comes_too_late_for_the_runtime_fails(void **state)
{
    static ICorProfilerInfo15Vtbl vtbl = {.SetEventMask2 = take_mask_and_end};
    static ICorProfilerInfo15     info = {&vtbl};
    struct sxs_sub               *sub = &ending.subs[0];
    (void)state;
    sub->rt = &ending;
    ending.n_subs = 1;
    ending.taken = ending.published = 1;
    atomic_store(&ending.info, &info);
    atomic_store(&ending.phase, SXS_PHASE_LIVE);
    assert_int_equal(sxs_sub_set_mask(sub, LOW(THREADS), 0), CORPROF_E_RUNTIME_UNINITIALIZED);
    assert_int_equal(sub->low, 0);
}

static HRESULT changed_meanwhile;

static void *change_first(void *unused)
{
    (void)unused;
    changed_meanwhile = sxs_sub_set_mask(spies[FIRST].sub, LOW(THREADS), 0);
    return NULL;
}

/* A thread of the first tool, while the second one starts. */
static void let_another_thread_change_masks(void)
{
    pthread_t t;
    CHECK_EQ(pthread_create(&t, NULL, change_first, NULL), 0);
    CHECK_EQ(pthread_join(t, NULL), 0);
}

static void start_unlocked_body(void)
{
    spies[FIRST].low = LOW(MODULE_LOADS);
    spies[SECOND].low = LOW(EXCEPTIONS);
    spies[SECOND].in_start = let_another_thread_change_masks;
    changed_meanwhile = E_PENDING;
    alarm(20); /* ends a test that waits for a lock its own process holds */
    struct fake_host h = begin("8.0", 2);
    alarm(0);
    CHECK_EQ(changed_meanwhile, S_OK);
    CHECK_EQ(spies[SECOND].started, 1);
    CHECK_EQ(fake_raise0(&h, "ExceptionThrown", 0, 0), S_OK);
    fake_end(&h);
}

static void no_lock_is_held_while_a_tool_starts(void **state)
{
    (void)state;
    PASSES(start_unlocked_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runtime_is_asked_once_for_the_union_of_all_masks),
        cmocka_unit_test(high_bits_are_refused_to_their_tool_alone_where_there_are_none),
        cmocka_unit_test(a_runtime_that_refuses_the_masks_that_are_left_is_named),
        cmocka_unit_test(an_immutable_flag_too_late_is_an_error_to_that_tool_alone),
        cmocka_unit_test(the_same_holds_for_immutable_high_bits),
        cmocka_unit_test(masks_may_grow_and_shrink_while_the_runtime_runs),
        cmocka_unit_test(a_change_that_the_runtime_refuses_changes_nothing),
        cmocka_unit_test(a_change_that_comes_too_late_for_the_runtime_fails),
        cmocka_unit_test(no_lock_is_held_while_a_tool_starts),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
