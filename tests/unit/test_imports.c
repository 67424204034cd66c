/* SPDX-License-Identifier: MIT */
/* test_imports.c - the import slots of this program are changed by several threads at once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/imports.h"

/* The addresses of two imported functions. Their slots are in the part of the program that is
 * read-only after relocation. */
typedef long                                number_fn(void);
__attribute__((noinline)) static number_fn *take_lrand48(void)
{
    __asm__ volatile("" ::: "memory"); /* the slot is read at each call */
    return lrand48;
}
__attribute__((noinline)) static number_fn *take_mrand48(void)
{
    __asm__ volatile("" ::: "memory");
    return mrand48;
}

static long first(void)
{
    return 1;
}

static long second(void)
{
    return 2;
}

#ifdef SXS_SANITIZED
#define ROUNDS 200
#else
#define ROUNDS 3000
#endif

static void *change_often(void *name)
{
    const struct sxs_import to_first = {name, (void *)(uintptr_t)first};
    const struct sxs_import to_second = {name, (void *)(uintptr_t)second};
    for (int i = 0; i < ROUNDS; i++) {
        sxs_imports_replace((uintptr_t)first, &to_first, 1);
        sxs_imports_replace((uintptr_t)first, &to_second, 1);
    }
    return NULL;
}

static void several_threads_change_slots_of_one_page(void **state)
{
    pthread_t threads[4];
    char     *names[] = {"lrand48", "mrand48", "lrand48", "mrand48"};
    (void)state;
    assert_ptr_equal(take_lrand48(), lrand48);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, change_often, names[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(take_lrand48()(), 2); /* what both left */
    assert_int_equal(take_mrand48()(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_threads_change_slots_of_one_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
