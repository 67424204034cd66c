/* SPDX-License-Identifier: MIT */
/* test_locale.c - numbers and letters in a host that has set a locale with a decimal comma, or a Turkish one. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/c_locale.h"
#include "values/line.h"
#include "values/show.h"

/* setlocale() itself keeps the parts of LOCPATH for good. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char                                        *__lsan_default_suppressions(void)
{
    return "leak:__argz_add_sep\n";
}

static char folder[] = "/tmp/sxs-test-locale-XXXXXX";
static int  have_comma, have_turkish;

static int make_locale(const char *definition, const char *charmap, const char *name)
{
    char command[500];
    snprintf(command, sizeof(command), "localedef -c -i %s -f %s %s/%s >/dev/null 2>&1", definition,
             charmap, folder, name);
    return system(command) >= 0 && setlocale(LC_ALL, name) != NULL;
}

static int make_locales(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || setenv("LOCPATH", folder, 1))
        return -1;
    have_comma = make_locale("de_DE", "UTF-8", "de_DE.UTF-8");
    have_turkish = make_locale("tr_TR", "ISO-8859-9", "tr_TR.ISO-8859-9");
    setlocale(LC_ALL, "C");
    return 0;
}

static int remove_locales(void **state)
{
    char command[200];
    (void)state;
    setlocale(LC_ALL, "C");
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

/* As a host does; each test that needs one begins with it. */
static void use_comma(void)
{
    char text[16];
    if (!have_comma)
        skip(); /* no locale can be made: package "locales" */
    assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
    snprintf(text, sizeof(text), "%.1f", 0.5);
    assert_string_equal(text, "0,5");
}

static int back_to_c(void **state)
{
    (void)state;
    uselocale(LC_GLOBAL_LOCALE);
    setlocale(LC_ALL, "C");
    return 0;
}

static void numbers_are_read_with_a_point(void **state)
{
    char *end;
    (void)state;
    use_comma();
    assert_true(sxs_strtod("0.5", &end) == 0.5 && !*end);
    assert_true(sxs_strtof("2.25", &end) == 2.25f && !*end);
}

static void the_threads_own_locale_makes_no_difference_and_stays(void **state)
{
    locale_t own;
    char     text[32];
    (void)state;
    use_comma();
    setlocale(LC_ALL, "C");
    own = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
    assert_non_null(own);
    uselocale(own);
    sxs_format_double(text, sizeof(text), 3, 0.5);
    assert_string_equal(text, "0.5");
    assert_true(sxs_strtod("0.5", NULL) == 0.5);
    assert_ptr_equal(uselocale((locale_t)0), own);
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(own);
}

static void values_are_shown_with_a_point(void **state)
{
    char            text[100] = "";
    struct sxs_line line = sxs_line_in(text, sizeof(text));
    double          value = 1234.5625;
    float           narrow = 0.1f;
    (void)state;
    use_comma();
    sxs_show_primitive(&line, 13 /* R8 */, (const uint8_t *)&value);
    sxs_line_put(&line, " ");
    sxs_show_primitive(&line, 12 /* R4 */, (const uint8_t *)&narrow);
    assert_string_equal(text, "1234.5625 0.1");
}

static void integers_are_decimal_or_hexadecimal(void **state)
{
    (void)state;
    assert_int_equal(sxs_integer_base("010"), 10);
    assert_int_equal(sxs_integer_base("-010"), 10);
    assert_int_equal(sxs_integer_base("0"), 10);
    assert_int_equal(sxs_integer_base("0x10"), 16);
    assert_int_equal(sxs_integer_base("-0X10"), 16);
}

static void words_are_the_same_in_turkish(void **state)
{
    (void)state;
    if (!have_turkish)
        skip(); /* no locale can be made: package "locales" */
    assert_non_null(setlocale(LC_ALL, "tr_TR.ISO-8859-9"));
#ifndef SXS_SANITIZED /* the address sanitizer has a strcasecmp of its own */
    assert_int_not_equal(strcasecmp("VOID", "void"), 0); /* the trap */
#endif
    assert_true(sxs_same_text("VOID", "void"));
    assert_true(sxs_same_text("INSTANCE", "instance"));
    assert_false(sxs_same_text("VOID", "voids"));
    assert_int_equal(sxs_lower('I'), 'i');
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, back_to_c)
    static const struct CMUnitTest tests[] = {
        TEST(numbers_are_read_with_a_point),
        TEST(the_threads_own_locale_makes_no_difference_and_stays),
        TEST(values_are_shown_with_a_point),
        TEST(integers_are_decimal_or_hexadecimal),
        TEST(words_are_the_same_in_turkish),
    };
    return cmocka_run_group_tests(tests, make_locales, remove_locales);
}
