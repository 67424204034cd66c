/* SPDX-License-Identifier: MIT */
/* test_router_left.c - handlers that are left by a jump, and stacks that are gone afterwards. */
#include "tests/unit/router_fixture.h"

/* ---- a handler of the host's that leaves by siglongjmp ---------------------------------------- */

static sigjmp_buf probe_failed;

static void leave(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    (void)context;
    atomic_fetch_add(&host_calls, 1);
    siglongjmp(probe_failed, 1);
}

#define NOWHERE ((const volatile int *)64) /* an address without memory; sanitizers stop at a null pointer */

/* Reads an address that may not be readable, as debuggers and collectors do. */
__attribute__((noinline)) static int readable(const volatile int *at)
{
    if (sigsetjmp(probe_failed, 1) != 0)
        return 0;
    (void)*at;
    return 1;
}

static void host_leaves(int sig, int flags)
{
    struct sigaction act = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO | flags};
    CHECK_EQ(hooked_sigaction(sig, &act, NULL), 0);
}

static void probe_body(void)
{
    int              here = 1;
    struct fake_host h = signalling("8.0");
    host_leaves(SIGSEGV, 0);
    for (int i = 0; i < 100; i++) /* the same stack pointer each time */
        CHECK_EQ(readable(NOWHERE), 0);
    CHECK_EQ(readable(&here), 1);
    CHECK_EQ(host_calls, 100);
    fake_run(&h, "!signal-faults 20");
    CHECK_EQ(host_calls, 100);
    CHECK_EQ(fake_counts(&h).faults, 20);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(readable(NOWHERE), 0);
}

static void a_host_that_probes_memory_by_siglongjmp_may_do_so_again(void **state)
{
    (void)state;
    PASSES(probe_body);
}

/* The kernel calls the host's handler, which calls the router: it was registered over it
 * unnoticed. */
static _Atomic int front_calls;
static void        front(int sig, siginfo_t *info, void *context)
{
    atomic_fetch_add(&front_calls, 1);
    router_entry(sig, info, context);
}

__attribute__((unused)) static void front_body(void)
{
    struct fake_host h = signalling("8.0");
    struct sigaction act = {.sa_sigaction = front, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    host_leaves(SIGSEGV, 0);
    CHECK_EQ(readable(NOWHERE), 0);
    CHECK_EQ(sigaction(SIGSEGV, &act, NULL), 0); /* past the router */
    for (int i = 0; i < 100; i++)
        CHECK_EQ(readable(NOWHERE), 0);
    CHECK_EQ(front_calls, 100);
    CHECK_EQ(host_calls, 101);
    fake_run(&h, "!signal-faults 20");
    CHECK_EQ(fake_counts(&h).faults, 20);
}

static void and_also_when_a_handler_in_front_of_the_router_passes_it_on(void **state)
{
    (void)state;
#ifdef THREAD_SANITIZER
    skip(); /* what the program registers goes to the sanitizer */
#else
    PASSES(front_body);
#endif
}

/* A handler that probes memory itself, by faults inside of its own fault, and passes on afterwards. */
static struct sigaction before_nested;
static sigjmp_buf       nested_failed;
static _Atomic int      nested_faults;

static void probe_then_pass_on(int sig, siginfo_t *info, void *context)
{
    if (atomic_load(&nested_faults) % 2 == 1) {
        atomic_fetch_add(&nested_faults, 1);
        siglongjmp(nested_failed, 1);
    }
    atomic_fetch_add(&nested_faults, 1);
    if (sigsetjmp(nested_failed, 1) == 0)
        fault_here();
    before_nested.sa_sigaction(sig, info, context);
    _exit(97); /* the default action ends the process when the instruction runs again */
}

static void nested_body(void)
{
    struct sigaction act = {.sa_sigaction = probe_then_pass_on,
                            .sa_flags = SA_SIGINFO | SA_NODEFER};
    signalling("8.0");
    memset(&before_nested, 0, sizeof(before_nested));
    before_nested.sa_sigaction = router_entry; /* what a host that registered unnoticed was given */
    before_nested.sa_flags = SA_SIGINFO;
    CHECK_EQ(hooked_sigaction(SIGSEGV, &act, NULL), 0);
    if (atomic_load(&nested_faults) == 0)
        fault_here();
}

static void a_handler_that_faults_itself_and_recovers_still_passes_on(void **state)
{
    (void)state;
    /* The call comes back: what follows is the handler's own. */
    assert_int_equal(WEXITSTATUS(child_status(nested_body)), 97);
}

/* ---- alternate stacks that are gone ----------------------------------------------------------- */

#define STACK_SIZE (256 * 1024)

static void *use_stack(void)
{
    stack_t alt = {.ss_size = STACK_SIZE};
    alt.ss_sp = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(alt.ss_sp != MAP_FAILED);
    CHECK_EQ(sigaltstack(&alt, NULL), 0);
    return alt.ss_sp;
}

static void drop_stack(void *at)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    CHECK_EQ(sigaltstack(&none, NULL), 0);
    CHECK_EQ(munmap(at, STACK_SIZE), 0);
}

static void send_all(struct fake_host *h, int n)
{
    union sigval nobody = {.sival_int = 0};
    CHECK_EQ(sigqueue(getpid(), SIGRTMIN, nobody), 0);
    for (int i = 0; i < n; i++)
        fake_run(&h[i], "!signal-faults 8; threads 2; gc 1; join");
}

static void unmapped_body(void)
{
    struct fake_host h[2] = {signalling("8.0"), signalling("9.0")};
    host_leaves(SIGSEGV, SA_ONSTACK);
    for (int round = 0; round < 5; round++) {
        void *stack = use_stack();
        CHECK_EQ(readable(NOWHERE), 0);         /* left: nobody came back to the router */
        fake_run(&h[0], "!signal-faults 2"); /* the second of them is left, too */
        drop_stack(stack);
        send_all(h, 2);
    }
    CHECK_EQ(host_calls, 5);
}

static void a_stack_that_a_handler_was_left_on_may_be_unmapped(void **state)
{
    (void)state;
    PASSES(unmapped_body);
}

/* Another stack at the same address: what lies there is not what was left. */
static void replaced_body(void)
{
    struct fake_host h = signalling("8.0");
    void            *stack = use_stack();
    host_leaves(SIGSEGV, SA_ONSTACK);
    for (int round = 0; round < 5; round++) {
        CHECK_EQ(readable(NOWHERE), 0);
        memset(stack, round & 1 ? 0xff : 0x41, STACK_SIZE);
        CHECK_EQ(readable(NOWHERE), 0);
        CHECK(mmap(stack, STACK_SIZE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == stack);
    }
    CHECK_EQ(host_calls, 10);
    fake_run(&h, "!signal-faults 8");
}

static void or_be_overwritten_or_replaced_at_the_same_address(void **state)
{
    (void)state;
    PASSES(replaced_body);
}

/* A runtime puts an action back on a thread that has left a handler. */
static void registers_body(void)
{
    struct fake_host h = signalling("8.0");
    struct sigaction dfl = {.sa_handler = SIG_DFL}, old;
    void            *stack = use_stack();
    host_leaves(SIGSEGV, SA_ONSTACK);
    CHECK_EQ(readable(NOWHERE), 0);
    fake_run(&h, "!signal-faults 2");
    drop_stack(stack);
    CHECK_EQ(hook_sigaction((uintptr_t)h.initialize, SIGABRT, &dfl, &old), 0);
    CHECK_EQ(readable(NOWHERE), 0);
}

static void a_runtime_may_put_back_an_action_after_that(void **state)
{
    (void)state;
    PASSES(registers_body);
}

/* ---- what the proof rests on ------------------------------------------------------------------ */

static ucontext_t *seen_context;
static void       *seen_link;
static void        mark_context(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    seen_context = context;
    seen_link = seen_context->uc_link;
    seen_context->uc_link = (void *)1;
}

static void kernel_body(void)
{
    struct sigaction act = {.sa_sigaction = mark_context, .sa_flags = SA_SIGINFO};
    ucontext_t      *first = NULL;
    CHECK_EQ(sigaction(SIGUSR1, &act, NULL), 0);
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK(seen_link == NULL);
        first = first ? first : seen_context;
        CHECK(first == seen_context);
    }
}

static void the_kernel_clears_the_link_of_every_context_that_it_writes(void **state)
{
    (void)state;
#ifdef THREAD_SANITIZER
    skip(); /* hands out copies of its own */
#else
    PASSES(kernel_body);
#endif
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_probes_memory_by_siglongjmp_may_do_so_again),
        cmocka_unit_test(and_also_when_a_handler_in_front_of_the_router_passes_it_on),
        cmocka_unit_test(a_handler_that_faults_itself_and_recovers_still_passes_on),
        cmocka_unit_test(a_stack_that_a_handler_was_left_on_may_be_unmapped),
        cmocka_unit_test(or_be_overwritten_or_replaced_at_the_same_address),
        cmocka_unit_test(a_runtime_may_put_back_an_action_after_that),
        cmocka_unit_test(the_kernel_clears_the_link_of_every_context_that_it_writes),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
