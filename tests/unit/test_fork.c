/* SPDX-License-Identifier: MIT */
/* test_fork.c - a child forked while other threads hold every lock of the library: it goes on, and ends. */
#include <sched.h>

#include "base/fork.h"
#include "base/loader.h"
#include "sampling/recorder_tool.h"
#include "stackwalk/walk.h"
#include "tests/unit/manager_fixture.h"
#include "tests/unit/sanitized.h"
#include "tools/calls/calls.h"
#include "tools/events/events.h"
#include "tools/exceptions/exceptions.h"
#include "tools/instrument/rewrite.h"
#include "tools/sample/tool.h"

enum { HUNG_AFTER_S = 30 };

static const struct sxs_tool *const all_tools[] = {
    &sxs_guard_tool,      &sxs_census_tool, &sxs_stackwalk_tool,  &sxs_recorder_tool, &sxs_sample_tool, &sxs_calls_tool,
    &sxs_exceptions_tool, &sxs_events_tool, &sxs_instrument_tool, &keeper,
};

/* ---- a thread that holds everything ---------------------------------------------------------- */

static _Atomic int holding, may_release, released;

/* Takes @first and all @n locks, or none. A service thread may hold one of them and wait for another of them, so this
 * thread never waits while it holds any. */
static int take_all(pthread_mutex_t *first, pthread_mutex_t *const *locks, size_t n)
{
    if (pthread_mutex_trylock(first) != 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (pthread_mutex_trylock(locks[i]) != 0) {
            while (i-- > 0)
                pthread_mutex_unlock(locks[i]);
            pthread_mutex_unlock(first);
            return 0;
        }
    return 1;
}

static void *hold_all(void *arg)
{
    size_t                  n;
    pthread_mutex_t *const *locks = sxs_fork_locks(&n);
    struct sxs_runtime     *rt = kept[1];
    (void)arg;
    CHECK(n >= 30); /* or the section is not there */
    while (!take_all(&rt->mask_lock, locks, n))
        sched_yield();
    atomic_store(&holding, 1);
    while (!atomic_load(&may_release))
        usleep(1000);
    for (size_t i = 0; i < n; i++)
        pthread_mutex_unlock(locks[i]);
    pthread_mutex_unlock(&rt->mask_lock);
    atomic_store(&released, 1);
    return NULL;
}

static void raise_all(const struct fake_host *h)
{
    fake_raise0(h, "JITCompilationStarted", 0x1234, 1);
    fake_raise0(h, "JITCompilationFinished", 0x1234, 0);
    fake_raise0(h, "ModuleUnloadStarted", 0x77, 0);
    fake_raise0(h, "FunctionUnloadStarted", 0x1234, 0);
    fake_raise0(h, "ThreadCreated", 0x99, 0);
    fake_raise0(h, "ThreadAssignedToOSThread", 0x99, (uint64_t)getpid());
    fake_raise0(h, "ExceptionThrown", 0x55, 0);
    fake_raise0(h, "ExceptionSearchFunctionEnter", 0x1234, 0);
    fake_raise0(h, "RuntimeSuspendStarted", 1, 0);
    fake_raise0(h, "RuntimeResumeFinished", 0, 0);
    fake_raise0(h, "GarbageCollectionFinished", 0, 0);
    fake_raise0(h, "ThreadDestroyed", 0x99, 0);
}

/* What a child may come to do with the library in it. */
static _Noreturn void live_as_child(void)
{
    unsigned            jits = jitted[1];
    DWORD               low;
    struct sxs_runtime *live[4];
    int                 code;
    alarm(HUNG_AFTER_S);
    raise_all(&eight);
    CHECK_EQ(jitted[1], jits); /* it is the parent's runtime: no tool hears of it */
    CHECK_EQ(sxs_runtimes_live(live, ARRAY_LEN(live)), 0);
    CHECK_EQ(sxs_info_GetEventMask(kept[1], &low), CORPROF_E_RUNTIME_UNINITIALIZED);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CHECK(sxsprof_print_stack(null, "mixed") >= 0);
#if !defined(__SANITIZE_THREAD__) /* no threads after fork there */
    nine = fake_start("9.0");     /* one that is loaded in the child: guarded */
    CHECK_EQ(n_kept, 1);
    CHECK_EQ(rows_in_state(SXS_STATE_GUARDED), 1);
    jit_one(&nine);
    fake_end(&nine);
#endif
    CHECK_EQ(eight.shutdown(eight.host, eight.domain, &code),
             S_OK); /* as a runtime's exit handler does */
    CHECK_EQ(stopped[1], 0);
    exit(0); /* destructors and exit handlers */
}

static void child_body(void)
{
    static const char *dir;
    pthread_t          thread;
    int                status = -1;
    dir = temporary();
    setenv("SXSPROF_OUT", dir, 1);
    setenv("SXSPROF_TOOLS", "sample:cpu=99;exceptions;events", 1);
    profile_without_signals(all_tools, ARRAY_LEN(all_tools));
    eight = fake_start("8.0");
    CHECK_EQ(n_kept, 1);
    CHECK_EQ(pthread_create(&thread, NULL, hold_all, NULL), 0);
    pthread_detach(thread);
    while (!atomic_load(&holding))
        usleep(1000);
    pid_t pid = fork(); /* gives up waiting for the clocks and the snapshots after a second each */
    if (pid == 0)
        live_as_child();
    atomic_store(&may_release, 1);
    CHECK(pid > 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    while (!atomic_load(&released))
        usleep(1000);
    jit_one(&eight); /* the parent's locks are as they were */
    CHECK(jitted[1] > 0);
    fake_end(&eight);
    remove_tree(dir);
    CHECK_EQ(status, 0);
}

static void a_child_goes_on_whatever_lock_was_held(void **state)
{
    (void)state;
    skip_under_thread_sanitizer("it follows at most 64 locks of a thread");
    PASSES(child_body);
}

/* ---- the guard itself ------------------------------------------------------------------------ */

static int n_prepared, n_parent, n_child;

static void prepared(void)
{
    n_prepared++;
}

static void in_parent(void)
{
    n_parent++;
}

static void in_child(void)
{
    n_child++;
}

static void parts_body(void)
{
    static struct sxs_fork_part part = {
        .prepare = prepared, .parent = in_parent, .child = in_child};
    unsigned                    before;
    int                         status = -1;
    sxs_fork_register(&part);
    before = sxs_fork_generation();
    for (int i = 1; i <= 2; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(n_prepared != i || n_parent != i - 1 || n_child != 1 ||
                  sxs_fork_generation() != before + 1);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
        CHECK_EQ(n_parent, i);
    }
    CHECK_EQ(n_child, 0);
    CHECK_EQ(sxs_fork_generation(), before);
}

static void each_part_is_called_on_its_side(void **state)
{
    (void)state;
    PASSES(parts_body);
}

static void *hold_loader(void *arg)
{
    (void)arg;
    sxs_loader_hold();
    atomic_store(&holding, 1);
    while (!atomic_load(&may_release))
        usleep(1000);
    sxs_loader_release();
    return NULL;
}

static int count_object(struct dl_phdr_info *info, size_t size, void *n)
{
    (void)info, (void)size;
    ++*(int *)n;
    return 0;
}

static void loader_body(void)
{
    pthread_t thread;
    int       status = -1;
    CHECK_EQ(pthread_create(&thread, NULL, hold_loader, NULL), 0);
    pthread_detach(thread);
    while (!atomic_load(&holding))
        usleep(1000);
    pid_t pid = fork();
    if (pid == 0) {
        int n = 0;
        alarm(HUNG_AFTER_S);
        _exit(sxs_loader_is_usable() || sxs_loader_each(count_object, &n) || n);
    }
    atomic_store(&may_release, 1);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK(sxs_loader_is_usable());
}

static void a_child_that_may_find_the_loader_held_leaves_it_alone(void **state)
{
    (void)state;
    PASSES(loader_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_goes_on_whatever_lock_was_held),
        cmocka_unit_test(each_part_is_called_on_its_side),
        cmocka_unit_test(a_child_that_may_find_the_loader_held_leaves_it_alone),
    };
    return cmocka_run_group_tests(tests, plain_environment, NULL);
}
