/* SPDX-License-Identifier: MIT */
/* test_push.c - parts of sxsprof push: addresses, pauses, verdicts, names of services, labels, batches in the
 * queue. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/http/url.h"
#include "cmd/push/base64.h"
#include "cmd/push/batches.h"
#include "cmd/push/labels.h"
#include "cmd/push/queue_entry.h"
#include "cmd/push/sender.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static bool is_url(const char *url)
{
    char why[300];
    return sxs_url_check(url, "http,https", why, sizeof(why)) == NULL;
}

static void addresses_are_checked(void **state)
{
    (void)state;
    assert_true(is_url("http://a"));
    assert_true(is_url("HTTPS://a:1/b/c/"));
    assert_true(is_url("http://[::1]:4040"));
    assert_false(is_url("a:4040"));
    assert_false(is_url("ftp://a"));
    assert_false(is_url("http://"));
    assert_false(is_url("http://:80"));
    assert_false(is_url("http://a:"));
    assert_false(is_url("http://a:0"));
    assert_false(is_url("http://a:65536"));
    assert_false(is_url("http://a:1x"));
    assert_false(is_url("http://[::1"));
    assert_false(is_url("http://[::1]x"));
    assert_false(is_url("http://a b"));
    assert_false(is_url("http://a\n"));
    assert_false(is_url("http://me@a"));
    assert_false(is_url("http://me:pw@a/x"));
    assert_false(is_url("http://a?x"));
    assert_false(is_url("http://a/#x"));
    assert_true(is_url("http://a/@b"));
}

static void redirects_stay_on_the_server(void **state)
{
    (void)state;
    assert_true(sxs_url_may_redirect("http://a:1/x", "http://A:1/y"));
    assert_true(sxs_url_may_redirect("http://a/x", "https://a/x"));
    assert_true(sxs_url_may_redirect("https://a/x", "https://a:443/y"));
    assert_false(sxs_url_may_redirect("https://a/x", "http://a/x"));
    assert_false(sxs_url_may_redirect("http://a/x", "http://b/x"));
    assert_false(sxs_url_may_redirect("http://a:1/x", "http://a:2/x"));
    assert_false(sxs_url_may_redirect("http://a:1/x", "https://a:1/x"));
    assert_false(sxs_url_may_redirect("http://a/x", "file:///etc/passwd"));
    assert_false(sxs_url_may_redirect("http://a/x", "http://a@b/x"));
    assert_false(sxs_url_may_redirect("http://a/x", "http://ab/x"));
}

static void local_addresses_are_known(void **state)
{
    (void)state;
    assert_true(sxs_url_is_local("http://localhost:1/x"));
    assert_true(sxs_url_is_local("http://127.0.0.1"));
    assert_true(sxs_url_is_local("http://[::1]:1"));
    assert_false(sxs_url_is_local("http://127.0.0.1.example.org"));
    assert_false(sxs_url_is_local("http://localhost.example.org"));
    assert_false(sxs_url_is_local("http://10.0.0.1"));
}

static void pauses_grow_to_a_minute(void **state)
{
    const uint64_t second = 1000000000u;
    (void)state;
    assert_int_equal(sxs_push_delay_ns(1, 0, 0), second);
    assert_int_equal(sxs_push_delay_ns(4, 0, 0), 8 * second);
    assert_int_equal(sxs_push_delay_ns(7, 0, 0), 60 * second);
    assert_int_equal(sxs_push_delay_ns(4000000000u, 0, 0), 60 * second);
    for (unsigned random = 0; random < 5000; random += 7) {
        uint64_t ns = sxs_push_delay_ns(3, 0, random);
        assert_true(ns >= 2 * second && ns <= 4 * second);
    }
    assert_int_equal(sxs_push_delay_ns(1, 30, 1000), 30 * second);
    assert_int_equal(sxs_push_delay_ns(7, 1, 0), 60 * second);
    assert_int_equal(sxs_push_delay_ns(1, 1000000, 0), 600 * second);
}

static void verdicts_follow_the_status(void **state)
{
    (void)state;
    assert_int_equal(sxs_push_judge(204), SXS_PUSH_ACCEPTED);
    assert_int_equal(sxs_push_judge(500), SXS_PUSH_LATER);
    assert_int_equal(sxs_push_judge(429), SXS_PUSH_LATER);
    assert_int_equal(sxs_push_judge(401), SXS_PUSH_STOP);
    assert_int_equal(sxs_push_judge(307), SXS_PUSH_STOP);
    assert_int_equal(sxs_push_judge(400), SXS_PUSH_REFUSED);
    assert_int_equal(sxs_push_judge(413), SXS_PUSH_REFUSED);
}

static void a_service_has_the_name_of_its_program(void **state)
{
    static const char *const names[][2] = {
        {"/usr/bin/dotnet /opt/shop/Shop.Web.dll --urls x", "Shop.Web"},
        {"dotnet exec --depsfile x.json", "x.json"},
        {"dotnet --roll-forward-on-no-candidate-fx app.dll", "app"},
        {"dotnet", "dotnet"},
        {"build/runsxs 8 stress", "runsxs"},
        {"./My.Program", "My.Program"},
        {"/a/b/", "unknown"},
        {"", "unknown"},
        {"   ", "unknown"},
        {"\x01\xff", " ?"},
    };
    char buf[32];
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_string_equal(sxs_push_service_of(names[i][0], buf, sizeof(buf)), names[i][1]);
    char long_name[100];
    memset(long_name, 'a', sizeof(long_name));
    long_name[99] = '\0';
    assert_int_equal(strlen(sxs_push_service_of(long_name, buf, sizeof(buf))), 31);
}

static void keys_of_labels_are_plain(void **state)
{
    char long_key[102];
    (void)state;
    memset(long_key, 'k', sizeof(long_key));
    long_key[101] = '\0';
    assert_true(sxs_push_label_key("a"));
    assert_true(sxs_push_label_key("deployment.environment_2"));
    assert_false(sxs_push_label_key(""));
    assert_false(sxs_push_label_key("1a"));
    assert_false(sxs_push_label_key("a-b"));
    assert_false(sxs_push_label_key("\xc3\xa4"));
    assert_false(sxs_push_label_key(long_key));
}

static void base64_has_padding(void **state)
{
    static const char *const texts[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char *got = sxs_base64((const uint8_t *)texts[i][0], strlen(texts[i][0]));
        assert_string_equal(got, texts[i][1]);
        free(got);
    }
}

/* Makes the bytes of a batch with two requests; owned. */
static char *make_entry(size_t *size)
{
    const struct sxs_push_request a = {"/a?b=c", "text/x", NULL, "one\n", 4};
    const struct sxs_push_request b = {"/b", "text/y", "gzip", "\0two", 4};
    struct sxs_push_out           out = {0};
    assert_int_equal(sxs_push_emit(&out, &a), 0);
    assert_int_equal(sxs_push_emit(&out, &b), 0);
    char  *line = sxs_push_entry_line(&out, "0123", "s/1/2", 77);
    size_t n = strlen(line);
    *size = n + out.size;
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    memcpy(bytes, line, n); /* NOLINT(bugprone-not-null-terminated-result): bytes follow */
    memcpy(bytes + n, out.bytes, out.size);
    free(line);
    sxs_push_out_free(&out);
    return bytes;
}

static void a_batch_is_read_as_it_was_written(void **state)
{
    size_t               size;
    char                *bytes = make_entry(&size);
    struct sxs_push_out  out;
    struct sxs_push_note note;
    (void)state;
    assert_int_equal(sxs_push_entry_parse(bytes, size, &out, &note), 0);
    assert_int_equal(out.n, 2);
    assert_string_equal(out.requests[0].path, "/a?b=c");
    assert_null(out.requests[0].encoding);
    assert_string_equal(out.requests[1].encoding, "gzip");
    assert_memory_equal(out.bytes + out.requests[1].at, "\0two", 4);
    assert_string_equal(note.batch, "0123");
    assert_string_equal(note.source, "s/1/2");
    assert_int_equal(note.next_ns, 77);
    sxs_push_out_free(&out);
    free(note.source);
    free(bytes);
}

static void a_cut_or_changed_batch_is_refused_or_whole(void **state)
{
    size_t               size;
    char                *bytes = make_entry(&size);
    struct sxs_push_out  out;
    struct sxs_push_note note;
    (void)state;
    for (size_t n = 0; n < size; n++) { /* cut anywhere */
        char *part = malloc(n + 1);
        assert_non_null(part);
        memcpy(part, bytes, n);
        assert_int_equal(sxs_push_entry_parse(part, n, &out, &note), -1);
        sxs_push_out_free(&out);
        free(note.source);
        free(part);
    }
    for (size_t i = 0; i < size; i++) /* any byte replaced: nothing is read beyond the end */
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (char)(1 << bit);
            (void)sxs_push_entry_parse(bytes, size, &out, &note);
            sxs_push_out_free(&out);
            free(note.source);
            bytes[i] ^= (char)(1 << bit);
        }
    free(bytes);
}

static void a_batch_that_would_add_headers_is_refused(void **state)
{
    static const char bytes[] =
        "{\"version\":1,\"batch\":\"a\",\"source\":\"b\",\"next\":1,\"requests\":[{"
        "\"path\":\"/a\\r\\nX: y\",\"type\":\"t\",\"size\":0}]}\n";
    struct sxs_push_out  out;
    struct sxs_push_note note;
    (void)state;
    assert_int_equal(sxs_push_entry_parse(bytes, sizeof(bytes) - 1, &out, &note), -1);
    sxs_push_out_free(&out);
    free(note.source);
}

static bool is_b(void *arg, const char *source)
{
    (void)arg;
    return strcmp(source, "b") == 0;
}

static void a_queue_remembers_what_was_taken(void **state)
{
    char                          dir[] = "/tmp/sxsprof-unit-XXXXXX", why[300], command[80];
    const struct sxs_push_request r = {"/a", "t", NULL, "x", 1};
    const uint8_t                 id[16] = {1};
    struct sxs_push_out           out = {0};
    struct sxs_push_queue        *q, *other;
    struct sxs_push_entry         e;
    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(sxs_push_emit(&out, &r), 0);
    assert_int_equal(sxs_push_queue_open(dir, 1 << 20, "t", &q, why, sizeof(why)), 0);
    assert_int_equal(sxs_push_queue_open(dir, 1 << 20, "t", &other, why, sizeof(why)), -1);
    assert_int_equal(sxs_push_queue_add(q, &out, id, "a", 5), 0);
    assert_int_equal(sxs_push_queue_add(q, &out, id, "b", 6), 0);
    assert_int_equal(sxs_push_queue_add(q, &out, id, "b", 4), 0); /* time does not go back */
    sxs_push_queue_close(q);
    assert_int_equal(sxs_push_queue_open(dir, 1 << 20, "t", &q, why, sizeof(why)), 0);
    assert_int_equal(sxs_push_queue_length(q), 3);
    assert_int_equal(sxs_push_queue_position(q, "a"), 5);
    assert_int_equal(sxs_push_queue_position(q, "b"), 6);
    assert_int_equal(sxs_push_queue_position(q, "c"), 0);
    sxs_push_queue_forget(q, is_b, NULL);
    assert_int_equal(sxs_push_queue_position(q, "a"), 0);
    for (int i = 0; i < 3; i++) {
        assert_true(sxs_push_queue_head(q, &e));
        assert_string_equal(e.batch, "01000000000000000000000000000000");
        sxs_push_out_free(&e.requests);
        sxs_push_queue_remove(q, i > 0);
    }
    assert_false(sxs_push_queue_head(q, &e));
    assert_int_equal(sxs_push_queue_counts(q).sent, 2);
    assert_int_equal(sxs_push_queue_counts(q).refused, 1);
    sxs_push_queue_close(q);
    assert_int_equal(sxs_push_queue_open(dir, 1 << 20, "other", &q, why, sizeof(why)), -1);
    sxs_push_out_free(&out);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_checked),
        cmocka_unit_test(redirects_stay_on_the_server),
        cmocka_unit_test(local_addresses_are_known),
        cmocka_unit_test(pauses_grow_to_a_minute),
        cmocka_unit_test(verdicts_follow_the_status),
        cmocka_unit_test(a_service_has_the_name_of_its_program),
        cmocka_unit_test(keys_of_labels_are_plain),
        cmocka_unit_test(base64_has_padding),
        cmocka_unit_test(a_batch_is_read_as_it_was_written),
        cmocka_unit_test(a_cut_or_changed_batch_is_refused_or_whole),
        cmocka_unit_test(a_batch_that_would_add_headers_is_refused),
        cmocka_unit_test(a_queue_remembers_what_was_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
