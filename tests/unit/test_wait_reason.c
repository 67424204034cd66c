/* SPDX-License-Identifier: MIT */
/* test_wait_reason.c - what the kernel says about a waiting thread, as text and of a thread. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampling/wait_reason.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void system_calls_have_reasons(void **state)
{
    (void)state;
    assert_int_equal(sxs_wait_reason_of_syscall("202 0x7f 0x80 0x0 0x0 0x0 0x0 0x7ffe 0x7f\n"),
                     SXS_WAITS_LOCK);
    assert_int_equal(sxs_wait_reason_of_syscall("230 0x0 0x0 0x7f 0x7f 0x0 0x0 0x7f 0x7f\n"),
                     SXS_WAITS_SLEEP);
    assert_int_equal(sxs_wait_reason_of_syscall("0 0x5 0x7f 0x1 0x0 0x0 0x0 0x7f 0x7f\n"),
                     SXS_WAITS_IO);
    assert_int_equal(sxs_wait_reason_of_syscall("232 0x5 0x7f 0x1 0x0 0x0 0x0 0x7f 0x7f\n"),
                     SXS_WAITS_POLL);
    assert_int_equal(sxs_wait_reason_of_syscall("61 0x5 0x7f\n"), SXS_WAITS_PROCESS);
    assert_int_equal(sxs_wait_reason_of_syscall("9999 0x5 0x7f\n"), SXS_WAITS_OTHER);
    assert_int_equal(sxs_wait_reason_of_syscall("running\n"), SXS_WAITS_PROCESSOR);
    assert_int_equal(sxs_wait_reason_of_syscall("-1 0x7f 0x7f\n"), SXS_WAITS);
    assert_int_equal(sxs_wait_reason_of_syscall(""), SXS_WAITS);
    assert_int_equal(sxs_wait_reason_of_syscall("202"), SXS_WAITS);
}

static void states_have_reasons(void **state)
{
    (void)state;
    assert_int_equal(sxs_wait_reason_of_stat("12 (a) R) D 1 2"), SXS_WAITS_DISK);
    assert_int_equal(sxs_wait_reason_of_stat("12 (app) R 1 2"), SXS_WAITS_PROCESSOR);
    assert_int_equal(sxs_wait_reason_of_stat("12 (app) t 1 2"), SXS_WAITS_STOPPED);
    assert_int_equal(sxs_wait_reason_of_stat("12 (app) S 1 2"), SXS_WAITS);
    assert_int_equal(sxs_wait_reason_of_stat("12 (app"), SXS_WAITS);
    assert_int_equal(sxs_wait_reason_of_stat("12 (app)"), SXS_WAITS);
}

static pthread_mutex_t  held = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t waiting_tid;

static void *wait_for_held(void *arg)
{
    waiting_tid = (uint32_t)syscall(SYS_gettid);
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return arg;
}

static void a_thread_that_waits_for_a_mutex_waits_for_a_lock(void **state)
{
    pthread_t        thread;
    enum sxs_waiting reason = SXS_WAITS;
    (void)state;
    pthread_mutex_lock(&held);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_held, NULL), 0);
    for (int i = 0; i < 5000 && reason != SXS_WAITS_LOCK; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        reason = sxs_wait_reason(waiting_tid);
    }
    pthread_mutex_unlock(&held);
    pthread_join(thread, NULL);
    if (access("/proc/self/syscall", R_OK) != 0)
        skip(); /* a kernel without this file */
    assert_int_equal(reason, SXS_WAITS_LOCK);
    assert_int_equal(sxs_wait_reason(999999999), SXS_WAITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(system_calls_have_reasons),
        cmocka_unit_test(states_have_reasons),
        cmocka_unit_test(a_thread_that_waits_for_a_mutex_waits_for_a_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
