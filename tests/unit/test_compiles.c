/* SPDX-License-Identifier: MIT */
/* test_compiles.c - requests wait for what may inline, and nothing else waits for them. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/sanitized.h"

#include "rejit/methods/compiles.h"

#define SOON 1 /* ms */

static struct sxs_compiles c;

static int old_runtime(void **state)
{
    (void)state;
    sxs_compiles_init(&c, 1);
    return 0;
}

static void asks_when_nobody_inlines(void **state)
{
    (void)state;
    sxs_compiles_begin(&c, 1, 0);
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 0);
    sxs_compiles_release(&c);
    sxs_compiles_end(&c, 1);
}

static void waits_for_who_inlines(void **state)
{
    (void)state;
    sxs_compiles_begin(&c, 1, 0);
    assert_true(sxs_compiles_may_inline(&c));
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 1);
    assert_false(sxs_compiles_may_inline(&c));
    sxs_compiles_end(&c, 1);
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 0);
    sxs_compiles_release(&c);
}

/* It may have looked before the request was made, and asks only now. */
static void who_began_before_a_request_inlines_no_more(void **state)
{
    (void)state;
    sxs_compiles_begin(&c, 1, 0);
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 0);
    sxs_compiles_begin(&c, 2, 0);
    sxs_compiles_release(&c);
    assert_false(sxs_compiles_may_inline(&c));
    sxs_compiles_end(&c, 2);
    assert_false(sxs_compiles_may_inline(&c));
    sxs_compiles_end(&c, 1);
    sxs_compiles_begin(&c, 3, 0);
    assert_true(sxs_compiles_may_inline(&c));
    sxs_compiles_end(&c, 3);
}

static __attribute__((noinline)) void compile_within(FunctionID fn, int ends)
{
    volatile char frame[256];
    frame[0] = frame[sizeof(frame) - 1] = 0;
    sxs_compiles_begin(&c, fn, 0);
    assert_true(sxs_compiles_may_inline(&c));
    if (ends)
        sxs_compiles_end(&c, fn);
    frame[1] = frame[0];
}

static void the_outer_one_waits_for_the_inner(void **state)
{
    (void)state;
    sxs_compiles_begin(&c, 1, 0);
    compile_within(2, 1);
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 1);
    sxs_compiles_end(&c, 1);
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 0);
    sxs_compiles_release(&c);
}

static void what_an_exception_left_is_forgotten(void **state)
{
    (void)state;
    sxs_compiles_begin(&c, 1, 0);
    compile_within(2, 0);
    sxs_compiles_end(&c, 1); /* and all within it */
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 0);
    sxs_compiles_release(&c);
    compile_within(3, 0);
    sxs_compiles_begin(&c, 4, 0); /* further up the stack */
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 0);
    sxs_compiles_release(&c);
    compile_within(5, 0);
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 1);
    assert_int_equal(sxs_compiles_hold(&c, SOON, 1), 0); /* the last time */
    sxs_compiles_release(&c);
}

static void *stub(void *arg)
{
    sxs_compiles_begin(&c, 9, 1);
    assert_false(*(volatile int *)arg); /* the request is over */
    sxs_compiles_end(&c, 9);
    return NULL;
}

static void what_does_not_ask_counts_and_waits(void **state)
{
    static int asking = 1;
    pthread_t  thread;
    (void)state;
    sxs_compiles_begin(&c, 8, 1);
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 1);
    sxs_compiles_end(&c, 8);
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, stub, &asking), 0);
    sched_yield();
    *(volatile int *)&asking = 0;
    sxs_compiles_release(&c);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_null(c.all);
}

static int refuse; /* 1: malloc() fails */

#ifndef SXS_SANITIZED
extern void                                 *__libc_malloc(size_t size);
__attribute__((visibility("default"))) void *malloc(size_t size)
{
    return refuse ? NULL : __libc_malloc(size);
}
#endif

static void what_does_not_ask_counts_without_memory(void **state)
{
    (void)state;
    skip_if_sanitized("sanitizers have a malloc() of their own");
    for (int rounds = 0; rounds < 100; rounds++) {
        refuse = 1;
        sxs_compiles_begin(&c, 7, 0);
        refuse = 0;
        assert_false(sxs_compiles_may_inline(&c));
        sxs_compiles_end(&c, 7);
        refuse = 1;
        sxs_compiles_begin(&c, 8, 1);
        refuse = 0;
        assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 1);
        sxs_compiles_end(&c, 8);
        assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 0);
        sxs_compiles_release(&c);
    }
    assert_null(c.all);
}

static void newer_runtimes_are_not_held_up(void **state)
{
    (void)state;
    sxs_compiles_init(&c, 0);
    sxs_compiles_begin(&c, 1, 0);
    assert_true(sxs_compiles_may_inline(&c));
    assert_int_equal(sxs_compiles_hold(&c, SOON, 0), 0);
    assert_true(sxs_compiles_may_inline(&c));
    sxs_compiles_release(&c);
    sxs_compiles_end(&c, 1);
}

/* ---- threads ---------------------------------------------------------------------------------- */

#define THREADS  4
#define COMPILES 3000

static _Atomic int version; /* of the one method that all of them inline: requests make new ones */
static _Atomic int ended;

/* As the runtime does it: what was looked at before must hold until what was inlined is
 * reported. */
static void *compiler(void *arg)
{
    FunctionID fn = (FunctionID)(uintptr_t)arg;
    intptr_t   wrong = 0;
    for (int i = 0; i < COMPILES; i++) {
        int seen;
        sxs_compiles_begin(&c, fn, 0);
        seen = version;
        if (sxs_compiles_may_inline(&c)) {
            if (i % 16 == 0)
                sched_yield();
            wrong += seen != version;
        }
        sxs_compiles_end(&c, fn);
    }
    ended++;
    return (void *)wrong;
}

static void nothing_changes_between_look_and_end(void **state)
{
    pthread_t thread[THREADS];
    (void)state;
    ended = 0;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, compiler, (void *)(i + 1)), 0);
    while (ended < THREADS) {
        while (sxs_compiles_hold(&c, 1000, 0))
            ;
        version++;
        sxs_compiles_release(&c);
        sched_yield();
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(thread[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_null(c.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(asks_when_nobody_inlines, old_runtime),
        cmocka_unit_test_setup(waits_for_who_inlines, old_runtime),
        cmocka_unit_test_setup(who_began_before_a_request_inlines_no_more, old_runtime),
        cmocka_unit_test_setup(the_outer_one_waits_for_the_inner, old_runtime),
        cmocka_unit_test_setup(what_an_exception_left_is_forgotten, old_runtime),
        cmocka_unit_test_setup(what_does_not_ask_counts_and_waits, old_runtime),
        cmocka_unit_test_setup(what_does_not_ask_counts_without_memory, old_runtime),
        cmocka_unit_test(newer_runtimes_are_not_held_up),
        cmocka_unit_test_setup(nothing_changes_between_look_and_end, old_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
