/* SPDX-License-Identifier: MIT */
/* test_router_masks.c - the signals of profilers, which are blocked while a runtime handles SIGSEGV on the
 * alternate stack: by whom, for how long, and that nothing else is. */
#include "tests/unit/router_fixture.h"
#include "tests/unit/sanitized.h"

/* What a runtime does when it has left its handler for SIGSEGV: it unblocks what it knows of. */
static void unblock_as_a_runtime(void)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGRTMIN);
    CHECK_EQ(mask_runtimes_unblock(&one, NULL), 0);
}

static int is_blocked(int sig)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, sig) == 1;
}

/* As the kernel does for the router's action: @interrupted is in force, and profilers' signals besides. */
static void enter_handler(const sigset_t *interrupted, ucontext_t *context)
{
    struct mask_entry entry;
    sigset_t          more;
    memset(context, 0, sizeof(*context));
    context->uc_sigmask = *interrupted;
    router.flags[IDX_SEGV] = SA_ONSTACK;
    sigemptyset(&more);
    mask_add_profilers(&more);
    pthread_sigmask(SIG_SETMASK, interrupted, NULL);
    pthread_sigmask(SIG_BLOCK, &more, NULL);
    mask_entered(IDX_SEGV, context, &entry);
    CHECK_EQ(entry.added, 0);
}

static void left_for_good(void)
{
    sigset_t   interrupted;
    ucontext_t context;
    sxs_signals();
    sigemptyset(&interrupted);
    enter_handler(&interrupted, &context);
    CHECK(is_blocked(SIGURG) && is_blocked(SIGWINCH) && is_blocked(SIGPROF));
    unblock_as_a_runtime();
    CHECK(!is_blocked(SIGURG) && !is_blocked(SIGWINCH) && !is_blocked(SIGPROF));
    sigaddset(&interrupted, SIGPROF);
    sigaddset(&interrupted, SIGURG);
    enter_handler(&interrupted, &context);
    unblock_as_a_runtime();
    CHECK(is_blocked(SIGURG) && !is_blocked(SIGWINCH) && is_blocked(SIGPROF));
    unblock_as_a_runtime(); /* with no handler before it: as a runtime does on each thread it begins with */
    CHECK(is_blocked(SIGURG) && is_blocked(SIGPROF));
}

static void a_runtime_that_leaves_its_handler_unblocks_what_the_router_blocked(void **state)
{
    (void)state;
    PASSES(left_for_good);
}

/* ---- a host's handler in front of the router ---------------------------------------------------- */

static struct sigaction in_front_of;
static int              blocked_in_runtime, blocked_in_host_before, blocked_in_host_after;
static int              runtime_leaves;
static sigjmp_buf       left_to;

static int profilers_blocked(void)
{
    return is_blocked(SIGURG) + is_blocked(SIGWINCH) + is_blocked(SIGPROF);
}

/* libcmocka plays the runtime's module. A runtime may leave its handler: it unblocks the signals it knows of. */
static void runtime_handler(int sig, siginfo_t *info, void *context)
{
    blocked_in_runtime = profilers_blocked();
    if (runtime_leaves) {
        sigset_t this_one;
        sigemptyset(&this_one);
        sigaddset(&this_one, sig);
        pthread_sigmask(SIG_UNBLOCK, &this_one, NULL);
        unblock_as_a_runtime();
        siglongjmp(left_to, 1);
    }
    step_over(sig, info, context);
}

/* Registered unnoticed, with an empty mask; it passes every fault on. */
static void handler_in_front(int sig, siginfo_t *info, void *context)
{
    blocked_in_host_before = profilers_blocked();
    in_front_of.sa_sigaction(sig, info, context);
    blocked_in_host_after = profilers_blocked();
}

static void host_in_front(void)
{
    uintptr_t        inside = (uintptr_t)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests");
    struct sigaction act = {.sa_sigaction = runtime_handler,
                            .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    CHECK(inside && sxs_signals()->adopt(inside, NULL) >= 0);
    CHECK_EQ(hook_sigaction(inside, SIGSEGV, &act, NULL), 0);
    act.sa_sigaction = handler_in_front;
    CHECK_EQ(sigaction(SIGSEGV, &act, &in_front_of), 0);
    CHECK(in_front_of.sa_sigaction == router_entry);
}

static void in_front_body(void)
{
    host_in_front();
    for (int i = 0; i < 3; i++) {
        fault_elsewhere();
        CHECK_EQ(host_calls, i + 1);
        CHECK_EQ(blocked_in_host_before, 0);
        CHECK_EQ(blocked_in_runtime, 3);
        CHECK_EQ(blocked_in_host_after, 0);
        CHECK_EQ(profilers_blocked(), 0);
    }
}

static void behind_a_hosts_handler_a_runtime_is_not_interrupted_either(void **state)
{
    (void)state;
    skip_under_thread_sanitizer("it delivers signals of handlers later");
    PASSES(in_front_body);
}

static void in_front_left_body(void)
{
    host_in_front();
    runtime_leaves = 1;
    for (int i = 0; i < 3; i++) {
        blocked_in_runtime = 0;
        if (!sigsetjmp(left_to, 0))
            fault_elsewhere();
        CHECK_EQ(blocked_in_runtime, 3);
        CHECK_EQ(profilers_blocked(), 0);
    }
}

static void and_leaves_nothing_blocked_when_it_does_not_return(void **state)
{
    (void)state;
    PASSES(in_front_left_body);
}

static void in_front_blocked_body(void)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGPROF);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
    host_in_front();
    fault_elsewhere();
    CHECK_EQ(blocked_in_runtime, 3);
    CHECK_EQ(blocked_in_host_after, 1);
    runtime_leaves = 1;
    if (!sigsetjmp(left_to, 0))
        fault_elsewhere();
    CHECK(is_blocked(SIGPROF) && !is_blocked(SIGURG) && !is_blocked(SIGWINCH));
}

static void what_the_host_had_blocked_stays_blocked(void **state)
{
    (void)state;
    skip_under_thread_sanitizer("it delivers signals of handlers later");
    PASSES(in_front_blocked_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_runtime_that_leaves_its_handler_unblocks_what_the_router_blocked),
        cmocka_unit_test(behind_a_hosts_handler_a_runtime_is_not_interrupted_either),
        cmocka_unit_test(and_leaves_nothing_blocked_when_it_does_not_return),
        cmocka_unit_test(what_the_host_had_blocked_stays_blocked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
