/* SPDX-License-Identifier: MIT */
/* test_message.c - messages between the command and the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "control/message/message.h"

#define NEVER ((size_t)-1)

static char why[200];

/* Parses a copy of @text. */
static int parse(const char *text, struct sxs_message *out)
{
    static char copy[SXS_CONTROL_MAX + 1];
    snprintf(copy, sizeof(copy), "%s", text);
    why[0] = '\0';
    return sxs_message_parse(copy, strlen(text), out, why, sizeof(why));
}

static void what_is_written_is_read(void **state)
{
    static struct sxs_message_writer w;
    struct sxs_message               m;
    (void)state;
    sxs_message_begin(&w, "sxsprof 1 start");
    sxs_message_add(&w, "tools", "sample:hz=99;calls");
    sxs_message_add(&w, "pick", NULL);
    sxs_message_add(&w, "out", "/tmp/a\\n\nb\\");
    sxs_message_addf(&w, "duration_ms", "%d", 1500);
    sxs_message_add(&w, "id", "");
    sxs_message_end(&w);
    assert_int_equal(w.full, 0);
    assert_int_equal(sxs_message_size(w.bytes, w.size), w.size);
    assert_int_equal(sxs_message_parse(w.bytes, w.size, &m, why, sizeof(why)), 0);
    assert_string_equal(m.text, "sxsprof 1 start");
    assert_int_equal(m.n, 4);
    assert_string_equal(sxs_message_get(&m, "tools"), "sample:hz=99;calls");
    assert_string_equal(sxs_message_get(&m, "out"), "/tmp/a\\n\nb\\");
    assert_string_equal(sxs_message_get(&m, "duration_ms"), "1500");
    assert_string_equal(sxs_message_get(&m, "id"), "");
    assert_null(sxs_message_get(&m, "pick"));
}

static void a_message_ends_at_its_empty_line(void **state)
{
    static char long_one[SXS_CONTROL_MAX + 1];
    const char *two = "ok\n\nok\n\n";
    (void)state;
    assert_int_equal(sxs_message_size("", 0), 0);
    for (size_t n = 1; n < 4; n++)
        assert_int_equal(sxs_message_size(two, n), 0);
    for (size_t n = 4; n <= 8; n++)
        assert_int_equal(sxs_message_size(two, n), 4);
    assert_int_equal(sxs_message_size("\nok\n\n", 5), NEVER);
    assert_int_equal(sxs_message_size("\n", 1), NEVER);
    assert_int_equal(sxs_message_size("o\0k", 3), NEVER);
    memset(long_one, 'x', sizeof(long_one));
    assert_int_equal(sxs_message_size(long_one, SXS_CONTROL_MAX - 1), 0);
    assert_int_equal(sxs_message_size(long_one, SXS_CONTROL_MAX), NEVER);
    long_one[SXS_CONTROL_MAX - 2] = long_one[SXS_CONTROL_MAX - 1] = '\n';
    assert_int_equal(sxs_message_size(long_one, SXS_CONTROL_MAX), SXS_CONTROL_MAX);
    assert_int_equal(sxs_message_size(long_one, SXS_CONTROL_MAX + 1), SXS_CONTROL_MAX);
    long_one[SXS_CONTROL_MAX - 2] = 'x'; /* its end would be one byte too far */
    long_one[SXS_CONTROL_MAX] = '\n';
    assert_int_equal(sxs_message_size(long_one, SXS_CONTROL_MAX + 1), NEVER);
}

static void what_is_no_message_is_refused_with_a_reason(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"ok\nout\n\n", "line 2 of the message is not NAME=VALUE"},
        {"ok\n=x\n\n", "line 2 of the message is not NAME=VALUE"},
        {"ok\nid=1\nOut=x\n\n", "line 3 of the message is not NAME=VALUE"},
        {"ok\nid=1\nid=1\n\n", "line 3 of the message: id is there twice"},
        {"ok\nid=\\x\n\n",
         "line 2 of the message: a backslash is followed by neither n nor a backslash"},
        {"ok\nid=\\\n\n",
         "line 2 of the message: a backslash is followed by neither n nor a backslash"},
        {"ok\n", "not a message"},
        {"ok\n\nx", "not a message"},
        {"\n\n", "not a message"},
        {"", "not a message"},
    };
    struct sxs_message m;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(parse(rows[i].text, &m), -1);
        assert_string_equal(why, rows[i].why);
    }
}

static void unknown_names_and_several_runtimes_are_accepted(void **state)
{
    struct sxs_message m;
    (void)state;
    assert_int_equal(parse("ok\nruntime=1 8.0\nnever_heard=of=it\nruntime=2 9.0\n\n", &m), 0);
    assert_int_equal(m.n, 3);
    assert_string_equal(m.names[2], "runtime");
    assert_string_equal(m.values[2], "2 9.0");
    assert_string_equal(sxs_message_get(&m, "never_heard"), "of=it");
}

static void a_line_that_does_not_fit_is_left_out(void **state)
{
    static struct sxs_message_writer w;
    static char                      value[SXS_CONTROL_MAX + 1];
    struct sxs_message               m;
    (void)state;
    memset(value, '\\', SXS_CONTROL_MAX);
    /* "ok", "v=" and two line feeds beside the value, whose bytes are doubled */
    for (size_t half = SXS_CONTROL_MAX / 2 - 8; half < SXS_CONTROL_MAX / 2 + 2; half++) {
        int fits = 3 + 2 + 2 * half + 1 + 1 <= SXS_CONTROL_MAX;
        sxs_message_begin(&w, "ok");
        sxs_message_addf(&w, "v", "%.*s", (int)half, value);
        sxs_message_end(&w);
        assert_int_equal(w.full, !fits);
        assert_true(w.size <= SXS_CONTROL_MAX);
        assert_int_equal(sxs_message_parse(w.bytes, w.size, &m, why, sizeof(why)), 0);
        assert_int_equal(m.n, fits);
        if (fits)
            assert_int_equal(strlen(m.values[0]), half);
    }
    sxs_message_begin(&w, value);
    assert_int_equal(w.full, 1);
}

static void a_message_has_at_most_so_many_lines(void **state)
{
    static struct sxs_message_writer w;
    struct sxs_message               m;
    (void)state;
    sxs_message_begin(&w, "ok");
    for (unsigned i = 0; i < SXS_CONTROL_PAIRS; i++)
        sxs_message_addf(&w, "runtime", "%u", i);
    assert_int_equal(w.full, 0);
    sxs_message_add(&w, "id", "x");
    assert_int_equal(w.full, 1);
    sxs_message_end(&w);
    w.bytes[w.size - 1] = 'a'; /* one line more by hand */
    memcpy(w.bytes + w.size, "=\n\n", 4);
    assert_int_equal(parse(w.bytes, &m), -1);
    assert_string_equal(why, "the message has more than 128 lines");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_message_ends_at_its_empty_line),
        cmocka_unit_test(what_is_no_message_is_refused_with_a_reason),
        cmocka_unit_test(unknown_names_and_several_runtimes_are_accepted),
        cmocka_unit_test(a_line_that_does_not_fit_is_left_out),
        cmocka_unit_test(a_message_has_at_most_so_many_lines),
    };
    return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
