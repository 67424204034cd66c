/* SPDX-License-Identifier: MIT */
/* The data of an attach: settings of the log, configuration files and settings of plug-ins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "clrie/config/attach.h"

#define ROOT(inside) \
    "<InstrumentationEngineConfiguration>" inside "</InstrumentationEngineConfiguration>"
#define ENGINE(inside)  "<InstrumentationEngine>" inside "</InstrumentationEngine>"
#define METHODS(inside) "<InstrumentationMethods>" inside "</InstrumentationMethods>"
#define ADD(path, inside) \
    "<AddInstrumentationMethod ConfigPath=\"" path "\">" inside "</AddInstrumentationMethod>"
#define SETTINGS(inside)     "<Settings>" inside "</Settings>"
#define SETTING(name, value) "<Setting Name=\"" name "\" Value=\"" value "\"/>"

static struct clrie_attach attach;
static char                said[1024];
static unsigned            n_said;

static void note(void *arg, const char *line)
{
    (void)arg;
    n_said++;
    snprintf(said, sizeof(said), "%s", line);
}

static int parse_bytes(const char *data, size_t size)
{
    clrie_attach_free(&attach);
    said[0] = '\0';
    n_said = 0;
    return clrie_attach_parse(data, size, &attach, note, NULL);
}

static int parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

static void everything_is_read(void **state)
{
    (void)state;
    assert_int_equal(
        parse("<?xml version=\"1.0\"?>\n" ROOT(
            ENGINE(SETTINGS(SETTING("LogLevel", "All") SETTING("LogFileLevel", "Errors")
                                SETTING("LogFilePath", "/tmp/\xc3\xa4 b")))
                METHODS(ADD("/a/one.xml", SETTINGS(SETTING("x", "1") SETTING("y", " 2 ")))
                            ADD("rel/two.xml", "")))),
        0);
    assert_int_equal(n_said, 0);
    assert_string_equal(attach.log_level, "All");
    assert_string_equal(attach.log_file_level, "Errors");
    assert_string_equal(attach.log_file_path, "/tmp/\xc3\xa4 b");
    assert_int_equal(attach.n_sources, 2);
    assert_string_equal(attach.sources[0].path, "/a/one.xml");
    assert_int_equal(attach.sources[0].n_settings, 2);
    assert_string_equal(attach.sources[0].settings[0].name, "x");
    assert_string_equal(attach.sources[0].settings[1].value, " 2 "); /* not trimmed */
    assert_string_equal(attach.sources[1].path, "rel/two.xml");      /* as it is written */
    assert_int_equal(attach.sources[1].n_settings, 0);
}

static void unknown_elements_and_comments_are_skipped(void **state)
{
    (void)state;
    assert_int_equal(parse(ROOT("<!-- c --><Other><a/></Other>" METHODS("<!-- c --><Else/>" ADD(
                         "a", "<Odd/><!-- c -->" SETTINGS(SETTING("n", "v")))))),
                     0);
    assert_int_equal(attach.n_sources, 1);
    assert_int_equal(attach.sources[0].n_settings, 1);
    assert_int_equal(
        parse(ROOT(ENGINE(SETTINGS(SETTING("Colour", "red") SETTING("LogLevel", "Dumps"))))), 0);
    assert_string_equal(attach.log_level, "Dumps");
}

static void only_the_first_node_of_the_engine_counts(void **state)
{
    (void)state;
    assert_int_equal(parse(ROOT(ENGINE("<!-- c -->" SETTINGS(SETTING("LogLevel", "All"))))), 0);
    assert_null(attach.log_level);
    assert_int_equal(parse(ROOT(ENGINE("<Other/>" SETTINGS(SETTING("LogLevel", "All"))))), 0);
    assert_null(attach.log_level);
}

static void the_first_value_of_a_name_wins(void **state)
{
    (void)state;
    assert_int_equal(parse(ROOT(METHODS(ADD("a", SETTINGS(SETTING("n", "1") SETTING("n", "2")))))),
                     0);
    assert_int_equal(attach.sources[0].n_settings, 1);
    assert_string_equal(attach.sources[0].settings[0].value, "1");
}

static void an_error_ends_the_reading_and_keeps_what_was_before(void **state)
{
    static const char *const wrong[] = {
        ADD("b", SETTINGS(SETTING("", "v"))),
        ADD("b", SETTINGS(SETTING("n", ""))),
        ADD("b", SETTINGS("<Setting Name=\"n\"/>")),
        ADD("b", SETTINGS("<Other/>")),
        ADD("b", SETTINGS("<!-- c -->")),
        ADD("b", SETTINGS("text")),
        "<AddInstrumentationMethod/>",
        ADD("", ""),
    };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        snprintf(text, sizeof(text), ROOT(METHODS(ADD("a", "") "%s" ADD("c", ""))), wrong[i]);
        assert_int_equal(parse(text), 1);
        assert_int_equal(n_said, 1);
        assert_non_null(strstr(said, "data of the attach:1:"));
        assert_int_equal(attach.n_sources, 1);
        assert_string_equal(attach.sources[0].path, "a");
    }
    assert_int_equal(
        parse(ROOT(ENGINE(SETTINGS(SETTING("LogLevel", "All") "<x/>")) METHODS(ADD("a", "")))), 1);
    assert_null(attach.log_level); /* the settings are wrong as a whole, and the rest is not read */
    assert_int_equal(attach.n_sources, 0);
}

static void a_wrong_root_or_no_xml_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(parse("<Other/>"), 1);
    assert_int_equal(parse(""), 1);
    assert_int_equal(parse("a text"), 1);
    assert_int_equal(parse("\xff\xfe"), 1);
    assert_int_equal(attach.n_sources, 0);
}

static void a_terminating_zero_may_be_counted(void **state)
{
    static const char text[] = ROOT(METHODS(ADD("a", ""))) "\0rest";
    (void)state;
    assert_int_equal(parse_bytes(text, sizeof(text)), 0);
    assert_int_equal(attach.n_sources, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(unknown_elements_and_comments_are_skipped),
        cmocka_unit_test(only_the_first_node_of_the_engine_counts),
        cmocka_unit_test(the_first_value_of_a_name_wins),
        cmocka_unit_test(an_error_ends_the_reading_and_keeps_what_was_before),
        cmocka_unit_test(a_wrong_root_or_no_xml_is_an_error),
        cmocka_unit_test(a_terminating_zero_may_be_counted),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    clrie_attach_free(&attach);
    return failed;
}
