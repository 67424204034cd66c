/* SPDX-License-Identifier: MIT */
/* test_clickhouse.c - profiles as tables of ClickHouse: rows, literals, statements, addresses. */
#include <stdlib.h>
#include <string.h>

#include "cmd/clickhouse/address.h"
#include "cmd/clickhouse/insert.h"
#include "cmd/clickhouse/sql.h"
#include "cmd/fleet/rows.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char text[8192];

static FILE *begin(void)
{
    memset(text, 0, sizeof(text));
    return fmemopen(text, sizeof(text) - 1, "w");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void rows_are_read_as_they_were_written(void **state)
{
    struct sxs_rows r = {0};
    size_t          size;
    (void)state;
    sxs_rows_u8(&r, 7);
    sxs_rows_u16(&r, 0x1234);
    sxs_rows_u32(&r, 0xfedcba98);
    sxs_rows_u64(&r, UINT64_MAX - 1);
    sxs_rows_text(&r, "it's");
    for (size_t n = 1; n <= 16384; n = n * 2 + n / 3)
        sxs_rows_count(&r, n);
    static const char elements[60000];
    sxs_rows_bytes(&r, elements, sizeof(elements)); /* what the counts speak of */
    struct sxs_rows_reader in = {r.bytes, r.bytes + r.size, false};
    assert_int_equal(sxs_rows_get_u8(&in), 7);
    assert_int_equal(sxs_rows_get_u16(&in), 0x1234);
    assert_int_equal(sxs_rows_get_u32(&in), 0xfedcba98);
    assert_true(sxs_rows_get_u64(&in) == UINT64_MAX - 1);
    const char *s = sxs_rows_get_text(&in, &size);
    assert_int_equal(size, 4);
    assert_memory_equal(s, "it's", 4);
    for (size_t n = 1; n <= 16384; n = n * 2 + n / 3)
        assert_int_equal(sxs_rows_get_count(&in, 1), n);
    assert_false(in.failed);
    sxs_rows_free(&r);
}

static void a_count_is_a_varint(void **state)
{
    struct sxs_rows r = {0};
    (void)state;
    sxs_rows_count(&r, 300);
    assert_int_equal(r.size, 2);
    assert_memory_equal(r.bytes, "\xac\x02", 2);
    sxs_rows_free(&r);
}

static void damaged_rows_fail_and_read_nothing_beyond_their_end(void **state)
{
    static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0x01};
    size_t               size;
    (void)state;
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        struct sxs_rows_reader r = {bytes, bytes + len, false};
        sxs_rows_get_text(&r, &size);
        assert_true(r.failed);
        assert_int_equal(size, 0);
        assert_int_equal(sxs_rows_get_u64(&r), 0);
        assert_false(sxs_rows_more(&r));
    }
    struct sxs_rows_reader r = {(const uint8_t *)"\x03"
                                                 "ab",
                                (const uint8_t *)"\x03"
                                                 "ab" +
                                    3,
                                false};
    sxs_rows_get_text(&r, &size);
    assert_true(r.failed);
}

static void lines_of_numbers_and_their_totals(void **state)
{
    struct sxs_fleet_rows r;
    (void)state;
    assert_int_equal(sxs_fleet_rows_read("1\t2\n3\t18446744073709551615\n\n0\t9\n", 2, &r), 0);
    assert_int_equal(r.n, 4);
    assert_true(r.all[3] == UINT64_MAX);
    assert_int_equal(r.totals[1], 9);
    sxs_fleet_rows_free(&r);
    assert_int_equal(sxs_fleet_rows_read("", 2, &r), 0);
    static const char *const wrong[] = {"1\n",
                                        "1\t2",
                                        "1\t2\n",
                                        "1\t2\n\n",
                                        "1\t2\n\n0\t9\nx",
                                        "1\t2\t3\n\n0\t0\n",
                                        "-1\t2\n\n0\t0\n",
                                        "1\tx\n\n0\t0\n"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(sxs_fleet_rows_read(wrong[i], 2, &r), -1);
        sxs_fleet_rows_free(&r);
    }
}

/* ---- literals -------------------------------------------------------------------------------- */

static void check_text(const char *in, const char *expected)
{
    FILE *to = begin();
    sxs_sql_text(to, in);
    fclose(to);
    assert_string_equal(text, expected);
}

static void a_text_is_one_literal(void **state)
{
    (void)state;
    check_text("", "''");
    check_text("a", "'a'");
    check_text("it's", "'it\\'s'");
    check_text("\\", "'\\\\'");
    check_text("\\'", "'\\\\\\''");
    check_text("x' OR 1=1 --", "'x\\' OR 1=1 --'");
    check_text("a\nb\"`", "'a\nb\"`'");
}

/* Every text of these characters: the literal ends at its last quote and nowhere else. */
static void no_text_ends_its_literal(void **state)
{
    static const char characters[] = "'\\a%";
    (void)state;
    for (unsigned n = 0; n < 4096; n++) {
        char in[7] = "";
        for (unsigned i = 0, v = n; i < 6; i++, v /= 4)
            in[i] = characters[v % 4];
        for (int match = 0; match < 3; match++) {
            FILE *to = begin();
            if (match)
                sxs_sql_match(to, in, match == 2);
            else
                sxs_sql_text(to, in);
            fclose(to);
            const char *at = strchr(text, '\'') + 1;
            for (; *at && *at != '\''; at++)
                at += *at == '\\' && at[1];
            assert_int_equal(*at, '\'');
            assert_int_equal(at[1], '\0');
        }
    }
}

static void check_match(const char *pattern, const char *expected)
{
    FILE *to = begin();
    sxs_sql_match(to, pattern, false);
    fclose(to);
    assert_string_equal(text, expected);
}

static void patterns_become_like(void **state)
{
    (void)state;
    check_match("8.0.29", " = '8.0.29'");
    check_match("8.0.*", " LIKE '8.0.%'");
    check_match("a?c", " LIKE 'a_c'");
    check_match("50%_*", " LIKE '50\\\\%\\\\_%'");
    check_match("50%", " = '50%'");
    check_match("a\\*b", " = 'a*b'");
    check_match("a\\*b*", " LIKE 'a*b%'");
    check_match("a\\\\*", " LIKE 'a\\\\\\\\%'");
}

static void names_of_databases(void **state)
{
    (void)state;
    assert_true(sxs_sql_is_name("sxsprof"));
    assert_true(sxs_sql_is_name("_a9"));
    assert_false(sxs_sql_is_name(""));
    assert_false(sxs_sql_is_name("9a"));
    assert_false(sxs_sql_is_name("a b"));
    assert_false(sxs_sql_is_name("a;drop"));
    assert_false(sxs_sql_is_name("\xc3\xbc"));
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void statements_of_an_old_server_have_no_codecs(void **state)
{
    struct sxs_clickhouse_server server;
    (void)state;
    assert_int_equal(sxs_clickhouse_server_parse("18.16.1", &server), 0);
    unsigned n = 0;
    for (bool more = true; more; n += more) {
        FILE *to = begin();
        more = sxs_clickhouse_schema_sql(to, &server, 30, n);
        fclose(to);
        assert_null(strstr(text, "CODEC"));
        assert_null(strstr(text, "TTL"));
    }
    assert_int_equal(n, 5);
}

static void statements_of_a_new_server_have_codecs_and_an_end_of_life(void **state)
{
    struct sxs_clickhouse_server server;
    (void)state;
    assert_int_equal(sxs_clickhouse_server_parse("24.3.2.23", &server), 0);
    FILE *to = begin();
    assert_true(sxs_clickhouse_schema_sql(to, &server, 12, 3));
    fclose(to);
    assert_string_equal(text, "CREATE TABLE IF NOT EXISTS samples (service UInt64 CODEC(ZSTD(1)), "
                              "kind Enum8('batch' = 0, 'cpu' = 1, "
                              "'wall' = 2, 'alloc' = 3, 'native' = 4, 'locks' = 5, 'live' = 6, "
                              "'native-live' = 7, 'wait' = 8) CODEC(ZSTD(1)), "
                              "stack UInt64 CODEC(ZSTD(1)), time "
                              "DateTime CODEC(DoubleDelta, ZSTD(1)), source UInt64 CODEC(ZSTD(1)), "
                              "count UInt64 CODEC(T64, ZSTD(1)), "
                              "value UInt64 CODEC(T64, ZSTD(1)), trace FixedString(16) "
                              "CODEC(ZSTD(1))) ENGINE = MergeTree PARTITION BY "
                              "toDate(time) ORDER BY (service, kind, stack, source, time) TTL time "
                              "+ INTERVAL 12 DAY SETTINGS "
                              "ttl_only_drop_parts = 1");
    assert_int_equal(sxs_clickhouse_server_parse("nonsense", &server), -1);
}

static void tables_of_an_earlier_version_are_changed(void **state)
{
    (void)state;
    FILE *to = begin();
    assert_true(sxs_clickhouse_upgrade_sql(to, 1, 0));
    fclose(to);
    assert_non_null(strstr(text, "ALTER TABLE samples MODIFY COLUMN kind Enum8('batch' = 0"));
    to = begin();
    assert_false(sxs_clickhouse_upgrade_sql(to, 1, 1));
    assert_false(sxs_clickhouse_upgrade_sql(to, 0, 0)); /* new tables */
    assert_false(sxs_clickhouse_upgrade_sql(to, SXS_CLICKHOUSE_SCHEMA, 0));
    fclose(to);
}

static void kinds_have_names(void **state)
{
    (void)state;
    for (unsigned k = SXS_CLICKHOUSE_CPU; k < SXS_CLICKHOUSE_N_KINDS; k++) {
        const char *name = sxs_clickhouse_kind_name(k);
        char        element[40];
        assert_int_equal(sxs_clickhouse_kind_named(name), k);
        assert_non_null(strstr(sxs_clickhouse_kind_names(), name));
        snprintf(element, sizeof(element), "'%s' = %u", name, k);
        assert_non_null(strstr(SXS_CLICKHOUSE_KINDS, element));
    }
    assert_int_equal(sxs_clickhouse_kind_named("batch"), SXS_CLICKHOUSE_BATCH);
    assert_int_equal(sxs_clickhouse_kind_named("gpu"), SXS_CLICKHOUSE_BATCH);
}

/* A model of one thread: main calls work, with 3 samples, and work again in a second thread. */
static void make_model(struct sxs_model *m)
{
    memset(m, 0, sizeof(*m));
    m->data = SXS_DATA_SAMPLES;
    sxs_strings_add(&m->strings, "", 0);
    uint32_t               version = sxs_strings_add(&m->strings, "8.0.29", 6);
    uint16_t               runtime = (uint16_t)(sxs_model_runtime(m, 1, version, 0) + 1);
    struct sxs_model_frame main_frame = {.name = sxs_strings_add(&m->strings, "main", 4),
                                         .file = sxs_strings_add(&m->strings, "/opt/a/app", 10)};
    struct sxs_model_frame work = {.name = sxs_strings_add(&m->strings, "A.Work()", 8),
                                   .file = sxs_strings_add(&m->strings, "/opt/a/app.dll", 14),
                                   .runtime = runtime};
    uint32_t oldest = sxs_model_frame(m, &main_frame), youngest = sxs_model_frame(m, &work);
    for (uint32_t tid = 100; tid < 102; tid++) {
        uint32_t t = sxs_model_thread(m, 0, tid);
        m->threads[t].name = sxs_strings_add(&m->strings, "pool", 4);
        uint32_t node = sxs_model_child(m, m->threads[t].root, oldest, 0, 0);
        node = sxs_model_child(m, node, youngest, 0, 0);
        m->nodes[node].self = 3;
        m->nodes[node].self_ns = 3000 + tid;
    }
}

static struct sxs_clickhouse_rows encode(const struct sxs_model *m, uint64_t id)
{
    static const struct sxs_clickhouse_source source = {"shop", "1",  "host", "",   "77",
                                                        "app",  NULL, 0,      NULL, 0};
    const struct sxs_clickhouse_batch         b = {id, 60000000000u, 120000000000u, &source, &m, 1};
    struct sxs_clickhouse_rows                rows;
    sxs_clickhouse_encode(&b, &rows);
    return rows;
}

static void threads_of_one_name_become_one_row(void **state)
{
    struct sxs_model m;
    (void)state;
    make_model(&m);
    struct sxs_clickhouse_rows rows = encode(&m, 99);
    assert_int_equal(rows.n_samples, 2);
    assert_int_equal(rows.of[SXS_CLICKHOUSE_SAMPLES].size, 2 * 69);
    const uint8_t         *at = rows.of[SXS_CLICKHOUSE_SAMPLES].bytes;
    struct sxs_rows_reader r = {at, at + 138, false};
    for (int i = 0; i < 2; i++) {
        assert_true(sxs_rows_get_u64(&r) == sxs_clickhouse_service_id("shop"));
        assert_int_equal(sxs_rows_get_u8(&r), i ? SXS_CLICKHOUSE_CPU : SXS_CLICKHOUSE_BATCH);
        uint64_t stack = sxs_rows_get_u64(&r);
        assert_true(i ? stack != 99 : stack == 99);
        assert_int_equal(sxs_rows_get_u32(&r), 60);
        assert_true(sxs_rows_get_u64(&r) != 0);
        assert_int_equal(sxs_rows_get_u64(&r), i ? 6 : 2);
        assert_true(sxs_rows_get_u64(&r) == (i ? 6201u : 60000000000u));
        assert_true(sxs_rows_get_u64(&r) == 99);
        assert_true(sxs_rows_get_u64(&r) == 0 && sxs_rows_get_u64(&r) == 0); /* no trace */
    }
    sxs_clickhouse_rows_free(&rows);
    sxs_model_free(&m);
}

static void ids_stay_the_same(void **state)
{
    struct sxs_model m;
    (void)state;
    make_model(&m);
    struct sxs_clickhouse_rows a = encode(&m, 1), b = encode(&m, 1);
    for (unsigned t = 0; t < SXS_CLICKHOUSE_N_TABLES; t++) {
        assert_int_equal(a.of[t].size, b.of[t].size);
        assert_memory_equal(a.of[t].bytes, b.of[t].bytes, a.of[t].size);
    }
    /* Databases keep them: another value splits the stacks of old samples from those of new ones.
     * */
    assert_true(sxs_clickhouse_service_id("shop") == UINT64_C(6721988616674645462));
    sxs_clickhouse_rows_free(&a);
    sxs_clickhouse_rows_free(&b);
    sxs_model_free(&m);
}

static void join_all(struct sxs_clickhouse_joined *j, const struct sxs_clickhouse_known *known,
                     const struct sxs_clickhouse_rows *rows)
{
    for (unsigned t = 0; t < SXS_CLICKHOUSE_N_TABLES; t++)
        assert_int_equal(sxs_clickhouse_join(j, known, t, rows->of[t].bytes, rows->of[t].size), 0);
}

static void inserts_look_before_they_insert(void **state)
{
    struct sxs_model             m;
    struct sxs_clickhouse_known  known = {.of = {{0}}};
    struct sxs_clickhouse_joined j = {.from_s = 0};
    (void)state;
    make_model(&m);
    struct sxs_clickhouse_rows rows = encode(&m, 5);
    join_all(&j, &known, &rows);
    FILE *to = begin();
    sxs_clickhouse_insert_sql(to, SXS_CLICKHOUSE_FRAMES, &j);
    fclose(to);
    assert_string_equal(
        text, "INSERT INTO frames (frame,name,file,runtime,flags) SELECT "
              "frame,name,file,runtime,flags FROM _data WHERE frame NOT IN (SELECT frame FROM "
              "frames WHERE frame IN (SELECT frame FROM _data)) LIMIT 1 BY frame");
    to = begin();
    sxs_clickhouse_insert_sql(to, SXS_CLICKHOUSE_SAMPLES, &j);
    fclose(to);
    assert_non_null(strstr(text,
                           "WHERE batch NOT IN (SELECT stack FROM samples WHERE service IN "
                           "(toUInt64(6721988616674645462)) AND kind = 'batch' AND stack IN "
                           "(toUInt64(5)) AND time >= toDateTime(60) AND time <= toDateTime(60))"));
    sxs_clickhouse_joined_free(&j);
    sxs_clickhouse_rows_free(&rows);
    sxs_model_free(&m);
}

static void batches_that_are_joined_have_each_frame_once(void **state)
{
    struct sxs_model             m;
    struct sxs_clickhouse_known  known = {.of = {{0}}};
    struct sxs_clickhouse_joined j = {.from_s = 0};
    (void)state;
    make_model(&m);
    struct sxs_clickhouse_rows a = encode(&m, 5), b = encode(&m, 6);
    join_all(&j, &known, &a);
    join_all(&j, &known, &b);
    for (unsigned t = 0; t < SXS_CLICKHOUSE_SAMPLES; t++)
        if (t != SXS_CLICKHOUSE_STACKS) /* two threads of one name write their stack twice */
            assert_int_equal(j.of[t].size, a.of[t].size);
    assert_true(j.of[SXS_CLICKHOUSE_STACKS].size < a.of[SXS_CLICKHOUSE_STACKS].size);
    assert_int_equal(j.of[SXS_CLICKHOUSE_SAMPLES].size, 2 * a.of[SXS_CLICKHOUSE_SAMPLES].size);
    assert_int_equal(j.batches.n, 2);
    assert_int_equal(j.services.n, 1);
    sxs_clickhouse_joined_free(&j);
    sxs_clickhouse_rows_free(&a);
    sxs_clickhouse_rows_free(&b);
    sxs_model_free(&m);
}

static void what_the_server_has_is_left_out_until_it_is_forgotten(void **state)
{
    struct sxs_model             m;
    struct sxs_clickhouse_known  known = {.of = {{0}}};
    struct sxs_clickhouse_joined j = {.from_s = 0};
    (void)state;
    make_model(&m);
    struct sxs_clickhouse_rows rows = encode(&m, 5);
    join_all(&j, &known, &rows);
    sxs_clickhouse_learn(&known, &j, SXS_CLICKHOUSE_FRAMES);
    sxs_clickhouse_learn(&known, &j, SXS_CLICKHOUSE_SAMPLES);
    sxs_clickhouse_joined_free(&j);
    join_all(&j, &known, &rows);
    assert_int_equal(j.of[SXS_CLICKHOUSE_FRAMES].size, 0);
    assert_true(j.of[SXS_CLICKHOUSE_STACKS].size > 0); /* not accepted yet */
    assert_int_equal(j.of[SXS_CLICKHOUSE_SAMPLES].size, rows.of[SXS_CLICKHOUSE_SAMPLES].size);
    sxs_clickhouse_joined_free(&j);
    sxs_clickhouse_forget(&known);
    join_all(&j, &known, &rows);
    assert_int_equal(j.of[SXS_CLICKHOUSE_FRAMES].size, rows.of[SXS_CLICKHOUSE_FRAMES].size);
    sxs_clickhouse_joined_free(&j);
    sxs_clickhouse_rows_free(&rows);
    sxs_model_free(&m);
}

static void rows_that_are_cut_are_not_joined(void **state)
{
    struct sxs_model            m;
    struct sxs_clickhouse_known known = {.of = {{0}}};
    (void)state;
    make_model(&m);
    struct sxs_clickhouse_rows rows = encode(&m, 5);
    for (unsigned t = 0; t < SXS_CLICKHOUSE_N_TABLES; t++) {
        for (size_t cut = 1; cut < 9; cut++) {
            struct sxs_clickhouse_joined j = {.from_s = 0};
            assert_int_equal(
                sxs_clickhouse_join(&j, &known, t, rows.of[t].bytes, rows.of[t].size - cut), -1);
            sxs_clickhouse_joined_free(&j);
        }
    }
    sxs_clickhouse_rows_free(&rows);
    sxs_model_free(&m);
}

/* ---- addresses and reasons ------------------------------------------------------------------- */

static void check_address(const char *url, const char *base, const char *user, const char *database)
{
    struct sxs_clickhouse_address a;
    char                          why[400];
    assert_int_equal(sxs_clickhouse_address_parse(url, &a, why, sizeof(why)), 0);
    assert_string_equal(a.base, base);
    assert_string_equal(a.user ? a.user : "-", user);
    assert_string_equal(a.database, database);
    sxs_clickhouse_address_free(&a);
}

static void addresses(void **state)
{
    static const char *const wrong[] = {"",
                                        "localhost",
                                        "ftp://h/db",
                                        "clickhouse://",
                                        "clickhouse://:8123/db",
                                        "clickhouse://h:0x1/db",
                                        "clickhouse://h:/db",
                                        "clickhouse://h:99999/db",
                                        "clickhouse://h/a b",
                                        "clickhouse://h/a/b",
                                        "clickhouse://h/a?x=1",
                                        "clickhouse://h?x=1",
                                        "clickhouse://@h/db",
                                        "clickhouse://u:secret@h/db",
                                        "clickhouse://h\r\nX: y/db"};
    (void)state;
    check_address("clickhouse://h", "http://h:8123", "-", "sxsprof");
    check_address("clickhouse://h/", "http://h:8123", "-", "sxsprof");
    check_address("clickhouses://h.example/db", "https://h.example:8443", "-", "db");
    check_address("http://u@127.0.0.1:80/x", "http://127.0.0.1:80", "u", "x");
    check_address("clickhouse://[::1]:9/x", "http://[::1]:9", "-", "x");
    check_address("clickhouse://[::1]/x", "http://[::1]:8123", "-", "x");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct sxs_clickhouse_address a;
        char                          why[400] = "";
        assert_int_equal(sxs_clickhouse_address_parse(wrong[i], &a, why, sizeof(why)), -1);
        assert_non_null(strstr(why, "expected"));
        assert_null(strstr(why, "secret"));
        sxs_clickhouse_address_free(&a);
    }
}

static void check_reason(const char *body, int code, const char *expected)
{
    char why[400];
    assert_int_equal(sxs_clickhouse_reason(body, why, sizeof(why)), code);
    assert_string_equal(why, expected);
}

static void reasons_of_old_and_new_servers(void **state)
{
    (void)state;
    check_reason("Code: 60, e.displayText() = DB::Exception: Table a.b doesn't exist., e.what() = "
                 "DB::Exception\n",
                 60, "Table a.b doesn't exist.");
    check_reason(
        "Code: 60. DB::Exception: Table a.b does not exist. (UNKNOWN_TABLE) (version 24.3)\n", 60,
        "Table a.b does not exist. (UNKNOWN_TABLE) (version 24.3)");
    check_reason("<html>502\nno</html>", 0, "<html>502");
    check_reason("", 0, "no reason was given");
    check_reason("\x1b[2J", 0, " [2J");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read_as_they_were_written),
        cmocka_unit_test(a_count_is_a_varint),
        cmocka_unit_test(damaged_rows_fail_and_read_nothing_beyond_their_end),
        cmocka_unit_test(lines_of_numbers_and_their_totals),
        cmocka_unit_test(a_text_is_one_literal),
        cmocka_unit_test(no_text_ends_its_literal),
        cmocka_unit_test(patterns_become_like),
        cmocka_unit_test(names_of_databases),
        cmocka_unit_test(statements_of_an_old_server_have_no_codecs),
        cmocka_unit_test(statements_of_a_new_server_have_codecs_and_an_end_of_life),
        cmocka_unit_test(threads_of_one_name_become_one_row),
        cmocka_unit_test(ids_stay_the_same),
        cmocka_unit_test(tables_of_an_earlier_version_are_changed),
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(inserts_look_before_they_insert),
        cmocka_unit_test(batches_that_are_joined_have_each_frame_once),
        cmocka_unit_test(what_the_server_has_is_left_out_until_it_is_forgotten),
        cmocka_unit_test(rows_that_are_cut_are_not_joined),
        cmocka_unit_test(addresses),
        cmocka_unit_test(reasons_of_old_and_new_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
