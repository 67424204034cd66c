/* SPDX-License-Identifier: MIT */
/* test_sample_signal.c - which signal samples come with, and what a host that uses it too sees of that.
 * A stand-in for the sampler's handler passes on every signal that nobody queued. */
#include "tests/unit/router_fixture.h"

static _Atomic int samples;
static sigset_t    mask_seen;

static void on_sample(int sig, siginfo_t *info, void *context)
{
    pthread_sigmask(SIG_SETMASK, NULL, &mask_seen);
    if (info->si_code == SI_QUEUE)
        atomic_fetch_add(&samples, 1);
    else
        sxs_signals()->pass_on_sample(sig, info, context);
}

static void host_mask(int sig)
{
    pthread_sigmask(SIG_SETMASK, NULL, &mask_seen);
    count_only(sig);
}

static void host_has(int sig, void (*handler)(int), int flags,
                     int (*registration)(int, const struct sigaction *, struct sigaction *))
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = flags};
    sigaddset(&act.sa_mask, SIGUSR2);
    CHECK_EQ(registration(sig, &act, NULL), 0);
}

static int takes(void)
{
    CHECK_EQ(sxs_signals()->handle_samples(on_sample), 0);
    return sxs_signals()->sample_signal();
}

static int kernel_has_sampler(int sig)
{
    struct sigaction now;
    CHECK_EQ(sigaction(sig, NULL, &now), 0);
    return now.sa_sigaction == on_sample;
}

static void one_of_each(int sig)
{
    int calls = atomic_load(&host_calls), taken = atomic_load(&samples);
    CHECK_EQ(pthread_sigqueue(pthread_self(), sig, (union sigval){.sival_int = 1}), 0);
    CHECK_EQ(atomic_load(&samples), taken + 1);
    CHECK_EQ(atomic_load(&host_calls), calls);
    raise(sig);
    CHECK_EQ(atomic_load(&samples), taken + 1);
    CHECK_EQ(atomic_load(&host_calls), calls + 1);
    CHECK_EQ(atomic_load(&host_sig), sig);
}

static void free_choice(void)
{
    CHECK_EQ(takes(), SIGURG);
    CHECK(kernel_has_sampler(SIGURG) && !kernel_has_sampler(SIGWINCH));
    raise(SIGURG); /* no owner: nothing happens */
    CHECK(sigismember(&mask_seen, SIGALRM) && sigismember(&mask_seen, SIGRTMAX));
    CHECK(!sigismember(&mask_seen, SIGSEGV) && !sigismember(&mask_seen, SIGBUS));
}

static void it_is_SIGURG_where_the_host_has_no_handler_for_it(void **state)
{
    (void)state;
    PASSES(free_choice);
}

static void first_taken(void)
{
    host_has(SIGURG, count_only, 0, sigaction);
    CHECK_EQ(takes(), SIGWINCH);
    CHECK(!kernel_has_sampler(SIGURG) && kernel_has_sampler(SIGWINCH));
    raise(SIGURG);
    CHECK_EQ(atomic_load(&host_calls), 1);
}

static void it_is_SIGWINCH_where_the_host_has_SIGURG(void **state)
{
    (void)state;
    PASSES(first_taken);
}

static void both_taken(void)
{
    host_has(SIGURG, count_only, 0, sigaction);
    host_has(SIGWINCH, count_only, 0, sigaction);
    CHECK_EQ(takes(), SIGWINCH);
    one_of_each(SIGWINCH);
}

static void a_shared_one_is_recognized_by_what_it_carries(void **state)
{
    (void)state;
    PASSES(both_taken);
}

static void later(void)
{
    struct sigaction old;
    CHECK_EQ(takes(), SIGURG);
    CHECK_EQ(hooked_sigaction(SIGURG, NULL, &old), 0);
    CHECK(old.sa_handler == SIG_DFL);
    host_has(SIGURG, count_only, 0, hooked_sigaction);
    CHECK(kernel_has_sampler(SIGURG));
    one_of_each(SIGURG);
    host_has(SIGURG, host_mask, 0, hooked_sigaction);
    CHECK_EQ(hooked_sigaction(SIGURG, NULL, &old), 0);
    CHECK(old.sa_handler == host_mask && sigismember(&old.sa_mask, SIGUSR2));
    one_of_each(SIGURG);
    CHECK(sigismember(&mask_seen, SIGUSR2) && sigismember(&mask_seen, SIGURG));
    CHECK(!sigismember(&mask_seen, SIGALRM));
    host_has(SIGURG, host_mask, SA_NODEFER, hooked_sigaction);
    one_of_each(SIGURG);
    CHECK(!sigismember(&mask_seen, SIGURG));
    host_has(SIGURG, count_only, SA_RESETHAND, hooked_sigaction);
    one_of_each(SIGURG);
    CHECK_EQ(hooked_sigaction(SIGURG, NULL, &old), 0);
    CHECK(old.sa_handler == SIG_DFL);
}

static void a_host_that_registers_later_gets_the_rest_as_it_asked(void **state)
{
    (void)state;
    PASSES(later);
}

static void registers_unnoticed(void)
{
    CHECK_EQ(takes(), SIGURG);
    CHECK_EQ(sxs_signals()->check_samples(), SIGURG);
    host_has(SIGURG, count_only, 0, sigaction);
    CHECK_EQ(sxs_signals()->check_samples(), SIGWINCH);
    CHECK_EQ(sxs_signals()->sample_signal(), SIGWINCH);
    CHECK(!kernel_has_sampler(SIGURG) && kernel_has_sampler(SIGWINCH));
    host_has(SIGWINCH, count_only, 0, sigaction);
    CHECK_EQ(sxs_signals()->check_samples(), -EBUSY);
    CHECK(!kernel_has_sampler(SIGURG) && !kernel_has_sampler(SIGWINCH));
}

static void it_gives_way_to_a_host_that_registers_unnoticed(void **state)
{
    (void)state;
    PASSES(registers_unnoticed);
}

static int sampler_on_stack(int sig)
{
    struct sigaction now;
    CHECK_EQ(sigaction(sig, NULL, &now), 0);
    CHECK_EQ(sxs_signals()->sample_uses_stack(), (now.sa_flags & SA_ONSTACK) != 0);
    return (now.sa_flags & SA_ONSTACK) != 0;
}

static void stacks(void)
{
    CHECK_EQ(takes(), SIGURG);
    CHECK_EQ(sampler_on_stack(SIGURG), 0);
    host_has(SIGURG, count_only, SA_ONSTACK, hooked_sigaction);
    CHECK_EQ(sampler_on_stack(SIGURG), 1);
    host_has(SIGURG, count_only, 0, hooked_sigaction);
    CHECK_EQ(sampler_on_stack(SIGURG), 0);
    host_has(SIGPROF, count_only, SA_ONSTACK, sigaction);
    CHECK_EQ(sxs_signals()->check_samples(), SIGURG);
    CHECK_EQ(sampler_on_stack(SIGURG), 1);
}

static void its_handler_uses_the_alternate_stack_where_the_hosts_do(void **state)
{
    (void)state;
    PASSES(stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_SIGURG_where_the_host_has_no_handler_for_it),
        cmocka_unit_test(it_is_SIGWINCH_where_the_host_has_SIGURG),
        cmocka_unit_test(a_shared_one_is_recognized_by_what_it_carries),
        cmocka_unit_test(a_host_that_registers_later_gets_the_rest_as_it_asked),
        cmocka_unit_test(it_gives_way_to_a_host_that_registers_unnoticed),
        cmocka_unit_test(its_handler_uses_the_alternate_stack_where_the_hosts_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
