/* SPDX-License-Identifier: MIT */
/* test_utf8.c - UTF-16 as UTF-8: pairs, halves of pairs, and where a text is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/buffer.h"
#include "base/text/utf8.h"

static void each_length_has_its_bounds(void **state)
{
    static const struct {
        uint32_t    c;
        const char *bytes;
    } rows[] = {
        {0x01, "\x01"},
        {0x7f, "\x7f"},
        {0x80, "\xc2\x80"},
        {0x7ff, "\xdf\xbf"},
        {0x800, "\xe0\xa0\x80"},
        {0xd7ff, "\xed\x9f\xbf"},
        {0xffff, "\xef\xbf\xbf"},
        {0x10000, "\xf0\x90\x80\x80"},
        {0x1f600, "\xf0\x9f\x98\x80"},
        {0x10ffff, "\xf4\x8f\xbf\xbf"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char   out[5] = "";
        size_t n = sxs_utf8_put(out, rows[i].c);
        assert_int_equal(n, strlen(rows[i].bytes));
        assert_string_equal(out, rows[i].bytes);
    }
}

static void pairs_are_one_character_and_halves_stay(void **state)
{
    static const uint16_t units[] = {0xd83d, 0xde00, 0xde00, 0xd83d, 'x',
                                     0xd83d, 0xd83d, 0xde00, 0xd83d};
    static const uint32_t expected[] = {0x1f600, 0xde00, 0xd83d, 'x', 0xd83d, 0x1f600, 0xd83d};
    size_t                at = 0;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_int_equal(sxs_utf16_next(units, ARRAY_LEN(units), &at), expected[i]);
    assert_int_equal(at, ARRAY_LEN(units));
    at = 0; /* the second half lies after the end */
    assert_int_equal(sxs_utf16_next(units, 1, &at), 0xd83d);
    assert_int_equal(at, 1);
}

static void halves_are_distinguished_from_characters(void **state)
{
    (void)state;
    assert_false(sxs_utf16_is_half(0xd7ff));
    assert_true(sxs_utf16_is_half(0xd800));
    assert_true(sxs_utf16_is_half(0xdfff));
    assert_false(sxs_utf16_is_half(0xe000));
    assert_false(sxs_utf16_is_half(0x1d800));
}

static void a_text_ends_at_its_zero_or_its_length(void **state)
{
    static const uint16_t wide[] = {'a', 0xe9, 0xd83d, 0xde00, 0, 'x'};
    char                  out[32];
    (void)state;
    assert_int_equal(sxs_utf8_of(wide, ARRAY_LEN(wide), out, sizeof(out)), 7);
    assert_string_equal(out, "a\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(sxs_utf8_of(wide, 1, out, sizeof(out)), 1);
    assert_string_equal(out, "a");
    assert_int_equal(sxs_utf8_of(wide, 0, out, sizeof(out)), 0);
    assert_string_equal(out, "");
}

static void a_text_is_cut_between_characters(void **state)
{
    static const uint16_t wide[] = {'a', 0xd83d, 0xde00, 0x20ac, 'b'};
    (void)state;
    for (size_t size = 1; size < 16; size++) {
        char   out[17];
        size_t n;
        memset(out, '#', sizeof(out));
        n = sxs_utf8_of(wide, ARRAY_LEN(wide), out, size);
        assert_true(n < size);
        assert_int_equal(out[n], '\0');
        for (size_t i = size; i < sizeof(out); i++)
            assert_int_equal(out[i], '#');
        assert_int_equal(n, size < 5 ? 0 : size == 5 ? 1 : size < 10 ? 5 : size < 13 ? 8 : 9);
    }
}

static void what_is_no_utf8_is_refused(void **state)
{
    static const struct {
        const char *text;
        size_t      len; /* of the first character; 0: none */
        uint32_t    c;
    } rows[] = {{"a", 1, 'a'},
                {"\xc3\xa9", 2, 0xe9},
                {"\xe2\x82\xac", 3, 0x20ac},
                {"\xf0\x9f\x98\x80", 4, 0x1f600},
                {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
                {"\x80", 0, 0},             /* a continuation */
                {"\xc0\x80", 0, 0},         /* overlong */
                {"\xe0\x80\x80", 0, 0},     /* overlong */
                {"\xf0\x80\x80\x80", 0, 0}, /* overlong */
                {"\xf4\x90\x80\x80", 0, 0}, /* beyond U+10FFFF */
                {"\xf8\x88\x80\x80", 0, 0},
                {"\xe2\x82", 0, 0}, /* cut off */
                {"\xe2(\x80", 0, 0}};
    uint32_t c = 0;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(sxs_utf8_next(rows[i].text, strlen(rows[i].text), &c), rows[i].len);
        assert_int_equal(sxs_utf8_len(rows[i].text, strlen(rows[i].text)), rows[i].len);
        if (rows[i].len)
            assert_int_equal(c, rows[i].c);
    }
    assert_int_equal(sxs_utf8_next("\xed\xa0\xbd", 3, &c), 3); /* half of a pair */
    assert_int_equal(c, 0xd83d);
    assert_int_equal(sxs_utf8_len("\xed\xa0\xbd", 3), 0);
    assert_int_equal(sxs_utf8_next("a", 0, &c), 0);
}

static void a_line_has_no_control_characters(void **state)
{
    const uint16_t wide[] = {'a', 0, '\n', 0x85, 0xd800, 0xe9};
    char           out[16];
    int            cut;
    (void)state;
    assert_int_equal(sxs_utf8_line(wide, ARRAY_LEN(wide), '?', out, sizeof(out), &cut), 9);
    assert_string_equal(out, "a???\xef\xbf\xbd\xc3\xa9");
    assert_int_equal(cut, 0);
    assert_int_equal(sxs_utf8_line(wide, ARRAY_LEN(wide), ' ', out, 9, &cut), 7);
    assert_string_equal(out, "a   \xef\xbf\xbd");
    assert_int_equal(cut, 1);
    assert_int_equal(sxs_utf16_len(wide, ARRAY_LEN(wide)), 1);
    assert_int_equal(sxs_utf16_len(wide, 1), 1);
}

static void a_counted_text_counts_what_is_cut_off(void **state)
{
    char            out[8];
    struct sxs_text t = sxs_text_counted(out, sizeof(out)), none = sxs_text_counted(NULL, 0);
    (void)state;
    sxs_text_put(&t, "abc");
    sxs_text_putf(&t, "%d", 1234);
    assert_int_equal(t.cut, 0);
    assert_string_equal(out, "abc1234");
    sxs_text_put(&t, "56");
    sxs_text_putf(&t, "%d", 78);
    assert_string_equal(out, "abc1234");
    assert_int_equal(t.len, 11);
    assert_int_equal(t.cut, 1);
    sxs_text_put(&none, "abc");
    sxs_text_putf(&none, "%d", 12);
    assert_int_equal(none.len, 5);
}

static void a_text_takes_whole_pieces_and_then_dots(void **state)
{
    char            out[8];
    struct sxs_text t = sxs_text_in(out, sizeof(out));
    (void)state;
    sxs_text_put(&t, "abc");
    sxs_text_putf(&t, "%d", 12); /* does not fit with the dots */
    sxs_text_put(&t, "d");
    assert_string_equal(out, "abc...");
    assert_int_equal(t.len, 6);
    assert_int_equal(t.cut, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counted_text_counts_what_is_cut_off),
        cmocka_unit_test(a_text_takes_whole_pieces_and_then_dots),
        cmocka_unit_test(what_is_no_utf8_is_refused),
        cmocka_unit_test(a_line_has_no_control_characters),
        cmocka_unit_test(each_length_has_its_bounds),
        cmocka_unit_test(pairs_are_one_character_and_halves_stay),
        cmocka_unit_test(halves_are_distinguished_from_characters),
        cmocka_unit_test(a_text_ends_at_its_zero_or_its_length),
        cmocka_unit_test(a_text_is_cut_between_characters),
    };
    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
