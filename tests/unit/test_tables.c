/* SPDX-License-Identifier: MIT */
/* test_tables.c - tables of the files in this process, of loaded and unloaded ones, of damaged
 * ones. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/elf_notes.h"
#include "base/loader.h"
#include "stackwalk/fast/cfi.h"
#include "stackwalk/fast/loaded.h"
#include "stackwalk/fast/tables.h"
#include "stackwalk/fast/unwind_table.h"

static struct sxs_unwind_rule rule_at(uintptr_t pc)
{
    const struct sxs_module *module = sxs_tables_find(sxs_tables_enter(), pc);
    struct sxs_unwind_rule   rule = {.kind = SXS_RULE_NOWHERE};
    if (module)
        rule = sxs_tables_rule(module, pc);
    sxs_tables_leave();
    return rule;
}

static void functions_begin_with_the_return_address_on_top(void **state)
{
    (void)state;
    assert_true(sxs_tables_refresh() >= 0);
    struct sxs_unwind_rule rule = rule_at((uintptr_t)dlsym(RTLD_DEFAULT, "qsort"));
    assert_int_equal(rule.kind, SXS_RULE_CFA);
    assert_int_equal(rule.cfa_reg, SXS_DWARF_RSP);
    assert_int_equal(rule.cfa_off, 8);
    assert_int_equal(rule.rbp_at, 0);
    assert_int_equal(rule_at(8).kind, SXS_RULE_NOWHERE);
}

static void a_library_comes_and_goes(void **state)
{
    struct sxs_tables_stats before, with, after;
    (void)state;
    assert_true(sxs_tables_refresh() >= 0);
    assert_int_equal(sxs_tables_refresh(), 0); /* nothing new */
    sxs_tables_stats(&before);
    void *handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        skip();
    uintptr_t at = (uintptr_t)dlsym(handle, "cbrtl");
    sxs_tables_refresh();
    sxs_tables_stats(&with);
    assert_int_equal(rule_at(at).kind, SXS_RULE_CFA);
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): skip() does not return
    dlclose(handle);
    sxs_tables_enter(); /* a reader in a handler: nothing may be freed */
    sxs_tables_refresh();
    sxs_tables_stats(&after);
    assert_true(with.n_modules == before.n_modules || after.n_retired > 0);
    sxs_tables_leave();
    sxs_tables_refresh();
    sxs_tables_stats(&after);
    assert_int_equal(after.n_retired, 0);
    assert_true(after.n_modules <= with.n_modules);
}

/* The largest file of the process. */
static int largest(const struct sxs_elf *elf, void *user)
{
    struct sxs_elf *most = user;
    if (elf->eh_frame_room > most->eh_frame_room)
        *most = *elf;
    return 0;
}

static void functions_are_found_with_and_without_the_linkers_list(void **state)
{
    struct sxs_elf elf = {0};
    size_t         differ = 0, n_frames = 0;
    (void)state;
    assert_int_equal(sxs_elf_each(largest, &elf), 0);
    assert_true(elf.header_size > 1000);
    struct sxs_unwind_table *listed = sxs_unwind_table_make(&elf);
    elf.header_size = 0;
    struct sxs_unwind_table *found = sxs_unwind_table_make(&elf);
    assert_non_null(listed);
    assert_non_null(found);
    assert_true(found->n_functions > 500);
    assert_int_equal(listed->n_functions, found->n_functions);
    for (uintptr_t pc = elf.lo; pc < elf.hi; pc += 3) {
        struct sxs_unwind_rule a = sxs_unwind_table_find(listed, pc, elf.bias);
        struct sxs_unwind_rule b = sxs_unwind_table_find(found, pc, elf.bias);
        differ += memcmp(&a, &b, sizeof(a)) != 0;
        n_frames += a.kind == SXS_RULE_CFA;
    }
    assert_int_equal(differ, 0);
    assert_true(n_frames * 3 > (elf.hi - elf.lo) / 2);
    sxs_unwind_table_free(listed);
    sxs_unwind_table_free(found);
}

/* ---- several threads ---- */

static _Atomic int begun;

static void *refresh_once(void *unused)
{
    (void)unused;
    atomic_store(&begun, 1);
    sxs_tables_refresh();
    return NULL;
}

/* As when a tool starts while the service thread lists files. */
static void a_refresh_under_a_hold_of_the_loader_waits_for_no_other_refresh(void **state)
{
    pthread_t thread;
    (void)state;
    alarm(100); /* or they wait for each other for ever */
    sxs_loader_hold();
    assert_int_equal(pthread_create(&thread, NULL, refresh_once, NULL), 0);
    while (!atomic_load(&begun))
        usleep(1000);
    usleep(200000); /* the other thread waits for the hold now, with whatever it has locked */
    sxs_tables_refresh();
    sxs_loader_release();
    pthread_join(thread, NULL);
    alarm(0);
}

/* ---- files that are not listed yet ---- */

static uint32_t          n_given;
static struct sxs_loaded given;

static void on_loaded(const struct sxs_loaded *file, void *user)
{
    (void)user;
    n_given++;
    given = *file;
}

static void files_that_are_not_listed_have_the_same_rules(void **state)
{
    struct sxs_elf elf = {0};
    size_t         differ = 0, n = 0, n_none = 0;
    (void)state;
    assert_int_equal(sxs_elf_each(largest, &elf), 0);
    struct sxs_unwind_table *table = sxs_unwind_table_make(&elf);
    assert_non_null(table);
    for (uintptr_t pc = elf.lo; pc < elf.hi; pc += 251) {
        struct sxs_unwind_rule listed = sxs_unwind_table_find(table, pc, elf.bias), loaded;
        if (sxs_loaded_rule(pc, &loaded)) {
            differ += memcmp(&listed, &loaded, sizeof(listed)) != 0;
            n++;
        } else {
            n_none += listed.kind != SXS_RULE_NONE;
        }
    }
    sxs_unwind_table_free(table);
    if (!n)
        skip(); /* a C library before 2.35 */
    assert_int_equal(differ, 0);
    assert_true(n_none * 10 < n); /* padding, and large descriptions */
}

static void a_file_that_is_not_listed_is_given_once(void **state)
{
    struct sxs_unwind_rule rule;
    uint8_t                id[20];
    struct sxs_elf         elf = {0};
    uintptr_t              pc = (uintptr_t)dlsym(RTLD_DEFAULT, "a64l"); /* no sanitizer has it */
    (void)state;
    sxs_loaded_each(on_loaded, NULL);
    n_given = 0;
    if (!sxs_loaded_rule(pc, &rule))
        skip();
    assert_true(sxs_loaded_rule(pc + 1, &rule));
    assert_false(sxs_loaded_rule((uintptr_t)&elf, &rule)); /* the stack */
    assert_false(sxs_loaded_rule(8, &rule));
    sxs_loaded_each(on_loaded, NULL);
    assert_int_equal(n_given, 1);
    assert_true(given.lo <= pc && pc < given.hi);
    assert_non_null(strstr(given.path, "libc.so"));
    assert_int_equal(sxs_elf_each(largest, &elf), 0);
    memcpy(id, elf.build_id, sizeof(id));
    if (elf.lo == given.lo) {
        assert_int_equal(given.bias, elf.bias);
        assert_int_equal(given.hi, elf.hi);
        assert_int_equal(given.build_id_size, elf.build_id_size);
        assert_memory_equal(given.build_id, id, elf.build_id_size);
    }
    n_given = 0;
    sxs_loaded_each(on_loaded, NULL);
    assert_int_equal(n_given, 0);
}

/* Where the same file lies elsewhere in memory, its rules are the same. */
static void a_table_serves_all_copies_of_its_file(void **state)
{
    struct sxs_elf elf = {0};
    (void)state;
    assert_int_equal(sxs_elf_each(largest, &elf), 0);
    struct sxs_unwind_table *table = sxs_unwind_table_make(&elf);
    assert_non_null(table);
    for (uintptr_t pc = elf.lo; pc < elf.lo + 50000 && pc < elf.hi; pc++) {
        struct sxs_unwind_rule a = sxs_unwind_table_find(table, pc, elf.bias);
        struct sxs_unwind_rule b =
            sxs_unwind_table_find(table, pc + 0x7000000, elf.bias + 0x7000000);
        assert_memory_equal(&a, &b, sizeof(a));
    }
    sxs_unwind_table_free(table);
}

static void damaged_tables_give_rules_or_none_but_never_a_crash(void **state)
{
    struct sxs_elf elf = {0};
    uint64_t       seed = 99;
    size_t         n_rules = 0;
    (void)state;
    assert_int_equal(sxs_elf_each(largest, &elf), 0);
    for (int round = 0; round < 30; round++) {
        struct sxs_elf damaged = elf;
        size_t whole = sxs_cfi_size((const uint8_t *)elf.eh_frame, elf.eh_frame_room), size = whole;
        uint8_t *bytes = malloc(size);
        assert_non_null(bytes);
        memcpy(bytes, (const void *)elf.eh_frame, size);
        for (int i = 0; i < 200; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            bytes[(seed >> 20) % size] = (uint8_t)(seed >> 12);
        }
        if (round % 3 == 0)
            size = (size_t)(seed >> 24) % size;
        damaged.header_size = 0;
        struct sxs_unwind_table *table = sxs_unwind_table_make(&damaged);
        assert_non_null(table);
        memcpy(table->bytes, bytes, whole);
        table->cfi.size = size; /* descriptions after the end are asked for, too */
        for (uintptr_t pc = elf.lo; pc < elf.hi; pc += 61)
            n_rules += sxs_unwind_table_find(table, pc, elf.bias).kind == SXS_RULE_CFA;
        for (size_t at = 0; at < whole; at += 7)
            sxs_cfi_find(&table->cfi, at, elf.lo + at);
        sxs_unwind_table_free(table);
        free(bytes);
    }
    assert_true(n_rules > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_begin_with_the_return_address_on_top),
        cmocka_unit_test(a_library_comes_and_goes),
        cmocka_unit_test(functions_are_found_with_and_without_the_linkers_list),
        cmocka_unit_test(a_refresh_under_a_hold_of_the_loader_waits_for_no_other_refresh),
        cmocka_unit_test(files_that_are_not_listed_have_the_same_rules),
        cmocka_unit_test(a_file_that_is_not_listed_is_given_once),
        cmocka_unit_test(a_table_serves_all_copies_of_its_file),
        cmocka_unit_test(damaged_tables_give_rules_or_none_but_never_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
