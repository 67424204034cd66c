/* SPDX-License-Identifier: MIT */
/* test_router_processes.c - children of a process whose signals are routed, and signals of others. */
#include "tests/unit/router_fixture.h"

/* ---- other processes ------------------------------------------------------------------------- */

static void fork_body(void)
{
    struct fake_host h[2] = {signalling("8.0"), signalling("9.0")};
    int              status;
    pid_t            pid = fork();
    if (pid == 0) {
        alarm(60);
        fake_run(&h[0], "!signal-faults 20");
        fake_run(&h[1], "!signal-faults 20");
        fault_here();
        _exit(1);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), SIGSEGV);
    fake_run(&h[0], "!signal-faults 20");
    fake_run(&h[1], "!signal-faults 20");
    CHECK_EQ(fake_counts(&h[0]).faults, 20);
}

static void a_forked_child_has_its_faults_handled_and_dies_of_those_that_are_not(void **state)
{
    (void)state;
    PASSES(fork_body);
}

static void spawn_body(void)
{
    struct fake_host  h[2] = {signalling("8.0"), signalling("9.0")};
    posix_spawnattr_t attr;
    sigset_t          set;
    pid_t             pid;
    int               status;
    char             *argv[] = {(char[]){"true"}, NULL};
    sigfillset(&set);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigdefault(&attr, &set);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(posix_spawnp(&pid, "true", NULL, &attr, argv, environ), 0);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
        fake_run(&h[0], "!signal-faults 4; gc 1");
        fake_run(&h[1], "!signal-faults 4; gc 1");
    }
    posix_spawnattr_destroy(&attr);
}

static void a_spawned_child_may_reset_its_signals_without_harm_to_the_parent(void **state)
{
    (void)state;
    PASSES(spawn_body);
}

/* Between vfork and exec the child writes to the parent's memory. */
__attribute__((noinline)) static void reset_in_a_vfork_child(void)
{
    static struct sigaction dfl, was;
    dfl.sa_handler = SIG_DFL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    pid_t pid = vfork();
#pragma GCC diagnostic pop
    if (pid == 0) {
        hook_sigaction((uintptr_t)hooked_sigaction, SIGSEGV, &dfl, &was);
        hook_sigaction((uintptr_t)hooked_sigaction, SIGFPE, &dfl, &was);
        _exit(7);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(WEXITSTATUS(status), 7);
}

__attribute__((unused)) static void vfork_body(void)
{
    struct fake_host h = signalling("8.0");
    struct sigaction was;
    host_takes(SIGSEGV, hooked_sigaction);
    reset_in_a_vfork_child();
    CHECK_EQ(hooked_sigaction(SIGSEGV, NULL, &was), 0);
    CHECK(was.sa_sigaction == step_over);
    fake_run(&h, "!signal-faults 8");
    fault_here();
    CHECK_EQ(host_calls, 1);
}

static void nor_does_a_vfork_child(void **state)
{
    (void)state;
#ifdef THREAD_SANITIZER
    skip(); /* it makes a fork of vfork */
#else
    PASSES(vfork_body);
#endif
}

static void foreign_body(void)
{
    struct fake_host h[2] = {signalling("8.0"), signalling("9.0")};
    int              status;
    uint64_t         before = fake_counts(&h[0]).activations + fake_counts(&h[1]).activations;
    pid_t            parent = getpid(), pid = fork();
    if (pid == 0)
        _exit(kill(parent, SIGRTMIN) != 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    usleep(20000);
    CHECK_EQ(fake_counts(&h[0]).activations + fake_counts(&h[1]).activations, before);
    fake_run(&h[0], "!threads 2; gc 3");
    fake_run(&h[1], "!threads 2; gc 3");
}

static void a_suspension_signal_from_another_process_is_ignored(void **state)
{
    (void)state;
    PASSES(foreign_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forked_child_has_its_faults_handled_and_dies_of_those_that_are_not),
        cmocka_unit_test(a_spawned_child_may_reset_its_signals_without_harm_to_the_parent),
        cmocka_unit_test(nor_does_a_vfork_child),
        cmocka_unit_test(a_suspension_signal_from_another_process_is_ignored),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
