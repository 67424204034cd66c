/* SPDX-License-Identifier: MIT */
/* Which names somebody may have meant, and in which order they are said. */
#include <string.h>

#include "base/base.h"
#include "instr/weave/nearest.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* What is said of @name when there are these; a static buffer. */
static const char *said(const char *name, const char *const *others, size_t n)
{
    static char        text[1200];
    struct sxs_text    t = sxs_text_counted(text, sizeof(text));
    struct sxs_nearest nearest;
    text[0] = '\0';
    sxs_nearest_begin(&nearest, name);
    for (size_t i = 0; i < n; i++)
        sxs_nearest_try(&nearest, others[i]);
    sxs_nearest_put(&nearest, &t);
    return text;
}
#define SAID(name, ...)                               \
    said(name, (const char *const[]){__VA_ARGS__},    \
         ARRAY_LEN(((const char *const[]){__VA_ARGS__})))

static void letters_more_less_or_different(void **state)
{
    (void)state;
    assert_string_equal(SAID("WriteLin", "WriteLine"), "; is WriteLine meant?");
    assert_string_equal(SAID("WriteLineee", "WriteLine"), "; is WriteLine meant?");
    assert_string_equal(SAID("WriteLineeee", "WriteLine"), "");
    assert_string_equal(SAID("Ordres", "Orders"), "; is Orders meant?");
    assert_string_equal(SAID("writeline", "WriteLine"), "; is WriteLine meant?");
    assert_string_equal(SAID("WriteLine", "Read", "Beep"), "");
}

static void short_names_may_differ_in_one(void **state)
{
    (void)state;
    assert_string_equal(SAID("Add", "Ada"), "; is Ada meant?");
    assert_string_equal(SAID("Add", "Aim"), "");
    assert_string_equal(SAID("Place", "Placed"), "; is Placed meant?");
    assert_string_equal(SAID("Place", "Placing"), "");
    assert_string_equal(SAID("", "Add"), "");
    assert_string_equal(SAID("", "A"), "; is A meant?");
    assert_string_equal(SAID("A", ""), "; is  meant?");
}

static void the_same_behind_the_last_dot(void **state)
{
    (void)state;
    assert_string_equal(SAID("Shop.Orders", "Store.Old.Orders"), "; is Store.Old.Orders meant?");
    assert_string_equal(SAID("Orders", "Shop.Cart/Orders"), "; is Shop.Cart/Orders meant?");
    assert_string_equal(SAID("Orders", "Shop.Cart+Orders"), "; is Shop.Cart+Orders meant?");
    assert_string_equal(SAID("Shop.Orders", "Shop.Cart"), "");
    assert_string_equal(SAID("Orders.", "Shop.Orders"), "");
}

static void the_nearest_come_first_and_three_are_enough(void **state)
{
    (void)state;
    assert_string_equal(SAID("Orders", "Shop.Orders", "Ordexx", "Order", "orders"),
                        "; is orders, Order or Ordexx meant?");
    assert_string_equal(SAID("Orders", "orders", "Order", "Ordexx", "Shop.Orders"),
                        "; is orders, Order or Ordexx meant?");
    assert_string_equal(SAID("Orders", "Ordera", "Orderb", "Orderc", "Orderd"),
                        "; is Ordera, Orderb or Orderc meant?");
    assert_string_equal(SAID("Orders", "Order", "Shop.Orders"), "; is Order or Shop.Orders meant?");
    assert_string_equal(SAID("Orders", "Order", "Order", "Order"), "; is Order meant?");
}

/* Names of 128 letters are still compared; one of 256 finds no room. */
static void long_names(void **state)
{
    char a[300], b[300];
    (void)state;
    for (size_t n = 126; n <= 131; n++) {
        memset(a, 'a', n);
        a[n] = '\0';
        memcpy(b, a, n + 1);
        b[n / 2] = 'b';
        assert_int_equal(SAID(a, b)[0] != '\0', n <= 128);
        assert_int_equal(SAID(a, a)[0], ';'); /* the same after a dot that is not there */
    }
    memset(a, 'a', 299);
    a[299] = '\0';
    assert_string_equal(SAID(a, a), "");
    a[256] = '\0';
    assert_string_equal(SAID(a, a), "");
    a[255] = '\0';
    assert_int_equal(strlen(SAID(a, a)), strlen("; is  meant?") + 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_more_less_or_different),
        cmocka_unit_test(short_names_may_differ_in_one),
        cmocka_unit_test(the_same_behind_the_last_dot),
        cmocka_unit_test(the_nearest_come_first_and_three_are_enough),
        cmocka_unit_test(long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
