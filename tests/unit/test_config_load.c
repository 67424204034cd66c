/* SPDX-License-Identifier: MIT */
/* Folders of instrumentation files, loaded again and again. */
#include <sys/stat.h>
#include <unistd.h>

#include "config_fixture.h"

#define COUNT(type) "<rule name='" type "'><match type='" type "'/><count/></rule>"

static char folder[64];

static void path_of(const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", folder, name);
}

static void put_file(const char *name, const char *text)
{
    char  path[128];
    FILE *f;
    path_of(name, path);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static void remove_file(const char *name)
{
    char path[128];
    path_of(name, path);
    unlink(path);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test-config-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"a.xml", "b.xml", "c.XML", ".d.xml", "e.txt", "p.xml"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        remove_file(names[i]);
    return rmdir(folder);
}

static void a_folder_is_its_xml_files_by_name(void **state)
{
    struct sxs_config *config;
    (void)state;
    put_file("b.xml", INSTRUMENTATION(COUNT("B")));
    put_file("a.xml", INSTRUMENTATION(COUNT("A") COUNT("Z")));
    put_file("c.XML", INSTRUMENTATION(COUNT("C")));
    put_file(".d.xml", INSTRUMENTATION(COUNT("D")));
    put_file("e.txt", "no XML");
    config = sxs_config_load(folder, NULL);
    assert_int_equal(config->n_problems, 0);
    assert_int_equal(config->n_files, 3);
    assert_int_equal(config->n_rules, 4);
    assert_string_equal(config->rules[0]->name, "A");
    assert_string_equal(config->rules[1]->name, "Z");
    assert_string_equal(config->rules[2]->name, "B");
    assert_string_equal(config->rules[3]->name, "C");
    sxs_config_free(config);
}

static void a_wrong_file_says_why_and_the_others_go_on(void **state)
{
    struct sxs_config *config;
    char               said[256], expected[256];
    (void)state;
    put_file("a.xml", INSTRUMENTATION(COUNT("A")));
    put_file("b.xml", INSTRUMENTATION(COUNT("B") "<rule/>"));
    put_file("c.XML", INSTRUMENTATION(COUNT("C")));
    config = sxs_config_load(folder, NULL);
    assert_int_equal(config->n_rules, 2);
    assert_int_equal(config->n_problems, 1);
    sxs_config_put_problem(&config->problems[0], said, sizeof(said));
    snprintf(expected, sizeof(expected), "%s/b.xml:1:103: <rule> lacks something; expected match",
             folder);
    assert_string_equal(said, expected);
    sxs_config_free(config);
}

static void a_file_that_went_wrong_keeps_its_rules(void **state)
{
    struct sxs_config           *first, *second, *third;
    struct sxs_config_difference d;
    (void)state;
    put_file("a.xml", INSTRUMENTATION(COUNT("A")));
    put_file("b.xml", INSTRUMENTATION(COUNT("B")));
    first = sxs_config_load(folder, NULL);
    put_file("a.xml", "<instrumentation");
    put_file("b.xml", INSTRUMENTATION(COUNT("B") COUNT("C")));
    second = sxs_config_load(folder, first);
    assert_int_equal(second->n_errors, 1);
    assert_int_equal(second->n_rules, 3);
    assert_int_equal(sxs_config_difference(first, second, &d), 0);
    assert_int_equal(d.n_went, 0);
    assert_int_equal(d.n_came, 1);
    assert_string_equal(d.came[0]->name, "C");
    assert_int_equal(d.n_stayed, 2);
    sxs_config_difference_clear(&d);
    sxs_config_free(first);
    assert_string_equal(second->rules[0]->name, "A"); /* it lives on here */
    remove_file("a.xml");
    third = sxs_config_load(folder, second);
    assert_int_equal(third->n_errors, 0);
    assert_int_equal(third->n_rules, 2);
    sxs_config_free(second);
    sxs_config_free(third);
}

static void a_difference_is_by_content(void **state)
{
    struct sxs_config *old =
        parse_good(INSTRUMENTATION(COUNT("A") COUNT("B") COUNT("B") COUNT("C")));
    struct sxs_config           *now = parse_good("\n" INSTRUMENTATION("<!-- x -->" COUNT(
                  "A") "<rule name=\"B\" ><match\ntype = 'B'></match><count></count></rule>"
                                 "<rule name='C'><match type='C'/><time/></rule>"));
    struct sxs_config_difference d;
    (void)state;
    assert_int_equal(sxs_config_difference(old, now, &d), 0);
    assert_int_equal(d.n_stayed, 2);
    assert_int_equal(d.n_went, 2); /* the second B, and C */
    assert_string_equal(d.went[0]->name, "B");
    assert_string_equal(d.went[1]->name, "C");
    assert_int_equal(d.n_came, 1);
    assert_int_equal(d.came[0]->actions[0].kind, SXS_ACTION_TIME);
    assert_ptr_equal(d.stayed[0], now->rules[0]);
    assert_false(d.reordered);
    sxs_config_difference_clear(&d);
    sxs_config_free(old);
    sxs_config_free(now);
}

static void another_order_is_a_difference(void **state)
{
    struct sxs_config           *old = parse_good(INSTRUMENTATION(COUNT("A") COUNT("B")));
    struct sxs_config           *now = parse_good(INSTRUMENTATION(COUNT("B") COUNT("A")));
    struct sxs_config_difference d;
    (void)state;
    assert_int_equal(sxs_config_difference(old, now, &d), 0);
    assert_int_equal(d.n_stayed, 2);
    assert_true(d.reordered);
    sxs_config_difference_clear(&d);
    assert_int_equal(sxs_config_difference(NULL, now, &d), 0);
    assert_int_equal(d.n_came, 2);
    sxs_config_difference_clear(&d);
    assert_int_equal(sxs_config_difference(old, NULL, &d), 0);
    assert_int_equal(d.n_went, 2);
    sxs_config_difference_clear(&d);
    sxs_config_free(old);
    sxs_config_free(now);
}

static void paths_in_a_file_are_relative_to_it(void **state)
{
    char               expected[128];
    struct sxs_config *config;
    (void)state;
    put_file("p.xml", INSTRUMENTATION("<rule><match type='T'/>"
                                      "<call when='before' library='./x.so' symbol='s'/>"
                                      "<call when='before' library='x.so' symbol='s'/>"
                                      "<call when='before' assembly='h.dll' type='T' method='M'/>"
                                      "<call when='before' assembly='Shop' type='T' method='M'/>"
                                      "</rule>"));
    config = sxs_config_load(folder, NULL);
    assert_int_equal(config->n_errors, 0);
    path_of("./x.so", expected);
    assert_string_equal(config->rules[0]->actions[0].call.path, expected);
    assert_string_equal(config->rules[0]->actions[1].call.path, "x.so");
    path_of("h.dll", expected);
    assert_string_equal(config->rules[0]->actions[2].call.path, expected);
    assert_string_equal(config->rules[0]->actions[3].call.path, "Shop");
    sxs_config_free(config);
}

static void what_is_no_file_is_no_trap(void **state)
{
    char               path[128];
    struct sxs_config *config;
    (void)state;
    path_of("p.xml", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    config = sxs_config_load(folder, NULL);
    assert_int_equal(config->n_errors, 1);
    assert_string_equal(config->problems[0].what, "not a regular file");
    sxs_config_free(config);
    path_of("nowhere", path);
    config = sxs_config_load(path, NULL);
    assert_int_equal(config->n_errors, 1);
    assert_string_equal(config->problems[0].what, "No such file or directory");
    sxs_config_free(config);
}

static int n_calls;

static int count_and_call(int (*work)(void *arg), void *arg)
{
    n_calls++;
    return work(arg);
}

/* The profiled process lets another thread open files. */
static void files_are_opened_by_the_function_that_was_set(void **state)
{
    char               path[128];
    struct sxs_config *config;
    (void)state;
    put_file("a.xml", INSTRUMENTATION(COUNT("A")));
    put_file("b.xml", INSTRUMENTATION(COUNT("B")));
    sxs_config_open_files_by(count_and_call);
    config = sxs_config_load(folder, NULL);
    assert_int_equal(config->n_rules, 2);
    sxs_config_free(config);
    assert_int_equal(n_calls, 3); /* the folder and its two files */
    path_of("b.xml", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("nowhere", path), 0);
    config = sxs_config_load(folder, NULL);
    assert_string_equal(config->problems[0].what, "No such file or directory");
    sxs_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_opened_by_the_function_that_was_set, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_folder_is_its_xml_files_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wrong_file_says_why_and_the_others_go_on, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_went_wrong_keeps_its_rules, set_up, tear_down),
        cmocka_unit_test(a_difference_is_by_content),
        cmocka_unit_test(another_order_is_a_difference),
        cmocka_unit_test_setup_teardown(paths_in_a_file_are_relative_to_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_no_trap, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
