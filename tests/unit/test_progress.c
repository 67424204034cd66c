/* SPDX-License-Identifier: MIT */
/* test_progress.c - whom a wait for progress waits for: threads that run, until they have run for a while. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "signals/progress.h"

static struct sxs_unserved_threads progress;
static _Atomic int                 stop, begun;

static void *run(void *unused)
{
    (void)unused;
    atomic_store(&begun, 1);
    while (!atomic_load(&stop))
        ;
    return NULL;
}

static void *sleep_long(void *unused)
{
    (void)unused;
    atomic_store(&begun, 1);
    pause();
    return NULL;
}

static pthread_t start(void *(*body)(void *))
{
    pthread_t thread;
    atomic_store(&stop, 0);
    atomic_store(&begun, 0);
    assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
    while (!atomic_load(&begun))
        usleep(100);
    return thread;
}

static uint64_t cpu_of(pthread_t thread)
{
    clockid_t       clock;
    struct timespec used;
    assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
    assert_int_equal(clock_gettime(clock, &used), 0);
    return sxs_ns_of(used);
}

static void alone_there_is_nothing_to_wait_for(void **state)
{
    (void)state;
    sxs_progress_begin(&progress);
    assert_int_equal(progress.n, 0);
    assert_true(sxs_progress_over(&progress));
}

static void a_thread_that_runs_is_waited_for_until_it_has_run(void **state)
{
    pthread_t thread = start(run);
    uint64_t  before = cpu_of(thread);
    (void)state;
    sxs_progress_begin(&progress);
    assert_int_equal(progress.n, 1);
    while (!sxs_progress_over(&progress))
        usleep(1000);
    assert_true(cpu_of(thread) - before >= 10000000u);
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
}

static void a_thread_that_waits_is_not_waited_for(void **state)
{
    pthread_t thread = start(sleep_long);
    (void)state;
    do { /* it may not have got to its sleep yet */
        sxs_progress_begin(&progress);
    } while (progress.n);
    assert_true(sxs_progress_over(&progress));
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

static void a_thread_that_ends_is_not_waited_for_any_longer(void **state)
{
    pthread_t thread = start(run);
    (void)state;
    sxs_progress_begin(&progress);
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    while (!sxs_progress_over(&progress)) /* the kernel shows it for a moment longer */
        usleep(100);
    assert_int_equal(progress.n, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_there_is_nothing_to_wait_for),
        cmocka_unit_test(a_thread_that_runs_is_waited_for_until_it_has_run),
        cmocka_unit_test(a_thread_that_waits_is_not_waited_for),
        cmocka_unit_test(a_thread_that_ends_is_not_waited_for_any_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
