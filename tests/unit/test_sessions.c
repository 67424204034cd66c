/* SPDX-License-Identifier: MIT */
/* test_sessions.c - sessions begin and end on simulated runtimes, while threads raise events. */
#include "tests/unit/sessions_fixture.h"

static _Atomic int rests; /* 1: the threads that raise events end */

static void *raise_events(void *arg)
{
    while (!atomic_load(&rests)) {
        fake_raise0(arg, "JITCompilationStarted", 0x1234, 1);
        fake_raise0(arg, "JITCompilationFinished", 0x1234, 0);
        fake_raise0(arg, "ThreadAssignedToOSThread", 7, (uint64_t)syscall(SYS_gettid));
    }
    return NULL;
}

struct load {
    pthread_t threads[4];
};

static void begin_load(struct load *load)
{
    atomic_store(&rests, 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&load->threads[i], NULL, raise_events, i % 2 ? &eight : &nine), 0);
}

static void end_load(const struct load *load)
{
    atomic_store(&rests, 1);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(load->threads[i], NULL);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void many_body(void)
{
    struct load load;
    unsigned    before;
    size_t      len;
    start_two();
    len = strlen(out);
    begin_load(&load);
    for (unsigned i = 1; i <= MANY; i++) {
        unsigned generation = sxs_session_generation();
        snprintf(out + len, sizeof(out) - len, "%u", i / 500);
        must_begin("spy");
        CHECK_EQ(phase(), SXS_SESSION_ON);
        before = n_events;
        while (n_events < before + 20)
            sched_yield();
        must_end();
        CHECK_EQ(phase(), SXS_SESSION_NONE);
        CHECK_EQ(n_started, 2 * i);
        CHECK_EQ(n_stopped, 2 * i);
        CHECK_EQ(n_released, 2 * i);
        CHECK_EQ(n_ended, i);
        CHECK_EQ(last_how, SXS_STOP_SESSION);
        CHECK_EQ(of_session, 0); /* set back */
        CHECK_EQ(kept_for_good, 2 * i);
        CHECK(sxs_session_generation() != generation);
    }
    before = n_events;
    usleep(20000);
    CHECK_EQ(n_events, before);
    end_load(&load);
    end_two();
}

static void sessions_begin_and_end_while_threads_raise_events(void **state)
{
    (void)state;
    PASSES(many_body);
}

static void sampled_body(void)
{
    struct load load;
    unsigned    fds, threads;
    start_two();
    begin_load(&load);
    must_begin("sample:cpu=199");
    must_end();
    fds = entries_of("/proc/self/fd");
    threads = entries_of("/proc/self/task");
    for (int i = 0; i < 30; i++) {
        must_begin(i % 2 ? "sample:cpu=199" : "sample:wall=100;spy");
        usleep(20000);
        must_end();
        CHECK_EQ(entries_of("/proc/self/fd"), fds);
        CHECK_EQ(entries_of("/proc/self/task"), threads);
    }
    end_load(&load); /* the IDs that it raises are no functions of the runtimes */
}

static void samples_are_taken_in_each_session_and_no_thread_or_descriptor_is_left(void **state)
{
    (void)state;
    PASSES(sampled_body);
}

static void refused_body(void)
{
    char                             why[SXS_SESSION_WHY];
    const struct sxs_session_request relative = {.tools = "spy", .out = "out"};
    const struct sxs_session_request pick = {.tools = "spy", .out = out, .pick = "some"};
    const struct sxs_session_request other = {.tools = "spy", .out = out, .pick = "one:11"};
    const struct sxs_session_request masked = {.tools = "spy:fail", .out = out, .mask = "all"};
    start_two();
    capture();
    CHECK_EQ(sxs_session_end(why), -ENOENT);
    CHECK_EQ(sxs_session_begin(&relative, why), -EINVAL);
    CHECK_EQ(sxs_session_begin(&pick, why), -EINVAL);
    CHECK_EQ(begin_with("spi", why), -EINVAL);
    CHECK(strstr(why, "\"spi\""));
    CHECK_EQ(begin_with("", why), -EINVAL);
    CHECK_EQ(begin_with("endless", why), -ENOTSUP);
    CHECK(strstr(why, "endless"));
    CHECK_EQ(begin_with("spy:first", why), -ENOTSUP);
    CHECK(strstr(why, "only from its start on"));
    CHECK_EQ(begin_with("spy:fail", why), -ENOTSUP);
    CHECK(strstr(why, "it was told to fail"));
    CHECK_EQ(sxs_session_begin(&other, why), -ENOTSUP);
    CHECK_EQ(sxs_session_begin(&masked, why), -ENOTSUP);
    CHECK_EQ(sxs_mask(), SXS_MASK_OFF);
    CHECK_EQ(sxs_session_may_load_code(), 1); /* as in the session of the environment */
    CHECK_EQ(phase(), SXS_SESSION_NONE);
    CHECK_EQ(entries_of(out), 0);
    must_begin("spy");
    CHECK_EQ(begin_with("spy", why), -EBUSY);
    CHECK(strstr(why, "spy"));
    must_end();
    captured();
    CHECK_EQ(n_started, n_released);
    end_two();
}

static void a_session_that_cannot_begin_says_why_and_leaves_nothing(void **state)
{
    (void)state;
    PASSES(refused_body);
}

static void picked_body(void)
{
    char                             why[SXS_SESSION_WHY];
    const struct sxs_session_request one = {
        .tools = "spy", .out = out, .pick = "one:9.0", .id = "a"};
    const struct sxs_session_request two = {.tools = "spy", .out = out, .id = "b"};
    start_two();
    CHECK_EQ(sxs_session_begin(&one, why), 0);
    CHECK_EQ(n_started, 1);
    CHECK_EQ(atomic_load(&sxs_session_row(1)->state), SXS_STATE_GUARDED);
    CHECK_EQ(sxs_session_begin(&one, why), 0); /* joins */
    CHECK_EQ(n_started, 1);
    CHECK_EQ(sxs_session_begin(&two, why), -EBUSY);
    must_end();
    CHECK_EQ(atomic_load(&sxs_session_row(1)->state), SXS_STATE_PICKED);
    end_two();
}

static void a_session_records_the_runtimes_that_it_picks_and_a_request_joins_its_own(void **state)
{
    (void)state;
    PASSES(picked_body);
}

static void counts_body(void)
{
    struct sxs_census_runtime *row;
    start_two();
    row = sxs_session_row(1);
    fake_raise0(&eight, "JITCompilationFinished", 0x1234, 0);
    CHECK(atomic_load(&row->methods) > 0);
    for (int i = 0; i < 3; i++) {
        must_begin("spy");
        CHECK_EQ(atomic_load(&row->methods), 0);
        CHECK_EQ(row->number, 1);
        CHECK(row->version[0] && row->path[0] && row->started_ns);
        fake_raise0(&eight, "JITCompilationFinished", 0x1234, 0);
        CHECK_EQ(atomic_load(&row->methods), 1);
        must_end();
        CHECK_EQ(atomic_load(&row->methods), 1); /* goes on in memory */
        fake_raise0(&eight, "JITCompilationFinished", 0x1234, 0);
        CHECK_EQ(atomic_load(&row->methods), 2);
        CHECK_EQ(row, sxs_session_row(1));
    }
    end_two();
}

static void the_counts_of_each_session_begin_at_zero_at_the_same_address(void **state)
{
    (void)state;
    PASSES(counts_body);
}

static void *end_runtime(void *arg)
{
    int code;
    (void)arg;
    CHECK_EQ(nine.shutdown(nine.host, nine.domain, &code), S_OK);
    return NULL;
}

/* A runtime starts while a session is on, another ends while a session ends, a child forks. */
static void while_body(void)
{
    pthread_t        thread;
    struct fake_host ten;
    char             why[SXS_SESSION_WHY];
    int              status;
    pid_t            pid;
    start_two();
    must_begin("sample;spy");
    ten = fake_start("10.0");
    CHECK_EQ(n_started, 3);
    pid = fork();
    if (pid == 0) {
        int err = sxs_session_end(why);
        _exit(err == -ENOENT && begin_with("spy", why) == -ENOTSUP ? 0 : 1);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(pthread_create(&thread, NULL, end_runtime, NULL), 0);
    must_end();
    pthread_join(thread, NULL);
    CHECK_EQ(n_started, 3);
    CHECK_EQ(n_stopped, 3);
    CHECK_EQ(n_released, 3);
    must_begin("spy");
    CHECK_EQ(n_started, 5);
    fake_end(&ten); /* stopped by its runtime; released at the end of the session, or before */
    must_end();
    CHECK_EQ(n_released, 5);
    CHECK_EQ(n_stopped, 5);
    fake_end(&eight);
    CHECK_EQ(begin_with("spy", why), -ENOTSUP);
}

static void runtimes_start_and_end_and_children_fork_meanwhile(void **state)
{
    (void)state;
    PASSES(while_body);
}

static void raise_thrown(const struct fake_host *h)
{
    ModuleID module = h->c->module_load("exceptions.dll");
    fake_raise0(h, "ExceptionThrown",
                h->c->object_new(h->c->class_new(module, "Failure", 0, 0, NULL)), 0);
}

static void detach_body(void)
{
    char why[SXS_SESSION_WHY];
    start_two();
    must_begin("sample;spy");
    raise_thrown(&nine);
    CHECK_EQ(fake_counts(&nine).handles, 1);
    CHECK_EQ(sxs_runtimes_detach(1000, why), 0);
    CHECK_EQ(fake_counts(&nine).handles, 0); /* the exception is not pinned any more */
    CHECK_EQ(why[0], '\0');
    wait_for(&eight, FAKECLR_DETACHED);
    wait_for(&nine, FAKECLR_DETACHED);
    CHECK_EQ(n_released, 2);
    CHECK_EQ(begin_with("spy", why), -ENOTSUP);
    CHECK_EQ(fake_counts(&eight).info_refs, 0);
}

static void a_detach_ends_the_session_and_lets_the_runtimes_go(void **state)
{
    (void)state;
    PASSES(detach_body);
}

static void first_body(void)
{
    char why[SXS_SESSION_WHY];
    setenv("SXSPROF_TOOLS", "spy:first;sample", 1);
    snprintf(out, sizeof(out), "%s/out", temporary());
    setenv("SXSPROF_OUT", out, 1);
    profile_without_signals(tools, ARRAY_LEN(tools));
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    CHECK_EQ(phase(), SXS_SESSION_ON);
    CHECK_EQ(n_started, 2);
    must_end();
    CHECK_EQ(n_released, 2);
    must_begin("spy:first"); /* the runtimes were asked for these events in Initialize */
    must_end();
    capture();
    CHECK_EQ(sxs_runtimes_detach(1000, why), -ENOTSUP);
    captured();
    CHECK(strstr(why, "cannot be detached"));
    must_begin("spy"); /* all is as before */
    fake_raise0(&eight, "JITCompilationFinished", 0x1234, 0);
    CHECK(atomic_load(&sxs_session_row(1)->methods) > 0);
    must_end();
    end_two();
}

static void the_session_of_the_environment_ends_and_immutable_events_stay(void **state)
{
    (void)state;
    PASSES(first_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sessions_begin_and_end_while_threads_raise_events,
                               plain_environment),
        cmocka_unit_test_setup(
            samples_are_taken_in_each_session_and_no_thread_or_descriptor_is_left,
            plain_environment),
        cmocka_unit_test_setup(a_session_that_cannot_begin_says_why_and_leaves_nothing,
                               plain_environment),
        cmocka_unit_test_setup(
            a_session_records_the_runtimes_that_it_picks_and_a_request_joins_its_own,
            plain_environment),
        cmocka_unit_test_setup(the_counts_of_each_session_begin_at_zero_at_the_same_address,
                               plain_environment),
        cmocka_unit_test_setup(runtimes_start_and_end_and_children_fork_meanwhile,
                               plain_environment),
        cmocka_unit_test_setup(a_detach_ends_the_session_and_lets_the_runtimes_go,
                               plain_environment),
        cmocka_unit_test_setup(the_session_of_the_environment_ends_and_immutable_events_stay,
                               plain_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
