/* SPDX-License-Identifier: MIT */
/* test_names_table.c - tables of names: what was written is read, damaged tables are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/symbols/names_table.h"
#include "names.pb-c.h"

static const uint8_t id_a[] = {1, 2, 3}, id_b[] = {1, 2, 4};

static struct sxs_names *written_and_read(struct sxs_names *names)
{
    size_t            size;
    const char       *why;
    uint8_t          *bytes = sxs_names_encode(names, &size);
    struct sxs_names *read = sxs_names_decode(bytes, size, &why);
    free(bytes);
    sxs_names_free(names);
    assert_non_null(read);
    return read;
}

static void add(struct sxs_names *names, uint32_t place, uint64_t key, const char *symbol)
{
    const struct sxs_names_row row = {symbol, "a.c", 7, (uint32_t)key};
    sxs_names_add(names, place, key, &row);
}

static void rows_are_found_by_file_build_and_address(void **state)
{
    struct sxs_names    *names = sxs_names_new();
    struct sxs_names_row row;
    (void)state;
    uint32_t a = sxs_names_add_place(names, false, "/lib/x.so", id_a, 3);
    uint32_t b = sxs_names_add_place(names, false, "/lib/x.so", id_b, 3);
    uint32_t managed = sxs_names_add_place(names, true, "/lib/x.so", NULL, 0);
    assert_int_equal(a, sxs_names_add_place(names, false, "/lib/x.so", id_a, 3));
    add(names, a, 0x2000, "second");
    add(names, a, 0x1000, "first");
    add(names, b, 0x1000, "other build");
    add(names, managed, UINT64_C(0x0600000100000009), "");
    names = written_and_read(names);
    assert_true(
        sxs_names_find(names, sxs_names_place(names, false, "/lib/x.so", id_a, 3), 0x1000, &row));
    assert_string_equal(row.symbol, "first");
    assert_string_equal(row.source, "a.c");
    assert_int_equal(row.line, 7);
    assert_int_equal(row.at_line, 0x1000);
    assert_true(sxs_names_find(names, a, 0x2000, &row));
    assert_string_equal(row.symbol, "second");
    assert_true(
        sxs_names_find(names, sxs_names_place(names, false, "/lib/x.so", id_b, 3), 0x1000, &row));
    assert_string_equal(row.symbol, "other build");
    managed = sxs_names_place(names, true, "/lib/x.so", NULL, 0);
    assert_true(sxs_names_find(names, managed, UINT64_C(0x0600000100000009), &row));
    assert_false(sxs_names_find(names, a, 0x1001, &row));
    assert_false(sxs_names_find(names, managed, 0x1000, &row));
    assert_int_equal(sxs_names_place(names, false, "/lib/y.so", id_a, 3), SXS_NO_PLACE);
    assert_int_equal(sxs_names_place(names, false, "/lib/x.so", NULL, 0), SXS_NO_PLACE);
    assert_false(sxs_names_find(names, SXS_NO_PLACE, 0x1000, &row));
    sxs_names_free(names);
}

static void rows_added_again_are_kept_once(void **state)
{
    struct sxs_names *names = sxs_names_new();
    (void)state;
    uint32_t a = sxs_names_add_place(names, false, "/lib/x.so", id_a, 3);
    for (uint64_t i = 0; i < 100000; i++)
        add(names, a, i % 1000, "again");
    names = written_and_read(names);
    assert_int_equal(sxs_names_count(names), 1000);
    sxs_names_free(names);
}

static void problems_are_kept(void **state)
{
    struct sxs_names *names = sxs_names_new();
    (void)state;
    uint32_t a = sxs_names_add_place(names, false, "/lib/x.so", NULL, 0);
    uint32_t b = sxs_names_add_place(names, false, "/lib/y.so", NULL, 0);
    sxs_names_set_problem(names, b, "first");
    sxs_names_set_problem(names, b, "gone\x1b[31m");
    names = written_and_read(names);
    assert_null(sxs_names_problem(names, a));
    assert_string_equal(sxs_names_problem(names, b), "gone [31m");
    assert_null(sxs_names_problem(names, SXS_NO_PLACE));
    sxs_names_free(names);
}

/* A table of one file with two rows, for damage. */
struct message {
    Sxs__Names__Names   all;
    Sxs__Names__Place   place, *places[1];
    ProtobufCBinaryData texts[2];
    uint64_t            key[2];
    uint32_t            symbol[2], source[2], line[2], at_line[2];
    uint8_t             path[3];
};

static void make_message(struct message *m)
{
    static uint8_t name[] = "name";
    memset(m, 0, sizeof(*m));
    sxs__names__names__init(&m->all);
    sxs__names__place__init(&m->place);
    m->places[0] = &m->place;
    m->texts[1] = (ProtobufCBinaryData){4, name};
    m->key[0] = 1;
    m->key[1] = 2;
    memcpy(m->path, "/x", 3);
    m->all.version = 1;
    m->all.place = m->places;
    m->all.n_place = 1;
    m->all.text = m->texts;
    m->all.n_text = 2;
    m->place.path = (ProtobufCBinaryData){2, m->path};
    m->place.key = m->key;
    m->place.symbol = m->symbol;
    m->place.source = m->source;
    m->place.line = m->line;
    m->place.at_line = m->at_line;
    m->place.n_key = m->place.n_symbol = m->place.n_source = m->place.n_line = m->place.n_at_line =
        2;
}

/* Returns why the message is refused; NULL when it is not. */
static const char *refused(const struct message *m)
{
    static uint8_t    bytes[4096];
    const char       *why;
    struct sxs_names *names =
        sxs_names_decode(bytes, sxs__names__names__pack(&m->all, bytes), &why);
    assert_true((names == NULL) == (why != NULL));
    sxs_names_free(names);
    return why;
}

static void damaged_tables_are_refused(void **state)
{
    struct message m;
    (void)state;
    make_message(&m);
    assert_null(refused(&m));
    size_t *columns[] = {&m.place.n_key, &m.place.n_symbol, &m.place.n_source, &m.place.n_line,
                         &m.place.n_at_line};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        make_message(&m);
        *columns[i] = 1;
        assert_string_equal(refused(&m), "damaged");
    }
    make_message(&m);
    m.symbol[1] = 2;
    assert_string_equal(refused(&m), "damaged");
    make_message(&m);
    m.source[0] = UINT32_MAX;
    assert_string_equal(refused(&m), "damaged");
    make_message(&m);
    m.key[0] = 2;
    assert_string_equal(refused(&m), "damaged");
    make_message(&m);
    m.path[1] = 0;
    assert_string_equal(refused(&m), "damaged");
    make_message(&m);
    m.all.version = 2;
    assert_string_equal(refused(&m), "a format that this version does not read");
}

static void a_table_that_would_take_much_memory_is_refused(void **state)
{
    enum { N = 1 << 20 };
    const uint8_t version[] = {8, 1}, empty_place[] = {0x12, 0};
    const char   *why;
    uint8_t      *bytes = malloc(2 + 2 * N);
    (void)state;
    assert_non_null(bytes);
    memcpy(bytes, version, 2);
    for (size_t i = 0; i < N; i++)
        memcpy(bytes + 2 + 2 * i, empty_place, 2);
    assert_null(sxs_names_decode(bytes, 2 + 2 * N, &why));
    assert_string_equal(why, "damaged");
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_found_by_file_build_and_address),
        cmocka_unit_test(rows_added_again_are_kept_once),
        cmocka_unit_test(problems_are_kept),
        cmocka_unit_test(damaged_tables_are_refused),
        cmocka_unit_test(a_table_that_would_take_much_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
