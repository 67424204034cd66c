/* SPDX-License-Identifier: MIT */
/* test_manager_pick.c - who is picked, at a start and at an attach. */
#include "tests/unit/manager_fixture.h"

/* ---- who is picked --------------------------------------------------------------------------- */

static const char *unpicked; /* the value at hand */

static void first_body(void)
{
    setenv("SXSPROF_PICK", "first", 1);
    setenv("SXSPROF_UNPICKED", unpicked, 1);
    prepare();
    int cancels = strcmp(unpicked, "cancel") == 0;
    nine = fake_start("9.0");
    eight = fake_start("8.0");
    CHECK_EQ(state_of(1), SXS_STATE_PICKED);
    CHECK_EQ(state_of(2), cancels ? SXS_STATE_CANCELLED : SXS_STATE_GUARDED);
    CHECK_EQ(eight.c->load_state(), cancels ? FAKECLR_FAILED : FAKECLR_ACTIVE);
    CHECK_EQ(eight.c->load_result(), cancels ? E_FAIL : S_OK);
    CHECK_EQ(n_kept, 1);
    /* it was the one, and stays it when it has ended: others may get its memory, not its place */
    fake_end(&nine);
    fake_end(&eight);
    for (unsigned i = 0; i < 6; i++) {
        struct fake_host h = fake_start(versions[i]);
        CHECK_EQ(state_of(3 + i), cancels ? SXS_STATE_CANCELLED : SXS_STATE_GUARDED);
        fake_end(&h);
    }
    CHECK_EQ(n_kept, 1);
}

static void the_first_is_the_only_one_even_when_it_has_ended(void **state)
{
    (void)state;
    unpicked = "guard";
    PASSES(first_body);
    unpicked = "cancel";
    PASSES(first_body);
}

static void first_fails_body(void)
{
    setenv("SXSPROF_PICK", "first", 1);
    setenv("SXSPROF_UNPICKED", unpicked, 1);
    prepare();
    ICorProfilerCallback11 *cb = new_instance(S_OK);
    CHECK(FAILED(fail_to_initialize(cb)));
    CHECK_EQ(cb->vtbl->Release(cb), 0);
    cb = new_instance(S_OK); /* comes first, but is let go of before Initialize */
    CHECK_EQ(cb->vtbl->Release(cb), 0);
    nine = fake_start("9.0");
    CHECK_EQ(state_of(3), SXS_STATE_PICKED);
    eight = fake_start("8.0");
    CHECK(state_of(4) != SXS_STATE_PICKED);
    fake_end(&nine);
    fake_end(&eight);
}

static void when_the_first_fails_the_next_is_picked(void **state)
{
    (void)state;
    unpicked = "guard";
    PASSES(first_fails_body);
    unpicked = "cancel";
    PASSES(first_fails_body);
}

static void first_fails_late_body(void)
{
    struct fakeclr_counts n;
    setenv("SXSPROF_PICK", "first", 1);
    prepare();
    ICorProfilerCallback11 *one = new_instance(S_OK), *two = new_instance(S_OK);
    CHECK(FAILED(fail_to_initialize(one)));
    unsetenv("CORECLR_ENABLE_PROFILING");
    eight = fake_start("8.0"); /* lends its Info; refuses calls, for it has no profiler */
    capture();
    CHECK_EQ(two->vtbl->Initialize(two, eight.c->info()), S_OK);
    captured();
    CHECK_EQ(state_of(2), SXS_STATE_PICKED);
    CHECK_EQ(one->vtbl->Release(one), 0);
    CHECK_EQ(two->vtbl->Release(two), 0);
    eight.c->counts(&n);
    CHECK_EQ(n.info_refs, 0);
}

static void that_holds_for_one_that_was_admitted_before_the_first_failed(void **state)
{
    (void)state;
    PASSES(first_fails_late_body);
}

static pthread_barrier_t gate;
static void             *start_at_the_gate(void *arg)
{
    struct fake_host *h = arg;
    pthread_barrier_wait(&gate);
    CHECK_EQ(fake_initialize(h), S_OK);
    return NULL;
}

static void at_once_body(void)
{
    enum { N = 8 };
    struct fake_host h[N];
    pthread_t        threads[N];
    int              active = 0;
    setenv("SXSPROF_PICK", "first", 1);
    setenv("SXSPROF_UNPICKED", unpicked, 1);
    prepare();
    for (int i = 0; i < N; i++)
        h[i] = fake_load(versions[i]);
    pthread_barrier_init(&gate, NULL, N);
    for (int i = 0; i < N; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, start_at_the_gate, &h[i]), 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(n_kept, 1);
    CHECK_EQ(rows_in_state(SXS_STATE_PICKED), 1);
    for (int i = 0; i < N; i++)
        active += h[i].c->load_state() == FAKECLR_ACTIVE;
    if (strcmp(unpicked, "guard") == 0) {
        CHECK_EQ(rows_in_state(SXS_STATE_GUARDED), N - 1);
        CHECK_EQ(active, N);
    } else {
        CHECK_EQ(rows_in_state(SXS_STATE_CANCELLED), N - 1);
        CHECK_EQ(active, 1);
    }
    for (int i = 0; i < N; i++)
        fake_end(&h[i]);
}

static void of_eight_that_arrive_at_once_exactly_one_is_first(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * MANY; i++) {
        unpicked = i % 2 ? "guard" : "cancel";
        PASSES(at_once_body);
    }
}

static const char *wanted;   /* what SXSPROF_PICK=one: names */
static unsigned    expected; /* the number of the one that it names */

static void one_body(void)
{
    char pick[1200];
    snprintf(pick, sizeof(pick), "one:%s", wanted);
    setenv("SXSPROF_PICK", pick, 1);
    setenv("SXSPROF_UNPICKED", unpicked, 1);
    prepare();
    struct fake_host h[ARRAY_LEN(versions)];
    int              cancels = strcmp(unpicked, "cancel") == 0;
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        h[i] = fake_start(versions[i]);
        if (i + 1 == expected) {
            CHECK_EQ(state_of(i + 1), SXS_STATE_PICKED);
        } else {
            CHECK_EQ(state_of(i + 1), cancels ? SXS_STATE_CANCELLED : SXS_STATE_GUARDED);
            CHECK_EQ(h[i].c->load_state(), cancels ? FAKECLR_CANCELLED : FAKECLR_ACTIVE);
            if (cancels)
                CHECK_EQ(h[i].c->load_result(), CORPROF_E_PROFILER_CANCEL_ACTIVATION);
        }
    }
    CHECK_EQ(n_kept, expected != 0);
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++)
        fake_end(&h[i]);
}

static void one_is_picked_by_version_or_path_and_the_others_are_not(void **state)
{
    static const struct {
        const char *what;
        unsigned    number;
    } rows[] = {{"2", 1}, {"2.0", 1},    {"4.0", 2}, {"3.1", 3},
                {"8", 7}, {"10.0.0", 9}, {"1", 0},   {"8.1", 0}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        unpicked = i ? "cancel" : "guard";
        for (unsigned k = 0; k < ARRAY_LEN(rows); k++) {
            wanted = rows[k].what;
            expected = rows[k].number;
            PASSES(one_body);
        }
        wanted = built("fakeclr/9.0/../9.0/libcoreclr.so");
        expected = 8;
        char *copy = strdup(wanted);
        wanted = copy;
        PASSES(one_body);
        free(copy);
    }
}

/* ---- attach ---------------------------------------------------------------------------------- */

static void attach_body(void)
{
    GUID clsid = {0};
    prepare();
    setenv("SXSPROF_PICK", "one:9", 1);
    setenv("SXSPROF_UNPICKED", unpicked, 1);
    unsetenv("CORECLR_ENABLE_PROFILING");
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    int cancels = strcmp(unpicked, "cancel") == 0;
    CHECK_EQ(eight.c->attach("@program:fake_host_class_object", &clsid, NULL, 0),
             cancels ? CORPROF_E_PROFILER_CANCEL_ACTIVATION : S_OK);
    CHECK_EQ(nine.c->attach("@program:fake_host_class_object", &clsid, NULL, 0), S_OK);
    CHECK_EQ(state_of(1), cancels ? SXS_STATE_CANCELLED : SXS_STATE_GUARDED);
    CHECK_EQ(state_of(2), SXS_STATE_PICKED);
    CHECK(kept[2]->attached);
    jit_one(&nine);
    CHECK_EQ(jitted[2], 1);
    fake_end(&eight);
    fake_end(&nine);
}

static void an_attach_is_decided_like_a_start(void **state)
{
    (void)state;
    unpicked = "guard";
    PASSES(attach_body);
    unpicked = "cancel";
    PASSES(attach_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_the_only_one_even_when_it_has_ended),
        cmocka_unit_test(when_the_first_fails_the_next_is_picked),
        cmocka_unit_test(that_holds_for_one_that_was_admitted_before_the_first_failed),
        cmocka_unit_test(of_eight_that_arrive_at_once_exactly_one_is_first),
        cmocka_unit_test(one_is_picked_by_version_or_path_and_the_others_are_not),
        cmocka_unit_test(an_attach_is_decided_like_a_start),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
