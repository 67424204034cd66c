/* SPDX-License-Identifier: MIT */
/* Each thread is reported to the listener, and the thread notices nothing. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "signals/router.h"

static _Atomic int       n_started, n_ended;
static _Atomic uintptr_t lo, hi;
static _Thread_local int reported;

static void started(uintptr_t stack_lo, uintptr_t stack_hi)
{
    atomic_store(&lo, stack_lo);
    atomic_store(&hi, stack_hi);
    reported = 1;
    errno = EBADF; /* must not be seen by the thread */
    atomic_fetch_add(&n_started, 1);
}

static void ended(void)
{
    atomic_fetch_add(&n_ended, reported);
}

static int without_keys, with_keys; /* the answers of watch_threads() in setup() */

/* The first request comes while the process has no key of thread-specific data left. */
static int setup(void **state)
{
    static const struct sxs_thread_watch watch = {started, ended};
    static pthread_key_t                 keys[PTHREAD_KEYS_MAX];
    const struct sxs_signals            *signals = sxs_signals();
    unsigned                             n = 0;
    (void)state;
    while (n < PTHREAD_KEYS_MAX && pthread_key_create(&keys[n], NULL) == 0)
        n++;
    without_keys = signals->watch_threads(&watch);
    while (n > 0)
        pthread_key_delete(keys[--n]);
    with_keys = signals->watch_threads(&watch);
    return signals->off;
}

static void a_request_that_failed_can_be_made_again(void **state)
{
    (void)state;
    assert_int_equal(without_keys, -EAGAIN);
    assert_int_equal(with_keys, 0);
}

struct seen {
    uintptr_t caller, frame; /* where the thread's function returns to */
    int       error, reported;
    void     *result;
};

static void *look(void *arg)
{
    struct seen *s = arg;
    s->error = errno;
    s->reported = reported;
    s->caller = (uintptr_t)__builtin_return_address(0);
    s->frame = (uintptr_t)__builtin_frame_address(0);
    return s->result;
}

static void run(pthread_attr_t *attr, struct seen *s)
{
    pthread_t thread;
    void     *result = NULL;
    memset(s, 0, sizeof(*s));
    s->result = s;
    assert_int_equal(hook_pthread_create(&thread, attr, look, s), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, s);
}

static void a_thread_is_reported_and_its_stack_known(void **state)
{
    struct seen s;
    (void)state;
    n_started = n_ended = 0;
    run(NULL, &s);
    assert_int_equal(n_started, 1);
    assert_int_equal(n_ended, 1);
    assert_true(s.reported);
    assert_int_equal(s.error, 0);
    assert_true(lo < s.frame && s.frame < hi);
    assert_true(hi - lo >= (uintptr_t)PTHREAD_STACK_MIN);
}

/* The program's function returns to where it would return to had nobody listened. */
static void the_thread_has_no_frame_of_ours(void **state)
{
#ifdef SXS_SANITIZED
    (void)state;
    skip(); /* their own pthread_create has frames there */
#else
    struct seen hooked, plain = {0};
    pthread_t   thread;
    (void)state;
    run(NULL, &hooked);
    assert_int_equal(pthread_create(&thread, NULL, look, &plain), 0);
    pthread_join(thread, NULL);
    assert_false(plain.reported);
    assert_int_equal(hooked.caller, plain.caller);
#endif
}

static void *exits(void *arg)
{
    pthread_exit(arg);
}

static void *waits(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void exit_and_cancellation_are_ends_too(void **state)
{
    pthread_t thread;
    void     *result = NULL;
    (void)state;
    n_ended = 0;
    assert_int_equal(hook_pthread_create(&thread, NULL, exits, &thread), 0);
    pthread_join(thread, &result);
    assert_ptr_equal(result, &thread);
    assert_int_equal(n_ended, 1);
    assert_int_equal(hook_pthread_create(&thread, NULL, waits, NULL), 0);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(n_ended, 2);
}

static void attributes_and_errors_are_passed_on(void **state)
{
    pthread_attr_t attr;
    pthread_t      thread;
    struct seen    s;
    (void)state;
    pthread_attr_init(&attr);
#ifndef SXS_SANITIZED
    assert_int_equal(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN), 0);
    run(&attr, &s);
    assert_true(s.reported);
    assert_int_equal(hi - lo, PTHREAD_STACK_MIN);
#endif
    n_started = 0;
    assert_int_equal(pthread_attr_setstacksize(&attr, (size_t)1 << 50), 0);
    for (int i = 0; i < 3000; i++) /* what was set aside for it is given back */
        assert_int_equal(hook_pthread_create(&thread, &attr, look, &s), EAGAIN);
    assert_int_equal(n_started, 0);
    run(NULL, &s);
    assert_true(s.reported);
    pthread_attr_destroy(&attr);
}

static void *many(void *arg)
{
    for (int i = 0; i < 500; i++) {
        pthread_t   thread;
        struct seen s = {0};
        if (hook_pthread_create(&thread, NULL, look, &s) != 0 || pthread_join(thread, NULL) != 0 ||
            !s.reported)
            atomic_fetch_add((_Atomic int *)arg, 1);
    }
    return NULL;
}

static void many_at_once(void **state)
{
    _Atomic int bad = 0;
    pthread_t   makers[4];
    (void)state;
    n_started = n_ended = 0;
    for (size_t i = 0; i < ARRAY_LEN(makers); i++)
        assert_int_equal(hook_pthread_create(&makers[i], NULL, many, &bad), 0);
    for (size_t i = 0; i < ARRAY_LEN(makers); i++)
        pthread_join(makers[i], NULL);
    assert_int_equal(bad, 0);
    assert_int_equal(n_started, 2004);
    assert_int_equal(n_ended, 2004);
}

static void there_is_one_listener(void **state)
{
    static const struct sxs_thread_watch watch = {started, ended};
    (void)state;
    assert_int_equal(sxs_signals()->watch_threads(&watch), -EBUSY);
}

static void nobody_listens_in_a_forked_child(void **state)
{
    int status = -1;
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* no threads after fork there */
#endif
    pid_t child = fork();
    if (child == 0) {
        pthread_t   thread;
        struct seen s = {0};
        n_started = 0;
        _exit(hook_pthread_create(&thread, NULL, look, &s) || pthread_join(thread, NULL) ||
              n_started || s.reported);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_failed_can_be_made_again),
        cmocka_unit_test(a_thread_is_reported_and_its_stack_known),
        cmocka_unit_test(the_thread_has_no_frame_of_ours),
        cmocka_unit_test(exit_and_cancellation_are_ends_too),
        cmocka_unit_test(attributes_and_errors_are_passed_on),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(there_is_one_listener),
        cmocka_unit_test(nobody_listens_in_a_forked_child),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
