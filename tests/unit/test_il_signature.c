/* SPDX-License-Identifier: MIT */
/* Signature blobs as trees: every element, bounds, and bytes that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "instr/metadata/compressed.h"
#include "instr/metadata/signature.h"
#include "tests/unit/dice.h"

static struct sxs_sig_node nodes[256];
static struct sxs_sig      sig;

static int parse(enum sxs_sig_kind kind, const char *bytes, size_t size)
{
    /* A copy of its own size: reading after it is seen by a sanitizer. */
    uint8_t *copy = malloc(size ? size : 1);
    int      err;
    memcpy(copy, bytes, size);
    err = sxs_sig_parse(kind, copy, size, nodes, 256, &sig);
    free(copy);
    return err;
}
#define PARSE(kind, text) parse(kind, text, sizeof(text) - 1)

static void put(uint32_t at, char *out, size_t size)
{
    size_t used = strlen(out);
    for (int first = 1; at != SXS_SIG_NONE; at = sig.nodes[at].next, first = 0) {
        const struct sxs_sig_node *n = &sig.nodes[at];
        used += (size_t)snprintf(out + used, size - used, "%s%x", first ? "" : " ", n->element);
        if (n->value)
            used += (size_t)snprintf(out + used, size - used, ":%x", n->value);
        if (n->handle)
            used += (size_t)snprintf(out + used, size - used, "=%llx", (unsigned long long)n->handle);
        if (n->child != SXS_SIG_NONE) {
            snprintf(out + used, size - used, "(");
            put(n->child, out, size);
            used = strlen(out);
            used += (size_t)snprintf(out + used, size - used, ")");
        }
    }
}

/* "element:value(children) sibling", in hexadecimal. */
static const char *tree(uint32_t at)
{
    static char out[2000];
    out[0] = '\0';
    put(at, out, sizeof(out));
    return out;
}

static void methods(void **state)
{
    (void)state;
    assert_int_equal(PARSE(SXS_SIG_METHOD, "\x00\x02\x01\x08\x0e"), 0);
    assert_int_equal(sig.n_params, 2);
    assert_string_equal(tree(sig.result), "1");
    assert_string_equal(tree(sig.params), "8 e");
    assert_int_equal(PARSE(SXS_SIG_METHOD, "\x20\x00\x1c"), 0);
    assert_int_equal(sig.convention, 0x20);
    assert_string_equal(tree(sig.params), "");
    assert_int_equal(PARSE(SXS_SIG_METHOD, "\x30\x02\x01\x1e\x01\x13\x00"), 0);
    assert_int_equal(sig.n_generic, 2);
    assert_string_equal(tree(sig.result), "1e:1");
    assert_string_equal(tree(sig.params), "13");
    /* varargs of a call site: what it added comes after a mark */
    assert_int_equal(PARSE(SXS_SIG_METHOD, "\x05\x02\x01\x08\x41\x0e"), 0);
    assert_int_equal(sig.n_params, 2);
    assert_string_equal(tree(sig.params), "8 41 e");
    assert_int_equal(PARSE(SXS_SIG_METHOD, "\x05\x02\x01\x41\x08\x41\x0e"), -1);
}

static void every_type(void **state)
{
    static const struct {
        const char *bytes;
        size_t      size;
        const char *tree;
    } all[] = {
#define T(b, t) {b, sizeof(b) - 1, t}
        T("\x02", "2"), T("\x03", "3"), T("\x0c", "c"), T("\x0d", "d"), T("\x16", "16"),
        T("\x18", "18"), T("\x19", "19"), T("\x1c", "1c"),
        T("\x12\x08", "12:2000002"), T("\x12\x09", "12:1000002"), T("\x11\x0a", "11:1b000002"),
        T("\x12\x80\x80", "12:2000020"), T("\x12\xc0\x00\x40\x00", "12:2001000"),
        T("\x1d\x1d\x08", "1d(1d(8))"), T("\x10\x0f\x01", "10(f(1))"),
        T("\x15\x11\x08\x02\x08\x0e", "15(11:2000002 8 e)"),
        T("\x15\x12\x08\x01\x15\x12\x0c\x01\x13\x01", "15(12:2000002 15(12:2000003 13:1))"),
        T("\x14\x08\x02\x00\x00", "14:2(8)"),
        T("\x14\x08\x02\x01\x05\x02\x00\x7f", "14:2(8 80:5 81 81:ffffffff)"), /* -1 is 0x7f */
        T("\x14\x08\x01\x00\x01\x06", "14:1(8 81:3)"),
        T("\x14\x08\x01\x00\x01\x80\x01", "14:1(8 81:ffffe000)"), /* the least of 14 bits */
        T("\x14\x08\x01\x00\x01\xc0\x00\x00\x01", "14:1(8 81:f0000000)"),
        T("\x1b\x00\x02\x01\x08\x0e", "1b(1 8 e)"),
        T("\x1b\x09\x00\x1b\x00\x00\x01", "1b:9(1b(1))"),
        T("\x1f\x09\x20\x0d\x08", "1f:1000002(20:1000003(8))"),
        T("\x45\x0e", "45(e)"),
        T("\x21\x01\x02\x00\x00\x00\x00\x00\x00", "21=201"),
        T("\x22\x01\x01\x02\x00\x00\x00\x00\x00\x00\x08", "22:1=201(8)"),
        T("\x15\x21\x01\x02\x00\x00\x00\x00\x00\x00\x01\x08", "15(21=201 8)"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (parse(SXS_SIG_TYPE, all[i].bytes, all[i].size) != 0)
            fail_msg("%s was refused", all[i].tree);
        assert_string_equal(tree(sig.result), all[i].tree);
        for (size_t cut = 0; cut < all[i].size; cut++)
            if (parse(SXS_SIG_TYPE, all[i].bytes, cut) != -1)
                fail_msg("%s was taken after %zu bytes", all[i].tree, cut);
    }
}

static void other_kinds(void **state)
{
    (void)state;
    assert_int_equal(PARSE(SXS_SIG_FIELD, "\x06\x1f\x09\x08"), 0);
    assert_int_equal(sig.nodes[sxs_sig_plain(&sig, sig.result)].element, SXS_ELEMENT_I4);
    assert_int_equal(PARSE(SXS_SIG_FIELD, "\x00\x08"), -1);
    assert_int_equal(PARSE(SXS_SIG_LOCALS, "\x07\x03\x08\x45\x10\x08\x0e"), 0);
    assert_string_equal(tree(sig.params), "8 45(10(8)) e");
    assert_int_equal(PARSE(SXS_SIG_PROPERTY, "\x28\x01\x0e\x08"), 0);
    assert_string_equal(tree(sig.result), "e");
    assert_string_equal(tree(sig.params), "8");
    assert_int_equal(PARSE(SXS_SIG_METHOD, "\x06\x08"), -1);
    assert_int_equal(sxs_sig_plain(&sig, SXS_SIG_NONE), SXS_SIG_NONE);
}

static void what_is_none(void **state)
{
    static const char *const wrong[] = {"\x17", "\x1a", "\x41", "\x3f", "\x40", "\x12\x0b", "\x12\xe0",
                                        "\x15\x08\x01\x08", "\x15\x12\x08", "\x1b\x06\x08", "\x80"};
    char deep[100];
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (parse(SXS_SIG_TYPE, wrong[i], strlen(wrong[i])) != -1)
            fail_msg("%zu was taken", i);
    assert_int_equal(PARSE(SXS_SIG_TYPE, "\x14\x08\x00\x00\x00"), -1); /* no dimension */
    assert_int_equal(PARSE(SXS_SIG_TYPE, "\x15\x12\x08\x00"), -1);     /* no argument */
    memset(deep, 0x1d, sizeof(deep));
    deep[31] = 8;
    assert_int_equal(parse(SXS_SIG_TYPE, deep, sizeof(deep)), 0);
    deep[31] = 0x1d;
    deep[32] = 8;
    assert_int_equal(parse(SXS_SIG_TYPE, deep, sizeof(deep)), -1);
    assert_int_equal(sxs_sig_parse(SXS_SIG_TYPE, NULL, 5, nodes, 256, &sig), -1);
    assert_int_equal(sxs_sig_parse(SXS_SIG_TYPE, (const uint8_t *)"\x1d\x08", 2, nodes, 1, &sig), -2);
    assert_int_equal(sxs_sig_parse(SXS_SIG_TYPE, (const uint8_t *)"\x1d\x08", 2, nodes, 2, &sig), 0);
}

/* A tree it returns names nodes it has, each once. */
static void check(uint32_t at, unsigned *seen, unsigned depth)
{
    for (; at != SXS_SIG_NONE; at = sig.nodes[at].next) {
        assert_true(at < sig.n_nodes && !seen[at] && depth < 64);
        seen[at] = 1;
        check(sig.nodes[at].child, seen, depth + 1);
    }
}

static void any_bytes(void **state)
{
    static const char likely[] = "\x08\x0e\x11\x12\x13\x14\x15\x1b\x1d\x1f\x20\x21\x41\x45\x00\x01\x02\x06";
    const char       *rounds = getenv("N_FUZZ");
    unsigned          good = 0;
    (void)state;
    for (int n = rounds ? atoi(rounds) : 200000; n > 0; n--) {
        char     bytes[64];
        unsigned seen[256] = {0};
        size_t   size = roll(sizeof(bytes));
        for (size_t i = 0; i < size; i++)
            bytes[i] = (char)(roll(4) ? (uint64_t)likely[roll(sizeof(likely) - 1)] : roll(256));
        if (parse((enum sxs_sig_kind)roll(5), bytes, size) != 0)
            continue;
        good++;
        check(sig.result, seen, 0);
        check(sig.params, seen, 0);
    }
    assert_true(good > 100 || rounds);
}

/* The examples of ECMA-335, II.23.2. */
static void compressed_integers_are_those_of_the_standard(void **state)
{
    static const struct {
        uint32_t    value;
        unsigned    size;
        const char *bytes;
    } unsigneds[] = {{0x03, 1, "\x03"},
                     {0x7f, 1, "\x7f"},
                     {0x80, 2, "\x80\x80"},
                     {0x2e57, 2, "\xae\x57"},
                     {0x3fff, 2, "\xbf\xff"},
                     {0x4000, 4, "\xc0\x00\x40\x00"},
                     {0x1fffffff, 4, "\xdf\xff\xff\xff"}};
    static const struct {
        int32_t     value;
        unsigned    size;
        const char *bytes;
    } signeds[] = {{3, 1, "\x06"},
                   {-3, 1, "\x7b"},
                   {64, 2, "\x80\x80"},
                   {-64, 1, "\x01"},
                   {8192, 4, "\xc0\x00\x40\x00"},
                   {-8192, 2, "\x80\x01"},
                   {268435455, 4, "\xdf\xff\xff\xfe"},
                   {-268435456, 4, "\xc0\x00\x00\x01"}};
    static const uint8_t none[] = {0xe0, 0, 0, 0};
    uint8_t              out[SXS_COMPRESSED_SIZE];
    uint32_t             value;
    (void)state;
    for (size_t i = 0; i < sizeof(unsigneds) / sizeof(unsigneds[0]); i++) {
        const uint8_t *bytes = (const uint8_t *)unsigneds[i].bytes;
        unsigned       size = unsigneds[i].size;
        assert_int_equal(sxs_compressed_write(out, unsigneds[i].value), size);
        assert_memory_equal(out, bytes, size);
        assert_int_equal(sxs_compressed_read(bytes, bytes + size, &value), size);
        assert_int_equal(value, unsigneds[i].value);
        assert_int_equal(sxs_compressed_read(bytes, bytes + size - 1, &value), 0); /* cut off */
    }
    for (size_t i = 0; i < sizeof(signeds) / sizeof(signeds[0]); i++) {
        const uint8_t *bytes = (const uint8_t *)signeds[i].bytes;
        unsigned       size = signeds[i].size;
        assert_int_equal(sxs_compressed_write_signed(out, signeds[i].value), size);
        assert_memory_equal(out, bytes, size);
        assert_int_equal(sxs_compressed_read(bytes, bytes + size, &value), size);
        assert_int_equal(sxs_compressed_signed(value, size), signeds[i].value);
    }
    assert_int_equal(sxs_compressed_read(none, none + 4, &value), 0);
    assert_int_equal(sxs_coded_type(0x49), 0x01000012); /* II.23.2.8 */
    assert_int_equal(sxs_code_type(0x01000012), 0x49);
    assert_int_equal(sxs_coded_type(0x4b), 0);
    assert_int_equal(sxs_code_type(0x06000001), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods),
        cmocka_unit_test(every_type),
        cmocka_unit_test(other_kinds),
        cmocka_unit_test(what_is_none),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(compressed_integers_are_those_of_the_standard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
