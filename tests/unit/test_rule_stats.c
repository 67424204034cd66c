/* SPDX-License-Identifier: MIT */
/* Methods without IL that a rule fits: each counts once, in however many runtimes it is. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rejit/methods/rule_statistics.h"
#include "session/read/instrument_read.h"
#include "session/write/instrument_write.h"
#include "tests/unit/instrument_fixture.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t without_il(uint32_t number)
{
    struct sxs_instrument_data *d;
    char                        why[256];
    uint32_t                    n = UINT32_MAX;
    sxs_rule_stats_record();
    assert_int_equal(sxs_instrument_read(SXS_FILES_OF(folder_fd), &d, why, sizeof(why)), 0);
    if (number < d->n_rules)
        n = d->rules[number].without_il;
    sxs_instrument_free(d);
    return n;
}

static void each_method_without_il_counts_once(void **state)
{
    static struct sxs_match match;
    static struct sxs_rule  rule = {
         .name = "native", .file = "rules.xml", .identity = 77, .matches = &match, .n_matches = 1};
    const struct sxs_rule *rules[] = {&rule};
    struct sxs_config      config = {.rules = rules, .n_rules = 1};
    char                   name[32];
    (void)state;
    sxs_rule_stats_config(&config);
    for (int runtime = 0; runtime < 3; runtime++)
        for (int i = 0; i < 40; i++) { /* from long names to short ones, which are parts of them */
            snprintf(name, sizeof(name), "T.Method%.*s", 20 - i / 2, "xxxxxxxxxxxxxxxxxxxx");
            sxs_rule_stats_without_il(&rule, name);
        }
    print_message("20 methods in 3 runtimes: counted %u\n", without_il(0));
    assert_int_equal(without_il(0), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_method_without_il_counts_once),
    };
    return cmocka_run_group_tests_name("rule_stats", tests, make_folder, remove_folder);
}
