/* SPDX-License-Identifier: MIT */
/* test_tables.c - tables of the files in this process, of loaded and unloaded ones, of damaged
 * ones. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/cfi.h"
#include "sampler/elf.h"
#include "sampler/tables.h"
#include "sampler/unwind_table.h"

static struct sxs_rule rule_at(uintptr_t pc)
{
    const struct sxs_module *module = sxs_tables_find(sxs_tables_enter(), pc);
    struct sxs_rule          rule = {.kind = SXS_RULE_NOWHERE};
    if (module)
        rule = sxs_tables_rule(module, pc);
    sxs_tables_leave();
    return rule;
}

static void functions_begin_with_the_return_address_on_top(void **state)
{
    (void)state;
    assert_true(sxs_tables_refresh() >= 0);
    struct sxs_rule rule = rule_at((uintptr_t)dlsym(RTLD_DEFAULT, "qsort"));
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

struct copy {
    uint8_t       *bytes;
    struct sxs_elf elf;
};

static int largest(const struct sxs_elf *elf, void *user)
{
    struct copy *copy = user;
    if (elf->eh_frame_size <= copy->elf.eh_frame_size)
        return 0;
    free(copy->bytes);
    copy->elf = *elf;
    copy->bytes = malloc(elf->eh_frame_size);
    if (copy->bytes)
        memcpy(copy->bytes, (const void *)elf->eh_frame, elf->eh_frame_size);
    return copy->bytes == NULL;
}

static void damaged_tables_give_rules_or_none_but_never_a_crash(void **state)
{
    struct copy copy = {0};
    uint64_t    seed = 99;
    (void)state;
    assert_int_equal(sxs_elf_each(largest, &copy), 0);
    for (int round = 0; round < 30; round++) {
        struct sxs_cfi cfi = {copy.bytes, copy.elf.eh_frame_size, copy.elf.eh_frame};
        for (int i = 0; i < 200; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            copy.bytes[(seed >> 20) % cfi.size] = (uint8_t)(seed >> 12);
        }
        if (round % 3 == 0)
            cfi.size = (size_t)(seed >> 24) % cfi.size;
        struct sxs_unwind_table *table = sxs_unwind_table_make(&cfi, copy.elf.lo, copy.elf.hi);
        assert_non_null(table);
        for (uint32_t i = 1; i < table->n_rows; i++)
            assert_true(table->pcs[i - 1] < table->pcs[i]);
        sxs_unwind_table_free(table);
    }
    free(copy.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_begin_with_the_return_address_on_top),
        cmocka_unit_test(a_library_comes_and_goes),
        cmocka_unit_test(damaged_tables_give_rules_or_none_but_never_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
