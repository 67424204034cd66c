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
    CHECK_EQ(takes(), SIGSTKFLT);
    CHECK(kernel_has_sampler(SIGSTKFLT) && !kernel_has_sampler(SIGURG) &&
          !kernel_has_sampler(SIGWINCH));
    CHECK_EQ(pthread_sigqueue(pthread_self(), SIGSTKFLT, (union sigval){.sival_int = 1}), 0);
    CHECK(sigismember(&mask_seen, SIGALRM) && sigismember(&mask_seen, SIGRTMAX));
    CHECK(!sigismember(&mask_seen, SIGSEGV) && !sigismember(&mask_seen, SIGBUS));
}

static void it_is_SIGSTKFLT_where_the_host_has_no_handler_for_it(void **state)
{
    (void)state;
    PASSES(free_choice);
}

static void first_taken(void)
{
    host_has(SIGSTKFLT, count_only, 0, sigaction);
    CHECK_EQ(takes(), SIGURG);
    CHECK(!kernel_has_sampler(SIGSTKFLT) && kernel_has_sampler(SIGURG));
    raise(SIGSTKFLT);
    CHECK_EQ(atomic_load(&host_calls), 1);
    raise(SIGURG); /* the host has no handler: nothing happens */
}

static void second_taken(void)
{
    host_has(SIGURG, count_only, 0, sigaction);
    CHECK_EQ(sxs_signals()->harmless_sample(), SIGWINCH);
    CHECK_EQ(takes(), SIGWINCH);
}

static void it_is_another_where_the_host_has_that_one(void **state)
{
    (void)state;
    PASSES(first_taken);
    PASSES(second_taken);
}

static void becomes_harmless(void)
{
    CHECK_EQ(takes(), SIGSTKFLT);
    CHECK_EQ(sxs_signals()->harmless_sample(), SIGURG);
    CHECK_EQ(sxs_signals()->sample_signal(), SIGURG);
    CHECK_EQ(sxs_signals()->check_samples(), SIGURG);
    CHECK(kernel_has_sampler(SIGSTKFLT) && kernel_has_sampler(SIGURG)); /* one may be on its way */
    CHECK_EQ(sxs_signals()->handle_samples(NULL), 0);
    CHECK(!kernel_has_sampler(SIGSTKFLT) && !kernel_has_sampler(SIGURG));
    CHECK_EQ(takes(), SIGSTKFLT);
}

static void where_one_may_be_pending_across_execve_its_default_action_does_nothing(void **state)
{
    (void)state;
    PASSES(becomes_harmless);
}

static void sent_by_the_host(void)
{
    CHECK_EQ(takes(), SIGSTKFLT);
    raise(SIGSTKFLT);
}

static void pending_at_the_end(void)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGSTKFLT);
    CHECK_EQ(takes(), SIGSTKFLT);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
    CHECK_EQ(pthread_sigqueue(pthread_self(), SIGSTKFLT, (union sigval){.sival_int = 1}), 0);
    CHECK_EQ(sxs_signals()->handle_samples(NULL), 0);
    CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &one, NULL), 0);
}

static void SIGSTKFLT_ends_a_host_that_sends_it_and_no_other(void **state)
{
    (void)state;
    ENDS_BY(sent_by_the_host, SIGSTKFLT);
    PASSES(pending_at_the_end);
}

static void all_taken(void)
{
    host_has(SIGSTKFLT, count_only, 0, sigaction);
    host_has(SIGURG, count_only, 0, sigaction);
    host_has(SIGWINCH, count_only, 0, sigaction);
    CHECK_EQ(takes(), SIGWINCH);
    one_of_each(SIGWINCH);
}

static void a_shared_one_is_recognized_by_what_it_carries(void **state)
{
    (void)state;
    PASSES(all_taken);
}

static void later(void)
{
    struct sigaction old;
    CHECK_EQ(takes(), SIGSTKFLT);
    CHECK_EQ(hooked_sigaction(SIGSTKFLT, NULL, &old), 0);
    CHECK(old.sa_handler == SIG_DFL);
    host_has(SIGSTKFLT, count_only, 0, hooked_sigaction);
    CHECK(kernel_has_sampler(SIGSTKFLT));
    one_of_each(SIGSTKFLT);
    host_has(SIGSTKFLT, host_mask, 0, hooked_sigaction);
    CHECK_EQ(hooked_sigaction(SIGSTKFLT, NULL, &old), 0);
    CHECK(old.sa_handler == host_mask && sigismember(&old.sa_mask, SIGUSR2));
    one_of_each(SIGSTKFLT);
    CHECK(sigismember(&mask_seen, SIGUSR2) && sigismember(&mask_seen, SIGSTKFLT));
    CHECK(!sigismember(&mask_seen, SIGALRM));
    host_has(SIGSTKFLT, host_mask, SA_NODEFER, hooked_sigaction);
    one_of_each(SIGSTKFLT);
    CHECK(!sigismember(&mask_seen, SIGSTKFLT));
    host_has(SIGSTKFLT, count_only, SA_RESETHAND, hooked_sigaction);
    one_of_each(SIGSTKFLT);
    CHECK_EQ(hooked_sigaction(SIGSTKFLT, NULL, &old), 0);
    CHECK(old.sa_handler == SIG_DFL);
}

static void a_host_that_registers_later_gets_the_rest_as_it_asked(void **state)
{
    (void)state;
    PASSES(later);
}

static void registers_noticed(void)
{
    CHECK_EQ(takes(), SIGSTKFLT);
    host_has(SIGSTKFLT, count_only, 0, hooked_sigaction);
    CHECK_EQ(sxs_signals()->check_samples(), SIGURG);
    CHECK(kernel_has_sampler(SIGSTKFLT) && kernel_has_sampler(SIGURG)); /* one may be on its way */
    one_of_each(SIGSTKFLT);
    host_has(SIGURG, count_only, 0, hooked_sigaction);
    CHECK_EQ(sxs_signals()->check_samples(), SIGWINCH);
    host_has(SIGWINCH, count_only, 0, hooked_sigaction);
    CHECK_EQ(sxs_signals()->check_samples(), SIGWINCH); /* shared: there is no other */
    one_of_each(SIGWINCH);
}

static void it_does_not_share_a_signal_while_another_is_free(void **state)
{
    (void)state;
    PASSES(registers_noticed);
}

static void registers_unnoticed(void)
{
    CHECK_EQ(takes(), SIGSTKFLT);
    CHECK_EQ(sxs_signals()->check_samples(), SIGSTKFLT);
    host_has(SIGSTKFLT, count_only, 0, sigaction);
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

/* Whether a read that waits fails when the host's own handler, which has @flags, interrupts it. */
static void interrupt_read(int flags)
{
    int     ends[2];
    pid_t   self = getpid();
    char    byte;
    ssize_t n;
    CHECK_EQ(takes(), SIGSTKFLT);
    host_has(SIGSTKFLT, count_only, flags, hooked_sigaction);
    CHECK_EQ(pipe(ends), 0);
    if (fork() == 0) {
        for (int i = 0; i < 50; i++) {
            usleep(10000);
            kill(self, SIGSTKFLT);
        }
        _exit(write(ends[1], "x", 1) != 1);
    }
    n = read(ends[0], &byte, 1);
    CHECK(flags & SA_RESTART ? n == 1 : n < 0 && errno == EINTR);
    CHECK(atomic_load(&host_calls) > 0);
}

static void with_restart(void)
{
    interrupt_read(SA_RESTART);
}

static void without_restart(void)
{
    interrupt_read(0);
}

static void a_call_that_the_hosts_handler_interrupts_fails_if_it_asked_for_that(void **state)
{
    (void)state;
    PASSES(with_restart);
    PASSES(without_restart);
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
    CHECK_EQ(takes(), SIGSTKFLT);
    CHECK_EQ(sampler_on_stack(SIGSTKFLT), 0);
    host_has(SIGSTKFLT, count_only, SA_ONSTACK, hooked_sigaction);
    CHECK_EQ(sampler_on_stack(SIGSTKFLT), 1);
    host_has(SIGSTKFLT, count_only, 0, hooked_sigaction);
    CHECK_EQ(sampler_on_stack(SIGSTKFLT), 0);
    host_has(SIGSTKFLT, SIG_DFL, 0, hooked_sigaction);
    host_has(SIGPROF, count_only, SA_ONSTACK, sigaction);
    CHECK_EQ(sxs_signals()->check_samples(), SIGSTKFLT);
    CHECK_EQ(sampler_on_stack(SIGSTKFLT), 1);
}

static void its_handler_uses_the_alternate_stack_where_the_hosts_do(void **state)
{
    (void)state;
    PASSES(stacks);
}

/* As if the session ended right after a hook has found out that the signal is the sampler's. */
static void registers_at_the_end(void)
{
    struct sigaction act = {.sa_handler = count_only, .sa_flags = SA_ONSTACK}, now;
    CHECK_EQ(takes(), SIGSTKFLT);
    CHECK_EQ(sxs_signals()->handle_samples(NULL), 0);
    CHECK_EQ(sample_sigaction(SIGSTKFLT, &act, NULL), 0);
    CHECK_EQ(sigaction(SIGSTKFLT, NULL, &now), 0);
    CHECK(now.sa_handler == count_only);
    raise(SIGSTKFLT);
    CHECK_EQ(atomic_load(&host_calls), 1);
}

static void a_registration_that_meets_the_end_of_a_session_is_kept(void **state)
{
    (void)state;
    PASSES(registers_at_the_end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_registration_that_meets_the_end_of_a_session_is_kept),
        cmocka_unit_test(it_is_SIGSTKFLT_where_the_host_has_no_handler_for_it),
        cmocka_unit_test(it_is_another_where_the_host_has_that_one),
        cmocka_unit_test(where_one_may_be_pending_across_execve_its_default_action_does_nothing),
        cmocka_unit_test(SIGSTKFLT_ends_a_host_that_sends_it_and_no_other),
        cmocka_unit_test(a_shared_one_is_recognized_by_what_it_carries),
        cmocka_unit_test(a_host_that_registers_later_gets_the_rest_as_it_asked),
        cmocka_unit_test(it_does_not_share_a_signal_while_another_is_free),
        cmocka_unit_test(it_gives_way_to_a_host_that_registers_unnoticed),
        cmocka_unit_test(a_call_that_the_hosts_handler_interrupts_fails_if_it_asked_for_that),
        cmocka_unit_test(its_handler_uses_the_alternate_stack_where_the_hosts_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
