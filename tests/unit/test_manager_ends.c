/* SPDX-License-Identifier: MIT */
/* test_manager_ends.c - runtimes end in any order, detach, or fail half-way. */
#include "tests/unit/manager_fixture.h"

/* ---- ends ------------------------------------------------------------------------------------ */

static const unsigned *ends_in; /* the permutation at hand */

static void ends_body(void)
{
    static const char *const three[] = {"3.1", "8.0", "10.0"};
    struct fake_host         h[3];
    int                      gone[3] = {0};
    prepare();
    for (int i = 0; i < 3; i++)
        h[i] = fake_start(three[i]);
    for (int step = 0; step < 3; step++) {
        unsigned            ending = ends_in[step];
        struct sxs_runtime *rt = sxs_runtime_ref(kept[ending + 1]);
        fake_end(&h[ending]);
        gone[ending] = 1;
        CHECK_EQ(stopped[ending + 1], 1);
        CHECK_EQ(stop_was_detach, 0);
        CHECK(!sxs_runtime_is_live(rt));
        DWORD low;
        CHECK_EQ(sxs_info_GetEventMask(rt, &low), CORPROF_E_RUNTIME_UNINITIALIZED);
        sxs_runtime_unref(rt);
        for (int i = 0; i < 3; i++) {
            unsigned before = jitted[i + 1];
            jit_one(&h[i]);
            CHECK_EQ(jitted[i + 1], before + !gone[i]);
        }
        CHECK(sxs_session_row(ending + 1)->ended_ns != 0);
    }
}

static void runtimes_end_in_any_order(void **state)
{
    static const unsigned all[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    (void)state;
    for (int i = 0; i < 6; i++) {
        ends_in = all[i];
        PASSES(ends_body);
    }
}

static void wait_for(const struct fake_host *h, enum fakeclr_load state)
{
    for (int i = 0; i < 20000 && h->c->load_state() != state; i++)
        usleep(500);
    CHECK_EQ(h->c->load_state(), state);
}

static void detach_body(void)
{
    prepare();
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    fake_run(&eight, "!detach");
    wait_for(&eight, FAKECLR_DETACHED);
    CHECK_EQ(stopped[1], 1);
    CHECK_EQ(stop_was_detach, 1);
    CHECK_EQ(fake_counts(&eight).info_refs, 0);
    unsigned before = jitted[1];
    fake_run(&eight, "!jit 3; gc 1");
    CHECK_EQ(jitted[1], before);
    jit_one(&nine);
    CHECK(jitted[2] > 0);
    struct sxs_runtime *live[4];
    CHECK_EQ(sxs_runtimes_live(live, 4), 1);
    CHECK_EQ(sxs_runtime_number(live[0]), 2);
    sxs_runtime_unref(live[0]);
    fake_end(&eight);
    fake_end(&nine);
    CHECK_EQ(stopped[1], 1);
}

static void one_runtime_detaches_and_the_others_go_on(void **state)
{
    (void)state;
    PASSES(detach_body);
}

static _Atomic int racing;
static void       *raise_for_ever(void *arg)
{
    const struct fake_host *h = arg;
    while (atomic_load(&racing))
        jit_one(h);
    return NULL;
}

static void *ask_for_ever(void *arg)
{
    struct sxs_runtime *rt = arg;
    HRESULT             hr;
    DWORD               low;
    do {
        hr = sxs_info_GetEventMask(rt, &low);
        CHECK(hr == S_OK || hr == CORPROF_E_RUNTIME_UNINITIALIZED);
    } while (hr == S_OK);
    sxs_runtime_unref(rt);
    return NULL;
}

static void race_body(void)
{
    pthread_t raising[2], asking[2];
    prepare();
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    atomic_store(&racing, 1);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pthread_create(&raising[i], NULL, raise_for_ever, &eight), 0);
        CHECK_EQ(pthread_create(&asking[i], NULL, ask_for_ever, sxs_runtime_ref(kept[1])), 0);
    }
    while (atomic_load(&jitted[1]) < 50)
        usleep(100);
    int code;
    CHECK_EQ(eight.shutdown(eight.host, eight.domain, &code), S_OK);
    for (int i = 0; i < 2; i++)
        pthread_join(asking[i], NULL);
    atomic_store(&racing, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(raising[i], NULL);
    CHECK_EQ(fake_counts(&eight).info_refs, 0);
    CHECK_EQ(stopped[1], 1);
    fake_end(&nine);
}

static void events_and_calls_may_race_with_shutdown(void **state)
{
    (void)state;
    for (int i = 0; i < MANY / 5; i++)
        PASSES(race_body);
}

/* ---- Initialize that fails half-way ---------------------------------------------------------- */

static const char *failing; /* "METHOD=HRESULT@NTH" */
static unsigned    fails_at;

static void half_way_body(void)
{
    profile_without_signals(real_tools, ARRAY_LEN(real_tools));
    nine = fake_start("9.0");
    eight = fake_load("8.0");
    CHECK_EQ(eight.c->fail_call(failing, E_OUTOFMEMORY, fails_at), S_OK);
    capture();
    CHECK_EQ(fake_initialize(&eight), S_OK);
    captured();
    eight.c->fail_call(failing, S_OK, 0);
    CHECK_EQ(fake_counts(&eight).info_refs, eight.c->load_state() == FAKECLR_ACTIVE);
    fake_run(&eight, "!modules 2; jit 5; throw 1");
    jit_one(&nine);
    CHECK(jitted[1] > 0);
    struct fake_host ten = fake_start("10.0");
    fake_end(&eight);
    fake_end(&ten);
    fake_end(&nine);
}

static void a_runtime_whose_info_fails_half_way_harms_nobody(void **state)
{
    static const char *const methods[] = {"GetRuntimeInformation", "SetEventMask2", "SetEventMask",
                                          "GetEventMask2", "GetEventMask"};
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(methods); i++) {
        for (fails_at = 0; fails_at <= 3; fails_at++) {
            failing = methods[i];
            PASSES(half_way_body);
        }
    }
}

static void no_mask_body(void)
{
    prepare();
    nine = fake_start("9.0");
    eight = fake_load("8.0");
    CHECK_EQ(eight.c->fail_call("SetEventMask2", E_OUTOFMEMORY, 0), S_OK);
    capture();
    CHECK_EQ(fake_initialize(&eight), S_OK);
    const char *said = captured();
    CHECK_EQ(lines_of(said), 1);
    CHECK(strstr(said, "tool keeper is off for runtime 2"));
    uint64_t args[2] = {1, 1};
    eight.c->raise("JITCompilationStarted", 1, 2, args);
    CHECK_EQ(jitted[2], 0);
    fake_end(&eight);
    fake_end(&nine);
}

static void a_runtime_that_refuses_every_mask_runs_without_tools(void **state)
{
    (void)state;
    PASSES(no_mask_body);
}

static void no_name_body(void)
{
    prepare();
    setenv("SXSPROF_LOG", "info", 1);
    eight = fake_load("8.0");
    CHECK_EQ(eight.c->fail_call("GetRuntimeInformation", E_FAIL, 0), S_OK);
    capture();
    CHECK_EQ(fake_initialize(&eight), S_OK);
    CHECK(strstr(captured(), "does not say its version"));
    CHECK(strcmp(sxs_runtime_version(kept[1]), "8.0") == 0); /* what its path says */
    fake_end(&eight);
}

static void a_runtime_that_does_not_say_its_version_is_named_by_its_path(void **state)
{
    (void)state;
    PASSES(no_name_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(runtimes_end_in_any_order),
        cmocka_unit_test(one_runtime_detaches_and_the_others_go_on),
        cmocka_unit_test(events_and_calls_may_race_with_shutdown),
        cmocka_unit_test(a_runtime_whose_info_fails_half_way_harms_nobody),
        cmocka_unit_test(a_runtime_that_refuses_every_mask_runs_without_tools),
        cmocka_unit_test(a_runtime_that_does_not_say_its_version_is_named_by_its_path),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
