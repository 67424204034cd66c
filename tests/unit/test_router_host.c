/* SPDX-License-Identifier: MIT */
/* test_router_host.c - signals that are the host's own, or that have no owner. */
#include "tests/unit/router_fixture.h"

/* ---- the host's own -------------------------------------------------------------------------- */

__attribute__((unused)) static void host_before_body(void)
{
    host_takes(SIGSEGV, sigaction);
    struct fake_host h[2] = {signalling("8.0"), signalling("9.0")};
    for (int i = 0; i < 10; i++)
        fault_here();
    CHECK_EQ(host_calls, 10);
    fake_run(&h[0], "!signal-faults 20");
    fake_run(&h[1], "!signal-faults 20");
    CHECK_EQ(host_calls, 10);
    CHECK_EQ(unwanted_by_all(), 10);
}

static void a_handler_from_before_the_runtimes_gets_what_no_runtime_wants(void **state)
{
    (void)state;
#ifdef THREAD_SANITIZER
    skip(); /* the handler is the sanitizer's, which calls ours when it thinks fit */
#else
    PASSES(host_before_body);
#endif
}

static void host_after_body(void)
{
    struct fake_host h[2] = {signalling("8.0"), signalling("9.0")};
    struct sigaction was;
    host_takes(SIGSEGV, hooked_sigaction);
    CHECK_EQ(hooked_sigaction(SIGSEGV, NULL, &was), 0);
    CHECK(was.sa_sigaction == step_over);
    for (int i = 0; i < 10; i++)
        fault_here();
    CHECK_EQ(host_calls, 10);
    CHECK_EQ(host_sig, SIGSEGV);
    CHECK_EQ(host_address, 0);
    fake_run(&h[0], "!signal-faults 20");
    fake_run(&h[1], "!signal-faults 20");
    CHECK_EQ(host_calls, 10);
    CHECK_EQ(unwanted_by_all(), 10);
    CHECK_EQ(fake_counts(&h[0]).after_previous, 0);
    CHECK_EQ(fake_counts(&h[1]).after_previous, 0);
    CHECK_EQ(kill(getpid(), SIGSEGV), 0); /* one that was sent comes to it as well */
    CHECK_EQ(host_calls, 11);
}

static void a_handler_from_after_the_runtimes_gets_only_that_too_when_hooked(void **state)
{
    (void)state;
    PASSES(host_after_body);
}

static void first_body(void)
{
    struct fake_host h[2] = {signalling("8.0"), signalling("9.0")};
    host_takes(SIGSEGV, hooked_sigaction);
    fault_here(); /* this thread belongs to both */
    CHECK_EQ(host_calls, 1);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(fake_counts(&h[i]).faults_chained, 0);
    fault_elsewhere();
    CHECK_EQ(host_calls, 2);
    CHECK_EQ(fake_counts(&h[1]).faults_chained,
             1); /* the first one is asked last, see docs/internals/signals.md */
}

static void a_fault_in_the_module_of_the_hosts_handler_is_shown_to_no_runtime(void **state)
{
    (void)state;
    PASSES(first_body);
}

static void plain_body(void)
{
    struct fake_host h = signalling("8.0");
    struct sigaction act = {.sa_handler = count_only};
    CHECK_EQ(hooked_sigaction(SIGFPE, &act, NULL), 0);
    CHECK_EQ(raise(SIGFPE), 0);
    CHECK_EQ(host_calls, 1);
    CHECK_EQ(host_sig, SIGFPE);
    fake_run(&h, "!signal-faults 8"); /* divisions by zero among them */
    CHECK_EQ(host_calls, 1);
}

static void a_handler_without_siginfo_is_called_as_it_wants(void **state)
{
    (void)state;
    PASSES(plain_body);
}

static struct sigaction before_host;
static void             chain_back(int sig, siginfo_t *info, void *context)
{
    if (atomic_fetch_add(&host_calls, 1) > 0)
        _exit(98); /* it came back: a circle */
    if (before_host.sa_flags & SA_SIGINFO)
        before_host.sa_sigaction(sig, info, context);
    else if (before_host.sa_handler == SIG_DFL)
        hooked_sigaction(sig, &before_host, NULL); /* and let it happen again */
}

static void chain_back_body(void)
{
    struct fake_host h = signalling("8.0");
    struct sigaction act = {.sa_sigaction = chain_back, .sa_flags = SA_SIGINFO};
    (void)h;
    CHECK_EQ(hooked_sigaction(SIGSEGV, &act, &before_host), 0);
    fault_here();
}

static void a_handler_that_passes_on_what_was_there_before_makes_no_circle(void **state)
{
    (void)state;
    ENDS_BY(chain_back_body, SIGSEGV);
}

/* ---- no owner --------------------------------------------------------------------------------- */

static void default_fault_body(void)
{
    signalling("8.0");
    signalling("9.0");
    fault_here();
}

static void default_sent_body(void)
{
    signalling("8.0");
    signalling("9.0");
    kill(getpid(), SIGSEGV);
    pause();
}

static void abort_body(void)
{
    signalling("8.0");
    signalling("9.0");
    abort();
}

static void trap_body(void)
{
    signalling("8.0");
    signalling("9.0");
    __asm__ volatile("int3");
}

static void ill_body(void)
{
    signalling("8.0");
    signalling("9.0");
    __asm__ volatile("ud2");
}

static void a_process_that_wants_to_die_dies_of_that_very_signal(void **state)
{
    (void)state;
    ENDS_BY(default_fault_body, SIGSEGV);
    ENDS_BY(default_sent_body, SIGSEGV);
    ENDS_BY(abort_body, SIGABRT);
    ENDS_BY(trap_body, SIGTRAP);
    ENDS_BY(ill_body, SIGILL);
}

static void ignored_body(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    signalling("8.0");
    signalling("9.0");
    CHECK_EQ(hooked_sigaction(SIGTRAP, &ignore, NULL), 0);
    CHECK_EQ(hooked_sigaction(SIGSEGV, &ignore, NULL), 0);
    raise(SIGTRAP);
    kill(getpid(), SIGSEGV); /* sent: may be ignored */
    raise(SIGSEGV);
    fault_here(); /* this cannot be */
}

static void a_signal_that_is_ignored_is_ignored_unless_it_is_a_fault(void **state)
{
    (void)state;
    ENDS_BY(ignored_body, SIGSEGV);
}

static void default_again_body(void)
{
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    signalling("8.0");
    host_takes(SIGSEGV, hooked_sigaction);
    fault_here();
    CHECK_EQ(host_calls, 1);
    CHECK_EQ(hooked_sigaction(SIGSEGV, &dfl, NULL), 0);
    fault_here();
}

static void a_host_that_restores_the_default_gets_the_default(void **state)
{
    (void)state;
    ENDS_BY(default_again_body, SIGSEGV);
}

/* ---- while another thread registers ----------------------------------------------------------- */

static _Atomic int registering;

/* Registers two actions in turn; each is the same byte all over, handler, flags and mask alike. */
static void *register_in_turn(void *arg)
{
    (void)arg;
    for (int i = 0; i < 40 * MANY; i++) {
        struct sigaction act;
        memset(&act, i & 1 ? 0x11 : 0x22, sizeof(act));
        CHECK_EQ(hooked_sigaction(SIGFPE, &act, NULL), 0);
    }
    atomic_store(&registering, 0);
    return NULL;
}

static void torn_body(void)
{
    pthread_t     thread;
    unsigned char bytes[sizeof(struct sigaction)];
    signalling("8.0");
    host_takes(SIGFPE, hooked_sigaction);
    atomic_store(&registering, 1);
    CHECK_EQ(pthread_create(&thread, NULL, register_in_turn, NULL), 0);
    while (atomic_load(&registering)) {
        struct sigaction act;
        host_action(&router.host[IDX_FPE], &act);
        if (act.sa_sigaction == step_over)
            continue;
        memcpy(bytes, &act, sizeof(act));
        for (unsigned i = 1; i < sizeof(bytes); i++)
            CHECK_EQ(bytes[i], bytes[0]);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void a_handler_never_sees_an_action_that_is_half_written(void **state)
{
    (void)state;
    PASSES(torn_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_from_before_the_runtimes_gets_what_no_runtime_wants),
        cmocka_unit_test(a_handler_from_after_the_runtimes_gets_only_that_too_when_hooked),
        cmocka_unit_test(a_fault_in_the_module_of_the_hosts_handler_is_shown_to_no_runtime),
        cmocka_unit_test(a_handler_without_siginfo_is_called_as_it_wants),
        cmocka_unit_test(a_handler_that_passes_on_what_was_there_before_makes_no_circle),
        cmocka_unit_test(a_process_that_wants_to_die_dies_of_that_very_signal),
        cmocka_unit_test(a_signal_that_is_ignored_is_ignored_unless_it_is_a_fault),
        cmocka_unit_test(a_host_that_restores_the_default_gets_the_default),
        cmocka_unit_test(a_handler_never_sees_an_action_that_is_half_written),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
