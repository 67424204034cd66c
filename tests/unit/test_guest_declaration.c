/* SPDX-License-Identifier: MIT */
/* Declarations of guests as text, lists of them, and the profilers that the environment names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/named_profilers.h"
#include "guests/config/list.h"

#define ID  "{5E5C0001-0000-4000-8000-00000CE45050}"
#define ID2 "{5E5C0001-0000-4000-8000-00000CE45051}"

static struct guest_declaration d;
static char                     why[256];

static int parse(const char *text)
{
    guest_declaration_free(&d);
    why[0] = '\0';
    return guest_declaration_parse(text, &d, why, sizeof(why));
}

static void a_declaration_has_a_class_and_a_library(void **state)
{
    (void)state;
    assert_int_equal(parse("{5e5c0001-0000-4000-8000-00000ce45050}=/a/lib.so"), 38 + 1 + 9);
    assert_string_equal(d.clsid_text, ID);
    assert_int_equal(d.clsid.Data1, 0x5E5C0001);
    assert_string_equal(d.path, "/a/lib.so");
    assert_int_equal(d.pick, GUEST_PICK_ALL);
    assert_int_equal(d.priority, 0);
    assert_int_equal(d.n_env, 0);
}

static void all_options_are_read(void **state)
{
    (void)state;
    assert_true(parse(ID "=l,pick=one:8.0,priority=-7,env=A=1,env=B==,pick=first") > 0);
    assert_int_equal(d.pick, GUEST_PICK_FIRST);
    assert_null(d.pick_what);
    assert_int_equal(d.priority, -7);
    assert_int_equal(d.n_env, 2);
    assert_string_equal(d.env[0], "A=1");
    assert_string_equal(d.env[1], "B==");
    assert_null(d.env[2]);
}

static void a_backslash_makes_the_next_character_plain(void **state)
{
    (void)state;
    assert_true(parse(ID "=/a\\,b\\;c\\\\d,env=P=x\\,y;rest") > 0);
    assert_string_equal(d.path, "/a,b;c\\d");
    assert_string_equal(d.env[0], "P=x,y");
}

static void a_declaration_ends_at_a_semicolon(void **state)
{
    (void)state;
    assert_int_equal(parse(ID "=/a;" ID2 "=/b"), strlen(ID "=/a"));
    assert_string_equal(d.path, "/a");
}

static void text_and_declaration_are_the_same(void **state)
{
    static const char *const texts[] = {
        ID "=/a", ID "=/a\\,b\\;c\\\\d,pick=one:9,priority=3,env=A=\\;",
        ID "=x,pick=first,env=A=1,env=B=2"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(parse(texts[i]), strlen(texts[i]));
        char *text = guest_declaration_text(&d);
        assert_string_equal(text, texts[i]);
        free(text);
    }
}

static void what_is_wrong_is_refused_with_a_reason(void **state)
{
    static const char *const wrong[][2] = {
        {"", "no class ID"},
        {"{x}=/a", "no class ID"},
        {"5E5C0001-0000-4000-8000-00000CE45050=/a", "no class ID"},
        {ID "x=/a", "no class ID"},
        {ID, "no path"},
        {ID "=", "no path"},
        {ID "=,priority=1", "no path"},
        {ID "=/a,", "expected"},
        {ID "=/a,pick", "expected"},
        {ID "=/a,pick=", "expected"},
        {ID "=/a,pick=one:", "expected"},
        {ID "=/a,priority=", "expected"},
        {ID "=/a,priority=1x", "expected"},
        {ID "=/a,priority=1000001", "expected"},
        {ID "=/a,priority=99999999999999999999", "expected"},
        {ID "=/a,env=", "expected"},
        {ID "=/a,env==1", "expected"},
        {ID "=/a,env=A", "expected"},
        {ID "=/a,clsid=" ID2, "expected"},
        {ID "=/a,path=/b", "expected"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(parse(wrong[i][0]), -1);
        assert_non_null(strstr(why, wrong[i][1]));
        assert_null(d.path);
        assert_null(d.env);
    }
}

/* ---- lists ------------------------------------------------------------------------------------ */

static struct guest_list list;
static unsigned          n_problems;

static void count_problem(void *arg, const char *line)
{
    (void)arg;
    n_problems++;
    snprintf(why, sizeof(why), "%s", line);
}

static void read_list(const char *text)
{
    guest_list_free(&list);
    n_problems = 0;
    guest_list_read(&list, text, count_problem, NULL);
}

static void a_list_keeps_what_is_right(void **state)
{
    (void)state;
    read_list(";" ID "=/a\\;a;{x}=\\;/b;" ID2 "=/c,colour=red;;" ID2 "=/d;");
    assert_int_equal(list.n, 2);
    assert_string_equal(list.items[0].path, "/a;a");
    assert_string_equal(list.items[1].path, "/d");
    assert_int_equal(n_problems, 2);
    assert_false(list.adopt);
}

static void adopt_is_a_word_and_the_rest_are_files(void **state)
{
    (void)state;
    read_list("adopt;" ID "=/a");
    assert_true(list.adopt);
    assert_int_equal(list.n, 1);
    assert_int_equal(n_problems, 0);
    read_list("adopted");
    assert_false(list.adopt);
    assert_int_equal(n_problems, 1);
    assert_non_null(strstr(why, "adopted"));
}

static void a_list_has_at_most_16_guests(void **state)
{
    char   text[18 * (sizeof(ID) + 4)] = "";
    size_t len = 0;
    (void)state;
    for (unsigned i = 0; i < GUEST_MAX + 1; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, ID "=/%c;", 'a' + (int)i);
    read_list(text);
    assert_int_equal(list.n, GUEST_MAX);
    assert_int_equal(n_problems, 1);
    assert_non_null(strstr(why, "/q"));
    assert_non_null(strstr(why, "16"));
}

/* ---- the environment -------------------------------------------------------------------------- */

static void the_environment_names_a_main_profiler(void **state)
{
    struct sxs_named_profiler p;
    (void)state;
    setenv("CORECLR_PROFILER", ID, 1);
    setenv("CORECLR_PROFILER_PATH", "/a", 1);
    assert_false(sxs_main_profiler(ID2, &p));
    setenv("CORECLR_ENABLE_PROFILING", "x", 1);
    assert_false(sxs_main_profiler(ID2, &p));
    setenv("CORECLR_ENABLE_PROFILING", "1", 1);
    assert_true(sxs_main_profiler(ID2, &p));
    assert_memory_equal(p.path, "/a", p.path_len);
    assert_false(sxs_main_profiler(ID, &p));
    setenv("CORECLR_PROFILER_PATH_64", "/b64", 1);
    assert_true(sxs_main_profiler(ID2, &p));
    assert_int_equal(p.path_len, 4);
    setenv("CORECLR_PROFILER", "{short}", 1);
    assert_false(sxs_main_profiler(ID2, &p));
    assert_true(sxs_main_profiler_is_other(ID2));
}

static void the_environment_names_notification_profilers(void **state)
{
    struct sxs_named_profiler p;
    const char               *at;
    (void)state;
    setenv("CORECLR_NOTIFICATION_PROFILERS", "/a=" ID ";;none;=" ID ";/b=c=" ID2, 1);
    assert_null(sxs_notification_profilers());
    setenv("CORECLR_ENABLE_NOTIFICATION_PROFILERS", "1", 1);
    at = sxs_notification_profilers();
    assert_non_null(at);
    assert_true(sxs_next_profiler(&at, &p));
    assert_memory_equal(p.clsid, ID, SXS_CLSID_LENGTH);
    assert_int_equal(p.path_len, 2);
    assert_true(sxs_next_profiler(&at, &p));
    assert_int_equal(p.path_len, 4);
    assert_memory_equal(p.path, "/b=c", p.path_len);
    assert_false(sxs_next_profiler(&at, &p));
}

static int tear_down(void **state)
{
    (void)state;
    guest_declaration_free(&d);
    guest_list_free(&list);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declaration_has_a_class_and_a_library),
        cmocka_unit_test(all_options_are_read),
        cmocka_unit_test(a_backslash_makes_the_next_character_plain),
        cmocka_unit_test(a_declaration_ends_at_a_semicolon),
        cmocka_unit_test(text_and_declaration_are_the_same),
        cmocka_unit_test(what_is_wrong_is_refused_with_a_reason),
        cmocka_unit_test(a_list_keeps_what_is_right),
        cmocka_unit_test(adopt_is_a_word_and_the_rest_are_files),
        cmocka_unit_test(a_list_has_at_most_16_guests),
        cmocka_unit_test(the_environment_names_a_main_profiler),
        cmocka_unit_test(the_environment_names_notification_profilers),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
