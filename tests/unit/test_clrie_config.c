/* SPDX-License-Identifier: MIT */
/* Configuration files of CLRIE's plug-ins: what a file declares, what ends it, which files the
 * environment names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "clrie/config/config.h"

#define GUID_A "{D2959618-F9B6-4CB6-80CF-F3B0E3263888}"
#define GUID_B "{D2959618-F9B6-4CB6-80CF-F3B0E3263889}"
#define ROOT(inside) \
    "<InstrumentationEngineConfiguration>" inside "</InstrumentationEngineConfiguration>"
#define PLUGIN(inside) "<InstrumentationMethod>" inside "</InstrumentationMethod>"
#define TEXTS          "<Name>N</Name><Description>D</Description><Module>m.so</Module>"
#define GUID_OF(guid)  "<ClassGuid>" guid "</ClassGuid>"
#define PRIORITY(text) "<Priority>" text "</Priority>"
#define FULL(guid)     PLUGIN(TEXTS GUID_OF(guid))

static char                     folder[64], path[128], said[4096];
static unsigned                 n_said;
static struct clrie_plugin_list list;

static void note(void *arg, const char *line)
{
    assert_ptr_equal(arg, &list);
    n_said++;
    snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

static const char *write_file(const char *name, const char *text)
{
    FILE *f;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

static void start_over(void)
{
    clrie_config_free(&list);
    said[0] = '\0';
    n_said = 0;
}

/* Reads a file with this text. Returns the result of clrie_config_read_file(). */
static int read_text(const char *text)
{
    start_over();
    return clrie_config_read_file(&list, write_file("c.xml", text), note, &list);
}

static void expect_said(const char *what)
{
    if (!strstr(said, what))
        fail_msg("'%s' is not in: %s", what, said);
}

static void a_file_declares_plug_ins(void **state)
{
    char library[160];
    (void)state;
    assert_int_equal(read_text("<?xml version=\"1.0\"?>\n<!-- before the root -->\n"
                               "<InstrumentationEngineConfiguration>\n <InstrumentationMethod>\n"
                               "  <Name>Name \xc3\xa4</Name>\n  <Description>Text</Description>\n"
                               "  <Module>sub/libplugin.so</Module>\n"
                               "  <ClassGuid>{d2959618-f9b6-4Cb6-80CF-f3b0e3263888}</ClassGuid>\n"
                               "  <Priority>50</Priority>\n </InstrumentationMethod>\n"
                               " <InstrumentationMethod64>" TEXTS GUID_OF(
                                   GUID_B) "</InstrumentationMethod64>\n"
                                           "</InstrumentationEngineConfiguration>\n"),
                     0);
    assert_int_equal(n_said, 0);
    assert_int_equal(list.n, 2);
    assert_string_equal(list.items[0].name, "Name \xc3\xa4");
    assert_string_equal(list.items[0].description, "Text");
    snprintf(library, sizeof(library), "%s/sub/libplugin.so", folder);
    assert_string_equal(list.items[0].path, library);
    assert_string_equal(list.items[0].config, path);
    assert_int_equal(list.items[0].line, 4);
    assert_int_equal(list.items[0].priority, 50);
    assert_int_equal(list.items[0].clsid.Data1, 0xD2959618);
    assert_int_equal(list.items[0].clsid.Data4[7], 0x88);
    assert_int_equal(list.items[1].priority, UINT32_MAX); /* none is named: the last */
    assert_int_equal(list.items[1].line, 11);
    assert_false(list.items[1].is_duplicate);
}

static void an_unknown_element_or_a_comment_ends_the_file(void **state)
{
    static const struct {
        const char *text, *what;
        size_t      n; /* plug-ins that are kept */
    } cases[] = {
        {ROOT(FULL(GUID_A) "<InstrumentationMethod32/>" FULL(GUID_B)), "<InstrumentationMethod32>",
         1},
        {ROOT(FULL(GUID_A) "<!-- c -->" FULL(GUID_B)), "a comment", 1},
        {ROOT("text" FULL(GUID_A)), "text outside of an element", 0},
        {ROOT(FULL(GUID_A) PLUGIN(TEXTS GUID_OF(GUID_B) "<Colour>red</Colour>")), "<Colour>", 1},
        {ROOT(FULL(GUID_A) PLUGIN("<!-- c -->" TEXTS GUID_OF(GUID_B)) FULL(GUID_B)), "a comment",
         1},
        {ROOT(PLUGIN(TEXTS GUID_OF(GUID_A) "<name>n</name>")), "<name>", 0},
        {"<Other/>", "expected <InstrumentationEngineConfiguration>", 0},
        {"<instrumentationEngineConfiguration/>", "<instrumentationEngineConfiguration>", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(read_text(cases[i].text), 1);
        assert_int_equal(n_said, 1); /* one clear line */
        expect_said(cases[i].what);
        expect_said("c.xml:1:");
        assert_int_equal(list.n, cases[i].n);
    }
}

static void a_missing_or_empty_text_ends_the_file(void **state)
{
    (void)state;
    assert_int_equal(
        read_text(ROOT(FULL(GUID_A) PLUGIN(
            "<Name>N</Name><Description/><Module>m</Module>" GUID_OF(GUID_B)) FULL(GUID_B))),
        1);
    expect_said("no <Description>, or an empty one");
    assert_int_equal(list.n, 1);
    assert_int_equal(
        read_text(ROOT(PLUGIN("<Description>D</Description><Module>m</Module>" GUID_OF(GUID_A)))),
        1);
    expect_said("no <Name>");
    assert_int_equal(read_text(ROOT(PLUGIN(TEXTS))), 1);
    expect_said("no <ClassGuid>");
    assert_int_equal(
        read_text(ROOT(PLUGIN("<Name>N</Name><Description>D</Description>" GUID_OF(GUID_A)))), 1);
    expect_said("no <Module>");
    assert_int_equal(list.n, 0);
}

static void texts_are_not_trimmed_and_may_be_cdata(void **state)
{
    char library[160];
    (void)state;
    assert_int_equal(
        read_text(ROOT(PLUGIN("<Name> N </Name><Description><![CDATA[<D>]]></Description>"
                              "<Module> m.so</Module>" GUID_OF(GUID_A)))),
        0);
    assert_string_equal(list.items[0].name, " N ");
    assert_string_equal(list.items[0].description, "<D>");
    snprintf(library, sizeof(library), "%s/ m.so", folder);
    assert_string_equal(list.items[0].path, library);
    assert_int_equal(read_text(ROOT(PLUGIN(TEXTS GUID_OF(" " GUID_A)))), 1);
    expect_said("<ClassGuid> {D2959618");
}

static void only_the_first_text_of_an_element_counts(void **state)
{
    (void)state;
    assert_int_equal(
        read_text(ROOT(
            PLUGIN("<Name>a<![CDATA[b]]></Name>"
                   "<Name/><Description>D</Description><Module>m.so</Module>" GUID_OF(GUID_A)))),
        0);
    assert_string_equal(list.items[0].name, "a");
    assert_int_equal(read_text(ROOT(PLUGIN("<Name>a</Name>" TEXTS GUID_OF(GUID_A)))), 0);
    assert_string_equal(list.items[0].name, "N"); /* of two elements the last */
    assert_int_equal(read_text(ROOT(PLUGIN(TEXTS "<Name><b/></Name>" GUID_OF(GUID_A)))), 1);
    expect_said("no <Name>");
}

static void a_class_id_needs_braces(void **state)
{
    static const char *const wrong[] = {"D2959618-F9B6-4CB6-80CF-F3B0E3263888", "{x}",
                                        "{D2959618-F9B6-4CB6-80CF-F3B0E3263888}x",
                                        "(D2959618-F9B6-4CB6-80CF-F3B0E3263888)"};
    char                     text[512];
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        snprintf(text, sizeof(text), ROOT(PLUGIN(TEXTS GUID_OF("%s"))), wrong[i]);
        assert_int_equal(read_text(text), 1);
        expect_said("expected a class ID in braces");
        assert_int_equal(list.n, 0);
    }
}

static void a_priority_is_read_as_atoi_does(void **state)
{
    static const struct {
        const char *text;
        uint32_t    value;
    } cases[] = {{"7", 7},
                 {" 7", 7},
                 {"+7", 7},
                 {"7x", 7},
                 {"abc", 0},
                 {"99999999999", 1215752191},
                 {"-2147483649", 2147483647},
                 {"-1", UINT32_MAX},
                 {"-2", UINT32_MAX - 1},
                 {" ", 0},
                 {"0x10", 0},
                 {"4294967295", UINT32_MAX}};
    char text[512];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(text, sizeof(text), ROOT(PLUGIN(TEXTS GUID_OF(GUID_A) PRIORITY("%s"))),
                 cases[i].text);
        assert_int_equal(read_text(text), 0);
        assert_int_equal(list.items[0].priority, cases[i].value);
    }
    assert_int_equal(read_text(ROOT(PLUGIN(TEXTS GUID_OF(GUID_A) "<Priority/>"))), 0);
    assert_int_equal(list.items[0].priority, UINT32_MAX);
    assert_int_equal(
        read_text(ROOT(PLUGIN(TEXTS GUID_OF(GUID_A) PRIORITY("99999999999999999999")))), 1);
    expect_said("expected a number from 0 to 4294967295");
}

static void a_module_is_appended_to_the_folder(void **state)
{
    char library[160];
    (void)state;
    assert_int_equal(read_text(ROOT(PLUGIN("<Name>N</Name><Description>D</Description>"
                                           "<Module>/abs/m.so</Module>" GUID_OF(GUID_A)))),
                     0);
    snprintf(library, sizeof(library), "%s//abs/m.so", folder);
    assert_string_equal(list.items[0].path, library); /* even an absolute one */
    assert_int_equal(read_text(ROOT(PLUGIN("<Name>N</Name><Description>D</Description>"
                                           "<Module>../m.so</Module>" GUID_OF(GUID_A)))),
                     0);
    snprintf(library, sizeof(library), "%s/../m.so", folder);
    assert_string_equal(list.items[0].path, library);
}

static void a_second_plug_in_of_a_class_is_marked(void **state)
{
    (void)state;
    assert_int_equal(read_text(ROOT(FULL(GUID_A) FULL(GUID_B) FULL(GUID_A))), 0);
    assert_int_equal(list.n, 3);
    assert_false(list.items[0].is_duplicate);
    assert_false(list.items[1].is_duplicate);
    assert_true(list.items[2].is_duplicate);
    assert_int_equal(clrie_config_read_file(&list, path, note, &list), 0); /* of another file */
    assert_true(list.items[3].is_duplicate);
}

static void a_file_that_is_no_xml_is_one_line(void **state)
{
    (void)state;
    assert_int_equal(read_text(""), 1);
    assert_int_equal(n_said, 1);
    assert_int_equal(read_text("<InstrumentationEngineConfiguration>\n<a>\n"), 1);
    assert_int_equal(n_said, 1);
    expect_said("expected well-formed XML");
    assert_int_equal(read_text("<!DOCTYPE a [<!ENTITY x \"y\">]><a/>"), 1);
    expect_said("declaration");
    assert_int_equal(list.n, 0);
    start_over();
    assert_int_equal(clrie_config_read_file(&list, "/nowhere/c.xml", note, &list), 1);
    expect_said("/nowhere/c.xml: No such file");
}

static void blanks_and_a_byte_order_mark_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(read_text("\xef\xbb\xbf" ROOT("\r\n\t" FULL(GUID_A) "\r\n")), 0);
    assert_int_equal(list.n, 1);
    assert_int_equal(read_text(ROOT("")), 0);
    assert_int_equal(list.n, 0);
}

/* ---- the environment --------------------------------------------------------------------------- */

#define CONFIG "MicrosoftInstrumentationEngine_ConfigPath64_"

static int unset_all(void **state)
{
    static const char *const names[] = {CONFIG,
                                        CONFIG "A",
                                        CONFIG "B",
                                        "MicrosoftInstrumentationEngine_ConfigPath64",
                                        "MicrosoftInstrumentationEngine_ConfigPath_X",
                                        "MicrosoftInstrumentationEngine_configpath64_A",
                                        "MicrosoftInstrumentationEngine_ConfigPath32_A",
                                        "SXSPROF_METHODS",
                                        "SXSPROF_GUESTS"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    start_over();
    return 0;
}

static int read_environment(void)
{
    start_over();
    return clrie_config_read(&list, note, &list);
}

/* Sets a variable to a text in which each '@' stands for the folder. */
static void set(const char *name, const char *text)
{
    char   value[1024];
    size_t n = 0;
    for (; *text; text++)
        n += *text == '@' ? (size_t)snprintf(value + n, sizeof(value) - n, "%s", folder)
                          : (size_t)snprintf(value + n, sizeof(value) - n, "%c", *text);
    value[n] = '\0';
    setenv(name, value, 1);
}

static void the_variables_name_lists_of_files(void **state)
{
    (void)state;
    write_file("a.xml", ROOT(FULL(GUID_A)));
    write_file("b.xml", ROOT(FULL(GUID_B)));
    assert_false(clrie_config_is_named());
    assert_int_equal(read_environment(), 0);
    set(CONFIG "A", "@/a.xml:@/b.xml");
    assert_true(clrie_config_is_named());
    assert_int_equal(read_environment(), 2);
    assert_int_equal(list.n, 2);
    assert_int_equal(list.items[1].clsid.Data4[7], 0x89);
    set(CONFIG "A", "@/a.xml;@/b.xml"); /* no separator: one path, which does not exist */
    assert_int_equal(read_environment(), 0);
    assert_int_equal(n_said, 0);
    set(CONFIG "A", ":@/no.xml::@/b.xml:~/a.xml:");
    assert_int_equal(read_environment(), 1); /* missing ones are skipped in silence */
    assert_int_equal(n_said, 0);
}

static void the_suffix_may_be_empty_and_the_prefix_is_exact(void **state)
{
    (void)state;
    write_file("a.xml", ROOT(FULL(GUID_A)));
    set(CONFIG, "@/a.xml");
    assert_int_equal(read_environment(), 1);
    unset_all(NULL);
    set("MicrosoftInstrumentationEngine_ConfigPath64", "@/a.xml");
    set("MicrosoftInstrumentationEngine_configpath64_A", "@/a.xml");
    set("MicrosoftInstrumentationEngine_ConfigPath32_A", "@/a.xml");
    set(CONFIG "A", "");
    assert_false(clrie_config_is_named());
    assert_int_equal(read_environment(), 0);
    set("MicrosoftInstrumentationEngine_ConfigPath_X", "@/a.xml");
    assert_true(clrie_config_is_named());
    assert_int_equal(read_environment(), 1);
}

static void links_and_relative_paths_are_resolved(void **state)
{
    char library[160], here[256], link_path[128];
    (void)state;
    write_file("a.xml", ROOT(FULL(GUID_A)));
    snprintf(link_path, sizeof(link_path), "%s/sub", folder);
    mkdir(link_path, 0700);
    snprintf(link_path, sizeof(link_path), "%s/sub/link.xml", folder);
    unlink(link_path);
    assert_int_equal(symlink(path, link_path), 0);
    set(CONFIG "A", "@/sub/link.xml");
    assert_int_equal(read_environment(), 1);
    snprintf(library, sizeof(library), "%s/m.so",
             folder); /* beside the file, not beside the link */
    assert_string_equal(list.items[0].path, library);
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(folder), 0);
    set(CONFIG "A", "sub/../a.xml");
    assert_int_equal(read_environment(), 1);
    assert_int_equal(chdir(here), 0);
    assert_string_equal(list.items[0].path, library);
}

static void our_variable_comes_first_and_reports_missing_files(void **state)
{
    (void)state;
    write_file("a.xml", ROOT(FULL(GUID_A)));
    write_file("b.xml", ROOT(FULL(GUID_B)));
    set(CONFIG "A", "@/a.xml");
    set("SXSPROF_METHODS", "@/b.xml:@/no.xml");
    assert_int_equal(read_environment(), 2);
    assert_int_equal(n_said, 1);
    expect_said("/no.xml: No such file or directory; expected a configuration file");
    assert_int_equal(list.items[0].clsid.Data4[7], 0x89);
    assert_int_equal(list.items[1].clsid.Data4[7], 0x88);
}

static void a_wrong_file_leaves_the_others(void **state)
{
    (void)state;
    write_file("a.xml", ROOT(FULL(GUID_A)));
    write_file("w.xml", "<x>");
    set(CONFIG "A", "@/w.xml:@/a.xml");
    assert_int_equal(read_environment(), 2);
    assert_int_equal(n_said, 1);
    expect_said("/w.xml:1:");
    assert_int_equal(list.n, 1);
}

static void the_engine_as_a_guest_reads_its_own_variables(void **state)
{
    (void)state;
    write_file("a.xml", ROOT(FULL(GUID_A)));
    write_file("b.xml", ROOT(FULL(GUID_B)));
    set(CONFIG "A", "@/a.xml");
    setenv("SXSPROF_GUESTS", "{324f817a-7420-4e6d-b3c1-143fbed6d855}=/x/libEngine.so", 1);
    assert_false(clrie_config_is_named());
    assert_int_equal(read_environment(), 0);
    set("SXSPROF_METHODS", "@/b.xml");
    assert_true(clrie_config_is_named());
    assert_int_equal(read_environment(), 1);
    assert_int_equal(list.items[0].clsid.Data4[7], 0x89);
}

/* The last case: it cannot be taken back. */
static void a_runtime_that_asks_for_the_class_wants_the_engine(void **state)
{
    (void)state;
    assert_false(clrie_config_is_named());
    clrie_config_ask();
    assert_true(clrie_config_is_named());
    assert_int_equal(read_environment(), 0);
}

static int make_folder(void **state)
{
    char made[] = "/tmp/sxsprof-test-XXXXXX", *real;
    (void)state;
    if (!mkdtemp(made))
        return -1;
    real = realpath(made, NULL);
    snprintf(folder, sizeof(folder), "%s", real);
    free(real);
    return unset_all(NULL);
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    start_over();
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_declares_plug_ins),
        cmocka_unit_test(an_unknown_element_or_a_comment_ends_the_file),
        cmocka_unit_test(a_missing_or_empty_text_ends_the_file),
        cmocka_unit_test(texts_are_not_trimmed_and_may_be_cdata),
        cmocka_unit_test(only_the_first_text_of_an_element_counts),
        cmocka_unit_test(a_class_id_needs_braces),
        cmocka_unit_test(a_priority_is_read_as_atoi_does),
        cmocka_unit_test(a_module_is_appended_to_the_folder),
        cmocka_unit_test(a_second_plug_in_of_a_class_is_marked),
        cmocka_unit_test(a_file_that_is_no_xml_is_one_line),
        cmocka_unit_test(blanks_and_a_byte_order_mark_do_not_count),
        cmocka_unit_test_teardown(the_variables_name_lists_of_files, unset_all),
        cmocka_unit_test_teardown(the_suffix_may_be_empty_and_the_prefix_is_exact, unset_all),
        cmocka_unit_test_teardown(links_and_relative_paths_are_resolved, unset_all),
        cmocka_unit_test_teardown(our_variable_comes_first_and_reports_missing_files, unset_all),
        cmocka_unit_test_teardown(a_wrong_file_leaves_the_others, unset_all),
        cmocka_unit_test_teardown(the_engine_as_a_guest_reads_its_own_variables, unset_all),
        cmocka_unit_test(a_runtime_that_asks_for_the_class_wants_the_engine),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
