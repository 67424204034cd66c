/* SPDX-License-Identifier: MIT */
/* test_serve_request.c - what a request to sxsprof serve asks for, and whether it may. */
#include "cmd/serve/request.h"

#include <string.h>

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct sxs_serve_wanted parsed(const char *target)
{
    struct sxs_serve_wanted w;
    assert_true(sxs_serve_parse(target, &w));
    return w;
}

static void a_target_names_a_session_and_what_to_make_of_it(void **state)
{
    (void)state;
    struct sxs_serve_wanted w = parsed("/session/a%20b%25/report?format=pprof&data=native-live");
    assert_int_equal(w.kind, SXS_SERVE_REPORT);
    assert_string_equal(w.name, "a b%");
    assert_string_equal(w.format, "pprof");
    assert_string_equal(w.data, "native-live");
    assert_int_equal(parsed("/").kind, SXS_SERVE_LIST_PAGE);
    assert_int_equal(parsed("/sessions").kind, SXS_SERVE_LIST);
    assert_int_equal(parsed("/session/x/").kind, SXS_SERVE_PAGE);
    assert_int_equal(parsed("/session/x/data").kind, SXS_SERVE_DATA);
    assert_int_equal(parsed("/session/x/heap?token=abc%20").kind, SXS_SERVE_HEAP);
    assert_string_equal(parsed("/session/x/heap?token=abc%20").token, "abc ");
}

static void names_that_lead_elsewhere_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "session",
                                        "//",
                                        "/x",
                                        "/sessions/",
                                        "/session/",
                                        "/session/x",
                                        "/session//data",
                                        "/session/../data",
                                        "/session/./data",
                                        "/session/%2e%2e/data",
                                        "/session/%2E/data",
                                        "/session/.x/data",
                                        "/session/a%2fb/data",
                                        "/session/a%2Fb/data",
                                        "/session/a%00b/data",
                                        "/session/%zz/data",
                                        "/session/%4/data",
                                        "/session/x%/data",
                                        "/session/x/y",
                                        "/session/x/data/",
                                        "/session/x/data?x=1",
                                        "/session/x/data?data=",
                                        "/session/x/data?data=a&data=b",
                                        "/session/x/data?data=A",
                                        "/session/x/data?data=a&",
                                        "/session/x/data?&",
                                        "/session/x/report",
                                        "/session/x/data?format=text",
                                        "/?data=alloc",
                                        "/session/x/data?data=abcdefghijklmnopq",
                                        "/session/x/data?token="};
    struct sxs_serve_wanted  w;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (sxs_serve_parse(wrong[i], &w))
            fail_msg("%s is taken", wrong[i]);
}

static void only_the_servers_own_names_are_taken(void **state)
{
    (void)state;
    static const char *const     more[] = {"box", NULL};
    const struct sxs_serve_names names = {"192.0.2.7", false, more}, any = {"0.0.0.0", true, NULL};
    static const char *const     own[] = {
            "localhost",  "LocalHost:80", "127.0.0.1", "127.9.9.9:1", "[::1]",
            "[::1]:8080", "192.0.2.7:80", "box",       "BOX:1",       "[::ffff:127.0.0.1]:5"};
    static const char *const foreign[] = {"",
                                          "example.org",
                                          "127.0.0.1.example.org",
                                          "localhost.example.org",
                                          "192.0.2.8",
                                          "box.example.org",
                                          "[::2]",
                                          "[::1",
                                          "::1",
                                          "127.1",
                                          "2130706433",
                                          "localhost:",
                                          "localhost:x",
                                          "localhost:99999",
                                          "a@localhost"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (!sxs_serve_host_ok(own[i], &names))
            fail_msg("%s is refused", own[i]);
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (sxs_serve_host_ok(foreign[i], &names))
            fail_msg("%s is taken", foreign[i]);
    assert_false(sxs_serve_host_ok(NULL, &names));
    assert_true(sxs_serve_host_ok("10.1.2.3:80", &any));
    assert_false(sxs_serve_host_ok("example.org", &any));
}

static void pages_of_other_sites_may_not_ask(void **state)
{
    (void)state;
    assert_true(sxs_serve_origin_ok(NULL, NULL, "localhost:80"));
    assert_true(sxs_serve_origin_ok("http://localhost:80", "same-origin", "localhost:80"));
    assert_true(sxs_serve_origin_ok(NULL, "none", "localhost:80"));
    assert_false(sxs_serve_origin_ok("http://localhost:81", NULL, "localhost:80"));
    assert_false(sxs_serve_origin_ok("https://localhost:80", NULL, "localhost:80"));
    assert_false(sxs_serve_origin_ok("null", NULL, "localhost:80"));
    assert_false(sxs_serve_origin_ok(NULL, "cross-site", "localhost:80"));
    assert_false(sxs_serve_origin_ok(NULL, "same-site", "localhost:80"));
}

static void a_cookie_is_found_by_its_whole_name(void **state)
{
    char value[8];
    (void)state;
    assert_true(sxs_serve_cookie("a=1; s-80=secret; b=2", "s-80", value, sizeof(value)));
    assert_string_equal(value, "secret");
    assert_true(sxs_serve_cookie("s-80=x ;s-80=y", "s-80", value, sizeof(value)));
    assert_string_equal(value, "x");
    assert_false(sxs_serve_cookie("xs-80=secret; s-8=0; s-80", "s-80", value, sizeof(value)));
    assert_false(sxs_serve_cookie("s-80=too long for it", "s-80", value, sizeof(value)));
    assert_false(sxs_serve_cookie(NULL, "s-80", value, sizeof(value)));
    assert_true(sxs_serve_same("secret", "secret"));
    assert_false(sxs_serve_same("secret", "secreT"));
    assert_false(sxs_serve_same("secret", "secre"));
    assert_false(sxs_serve_same("secret", ""));
    assert_false(sxs_serve_same("", "secret"));
    assert_false(sxs_serve_same("secretsecret", "secret"));
}

static void addresses_to_listen_on_are_in_digits(void **state)
{
    static const struct {
        const char *text, *address;
        unsigned    port;
    } good[] = {{"8080", "127.0.0.1", 8080},
                {"0", "127.0.0.1", 0},
                {"127.0.0.2", "127.0.0.2", 0},
                {"0.0.0.0:80", "0.0.0.0", 80},
                {"localhost:81", "127.0.0.1", 81},
                {"[::1]:82", "::1", 82},
                {"::1", "::1", 0},
                {"[::]", "::", 0}};
    static const char *const wrong[] = {
        "",    ":80", "example.org:80", "1.2.3:80", "127.0.0.1:", "127.0.0.1:65536", "[::1", "::g",
        "80x", "-1"};
    char     address[64];
    unsigned port;
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(sxs_serve_listen_parse(good[i].text, address, sizeof(address), &port));
        assert_string_equal(address, good[i].address);
        assert_int_equal(port, good[i].port);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (sxs_serve_listen_parse(wrong[i], address, sizeof(address), &port))
            fail_msg("%s is taken", wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_names_a_session_and_what_to_make_of_it),
        cmocka_unit_test(names_that_lead_elsewhere_are_refused),
        cmocka_unit_test(only_the_servers_own_names_are_taken),
        cmocka_unit_test(pages_of_other_sites_may_not_ask),
        cmocka_unit_test(a_cookie_is_found_by_its_whole_name),
        cmocka_unit_test(addresses_to_listen_on_are_in_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
