/* SPDX-License-Identifier: MIT */
/* What is wanted of a method, and what is noted of it, when an edit comes while it is woven. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manager/runtime_internal.h"
#include "rejit/methods/instrumented.h"
#include "session/read/instrument_read.h"
#include "session/write/instrument_write.h"
#include "tests/unit/instrument_fixture.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct sxs_runtime           runtime = {.number = 1};
static const struct sxs_rule        one = {.name = "one", .identity = 1};
static const struct sxs_rule        two = {.name = "two", .identity = 2};
static const struct sxs_rule *const ones = &one, *const twos = &two;

static struct sxs_instrumented_key key_of(mdToken token)
{
    return (struct sxs_instrumented_key){{&runtime, 0x1000}, token};
}

static int want(mdToken token, struct sxs_plan *plan, const struct sxs_rule *const *rules)
{
    return sxs_instrumented_want(key_of(token), "a", "T.M", plan, rules, 1);
}

/* As readers of the session see it. */
static uint8_t state_of(mdToken token)
{
    struct sxs_instrument_data *d;
    char                        why[256];
    uint8_t                     state = SXS_N_INSTRUMENTED_STATES;
    assert_int_equal(sxs_instrument_read(SXS_FILES_OF(folder_fd), &d, why, sizeof(why)), 0);
    for (size_t i = 0; i < d->n_methods; i++)
        if (d->methods[i].token == token)
            state = d->methods[i].state;
    sxs_instrument_free(d);
    return state;
}

static void a_method_is_asked_for_once_per_change(void **state)
{
    struct sxs_plan *plan = sxs_plan_new(NULL, 1), *next = sxs_plan_new(NULL, 2);
    (void)state;
    assert_int_equal(want(0x06000001, plan, &ones), 1);
    assert_int_equal(want(0x06000001, next, &ones), 0);
    assert_int_equal(want(0x06000001, next, &twos), 1);
    sxs_plan_unref(plan);
    sxs_plan_unref(next);
}

static void what_was_superseded_is_not_noted(void **state)
{
    struct sxs_plan     *plan = sxs_plan_new(NULL, 1), *next = sxs_plan_new(NULL, 2);
    struct sxs_instrumented_work late, work;
    (void)state;
    want(0x06000002, plan, &ones);
    assert_int_equal(sxs_instrumented_get_work(key_of(0x06000002), &late), 1);
    want(0x06000002, next, &twos);
    sxs_instrumented_set_woven(key_of(0x06000002), &late, SXS_INSTRUMENTED_ACTIVE, 0, "");
    assert_int_equal(state_of(0x06000002), SXS_INSTRUMENTED_PENDING);
    assert_int_equal(sxs_instrumented_get_work(key_of(0x06000002), &work), 1);
    assert_ptr_equal(work.rules[0], &two);
    sxs_instrumented_set_woven(key_of(0x06000002), &work, SXS_INSTRUMENTED_ACTIVE, 0, "");
    assert_int_equal(state_of(0x06000002), SXS_INSTRUMENTED_ACTIVE);
    sxs_instrumented_work_done(&late);
    sxs_instrumented_work_done(&work);
    sxs_plan_unref(plan);
    sxs_plan_unref(next);
}

static void what_was_taken_out_meanwhile_stays_reverted(void **state)
{
    struct sxs_plan     *plan = sxs_plan_new(NULL, 3);
    struct sxs_instrumented_key  gone[8];
    struct sxs_instrumented_work late;
    size_t               n;
    int                  found = 0;
    (void)state;
    want(0x06000003, plan, &ones);
    assert_int_equal(sxs_instrumented_get_work(key_of(0x06000003), &late), 1);
    n = sxs_instrumented_drop_outdated(key_of(0).module, 4, gone, ARRAY_LEN(gone));
    for (size_t i = 0; i < n; i++)
        found |= gone[i].token == 0x06000003;
    assert_int_equal(found, 1);
    sxs_instrumented_set_state(key_of(0x06000003), SXS_INSTRUMENTED_REVERTED, 0, "");
    sxs_instrumented_set_woven(key_of(0x06000003), &late, SXS_INSTRUMENTED_ACTIVE, 0, "");
    assert_int_equal(state_of(0x06000003), SXS_INSTRUMENTED_REVERTED);
    sxs_instrumented_work_done(&late);
    sxs_plan_unref(plan);
}

static uint32_t number_of(ModuleID module, mdToken token)
{
    struct sxs_instrumented_work work;
    uint32_t             number;
    assert_int_equal(
        sxs_instrumented_get_work((struct sxs_instrumented_key){{&runtime, module}, token}, &work),
        1);
    number = work.marker->method_number;
    sxs_instrumented_work_done(&work);
    return number;
}

static size_t n_methods(void)
{
    struct sxs_instrument_data *d;
    char                        why[256];
    size_t                      n;
    assert_int_equal(sxs_instrument_read(SXS_FILES_OF(folder_fd), &d, why, sizeof(why)), 0);
    n = d->n_methods;
    sxs_instrument_free(d);
    return n;
}

static void load(ModuleID module, struct sxs_plan *plan)
{
    for (mdToken token = 0x06000010; token < 0x06000014; token++)
        assert_int_equal(
            sxs_instrumented_want((struct sxs_instrumented_key){{&runtime, module}, token},
                                  "plugin", token & 1 ? "P.Odd" : "P.Even", plan, &ones, 1),
            1);
}

/* A plug-in that is loaded again for each request. */
static void modules_that_are_loaded_repeatedly_take_no_more_numbers(void **state)
{
    struct sxs_plan *plan = sxs_plan_new(NULL, 5);
    size_t           before = n_methods();
    (void)state;
    for (ModuleID i = 1; i <= 3000; i++) {
        load(0x1000 * i, plan);
        sxs_instrumented_set_unloaded((sxs_module){&runtime, 0x1000 * i});
        assert_int_equal(sxs_instrumented_is_wanted(
                             (struct sxs_instrumented_key){{&runtime, 0x1000 * i}, 0x06000010}),
                         0);
    }
    print_message("3000 loads of 4 methods: %zu numbers\n", n_methods() - before);
    assert_int_equal(n_methods() - before, 4);
    sxs_plan_unref(plan);
}

static void modules_that_are_loaded_at_once_have_numbers_of_their_own(void **state)
{
    struct sxs_plan *plan = sxs_plan_new(NULL, 6);
    uint32_t         first;
    (void)state;
    load(0x10, plan);
    load(0x20, plan);
    first = number_of(0x10, 0x06000010);
    assert_int_not_equal(first, number_of(0x20, 0x06000010));
    assert_int_not_equal(first, number_of(0x10, 0x06000011));
    sxs_instrumented_set_unloaded((sxs_module){&runtime, 0x10});
    assert_int_equal(
        sxs_instrumented_is_wanted((struct sxs_instrumented_key){{&runtime, 0x20}, 0x06000010}), 1);
    load(0x30, plan);
    assert_int_equal(number_of(0x30, 0x06000010), first);
    assert_int_equal(state_of(0x06000010), SXS_INSTRUMENTED_PENDING);
    sxs_instrumented_set_unloaded((sxs_module){&runtime, 0});
    assert_int_equal(
        sxs_instrumented_is_wanted((struct sxs_instrumented_key){{&runtime, 0x20}, 0x06000010}), 0);
    sxs_plan_unref(plan);
}

/* Assemblies with a new name at each load. Those that were there before get their instrumented
 * methods back. */
static void there_are_no_more_methods_than_the_limit(void **state)
{
    struct sxs_plan *plan = sxs_plan_new(NULL, 7);
    size_t           before = n_methods();
    char             name[40];
    (void)state;
    sxs_instrumented_limit = (uint32_t)before + 10;
    for (ModuleID i = 1; i <= 1000; i++) {
        struct sxs_instrumented_key key = {{&runtime, 0x100000 + i}, 0x06000001};
        snprintf(name, sizeof(name), "random%d", (int)i);
        assert_int_equal(sxs_instrumented_want(key, name, "R.M", plan, &ones, 1), i <= 10);
        assert_int_equal(sxs_instrumented_is_wanted(key), i <= 10);
        sxs_instrumented_set_unloaded(key.module);
    }
    assert_int_equal(n_methods() - before, 10);
    assert_int_equal(
        sxs_instrumented_want((struct sxs_instrumented_key){{&runtime, 0x50}, 0x06000001},
                              "random3", "R.M", plan, &ones, 1),
        1);
    assert_int_equal(n_methods() - before, 10);
    sxs_instrumented_limit = SXS_INSTRUMENTED_MAX;
    sxs_plan_unref(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_method_is_asked_for_once_per_change),
        cmocka_unit_test(what_was_superseded_is_not_noted),
        cmocka_unit_test(what_was_taken_out_meanwhile_stays_reverted),
        cmocka_unit_test(modules_that_are_loaded_repeatedly_take_no_more_numbers),
        cmocka_unit_test(modules_that_are_loaded_at_once_have_numbers_of_their_own),
        cmocka_unit_test(there_are_no_more_methods_than_the_limit),
    };
    return cmocka_run_group_tests_name("instrumented", tests, make_folder, remove_folder);
}
