/* SPDX-License-Identifier: MIT */
/* test_ranges.c - the index of address ranges, against a model that is too simple to be wrong. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "signals/ranges.h"

#define CELLS 300 /* of the modelled address space; few enough for ranges to meet */
#define CELL  UINT64_C(0x1000)
#define BASE  UINT64_C(0x7f0000000000)

static struct sxs_ranges ranges;

/* What the index claims to be: an owner and a kind for every cell. */
static struct cell {
    int owner, kind;
} model[CELLS];

static uint64_t seed;

static unsigned random_below(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % n;
}

static uintptr_t at(unsigned cell)
{
    return BASE + cell * CELL;
}

static int fresh(void **state)
{
    (void)state;
    memset(&ranges, 0, sizeof(ranges));
    for (int i = 0; i < CELLS; i++)
        model[i] = (struct cell){-1, -1};
    seed = 20240229;
    return 0;
}

static void model_add(unsigned lo, unsigned hi, int owner, int kind)
{
    for (unsigned i = lo; i < hi; i++)
        if (kind == SXS_RANGE_MODULE || model[i].kind != SXS_RANGE_MODULE)
            model[i] = (struct cell){owner, kind};
}

static void model_remove(unsigned lo, unsigned hi, int owner)
{
    for (unsigned i = lo; i < hi; i++)
        if (model[i].kind == SXS_RANGE_CODE && model[i].owner == owner)
            model[i] = (struct cell){-1, -1};
}

static unsigned model_ranges(void)
{
    unsigned n = 0;
    for (int i = 0; i < CELLS; i++)
        n += model[i].owner >= 0 &&
             (i == 0 || model[i - 1].owner != model[i].owner || model[i - 1].kind != model[i].kind);
    return n;
}

static unsigned index_ranges(void)
{
    return ranges.kept[ranges.generation % SXS_RANGES_KEPT].n;
}

static void compare_cell(unsigned cell, uintptr_t addr)
{
    struct sxs_range found = {0};
    int              has = sxs_ranges_find(&ranges, addr, &found);
    assert_int_equal(has, model[cell].owner >= 0);
    if (has) {
        assert_int_equal(found.owner, model[cell].owner);
        assert_int_equal(found.kind, model[cell].kind);
        assert_true(found.lo <= addr && addr < found.hi);
    }
}

static void compare(void)
{
    struct sxs_range found;
    for (unsigned i = 0; i < CELLS; i++) {
        compare_cell(i, at(i));
        compare_cell(i, at(i + 1) - 1);
    }
    assert_false(sxs_ranges_find(&ranges, at(0) - 1, &found));
    assert_false(sxs_ranges_find(&ranges, at(CELLS), &found));
    assert_int_equal(index_ranges(), model_ranges());
}

static void random_adds_and_removes_agree_with_the_model(void **state)
{
    (void)state;
    for (int step = 0; step < 6000; step++) {
        unsigned lo = random_below(CELLS), hi = lo + random_below(step % 7 ? 12 : CELLS / 2);
        int      owner = (int)random_below(5);
        if (hi > CELLS)
            hi = CELLS;
        if (random_below(3) == 0) {
            sxs_ranges_remove(&ranges, at(lo), at(hi), owner);
            model_remove(lo, hi, owner);
        } else { /* a module now and then, few, as in a process */
            enum sxs_range_kind kind = step % 400 == 7 ? SXS_RANGE_MODULE : SXS_RANGE_CODE;
            assert_int_equal(sxs_ranges_add(&ranges, at(lo), at(hi), owner, kind), 0);
            model_add(lo, hi, owner, kind);
        }
        compare();
    }
    assert_int_equal(ranges.overflow, 0);
}

static void an_empty_index_finds_nothing_and_an_empty_range_adds_nothing(void **state)
{
    struct sxs_range found;
    (void)state;
    assert_false(sxs_ranges_find(&ranges, 0, &found));
    assert_false(sxs_ranges_find(&ranges, UINTPTR_MAX, &found));
    assert_int_equal(sxs_ranges_add(&ranges, at(3), at(3), 1, SXS_RANGE_CODE), 0);
    sxs_ranges_remove(&ranges, at(0), at(CELLS), 1);
    compare();
}

static void code_never_overwrites_a_module_and_fills_the_gaps_around_it(void **state)
{
    (void)state;
    sxs_ranges_add(&ranges, at(10), at(20), 1, SXS_RANGE_MODULE);
    sxs_ranges_add(&ranges, at(30), at(40), 2, SXS_RANGE_MODULE);
    sxs_ranges_add(&ranges, at(0), at(50), 3, SXS_RANGE_CODE);
    model_add(10, 20, 1, SXS_RANGE_MODULE);
    model_add(30, 40, 2, SXS_RANGE_MODULE);
    model_add(0, 50, 3, SXS_RANGE_CODE);
    compare();
    assert_int_equal(index_ranges(), 5);
    sxs_ranges_remove(&ranges, at(0), at(50), 1); /* modules stay, whoever asks */
    compare();
    sxs_ranges_remove(&ranges, at(5), at(35), 3);
    model_remove(5, 35, 3);
    compare();
}

static void neighbours_of_one_owner_and_kind_are_one_range(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100; i++)
        sxs_ranges_add(&ranges, at(i), at(i + 1), 4, SXS_RANGE_CODE);
    assert_int_equal(index_ranges(), 1);
    sxs_ranges_add(&ranges, at(100), at(101), 5, SXS_RANGE_CODE);
    assert_int_equal(index_ranges(), 2);
    sxs_ranges_remove(&ranges, at(50), at(51), 4);
    assert_int_equal(index_ranges(), 3);
    sxs_ranges_add(&ranges, at(50), at(51), 4, SXS_RANGE_CODE);
    assert_int_equal(index_ranges(), 2);
}

static void a_full_table_refuses_counts_and_keeps_what_it_has(void **state)
{
    unsigned         n = 0;
    struct sxs_range found;
    (void)state;
    for (unsigned i = 0; i < SXS_RANGES_MAX + 50; i++)
        n += sxs_ranges_add(&ranges, at(2 * i), at(2 * i + 1), 1, SXS_RANGE_CODE) == 0;
    assert_true(n > SXS_RANGES_MAX - 4 && n <= SXS_RANGES_MAX);
    assert_int_equal(ranges.overflow, SXS_RANGES_MAX + 50 - n);
    for (unsigned i = 0; i < n; i++)
        assert_true(sxs_ranges_find(&ranges, at(2 * i), &found));
    assert_false(sxs_ranges_find(&ranges, at(2 * n), &found));
    for (unsigned i = 0; i < n; i++)
        sxs_ranges_remove(&ranges, at(2 * i), at(2 * i + 1), 1);
    assert_int_equal(index_ranges(), 0);
}

static void a_full_table_still_removes(void **state)
{
    unsigned         n = 0, split = 0;
    struct sxs_range found;
    (void)state;
    while (sxs_ranges_add(&ranges, at(4 * n), at(4 * n + 3), 1, SXS_RANGE_CODE) == 0)
        n++;
    ranges.overflow = 0;
    for (; split < 9 && index_ranges() < SXS_RANGES_MAX; split++)
        sxs_ranges_remove(&ranges, at(4 * split + 1), at(4 * split + 2), 1);
    assert_int_equal(index_ranges(), SXS_RANGES_MAX);
    assert_int_equal(ranges.overflow, 0);
    sxs_ranges_remove(&ranges, at(4 * split + 1), at(4 * split + 2), 1); /* no room for a piece */
    assert_int_equal(ranges.overflow, 1);
    assert_true(sxs_ranges_find(&ranges, at(4 * split + 1), &found));
    sxs_ranges_remove(&ranges, at(4 * split), at(4 * split + 3), 1);
    assert_false(sxs_ranges_find(&ranges, at(4 * split), &found));
    assert_int_equal(index_ranges(), SXS_RANGES_MAX - 1);
}

static void a_range_that_would_break_into_too_many_pieces_is_refused_whole(void **state)
{
    struct sxs_range found;
    unsigned         modules = SXS_RANGES_MAX * 2 / 3;
    (void)state;
    for (unsigned i = 0; i < modules; i++)
        sxs_ranges_add(&ranges, at(2 * i), at(2 * i + 1), (int)(i % 60), SXS_RANGE_MODULE);
    assert_int_equal(sxs_ranges_add(&ranges, at(0), at(2 * modules), 61, SXS_RANGE_CODE), -1);
    assert_int_equal(ranges.overflow, 1);
    for (unsigned i = 0; i < modules; i++) {
        assert_true(sxs_ranges_find(&ranges, at(2 * i), &found));
        assert_int_equal(found.kind, SXS_RANGE_MODULE);
        assert_int_equal(found.owner, i % 60);
    }
}

/* ---- readers while a writer is at work ------------------------------------------------------- */

/* Slot s has either owner s % 8, exactly two cells long, or nobody; each third is never touched. */
#define SLOTS 96
static _Atomic int      stop_reading;
static _Atomic unsigned torn, lost;
static _Atomic unsigned looked;

static void *reader(void *arg)
{
    uint64_t random = (uintptr_t)arg * 77777 + 1;
    while (!atomic_load(&stop_reading)) {
        random = random * UINT64_C(6364136223846793005) + 1;
        unsigned         slot = (unsigned)(random >> 40) % SLOTS;
        uintptr_t        addr = at(slot * 3) + (uintptr_t)(random >> 20) % (2 * CELL);
        struct sxs_range found;
        if (sxs_ranges_find(&ranges, addr, &found)) {
            if (found.lo != at(slot * 3) || found.hi != at(slot * 3 + 2) ||
                found.owner != (int)(slot % 8) || found.kind != SXS_RANGE_CODE)
                atomic_fetch_add(&torn, 1);
        } else if (slot % 3 == 0) {
            atomic_fetch_add(&lost, 1);
        }
        atomic_fetch_add_explicit(&looked, 1, memory_order_relaxed);
    }
    return NULL;
}

static void readers_never_see_half_an_update(void **state)
{
    pthread_t threads[3];
    (void)state;
    for (unsigned s = 0; s < SLOTS; s++)
        sxs_ranges_add(&ranges, at(s * 3), at(s * 3 + 2), (int)(s % 8), SXS_RANGE_CODE);
    for (uintptr_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reader, (void *)i), 0);
    for (int step = 0; step < 40000 || atomic_load(&looked) < 20000; step++) {
        unsigned s = random_below(SLOTS);
        if (s % 3 == 0)
            continue;
        if (step % 2)
            sxs_ranges_remove(&ranges, at(s * 3), at(s * 3 + 2), (int)(s % 8));
        else
            sxs_ranges_add(&ranges, at(s * 3), at(s * 3 + 2), (int)(s % 8), SXS_RANGE_CODE);
    }
    atomic_store(&stop_reading, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(torn, 0);
    assert_int_equal(lost, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(random_adds_and_removes_agree_with_the_model, fresh),
        cmocka_unit_test_setup(an_empty_index_finds_nothing_and_an_empty_range_adds_nothing, fresh),
        cmocka_unit_test_setup(code_never_overwrites_a_module_and_fills_the_gaps_around_it, fresh),
        cmocka_unit_test_setup(neighbours_of_one_owner_and_kind_are_one_range, fresh),
        cmocka_unit_test_setup(a_full_table_refuses_counts_and_keeps_what_it_has, fresh),
        cmocka_unit_test_setup(a_full_table_still_removes, fresh),
        cmocka_unit_test_setup(a_range_that_would_break_into_too_many_pieces_is_refused_whole,
                               fresh),
        cmocka_unit_test_setup(readers_never_see_half_an_update, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
