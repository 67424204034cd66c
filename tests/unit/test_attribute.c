/* SPDX-License-Identifier: MIT */
/* The type that an attribute's value names: as a whole, by the length that is written before it. */
#include <string.h>

#include "instr/metadata/state_machine.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint8_t bytes[1024];

/* The value of an attribute with one argument, @text. */
static struct sxs_blob value_of(const char *text)
{
    size_t len = strlen(text), at = 2;
    bytes[0] = 1;
    bytes[1] = 0;
    if (len >= 0x80)
        bytes[at++] = (uint8_t)(0x80 | len >> 8);
    bytes[at++] = (uint8_t)len;
    memcpy(bytes + at, text, len);
    bytes[at + len] = 0; /* no named arguments */
    bytes[at + len + 1] = 0;
    return (struct sxs_blob){bytes, at + len + 2};
}

static int names(const char *text, const char *type)
{
    return sxs_md_attribute_is_type(value_of(text), type);
}

static void a_type_is_named_as_a_whole(void **state)
{
    (void)state;
    assert_true(names("Shop.Orders+<Take>d__1", "Shop.Orders+<Take>d__1"));
    assert_true(names("Shop.Orders+<Take>d__1, Shop, Version=1.0.0.0", "Shop.Orders+<Take>d__1"));
    assert_false(names("Shop.Orders+<Take>d__10", "Shop.Orders+<Take>d__1"));
    assert_false(names("Shop.Orders+<Take>d__1`1", "Shop.Orders+<Take>d__1"));
    assert_false(names("Shop.Orders+<Take>d__1", "Shop.Orders+<Take>d__10"));
}

static void of_a_name_in_a_long_value_the_rest_does_not_count(void **state)
{
    char text[400];
    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text, "A+<B>d__1, ", 11);
    text[300] = '\0';
    assert_true(names(
        text, "A+<B>d__1")); /* the value's length takes two bytes, the name's would take one */
    text[9] = 'x';
    assert_false(names(text, "A+<B>d__1"));
}

static void characters_that_reflection_escapes_are_compared_as_they_are(void **state)
{
    (void)state;
    assert_true(names("A+<I<System-Int32\\,System-String>-Go>d__3, Shop",
                      "A+<I<System-Int32,System-String>-Go>d__3"));
    assert_false(names("A+<I<System-Int32\\,System-String>-Go>d__3, Shop", "A+<I<System-Int32"));
}

static void what_is_no_value_names_nothing(void **state)
{
    char            out[8];
    struct sxs_blob cut = value_of("A+B");
    (void)state;
    for (cut.size = 0; cut.size < 6; cut.size++)
        assert_false(sxs_md_attribute_is_type(cut, "A+B"));
    assert_int_equal(sxs_md_attribute_type(value_of("A+B, C"), out, sizeof(out)), 3);
    assert_string_equal(out, "A+B");
    assert_int_equal(sxs_md_attribute_type(value_of("A+BCDEFG"), out, sizeof(out)), 0);
    bytes[2] = 0xff; /* no text at all */
    assert_int_equal(sxs_md_attribute_type((struct sxs_blob){bytes, 5}, out, sizeof(out)), 0);
    bytes[0] = 2;
    assert_false(names("", "A"));
}

static void a_state_machine_is_a_nested_type_of_a_compiler(void **state)
{
    (void)state;
    assert_true(sxs_machine_possible("Shop.Orders+<PlaceAsync>d__3"));
    assert_true(sxs_machine_possible("Shop.Orders`1+<All>d__0`1"));
    assert_true(sxs_machine_possible("Shop.Orders+VB$StateMachine_1_PlaceAsync"));
    assert_false(sxs_machine_possible("<PlaceAsync>d__3")); /* not nested */
    assert_false(sxs_machine_possible("<Outer>+Inner"));
    assert_true(sxs_machine_attribute(
        "System.Runtime.CompilerServices.AsyncIteratorStateMachineAttribute"));
    assert_false(sxs_machine_attribute("System.Runtime.CompilerServices.StateMachineAttribute"));
    assert_false(sxs_machine_attribute("Shop.AsyncStateMachineAttribute"));
    assert_true(sxs_machine_body("MoveNext"));
    assert_false(sxs_machine_body("MoveNextAsync"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_machine_is_a_nested_type_of_a_compiler),
        cmocka_unit_test(a_type_is_named_as_a_whole),
        cmocka_unit_test(of_a_name_in_a_long_value_the_rest_does_not_count),
        cmocka_unit_test(characters_that_reflection_escapes_are_compared_as_they_are),
        cmocka_unit_test(what_is_no_value_names_nothing),
    };
    return cmocka_run_group_tests_name("attribute", tests, NULL, NULL);
}
