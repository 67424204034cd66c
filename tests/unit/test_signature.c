/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/signature_internal.h"

static void on_token(void *ctx, struct sxs_text *out, mdToken type)
{
    (void)ctx;
    sxs_text_putf(out, "T%08x", type);
}

static void on_class_id(void *ctx, struct sxs_text *out, ClassID type, int bare)
{
    (void)ctx;
    sxs_text_putf(out, bare ? "B%zx" : "C%zx", (size_t)type);
}

static void on_variable(void *ctx, struct sxs_text *out, uint32_t index, int of_method)
{
    (void)ctx;
    sxs_text_putf(out, of_method ? "M%u" : "V%u", index);
}

static const struct sxs_type_names names = { on_token, on_class_id, on_variable };
static char                        room[4096];

/** The blob in a heap block of its very size, so that a sanitizer sees a read past its end. */
static const char *params(const uint8_t *sig, size_t size)
{
    struct sxs_text out = sxs_text_in(room, sizeof(room));
    uint8_t        *copy = malloc(size ? size : 1);

    assert_non_null(copy);
    if (size)
        memcpy(copy, sig, size);
    sxs_signature_params(&out, copy, size, &names, NULL);
    free(copy);
    return room;
}

#define PARAMS(...) \
    params((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void primitives_have_their_full_names(void **state)
{
    (void)state;
    assert_string_equal(PARAMS(0x00, 0, 0x01), "()");
    assert_string_equal(PARAMS(0x20, 3, 0x01, 0x08, 0x0E, 0x1C),
                        "(System.Int32, System.String, System.Object)");
    assert_string_equal(PARAMS(0x00, 2, 0x01, 0x18, 0x16),
                        "(System.IntPtr, System.TypedReference)");
}

static void types_are_built_from_types(void **state)
{
    (void)state;
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x1D, 0x08), "(System.Int32[])");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x10, 0x0E), "(ref System.String)");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x0F, 0x0F, 0x01), "(System.Void**)");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x14, 0x08, 2, 0, 0), "(System.Int32[,])");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x14, 0x08, 1, 1, 5, 1, 1), "(System.Int32[])");
    assert_string_equal(PARAMS(0x10, 1, 2, 0x01, 0x13, 0, 0x1E, 3), "(V0, M3)");
}

static void tokens_and_their_arguments_are_named_by_the_caller(void **state)
{
    (void)state;
    assert_string_equal(PARAMS(0x00, 2, 0x01, 0x12, 0x08, 0x11, 0x0D), "(T02000002, T01000003)");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x15, 0x12, 0x09, 2, 0x08, 0x0E),
                        "(T01000002<System.Int32, System.String>)");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x12, 0x80, 0x82), "(T1b000020)");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x12, 0xC0, 0x01, 0x00, 0x00), "(T02004000)");
}

static void type_handles_of_dynamic_methods_are_read(void **state)
{
    (void)state;
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x21, 0x34, 0x12, 0, 0, 0, 0, 0, 0), "(C1234)");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x15, 0x21, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0x08),
                        "(B1<System.Int32>)");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x22, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0x08),
                        "(System.Int32)");
}

static void modifiers_are_skipped_and_the_sentinel_shown(void **state)
{
    (void)state;
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x1F, 0x09, 0x20, 0x09, 0x08), "(System.Int32)");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x10, 0x1F, 0x09, 0x08), "(ref System.Int32)");
    assert_string_equal(PARAMS(0x05, 2, 0x01, 0x0E, 0x41, 0x08),
                        "(System.String, ..., System.Int32)");
}

static void a_function_pointer_ends_in_its_return_type(void **state)
{
    (void)state;
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x1B, 0x09, 2, 0x01, 0x08, 0x0F, 0x05),
                        "(delegate*<System.Int32, System.Byte*, System.Void>)");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x1B, 0x00, 0, 0x0E), "(delegate*<System.String>)");
}

static void what_cannot_be_read_ends_the_text(void **state)
{
    (void)state;
    assert_string_equal(params(NULL, 0), "(?)");
    assert_string_equal(PARAMS(0x00), "(?)");
    assert_string_equal(PARAMS(0x00, 2, 0x01, 0x08), "(?)");
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x3F), "(?)");
    assert_string_equal(PARAMS(0x06, 0x08), "(?)");                    /* a field's signature */
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x12, 0x0B), "(?)");     /* no such table */
    assert_string_equal(PARAMS(0x00, 0xDF, 0xFF, 0xFF, 0xFF), "(?)");  /* absurd count */
    assert_string_equal(PARAMS(0x00, 1, 0x01, 0x21, 1, 2, 3), "(?)");  /* cut handle */
}

static void endless_nesting_is_cut_short(void **state)
{
    uint8_t sig[300];

    (void)state;
    memset(sig, 0x1D, sizeof(sig)); /* an array of arrays of... */
    sig[0] = 0x00;
    sig[1] = 1;
    sig[2] = 0x01;
    params(sig, sizeof(sig));
    assert_non_null(strstr(room, "?)"));
}

static void any_bytes_give_a_text(void **state)
{
    uint8_t  sig[24];
    uint32_t seed = 12345;

    (void)state;
    for (int round = 0; round < 200000; round++) {
        size_t size = 1 + (size_t)round % sizeof(sig);
        for (size_t i = 0; i < size; i++) {
            seed = seed * 1664525 + 1013904223;
            sig[i] = (uint8_t)(seed >> 24) & (round & 1 ? 0x3F : 0xFF);
        }
        if (round & 2)
            sig[0] = 0x20;
        params(sig, size);
        assert_int_equal(room[0], '(');
    }
}

static void a_text_too_long_ends_in_dots(void **state)
{
    char            small[12];
    struct sxs_text out = sxs_text_in(small, sizeof(small));
    const uint16_t  pair[] = { 0xD83D, 0xDE00, 0xD800, 'x', '\n', 0 };

    (void)state;
    sxs_text_put(&out, "System.");
    sxs_text_put(&out, "Int32");
    sxs_text_put(&out, "X");
    assert_string_equal(small, "System....");
    out = sxs_text_in(room, sizeof(room));
    sxs_text_put_utf16(&out, pair, 6);
    assert_string_equal(room, "\xF0\x9F\x98\x80\xEF\xBF\xBDx?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives_have_their_full_names),
        cmocka_unit_test(types_are_built_from_types),
        cmocka_unit_test(tokens_and_their_arguments_are_named_by_the_caller),
        cmocka_unit_test(type_handles_of_dynamic_methods_are_read),
        cmocka_unit_test(modifiers_are_skipped_and_the_sentinel_shown),
        cmocka_unit_test(a_function_pointer_ends_in_its_return_type),
        cmocka_unit_test(what_cannot_be_read_ends_the_text),
        cmocka_unit_test(endless_nesting_is_cut_short),
        cmocka_unit_test(any_bytes_give_a_text),
        cmocka_unit_test(a_text_too_long_ends_in_dots),
    };
    return cmocka_run_group_tests_name("signature", tests, NULL, NULL);
}
