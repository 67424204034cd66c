/* SPDX-License-Identifier: MIT */
/* test_force_gc_export.c - sxsprof_force_gc() collects in the chosen runtimes, and says why not. */
#include "manager/force_gc.h"
#include "tests/unit/manager_fixture.h"
#include "tests/unit/sanitized.h"

static const struct sxs_tool *const tools[] = {&sxs_census_tool};

/* How often a runtime was asked for a collection. */
static uint64_t asked(const struct fake_host *h)
{
    return h->c->called("ForceGC");
}

static void forced_body(void)
{
    struct fake_host first, second;
    errno = 77;
    CHECK_EQ(sxsprof_force_gc(0), -ESRCH); /* no runtime yet */
    profile_without_signals(tools, ARRAY_LEN(tools));
    first = fake_start("8.0");
    second = fake_start("10.0");
    CHECK_EQ(sxsprof_force_gc(2), 1);
    CHECK_EQ(asked(&first), 0);
    CHECK_EQ(asked(&second), 1);
    CHECK_EQ(sxsprof_force_gc(1), 1);
    CHECK_EQ(asked(&first), 1);
    CHECK_EQ(sxsprof_force_gc(0), 2);
    CHECK_EQ(asked(&first), 2);
    CHECK_EQ(asked(&second), 2);
    CHECK_EQ(sxsprof_force_gc(3), -ESRCH);
    first.c->fail_call("ForceGC", CORPROF_E_NOT_YET_AVAILABLE, 1);
    CHECK_EQ(sxsprof_force_gc(1), -EAGAIN);
    first.c->fail_call("ForceGC", E_FAIL, 1);
    CHECK_EQ(sxsprof_force_gc(0), -EIO); /* the other one has collected */
    CHECK_EQ(asked(&second), 3);
    fake_end(&first);
    CHECK_EQ(sxsprof_force_gc(1), -ESRCH);
    CHECK_EQ(sxsprof_force_gc(0), 1);
    fake_end(&second);
    CHECK_EQ(sxsprof_force_gc(0), -ESRCH);
    CHECK_EQ(errno, 77);
}

static void the_chosen_runtimes_collect_and_failures_are_reported(void **state)
{
    (void)state;
    PASSES(forced_body);
}

/* ---- in a forked child ----------------------------------------------------------------------- */

static _Atomic int n_worked, may_end;

static void work_long(void *unused)
{
    (void)unused;
    atomic_fetch_add(&n_worked, 1);
    while (!atomic_load(&may_end))
        usleep(1000);
}

static void work_shortly(void *unused)
{
    (void)unused;
    atomic_fetch_add(&n_worked, 1);
}

static void *call_long(void *unused)
{
    (void)unused;
    CHECK_EQ(sxs_gc_thread_call(work_long, NULL), 0);
    return NULL;
}

/* The thread of the parent does not exist in the child. */
static void child_thread_body(void)
{
    pthread_t caller;
    pid_t     child;
    int       status = 0;
    CHECK_EQ(pthread_create(&caller, NULL, call_long, NULL), 0);
    while (!atomic_load(&n_worked))
        usleep(1000);
    child = fork();
    if (child == 0) {
        alarm(30);
        CHECK_EQ(sxs_gc_thread_call(work_shortly, NULL), 0);
        CHECK_EQ(atomic_load(&n_worked), 2);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    atomic_store(&may_end, 1);
    pthread_join(caller, NULL);
    CHECK_EQ(status, 0);
}

static void a_forked_child_has_a_thread_of_its_own_for_collections(void **state)
{
    (void)state;
    skip_under_thread_sanitizer("it ends a forked child that starts a thread");
    PASSES(child_thread_body);
}

#define THREADS 8
#define ROUNDS  50

static void *force_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        CHECK_EQ(sxsprof_force_gc((unsigned)(i % 3)), i % 3 ? 1 : 2);
    return NULL;
}

static void at_once_body(void)
{
    struct fake_host first, second;
    pthread_t        threads[THREADS];
    profile_without_signals(tools, ARRAY_LEN(tools));
    first = fake_start("9.0");
    second = fake_start("8.0");
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, force_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(asked(&first) + asked(&second), THREADS * (ROUNDS + (ROUNDS + 2) / 3));
    fake_end(&first);
    fake_end(&second);
}

static void many_threads_may_force_collections_at_once(void **state)
{
    (void)state;
    PASSES(at_once_body);
}

static void forked_body(void)
{
    struct fake_host h;
    int              status;
    profile_without_signals(tools, ARRAY_LEN(tools));
    h = fake_start("9.0");
    pid_t pid = fork();
    if (pid == 0)
        _exit(sxsprof_force_gc(0) == -ESRCH ? 0 : 1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK_EQ(sxsprof_force_gc(0), 1);
    fake_end(&h);
}

static void a_forked_child_forces_nothing(void **state)
{
    (void)state;
    PASSES(forked_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forked_child_has_a_thread_of_its_own_for_collections),
        cmocka_unit_test(the_chosen_runtimes_collect_and_failures_are_reported),
        cmocka_unit_test(many_threads_may_force_collections_at_once),
        cmocka_unit_test(a_forked_child_forces_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
