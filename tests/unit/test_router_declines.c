/* SPDX-License-Identifier: MIT */
/* test_router_declines.c - what declining does to the stack, and by a jump;
 * and the router switched off. */
#include "tests/unit/router_fixture.h"

/* ---- the alternate stack --------------------------------------------------------------------- */

#define ALT_SIZE (256 * 1024)
static unsigned char alt_stack[ALT_SIZE];

static size_t depth_of_a_declined_fault(void)
{
    size_t untouched = 0;
    memset(alt_stack, 0xA5, sizeof(alt_stack));
    fault_elsewhere();
    while (untouched < sizeof(alt_stack) && alt_stack[untouched] == 0xA5)
        untouched++;
    return sizeof(alt_stack) - untouched;
}

static void depth_body(void)
{
    static const char *const versions[] = {"8.0", "9.0", "10.0", "7.0", "6.0", "5.0", "3.1"};
    stack_t                  mine = {.ss_sp = alt_stack, .ss_size = sizeof(alt_stack)};
    struct fake_host         h[ARRAY_LEN(versions)];
    CHECK_EQ(sigaltstack(&mine, NULL), 0);
    h[0] = signalling(versions[0]);
    h[1] = signalling(versions[1]);
    host_takes(SIGSEGV, hooked_sigaction);
    depth_of_a_declined_fault();
    size_t two_deep = depth_of_a_declined_fault();
    CHECK_EQ(fake_counts(&h[1]).faults_chained, 2);
    for (unsigned i = 2; i < ARRAY_LEN(versions); i++)
        h[i] = signalling(versions[i]); /* all of them on this thread: all are asked */
    size_t seven_deep = depth_of_a_declined_fault();
    CHECK_EQ(host_calls, 3);
    for (unsigned i = 2; i < ARRAY_LEN(versions); i++)
        CHECK_EQ(fake_counts(&h[i]).faults_chained, 1);
    if (seven_deep > two_deep + 512)
        check_failed(__FILE__, __LINE__,
                     "bytes of alternate stack with seven runtimes and with two",
                     (long long)seven_deep, (long long)two_deep);
    CHECK(seven_deep < 8 * 1024 || MANY < 100); /* an alternate stack may be that small */
}

static void seven_runtimes_that_decline_use_no_more_stack_than_two(void **state)
{
    (void)state;
    PASSES(depth_body);
}

/* ---- a NativeAOT library passes on by a jump ------------------------------------------------- */

/* libcmocka plays the module; its "handler" is here. What it jumps to is what it was told. */
static struct sigaction tail_previous[2]; /* SIGSEGV, SIGRTMIN */
static uint64_t         tail_calls;
void (*tail_target)(int, siginfo_t *, void *);
void (*tail_target_activation)(int, siginfo_t *, void *);
void      tail_handler(int, siginfo_t *, void *);
void      tail_handler_activation(int, siginfo_t *, void *);
uint64_t *tail_counter = &tail_calls;
__asm__(".text\n"
        "tail_handler:\n\tmov tail_counter@GOTPCREL(%rip), %rax\n\tmov (%rax), %rax\n"
        "\tlock incq (%rax)\n\tmov tail_target@GOTPCREL(%rip), %rax\n\tjmp *(%rax)\n"
        "tail_handler_activation:\n\tmov tail_counter@GOTPCREL(%rip), %rax\n\tmov (%rax), %rax\n"
        "\tlock incq (%rax)\n\tmov tail_target_activation@GOTPCREL(%rip), %rax\n\tjmp *(%rax)\n");

static void add_tail_chainer(void)
{
    uintptr_t        inside = (uintptr_t)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests");
    struct sigaction act = {.sa_sigaction = tail_handler,
                            .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    CHECK(inside && sxs_signals()->adopt(inside, NULL) >= 0);
    CHECK_EQ(hook_sigaction(inside, SIGSEGV, &act, &tail_previous[0]), 0);
    act.sa_sigaction = tail_handler_activation;
    CHECK_EQ(hook_sigaction(inside, SIGRTMIN, &act, &tail_previous[1]), 0);
    tail_target = tail_previous[0].sa_sigaction;
    tail_target_activation = tail_previous[1].sa_sigaction;
    CHECK(tail_target == router_entry && tail_target_activation == router_entry);
}

static void tail_body(void)
{
    struct fake_host h = signalling("8.0");
    add_tail_chainer();
    host_takes(SIGSEGV, hooked_sigaction);
    fault_elsewhere(); /* its threads nobody reports: it is asked, and declines */
    CHECK_EQ(host_calls, 1);
    CHECK(tail_calls >= 1);
    fake_run(&h, "!signal-faults 20; threads 2; gc 3; join");
    CHECK_EQ(fake_counts(&h).faults, 20);
    uint64_t     before = tail_calls;
    union sigval nobody = {.sival_int = 0};
    CHECK_EQ(sigqueue(getpid(), SIGRTMIN, nobody), 0);
    CHECK_EQ(raise(SIGRTMIN), 0);
    CHECK(tail_calls <= before + 2); /* at most once for each */
}

static void a_handler_that_passes_on_by_a_jump_makes_no_circle(void **state)
{
    (void)state;
    PASSES(tail_body);
}

static void tail_dies_body(void)
{
    signalling("8.0");
    add_tail_chainer();
    fault_elsewhere();
}

static void and_an_unwanted_fault_behind_it_still_ends_the_process(void **state)
{
    (void)state;
    ENDS_BY(tail_dies_body, SIGSEGV);
}

/* ---- off ------------------------------------------------------------------------------------- */

static void off_body(void)
{
    static const int routed[] = {SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP, SIGABRT};
    struct sigaction before[ARRAY_LEN(routed)], after;
    setenv("SXSPROF_SIGNALS", "off", 1);
    profile_without_signals(tools, ARRAY_LEN(tools));
    for (unsigned i = 0; i < ARRAY_LEN(routed); i++)
        sigaction(routed[i], NULL, &before[i]);
    struct fake_host h = fake_start("8.0");
    CHECK_EQ(sxs_signals()->adopt((uintptr_t)h.initialize, NULL), -ENOTSUP);
    for (unsigned i = 0; i < ARRAY_LEN(routed); i++) {
        sigaction(routed[i], NULL, &after);
        CHECK(after.sa_sigaction == before[i].sa_sigaction && after.sa_flags == before[i].sa_flags);
    }
    CHECK_EQ(sxs_session_open(NULL)->signals_off, 1);
    fake_end(&h);
}

#ifndef THREAD_SANITIZER /* it shows its own handlers instead */
static void off_keeps_body(void)
{
    struct sigaction now;
    Dl_info          where;
    setenv("SXSPROF_SIGNALS", "off", 1);
    signalling("8.0");
    struct fake_host last = signalling("9.0");
    CHECK_EQ(sigaction(SIGSEGV, NULL, &now), 0);
    CHECK(dladdr((void *)(uintptr_t)now.sa_sigaction, &where) &&
          strcmp(where.dli_fname, last.path) == 0);
    CHECK_EQ(routed_to(1) + routed_to(2), 0);
}
#endif

static void switched_off_it_leaves_every_action_alone(void **state)
{
    (void)state;
    PASSES(off_body);
#ifndef THREAD_SANITIZER
    PASSES(off_keeps_body);
#endif
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(seven_runtimes_that_decline_use_no_more_stack_than_two),
        cmocka_unit_test(a_handler_that_passes_on_by_a_jump_makes_no_circle),
        cmocka_unit_test(and_an_unwanted_fault_behind_it_still_ends_the_process),
        cmocka_unit_test(switched_off_it_leaves_every_action_alone),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
