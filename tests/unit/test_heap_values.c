/* SPDX-License-Identifier: MIT */
/* test_heap_values.c - requests for values of objects, copies of memory, plain names of types; values
 * of real objects are read in tests/integration/heap_object.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/text/plain_type.h"
#include "tests/unit/dice.h"
#include "tools/heap/ask.h"
#include "values/memory.h"

static struct sxs_heap_request request;

static int parse(const char *text)
{
    return sxs_heap_request_parse(text, strlen(text), &request);
}

static void a_request_has_objects_and_static_fields(void **state)
{
    (void)state;
    assert_int_equal(parse(SXS_HEAP_ASK_FIRST "\nobject 0 7f00dead0\nstatic 2 A.B+C`1.field\n"), 0);
    assert_int_equal(request.n, 2);
    assert_int_equal(request.all[0].address, 0x7f00dead0);
    assert_int_equal(request.all[0].runtime, 0);
    assert_int_equal(request.all[1].address, 0);
    assert_int_equal(request.all[1].runtime, 2);
    assert_string_equal(request.all[1].text, "A.B+C`1.field");
}

static void lines_that_are_wrong_are_left_out(void **state)
{
    static const char *const wrong[] = {
        "object",
        "object 0",
        "object 0 0",
        "object 0 xyz",
        "object 0 -1",
        "object 1",
        "object -1 8",
        "object 65536 8",
        "object 0 8 ",
        "object 0 8x",
        "static",
        "static 0",
        "static 0 ",
        "static x A.B",
        "static 0 A\tB",
        "other 0 A.B",
        "object 0 10000000000000000",
    };
    char text[256];
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        snprintf(text, sizeof(text), SXS_HEAP_ASK_FIRST "\n%s\nobject 0 8\n", wrong[i]);
        assert_int_equal(parse(text), 0);
        assert_int_equal(request.n, 1);
        assert_int_equal(request.all[0].address, 8);
    }
    assert_int_equal(parse(SXS_HEAP_ASK_FIRST "\nobject 0 8"), 0); /* cut off */
    assert_int_equal(request.n, 0);
}

static void what_is_no_request_is_refused(void **state)
{
    (void)state;
    assert_int_equal(parse(""), -1);
    assert_int_equal(parse("\n"), -1);
    assert_int_equal(parse(SXS_HEAP_ASK_FIRST), -1);
    assert_int_equal(parse("object 0 8\n"), -1);
    assert_int_equal(parse("sxsprof heap-ask 2\nobject 0 8\n"), -1);
}

static void a_request_is_bounded(void **state)
{
    char  *text = malloc(200000);
    size_t n = (size_t)sprintf(text, SXS_HEAP_ASK_FIRST "\nstatic 0 ");
    (void)state;
    memset(text + n, 'x', SXS_HEAP_ASK_TEXT); /* one too many */
    n += SXS_HEAP_ASK_TEXT;
    text[n++] = '\n';
    for (int i = 0; i < 5000; i++)
        n += (size_t)sprintf(text + n, "object 0 %x\n", i + 8);
    assert_int_equal(sxs_heap_request_parse(text, n, &request), 0);
    assert_int_equal(request.n, SXS_HEAP_ASK_LINES);
    assert_int_equal(request.all[0].address, 8);
    free(text);
}

static void garbage_is_parsed_within_its_bytes(void **state)
{
    static const char good[] = SXS_HEAP_ASK_FIRST "\nobject 0 7f00\nstatic 1 A.B\nobject 3 10\n";
    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t size = sizeof(good) - 1 - roll(round % 2 ? sizeof(good) - 1 : 1);
        char  *bytes =
            malloc(size ? size : 1); /* of its size, so that sanitizers see what is read */
        memcpy(bytes, good, size);
        for (unsigned k = (unsigned)roll(6); k > 0 && size; k--)
            bytes[roll(size)] = (char)roll(256);
        if (sxs_heap_request_parse(bytes, size, &request) == 0)
            for (size_t i = 0; i < request.n; i++)
                assert_true(!request.all[i].address != !request.all[i].text[0]);
        free(bytes);
    }
}

static void memory_is_read_from_its_pieces_only(void **state)
{
    struct sxs_memory memory = {0};
    uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8}, word = 0, at = (uint64_t)(uintptr_t)words;
    (void)state;
    assert_int_equal(sxs_memory_add(&memory, at + 32, 16, 0), 0);
    assert_int_equal(sxs_memory_add(&memory, at, 16, 1), 0);
    assert_int_equal(sxs_memory_add(&memory, at, 16, 1), 1);
    words[0] = 99; /* it is a copy */
    assert_int_equal(sxs_memory_read(&memory, &word, at, 8), 8);
    assert_int_equal(word, 1);
    assert_int_equal(sxs_memory_read(&memory, &word, at + 8, 8), 8);
    assert_int_equal(word, 2);
    assert_int_equal(sxs_memory_read(&memory, &word, at + 12, 8), 0); /* beyond its end */
    assert_int_equal(sxs_memory_read(&memory, &word, at + 16, 1), 0);
    assert_int_equal(sxs_memory_read(&memory, &word, at - 8, 8), 0);
    assert_int_equal(sxs_memory_read(&memory, &word, at + 40, 8), 8);
    assert_int_equal(word, 6);
    assert_int_equal(sxs_memory_read(&memory, &word, UINT64_MAX, 8), 0);
    sxs_memory_free(&memory);
    assert_int_equal(sxs_memory_read(&memory, &word, at, 8), 0);
}

static void memory_that_is_not_mapped_is_refused(void **state)
{
    struct sxs_memory memory = {0};
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(munmap(pages + 4096, 4096), 0);
    assert_int_equal(sxs_memory_add(&memory, (uint64_t)(uintptr_t)pages + 4000, 96, 0), 0);
    assert_int_equal(sxs_memory_add(&memory, (uint64_t)(uintptr_t)pages + 4000, 97, 0), -1);
    assert_int_equal(sxs_memory_add(&memory, 8, 8, 0), -1);
    assert_int_equal(memory.n, 1);
    munmap(pages, 4096);
    sxs_memory_free(&memory);
}

static void memory_is_bounded(void **state)
{
    struct sxs_memory memory = {0};
    char             *bytes = calloc(2, SXS_MEMORY_BYTES);
    uint64_t          at = (uint64_t)(uintptr_t)bytes;
    (void)state;
    assert_int_equal(sxs_memory_add(&memory, at, SXS_MEMORY_BYTES + 1, 0), -1);
    assert_int_equal(sxs_memory_add(&memory, at, SXS_MEMORY_BYTES - 8, 0), 0);
    assert_int_equal(sxs_memory_add(&memory, at + SXS_MEMORY_BYTES, 16, 0), -1);
    assert_int_equal(sxs_memory_add(&memory, at + SXS_MEMORY_BYTES, 8, 0), 0);
    sxs_memory_free(&memory);
    for (uint64_t i = 0; i < SXS_MEMORY_PIECES; i++)
        assert_int_equal(sxs_memory_add(&memory, at + i * 8, 8, 0), 0);
    assert_int_equal(sxs_memory_add(&memory, at + SXS_MEMORY_BYTES, 8, 0), -1);
    sxs_memory_free(&memory);
    free(bytes);
}

static void names_of_types_lose_their_arguments(void **state)
{
    static const char *const names[][2] = {
        {"A.B", "A.B"},
        {"A.B+C", "A.B.C"},
        {"A.B`1+C`2", "A.B.C"},
        {"A.B<System.Int32>+C<D<E>, F[]>", "A.B.C"},
        {"<PrivateImplementationDetails>", "<PrivateImplementationDetails>"},
        {"A.B+<>c__DisplayClass0", "A.B.<>c__DisplayClass0"},
        {"A.<Main>$.x", "A.<Main>$.x"},
        {"A.B<", "A.B"},
        {"A>B", "A>B"},
        {"", ""},
    };
    char out[64], four[5];
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_string_equal(sxs_plain_type(names[i][0], out, sizeof(out)), names[i][1]);
    assert_string_equal(sxs_plain_type("abcdefgh", four, sizeof(four)), "abcd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_objects_and_static_fields),
        cmocka_unit_test(lines_that_are_wrong_are_left_out),
        cmocka_unit_test(what_is_no_request_is_refused),
        cmocka_unit_test(a_request_is_bounded),
        cmocka_unit_test(garbage_is_parsed_within_its_bytes),
        cmocka_unit_test(memory_is_read_from_its_pieces_only),
        cmocka_unit_test(memory_that_is_not_mapped_is_refused),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(names_of_types_lose_their_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
