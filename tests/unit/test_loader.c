/* SPDX-License-Identifier: MIT */
/* test_loader.c - children forked while the library looks at what is loaded find the loader free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/loader.h"

enum { HUNG_AFTER_S = 5, LOOKS_MS = 100 };

static struct {
    atomic_int looking, done, ended;
    int        result;
} other; /* thread */

static int count(struct dl_phdr_info *info, size_t size, void *n)
{
    (void)info;
    (void)size;
    ++*(int *)n;
    return 0;
}

/* The first module takes long. */
static int dawdle(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)info;
    (void)size;
    (void)user;
    atomic_store(&other.looking, 1);
    nanosleep(&(struct timespec){0, LOOKS_MS * 1000000L}, NULL);
    atomic_store(&other.done, 1);
    return 7;
}

static void *look(void *unused)
{
    (void)unused;
    other.result = sxs_loader_each(dawdle, NULL);
    atomic_store(&other.ended, 1);
    return NULL;
}

static void *look_twice(void *unused)
{
    int n = 0;
    (void)unused;
    sxs_loader_hold();
    other.result = sxs_loader_each(dawdle, NULL) + sxs_loader_each(count, &n);
    atomic_store(&other.done, 0);
    nanosleep(&(struct timespec){0, LOOKS_MS * 1000000L}, NULL);
    atomic_store(&other.done, n > 0);
    sxs_loader_release();
    atomic_store(&other.ended, 1);
    return NULL;
}

/* What a child's wait status is that looks, by the library's way and without it. */
static int forked_child_looks(void)
{
    int   status = -1;
    pid_t child = fork();
    if (child == 0) {
        int there = 0, ours = 0;
        alarm(HUNG_AFTER_S);
        dl_iterate_phdr(count, &there);
        sxs_loader_each(count, &ours);
        _exit(there && there == ours ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Detached: the child would never join it, which the thread sanitizer calls a leak. */
static void while_another_thread_does(void *(*body)(void *))
{
    pthread_t thread;
    atomic_store(&other.looking, 0);
    atomic_store(&other.done, 0);
    atomic_store(&other.ended, 0);
    assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
    pthread_detach(thread);
    while (!atomic_load(&other.looking))
        sched_yield();
    assert_int_equal(forked_child_looks(), 0);
    assert_true(atomic_load(&other.done)); /* the fork waited for it */
    while (!atomic_load(&other.ended))
        sched_yield();
    assert_int_equal(other.result, 7);
}

static void a_fork_waits_for_a_look(void **state)
{
    (void)state;
    while_another_thread_does(look);
}

static void and_for_several_that_belong_together(void **state)
{
    (void)state;
    while_another_thread_does(look_twice);
}

static void nobody_waits_when_nobody_looks(void **state)
{
    int n = 0;
    (void)state;
    assert_int_equal(forked_child_looks(), 0);
    assert_int_equal(sxs_loader_each(count, &n), 0);
    assert_true(n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fork_waits_for_a_look),
        cmocka_unit_test(and_for_several_that_belong_together),
        cmocka_unit_test(nobody_waits_when_nobody_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
