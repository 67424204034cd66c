/* SPDX-License-Identifier: MIT */
/* The file "instrument", written and read back; names in UTF-16. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/utf8.h"
#include "instr/weave/callouts.h"
#include "session/read/instrument_read.h"
#include "session/write/instrument_write.h"
#include "tests/unit/instrument_fixture.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void what_callouts_count_is_read_back(void **state)
{
    struct sxs_marker              marker = {{1, 2, "8.0", "a", "T.M"}, 0, 0};
    struct sxs_instrument_data    *d;
    char                           why[256];
    uint64_t                       entered;
    (void)state;
    sxs_marker_set(&marker, 300);
    sxs_instrument_method(300, 1, 0x06000001, "assembly", "T.M");
    sxs_instrument_state(300, SXS_INSTRUMENTED_PENDING, 0, "one, two");
    sxs_instrument_state(300, SXS_INSTRUMENTED_FAILED, 0x80131377, "a reason");
    for (int i = 0; i < 5; i++)
        sxs_callout_count(marker.place);
    entered = sxs_callout_enter(&marker);
    sxs_callout_threw(&marker, entered);
    sxs_callout_swallowed(&marker);
    sxs_instrument_label(300, "a label");
    sxs_instrument_took(SXS_SPENT_REJIT, 1);
    sxs_instrument_took(SXS_SPENT_REJIT, 1);
    assert_int_equal(sxs_instrument_read(SXS_FILES_OF(folder_fd), &d, why, sizeof(why)), 0);
    assert_int_equal(d->n_methods, 1);
    assert_int_equal(d->n_problems, 0);
    assert_string_equal(d->methods[0].assembly, "assembly");
    assert_string_equal(d->methods[0].name, "T.M");
    assert_string_equal(d->methods[0].rules, "one, two");
    assert_string_equal(d->methods[0].reason, "a reason");
    assert_int_equal(d->methods[0].hr, 0x80131377);
    assert_int_equal(d->methods[0].state, SXS_INSTRUMENTED_FAILED);
    assert_int_equal(d->methods[0].calls, 6);
    assert_int_equal(d->methods[0].ended, 1);
    assert_int_equal(d->methods[0].threw, 1);
    assert_int_equal(d->methods[0].swallowed, 1);
    assert_string_equal(d->methods[0].label, "a label");
    assert_int_equal(d->head.spent[SXS_SPENT_REJIT].n, 2);
    assert_true(d->head.spent[SXS_SPENT_REJIT].ns > d->head.spent[SXS_SPENT_REJIT].longest_ns);
    assert_true(d->head.spent[SXS_SPENT_REJIT].longest_ns > 0);
    assert_int_equal(d->head.spent[SXS_SPENT_MATCH].n, 0);
    sxs_instrument_free(d);
}

static void many_methods_are_counted(void **state)
{
    static const uint32_t       numbers[] = {0xffff, 0x10000, 0xfffff, 0x100000};
    struct sxs_instrument_data *d;
    char                        why[256];
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct sxs_marker marker = {{1, 2, "8.0", "a", "T.M"}, 0, 0};
        sxs_marker_set(&marker, numbers[i]); /* says that the last is one too many */
        if (i < 3)
            sxs_instrument_method(numbers[i], 1, 0x06000001, "assembly", "T.M");
        for (unsigned n = 0; n <= i; n++)
            sxs_callout_count(marker.place);
    }
    assert_int_equal(sxs_instrument_read(SXS_FILES_OF(folder_fd), &d, why, sizeof(why)), 0);
    for (unsigned i = 0; i < 3; i++) {
        const struct sxs_instrumented *s = sxs_instrument_find(d, numbers[i]);
        assert_non_null(s);
        assert_int_equal(s->calls, i + 1);
    }
    assert_null(sxs_instrument_find(d, numbers[3])); /* counted nowhere */
    sxs_instrument_free(d);
}

static void the_latest_of_a_rule_is_read_back(void **state)
{
    struct sxs_instrument_rule  rule = {.number = 70, .line = 3};
    struct sxs_instrument_data *d;
    char                        why[256];
    (void)state;
    sxs_instrument_rule(&rule, "orders", "/f.xml", "no such type");
    rule.matched = 1;
    rule.without_il = 2;
    sxs_instrument_rule(&rule, "orders", "/f.xml", "A.B; A.C");
    assert_int_equal(sxs_instrument_read(SXS_FILES_OF(folder_fd), &d, why, sizeof(why)), 0);
    assert_int_equal(d->n_problems, 0);
    assert_int_equal(d->n_rules, 1);
    assert_string_equal(d->rules[0].name, "orders");
    assert_string_equal(d->rules[0].file, "/f.xml");
    assert_string_equal(d->rules[0].text, "A.B; A.C");
    assert_int_equal(d->rules[0].line, 3);
    assert_int_equal(d->rules[0].without_il, 2);
    assert_true(d->rules[0].matched && !d->rules[0].gone);
    sxs_instrument_free(d);
}

static void names_survive_both_ways(void **state)
{
    static const char *const names[] = {"a", "Größe", "日本", "\xf0\x9f\x98\x80x"};
    uint16_t                 wide[32];
    char                     back[64];
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t n = sxs_utf16_of(names[i], wide, 32);
        assert_true(n > 0);
        assert_int_equal(sxs_utf8_of(wide, n, back, sizeof(back)), strlen(names[i]));
        assert_string_equal(back, names[i]);
    }
}

static void what_is_no_name_is_refused(void **state)
{
    uint16_t wide[4];
    (void)state;
    assert_int_equal(sxs_utf16_of("", wide, 4), 0);
    assert_int_equal(sxs_utf16_of("too long", wide, 4), 0);
    assert_int_equal(sxs_utf16_of("\xff", wide, 4), 0);
    assert_int_equal(sxs_utf16_of("\xe6\x97", wide, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_callouts_count_is_read_back),
        cmocka_unit_test(the_latest_of_a_rule_is_read_back),
        cmocka_unit_test(many_methods_are_counted),
        cmocka_unit_test(names_survive_both_ways),
        cmocka_unit_test(what_is_no_name_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
