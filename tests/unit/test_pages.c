/* SPDX-License-Identifier: MIT */
/* test_pages.c - tables that are freed leave nothing behind, whichever thread allocated them. */
#include "base/pages.h"

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

enum { BLOCKS = 200, THREADS = 8 };

static const size_t sizes[] = {0, 1, 16, 100, 4096, 9000, 16383, 16384, 65536, 300001};

static unsigned long mapped_pages(void)
{
    unsigned long pages = 0;
    FILE         *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    return pages;
}

/* Whether all bytes of the block have the value. */
static int has_bytes(const unsigned char *block, size_t size, unsigned char value)
{
    for (size_t i = 0; i < size; i++)
        if (block[i] != value)
            return 0;
    return 1;
}

/* Allocates blocks of all sizes, writes them, and frees them in another order. */
static void *use_blocks(void *arg)
{
    unsigned char *blocks[BLOCKS];
    intptr_t       bad = 0;
    (void)arg;
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t size = sizes[i % ARRAY_LEN(sizes)];
        blocks[i] = i & 1 ? sxs_pages_zeroed(size) : sxs_pages_alloc(size);
        bad += !blocks[i] || (uintptr_t)blocks[i] % 16 != 0;
        bad += i & 1 && blocks[i] && !has_bytes(blocks[i], size, 0);
        if (blocks[i])
            memset(blocks[i], (int)i, size);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t at = i * 7 % BLOCKS;
        bad += !has_bytes(blocks[at], sizes[at % ARRAY_LEN(sizes)], (unsigned char)at);
        sxs_pages_free(blocks[at]);
    }
    return (void *)bad;
}

static void freed_blocks_are_given_back_to_the_system(void **state)
{
    unsigned long before;
    size_t        arenas;
    (void)state;
    assert_null(use_blocks(NULL));
    before = mapped_pages();
    arenas = mallinfo2().arena;
    for (int i = 0; i < 20; i++)
        assert_null(use_blocks(NULL));
    assert_int_equal(mapped_pages(), before);
    assert_int_equal(mallinfo2().arena, arenas);
}

static void *do_nothing(void *arg)
{
    return arg;
}

/* Runs @work on several threads at once. */
static void run_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
}

/* malloc() would have given each thread an arena, which keeps what was freed. */
static void threads_fill_no_arenas(void **state)
{
    size_t before;
    (void)state;
    run_threads(do_nothing); /* the C library's own memory for threads */
    before = mallinfo2().arena;
    run_threads(use_blocks);
    assert_int_equal(mallinfo2().arena, before);
}

static void a_block_that_grows_keeps_its_bytes(void **state)
{
    unsigned char *block = NULL;
    (void)state;
    for (size_t i = 1; i < ARRAY_LEN(sizes); i++) {
        unsigned char *more = sxs_pages_realloc(block, sizes[i]);
        assert_non_null(more);
        assert_true(has_bytes(more, sizes[i - 1], 0x5a));
        memset(more, 0x5a, sizes[i]);
        block = more;
    }
    block = sxs_pages_realloc(block, 10);
    assert_true(has_bytes(block, 10, 0x5a));
    sxs_pages_free(block);
}

static void too_much_is_refused(void **state)
{
    void *block = sxs_pages_alloc(10);
    (void)state;
    assert_null(sxs_pages_alloc(SIZE_MAX));
    assert_null(sxs_pages_zeroed(SIZE_MAX / 4));
    assert_null(sxs_pages_realloc(block, SIZE_MAX / 4));
    sxs_pages_free(block);
    sxs_pages_free(NULL);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(freed_blocks_are_given_back_to_the_system),
        cmocka_unit_test(threads_fill_no_arenas),
        cmocka_unit_test(a_block_that_grows_keeps_its_bytes),
        cmocka_unit_test(too_much_is_refused),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
