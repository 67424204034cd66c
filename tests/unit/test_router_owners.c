/* SPDX-License-Identifier: MIT */
/* test_router_owners.c - a signal goes to the runtime whose it is. */
#include "tests/unit/router_fixture.h"

/* ---- to whom --------------------------------------------------------------------------------- */

static void owner_body(void)
{
    static const char *const four[] = {"3.1", "8.0", "9.0", "10.0"};
    struct fake_host         h[4];
    for (int i = 0; i < 4; i++)
        h[i] = signalling(four[i]);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 4; i++)
            fake_run(&h[i], "!signal-faults 40");
    for (int i = 0; i < 4; i++) {
        struct fakeclr_counts n = fake_counts(&h[i]);
        CHECK_EQ(n.faults, 120);
        CHECK_EQ(n.faults_left, 60); /* every second time its handler does not come back */
        CHECK_EQ(n.faults_chained, 0);
        CHECK_EQ(routed_to((unsigned)i + 1), 120);
    }
    CHECK_EQ(unwanted_by_all(), 0);
    for (int i = 0; i < 4; i++)
        fake_end(&h[i]);
}

static void a_fault_goes_to_the_runtime_whose_code_it_is_and_to_no_other(void **state)
{
    (void)state;
    PASSES(owner_body);
}

static void find_body(void)
{
    struct fake_host          h[3] = {signalling("8.0"), signalling("9.0"), signalling("10.0")};
    const struct sxs_signals *s = sxs_signals();
    for (int i = 0; i < 3; i++) {
        ModuleID   module = h[i].c->module_load("/fake/app.dll");
        FunctionID f =
            h[i].c->method_new(h[i].c->class_new(module, "A.B", 0, 0, NULL), "M", NULL, 0, 0, NULL);
        CHECK_EQ(h[i].c->jit(f), S_OK);
        int owner = s->find_ip((uintptr_t)h[i].initialize);
        CHECK(owner >= 0);
        CHECK_EQ(s->find_ip(h[i].c->code(f)), owner);
        CHECK(strcmp(s->path(owner), h[i].path) == 0);
        for (int k = 0; k < i; k++)
            CHECK(s->find_ip((uintptr_t)h[k].initialize) != owner);
    }
    CHECK_EQ(s->find_ip((uintptr_t)find_body), -1);
    CHECK_EQ(s->find_ip((uintptr_t)memcpy), -1);
    CHECK_EQ(s->find_ip(0), -1);
    CHECK_EQ(s->find_ip(UINTPTR_MAX), -1);
    CHECK(strcmp(s->path(-1), "") == 0 && strcmp(s->path(63), "") == 0);
}

static void an_address_is_found_in_the_runtime_that_it_belongs_to(void **state)
{
    (void)state;
    PASSES(find_body);
}

static void *run_scenario(void *arg)
{
    struct fake_host *h = arg;
    CHECK_EQ(fake_run(h, MANY > 100 ? "!thread-faults 200 3; gc 2" : "!thread-faults 30 3; gc 2"),
             0);
    return NULL;
}

static void threads_body(void)
{
    struct fake_host h[3] = {signalling("8.0"), signalling("9.0"), signalling("10.0")};
    pthread_t        threads[3];
    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, run_scenario, &h[i]), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++) {
        struct fakeclr_counts n = fake_counts(&h[i]);
        CHECK_EQ(n.faults, MANY > 100 ? 600 : 90);
        CHECK_EQ(n.faults_chained, 0);
        CHECK_EQ(n.gc_hangs, 0);
        CHECK_EQ(n.foreign_activations, 0);
    }
}

static void faults_on_many_threads_of_three_runtimes_at_once_are_all_handled(void **state)
{
    (void)state;
    PASSES(threads_body);
}

static void collections_body(void)
{
    struct fake_host h[4] = {signalling("3.1"), signalling("8.0"), signalling("9.0"),
                             signalling("10.0")};
    for (int i = 0; i < 4; i++)
        fake_run(&h[i], "!threads 3; gc 5; join");
    for (int i = 0; i < 4; i++) {
        struct fakeclr_counts n = fake_counts(&h[i]);
        CHECK_EQ(n.gcs, 5);
        CHECK_EQ(n.gc_hangs, 0);
        CHECK_EQ(n.foreign_activations, 0);
        CHECK(n.activations >= 15);
    }
}

static void every_runtime_gets_its_own_suspension_signals(void **state)
{
    (void)state;
    PASSES(collections_body);
}

/* As a NativeAOT library does: nobody profiles it, so nobody asks the router to take it in. */
__attribute__((unused)) static void unnoticed_body(void)
{
    struct fake_host h[2] = {signalling("8.0")};
    struct sigaction now;
    unsetenv("CORECLR_ENABLE_PROFILING");
    h[1] = fake_load("9.0");
    CHECK_EQ(fake_initialize(&h[1]), S_OK);
    CHECK_EQ(sigaction(SIGRTMIN, NULL, &now), 0);
    CHECK(now.sa_sigaction != router_entry); /* it stands in front */
    CHECK_EQ(fake_run(&h[0], "!threads 3; gc 2; join"), 0);
    CHECK_EQ(sigaction(SIGRTMIN, NULL, &now), 0);
    CHECK(now.sa_sigaction == router_entry);
    CHECK_EQ(fake_run(&h[1], "!threads 3; gc 2; join"), 0);
    CHECK_EQ(fake_run(&h[0], "!threads 3; gc 2; join"), 0);
    CHECK_EQ(fake_run(&h[1], "!thread-faults 10 2"), 0);
    for (int i = 0; i < 2; i++) {
        struct fakeclr_counts n = fake_counts(&h[i]);
        CHECK_EQ(n.gcs, i ? 2 : 4);
        CHECK_EQ(n.gc_hangs, 0);
        CHECK(n.activations >= (i ? 6 : 12));
        CHECK_EQ(n.faults, i ? 20 : 0);
        CHECK(i || !n.foreign_activations); /* until it was seen, it got what was not its own */
    }
}

static void a_runtime_that_registers_unnoticed_stands_in_front_until_the_next_collection(
    void **state)
{
    (void)state;
#ifdef THREAD_SANITIZER
    skip(); /* it stands between sigaction and the kernel: nobody registers unnoticed */
#else
    PASSES(unnoticed_body);
#endif
}

/* ---- in between ------------------------------------------------------------------------------ */

static _Atomic unsigned ticks;
static void             tick(int sig)
{
    (void)sig;
    atomic_fetch_add(&ticks, 1);
}

static void storm_body(void)
{
    struct fake_host h[3] = {signalling("8.0"), signalling("9.0"), signalling("10.0")};
    struct sigaction act = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval fast = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
    char             scenario[40];
    snprintf(scenario, sizeof(scenario), "!signal-faults %d", 4 * MANY);
    CHECK_EQ(sigaction(SIGPROF, &act, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_PROF, &fast, NULL), 0);
    for (int round = 0; round < 400 && (round < 4 || atomic_load(&ticks) < 10); round++)
        for (int i = 0; i < 3; i++)
            fake_run(&h[i], scenario);
    CHECK_EQ(setitimer(ITIMER_PROF, &off, NULL), 0);
    CHECK(ticks >= 10);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(fake_counts(&h[i]).faults_chained, 0);
}

static void a_storm_of_sigprof_during_faults_does_no_harm(void **state)
{
    (void)state;
    PASSES(storm_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_goes_to_the_runtime_whose_code_it_is_and_to_no_other),
        cmocka_unit_test(an_address_is_found_in_the_runtime_that_it_belongs_to),
        cmocka_unit_test(faults_on_many_threads_of_three_runtimes_at_once_are_all_handled),
        cmocka_unit_test(every_runtime_gets_its_own_suspension_signals),
        cmocka_unit_test(
            a_runtime_that_registers_unnoticed_stands_in_front_until_the_next_collection),
        cmocka_unit_test(a_storm_of_sigprof_during_faults_does_no_harm),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
