/* SPDX-License-Identifier: MIT */
/* Instrumentation files: what they say, and exactly where they are wrong. */
#include "config_fixture.h"

#define RULE(actions) INSTRUMENTATION("<rule><match type='T'/>" actions "</rule>")

static void actions_are_read_in_their_order(void **state)
{
    struct sxs_config       *config = parse_good(INSTRUMENTATION(
              "<rule name='r'><match type='T'/>"
                    "<count label='n'/><time/><trace arguments='this, 0 name @class *' result='false'/>"
                    "<call when='before' library='/lib/x.so' symbol='on_enter'/>"
                    "<call when='after' on='exception' assembly='/h.dll' type='A.B' method='C'/>"
                    "<wrap library='x.so' before='b' after='e' exception='0' transition='false'/>"
                    "<replace value='&lt;1&gt;'/><inject at='exit'>nop</inject></rule>"));
    const struct sxs_action *a = config->rules[0]->actions;
    (void)state;
    assert_string_equal(config->rules[0]->name, "r");
    assert_int_equal(config->rules[0]->n_actions, 8);
    assert_int_equal(a[0].kind, SXS_ACTION_COUNT);
    assert_string_equal(a[0].label, "n");
    assert_int_equal(a[1].kind, SXS_ACTION_TIME);
    assert_int_equal(a[2].kind, SXS_ACTION_TRACE);
    assert_int_equal(a[2].n_arguments, 5);
    assert_int_equal(a[2].arguments[0].kind, SXS_ARGUMENT_THIS);
    assert_int_equal(a[2].arguments[1].kind, SXS_ARGUMENT_INDEX);
    assert_int_equal(a[2].arguments[1].index, 0);
    assert_string_equal(a[2].arguments[2].name, "name");
    assert_string_equal(a[2].arguments[3].name, "class");
    assert_int_equal(a[2].arguments[4].kind, SXS_ARGUMENT_ALL);
    assert_false(a[2].with_result);
    assert_true(a[2].with_exception);
    assert_int_equal(a[3].kind, SXS_ACTION_BEFORE);
    assert_int_equal(a[3].call.kind, SXS_TARGET_NATIVE);
    assert_string_equal(a[3].call.path, "/lib/x.so");
    assert_string_equal(a[3].call.method, "on_enter");
    assert_false(a[3].call.plain);
    assert_int_equal(a[4].kind, SXS_ACTION_AFTER);
    assert_int_equal(a[4].on, SXS_ON_EXCEPTION);
    assert_int_equal(a[4].call.kind, SXS_TARGET_MANAGED);
    assert_string_equal(a[4].call.type, "A.B");
    assert_false(a[4].with_result);
    assert_int_equal(a[5].kind, SXS_ACTION_WRAP);
    assert_string_equal(a[5].call.path, "x.so");
    assert_string_equal(a[5].call.method, "b");
    assert_string_equal(a[5].finish.method, "e");
    assert_true(a[5].call.plain);
    assert_true(a[5].finish.plain);
    assert_false(a[5].with_exception);
    assert_int_equal(a[6].kind, SXS_ACTION_REPLACE);
    assert_string_equal(a[6].value, "<1>");
    assert_int_equal(a[7].place, SXS_PLACE_EXIT);
    assert_string_equal(a[7].il, "nop");
    sxs_config_free(config);
}

static void a_rule_without_a_name_is_called_by_its_place(void **state)
{
    struct sxs_config *config = parse_good("\n\n" RULE("<replace/>"));
    (void)state;
    assert_string_equal(config->rules[0]->name, "t.xml:3");
    assert_null(config->rules[0]->actions[0].value);
    assert_int_equal(config->rules[0]->actions[0].call.kind, SXS_TARGET_NONE);
    sxs_config_free(config);
}

static void instructions_are_meant_by_offset_or_pattern(void **state)
{
    struct sxs_config *config = parse_good(
        RULE("<inject at='before' offset='IL_001a'>nop</inject><inject at='after' "
             "offset='0x1a'>nop</inject>"
             "<inject at='after' offset='26'>nop</inject>"
             "<inject at='before' instruction='call * *Console::WriteLine(*'>nop</inject>"));
    const struct sxs_action *a = config->rules[0]->actions;
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(a[i].offset, 26);
    assert_int_equal(a[3].offset, SXS_NO_OFFSET);
    assert_true(a[3].instruction.has_wildcards);
    sxs_config_free(config);
}

static void a_problem_has_line_and_column_in_characters(void **state)
{
    (void)state;
    assert_says("<instrumentation xmlns='urn:sxsprof:instrumentation:1'>\n"
                "  <rule name='\xc3\xa4\xc3\xb6' priority='x'><match type='T'/><count/></rule>\n"
                "</instrumentation>",
                "t.xml:2:19: priority=\"x\"; expected a whole number");
    assert_says("\xef\xbb\xbf<instrumentation xmlns='urn:sxsprof:instrumentation:1' a='1'/>",
                "t.xml:1:56: <instrumentation> knows no a=; expected no attributes");
    assert_says(
        "<instrumentation xmlns='urn:sxsprof:instrumentation:1'>\r\n<rule/></instrumentation>",
        "t.xml:2:1: <rule> lacks something; expected match");
}

static void il_that_cannot_be_assembled_is_shown_where_it_stands(void **state)
{
    (void)state;
    assert_says(
        "<instrumentation xmlns='urn:sxsprof:instrumentation:1'>\n<rule><match type='T'/>\n"
        "<inject at='entry'><![CDATA[\n  nop\n  blub 1\n]]></inject></rule></instrumentation>",
        "t.xml:5:3: no such instruction: blub; expected IL in ilasm's syntax, a line each");
    assert_says(
        "<instrumentation xmlns='urn:sxsprof:instrumentation:1'>\n<rule><match type='T'/>\n"
        "<inject at='entry'> nop <!-- x\n --> nop</inject></rule></instrumentation>",
        "t.xml:4:6: expected the end of the line; expected IL in ilasm's syntax, a line each");
    assert_says(
        "<instrumentation xmlns='urn:sxsprof:instrumentation:1'>\n<rule><match type='T'/>\n"
        "<inject at='entry'>ldstr &quot;&#228;&quot; x</inject></rule></instrumentation>",
        "t.xml:3:45: expected the end of the line; expected IL in ilasm's syntax, a line each");
}

static void names_that_cannot_be_are_refused(void **state)
{
    static const char *const wrong[] = {
        "assembly='Shop.dll' type='T'",
        "assembly='bin/Shop' type='T'",
        "assembly='Shop, Version=1.0.0.0' type='T'",
        "type='A/B'",
        "type='List&lt;T>'",
        "type='[Shop]T'",
        "type='T::M'",
        "type='List`x'",
        "type='.T'",
        "type='A..B'",
        "method='M(int)'",
        "method='T::M'",
        "method='M' parameters='int'",
        "method='M' parameters='string[]'",
        "method='M' parameters='System.Int32,'",
        "method='M' parameters='A[B'",
        "method='M' parameters='A]B['",
        "method='M' minVersion='1.99999'",
        "method='M' minVersion='2' maxVersion='2.0'",
        "assembly='A'",
        "attribute='[X]'",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char               text[512];
        struct sxs_config *config;
        snprintf(text, sizeof(text), INSTRUMENTATION("<rule><match %s/><count/></rule>"), wrong[i]);
        config = parse(text);
        if (config->n_errors != 1 || config->problems[0].line != 1 || !config->problems[0].expected)
            fail_msg("%s: %u errors", wrong[i], config->n_errors);
        sxs_config_free(config);
    }
}

static void actions_that_cannot_be_are_refused(void **state)
{
    static const char *const wrong[] = {
        "<call when='before'/>",
        "<call when='before' library='x.so'/>",
        "<call when='before' library='x.so' symbol='a b'/>",
        "<call when='before' library='x.so' symbol='a' assembly='y.dll'/>",
        "<call when='before' library='x.so' symbol='a' method='m'/>",
        "<call when='before' library='x.so' symbol='a' result='true'/>",
        "<call when='before' library='x.so' symbol='a' transition='no'/>",
        "<call when='before' assembly='h.dll' type='T' method='M' transition='false'/>",
        "<replace value='1' transition='false'/>",
        "<call when='now' library='x.so' symbol='a'/>",
        "<call library='x.so' symbol='a'/>",
        "<call when='after' assembly='h.dll' method='M'/>",
        "<call when='after' assembly='h.dll' type='T*' method='M'/>",
        "<call when='after' assembly='a/h' type='T' method='M'/>",
        "<call when='after' assembly='h.dll' type='T' method='.ctor'/>",
        "<wrap library='x.so' before='a'/>",
        "<wrap before='a' after='b'/>",
        "<trace arguments='1x'/>",
        "<trace arguments='a a'/>",
        "<trace result='maybe'/>",
        "<replace value='1' library='x.so'/>",
        "<replace value='1'/><replace value='2'/>",
        "<inject at='entry' offset='1'>nop</inject>",
        "<inject at='before'>nop</inject>",
        "<inject at='before' offset='1' instruction='nop'>nop</inject>",
        "<inject at='entry'></inject>",
        "<inject at='entry'>br NOWHERE</inject>",
        "<inject at='middle'>nop</inject>",
        "<inject at='entry'><nop/></inject>",
        "<inject at='before' offset='1g'>nop</inject>",
        "<blub/>",
        "text",
        "",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char               text[512];
        struct sxs_config *config;
        snprintf(text, sizeof(text), INSTRUMENTATION("<rule><match type='T'/>%s</rule>"), wrong[i]);
        config = parse(text);
        if (config->n_errors != 1 || config->n_rules || config->problems[0].line != 1)
            fail_msg("%s: %u errors", wrong[i], config->n_errors);
        sxs_config_free(config);
    }
}

static void new_relic_files_are_read_as_they_are(void **state)
{
    struct sxs_config *config = parse_good("<?xml version='1.0' encoding='utf-8'?>\n" EXTENSION(
        "<tracerFactory name='Some.Tracer' metricName='m'><match assemblyName='A' minVersion='1.2' "
        "maxVersion='2' className='T, U`2[X,Y] ,V+W'><exactMethodMatcher methodName='.ctor'/>"
        "<exactMethodMatcher methodName='M' parameters='System.Func`2[A,B],!!0&amp;'/></match>"
        "</tracerFactory><tracerFactory enabled='false'><match assemblyName='A' className='Z'>"
        "<exactMethodMatcher methodName='M'/></match></tracerFactory>"
        "<TracerFactory><Match AssemblyName='A' ClassName='Q*'><ExactMethodMatcher MethodName='M' "
        "parameters='void'/></Match></TracerFactory>"));
    const struct sxs_match *m;
    (void)state;
    assert_int_equal(config->n_rules, 3);
    m = config->rules[0]->matches;
    assert_int_equal(config->rules[0]->n_matches, 3);
    assert_string_equal(m[0].type.text, "T");
    assert_string_equal(m[1].type.text, "U`2[X,Y]");
    assert_string_equal(m[2].type.text, "V+W");
    assert_string_equal(m[2].assembly.text, "A");
    assert_true(m[2].has_min && m[2].has_max);
    assert_int_equal(m[0].n_parameters, -1);
    assert_int_equal(config->rules[0]->actions[0].kind, SXS_ACTION_TRACE);
    assert_string_equal(config->rules[0]->actions[0].label, "m");
    m = config->rules[1]->matches;
    assert_int_equal(m[0].n_parameters, 2);
    assert_string_equal(m[0].parameters[1].text, "!!0&");
    assert_string_equal(config->rules[1]->name, "T.M");
    m = config->rules[2]->matches;
    assert_string_equal(m[0].type.text, "Q*");
    assert_false(m[0].type.has_wildcards);
    assert_int_equal(m[0].n_parameters, 0);
    sxs_config_free(config);
}

static void what_the_agent_ignores_gets_a_warning(void **state)
{
    char               said[256];
    struct sxs_config *config = parse(EXTENSION(
        "<tracerFactory><match assemblyName='A' className='T'>\n<exactMethodMatcher methodName='M' "
        "parameter='x'/><other/></match></tracerFactory>"));
    (void)state;
    assert_int_equal(config->n_rules, 1);
    assert_int_equal(config->n_errors, 0);
    assert_int_equal(config->n_problems, 2);
    sxs_config_put_problem(&config->problems[0], said, sizeof(said));
    assert_string_equal(said, "t.xml:2:36: warning: parameter= of <exactMethodMatcher> is ignored, "
                              "as the agent does");
    sxs_config_free(config);
    assert_says(EXTENSION("<tracerFactory><match className='T'><exactMethodMatcher methodName='M'/>"
                          "</match></tracerFactory>"),
                "t.xml:1:75: <match> without assemblyName=; expected the name of an assembly");
}

static void files_that_could_do_harm_are_refused(void **state)
{
    char *big = malloc(SXS_CONFIG_FILE_MAX + 2), deep[512] = "";
    (void)state;
    assert_says("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
                "t.xml:1:1: <! begins a declaration; expected a file without a document type and "
                "entities of its own");
    assert_says("<a>\n<b>&lol;</b></a>",
                "t.xml:2:9: Entity 'lol' not defined; expected well-formed XML");
    for (int i = 0; i < 20; i++)
        strcat(deep, "<a>");
    assert_says(deep, "t.xml:1:49: elements nested more than 16 deep");
    assert_non_null(big);
    memset(big, ' ', SXS_CONFIG_FILE_MAX + 1);
    big[SXS_CONFIG_FILE_MAX + 1] = 0;
    assert_says(big, "t.xml: 1048577 bytes are too many; 1048576 is the most");
    memcpy(big, "<a ", 3);
    for (int i = 0; i < 100000; i++)
        memcpy(big + 3 + 10 * i, "a12345='' ", 10);
    big[1000003] = 0;
    assert_says(big, "t.xml:1:1: more than 32 attributes");
    free(big);
    assert_says("<a>\n\xff</a>", "t.xml:2:1: byte 0xff is no UTF-8 text; expected a file in UTF-8");
    assert_says("<?xml version='1.0' encoding='latin1'?><a/>",
                "t.xml:1:1: encoding=\"latin1\"; expected encoding=\"utf-8\"");
}

static void files_that_are_something_else_are_refused(void **state)
{
    struct sxs_config *config = parse_bytes("<a\0>", 4);
    (void)state;
    assert_int_equal(config->n_errors, 1);
    sxs_config_free(config);
    assert_says("<project/>", "t.xml:1:1: <project>; expected <instrumentation "
                              "xmlns=\"urn:sxsprof:instrumentation:1\">, or New Relic's "
                              "<extension xmlns=\"urn:newrelic-extension\">");
    config = parse("");
    assert_int_equal(config->n_errors, 1);
    sxs_config_free(config);
    config = parse("<instrumentation xmlns='urn:sxsprof:instrumentation:1'>");
    assert_int_equal(config->n_errors, 1);
    sxs_config_free(config);
}

static void errors_that_are_left_out_are_counted(void **state)
{
    char               text[8192] = "<instrumentation xmlns='urn:sxsprof:instrumentation:1'>";
    struct sxs_config *config;
    (void)state;
    for (int i = 0; i < 30; i++)
        strcat(text, "<rule nothing=''><method name='M'/><count/></rule>");
    strcat(text, "</instrumentation>");
    config = parse(text);
    assert_int_equal(config->n_problems, 21);
    assert_true(config->n_errors >= 30);
    sxs_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actions_are_read_in_their_order),
        cmocka_unit_test(a_rule_without_a_name_is_called_by_its_place),
        cmocka_unit_test(instructions_are_meant_by_offset_or_pattern),
        cmocka_unit_test(a_problem_has_line_and_column_in_characters),
        cmocka_unit_test(il_that_cannot_be_assembled_is_shown_where_it_stands),
        cmocka_unit_test(names_that_cannot_be_are_refused),
        cmocka_unit_test(actions_that_cannot_be_are_refused),
        cmocka_unit_test(new_relic_files_are_read_as_they_are),
        cmocka_unit_test(what_the_agent_ignores_gets_a_warning),
        cmocka_unit_test(files_that_could_do_harm_are_refused),
        cmocka_unit_test(files_that_are_something_else_are_refused),
        cmocka_unit_test(errors_that_are_left_out_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
