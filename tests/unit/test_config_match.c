/* SPDX-License-Identifier: MIT */
/* Which methods a rule matches, and which rules a method gets. */
#include "config_fixture.h"

static const struct sxs_version version = {{2, 1, 0, 7}};
static const char *const        two[] = {"System.String", "System.Int32"};

static struct sxs_config_method method(const char *type, const char *name)
{
    return (struct sxs_config_method){.runtime = "8.0.29",
                                      .assembly = "Shop",
                                      .version = &version,
                                      .type = type,
                                      .method = name,
                                      .parameters = two,
                                      .n_parameters = 2};
}

/* Does a rule whose match has these attributes match? */
static int matches_method(const char *attributes, const struct sxs_config_method *m)
{
    char               text[1024];
    struct sxs_config *config;
    int                yes;
    snprintf(text, sizeof(text), INSTRUMENTATION("<rule><match %s/><count/></rule>"), attributes);
    config = parse_good(text);
    assert_int_equal(config->n_rules, 1);
    yes = sxs_config_matches(config->rules[0], m);
    if (yes && !m->outer)
        assert_true(
            sxs_config_may_match(config->rules[0], m->runtime, m->assembly, m->version, m->type));
    sxs_config_free(config);
    return yes;
}

static int matches(const char *attributes)
{
    struct sxs_config_method m = method("Shop.Orders+Line`1", "Place");
    return matches_method(attributes, &m);
}

static void names_match_whole_and_by_case(void **state)
{
    (void)state;
    assert_true(matches("type='Shop.Orders+Line`1' method='Place' assembly='Shop'"));
    assert_false(matches("type='Shop.Orders+Line`1' method='place'"));
    assert_false(matches("type='Shop.Orders' method='Place'"));
    assert_false(matches("method='Place' assembly='Sho'"));
}

static void stars_and_question_marks_stand_for_text(void **state)
{
    (void)state;
    assert_true(matches("type='Shop.*' method='Pl?ce'"));
    assert_true(matches("type='*+Line`?' method='*'"));
    assert_true(matches("type='*S*O*s*L*' method='P*e*'"));
    assert_false(matches("type='Shop.?' method='Place'"));
    assert_false(matches("type='*+Linie`1' method='Place'"));
    assert_true(matches("type='**' method='Place**'"));
}

static void a_question_mark_is_a_character_however_many_bytes_it_has(void **state)
{
    struct sxs_config_method m = method("Shop.Gr\xc3\xb6\xc3\x9f"
                                        "e",
                                        "Place");
    (void)state;
    assert_true(matches_method("type='Shop.Gr?"
                               "?e'",
                               &m));
    assert_false(matches_method("type='Shop.Gr?"
                                "?"
                                "?"
                                "?e'",
                                &m));
}

static void many_stars_take_no_time(void **state)
{
    char name[4001], attributes[512] = "method='";
    (void)state;
    memset(name, 'a', 4000);
    name[4000] = 0;
    for (int i = 0; i < 60; i++)
        strcat(attributes, "a*");
    strcat(attributes, "b'");
    struct sxs_config_method m = method("T", name);
    assert_false(matches_method(attributes, &m));
}

static void runtimes_match_by_whole_parts_of_their_version(void **state)
{
    (void)state;
    assert_true(matches("method='Place' runtime='8'"));
    assert_true(matches("method='Place' runtime='8.0'"));
    assert_true(matches("method='Place' runtime='10.0.11 8.0.29'"));
    assert_false(matches("method='Place' runtime='8.0.2'"));
    assert_false(matches("method='Place' runtime='80 9'"));
}

static void versions_are_from_and_below(void **state)
{
    (void)state;
    assert_true(matches("method='Place' minVersion='2.1.0.7'"));
    assert_false(matches("method='Place' minVersion='2.1.0.8'"));
    assert_false(matches("method='Place' maxVersion='2.1.0.7'"));
    assert_true(matches("method='Place' maxVersion='2.1.0.8'"));
    assert_true(matches("method='Place' minVersion='2' maxVersion='3'"));
    assert_false(matches("method='Place' maxVersion='2.1'"));
}

static void parameters_match_as_a_list(void **state)
{
    struct sxs_config_method none = method("T", "M");
    none.n_parameters = 0;
    (void)state;
    assert_true(matches("method='Place' parameters='System.String, System.Int32'"));
    assert_true(matches("method='Place' parameters='System.*,System.Int?2'"));
    assert_false(matches("method='Place' parameters='System.String'"));
    assert_false(matches("method='Place' parameters='System.Int32,System.String'"));
    assert_false(matches("method='Place' parameters='void'"));
    assert_true(matches_method("method='M' parameters='void'", &none));
    assert_true(matches_method("method='M' parameters=''", &none));
}

static void brackets_keep_a_generic_parameter_together(void **state)
{
    static const char *const one[] = {"System.Func`2[System.Int32,System.String]"};
    struct sxs_config_method m = method("T", "M");
    (void)state;
    m.parameters = one;
    m.n_parameters = 1;
    assert_true(
        matches_method("method='M' parameters='System.Func`2[System.Int32,System.String]'", &m));
}

static void attributes_match_by_name(void **state)
{
    static const char *const has[] = {"System.ObsoleteAttribute", "Shop.TracedAttribute"};
    struct sxs_config_method m = method("T", "M");
    (void)state;
    m.attributes = has;
    m.n_attributes = 2;
    assert_true(matches_method("attribute='Shop.TracedAttribute'", &m));
    assert_true(matches_method("attribute='*.TracedAttribute'", &m));
    assert_false(matches_method("attribute='Traced*'", &m));
    m.n_attributes = 0;
    assert_false(matches_method("attribute='*'", &m));
}

static void which_body_of_an_async_method_is_said(void **state)
{
    struct sxs_config_method outer = method("Shop.Orders", "PlaceAsync");
    struct sxs_config_method body = method("Shop.Orders+<PlaceAsync>d__3", "MoveNext");
    (void)state;
    body.outer = &outer;
    assert_true(matches_method("method='PlaceAsync' async='outer'", &outer));
    assert_false(matches_method("method='PlaceAsync' async='statemachine'", &outer));
    assert_true(
        matches_method("type='Shop.Orders' method='PlaceAsync' async='statemachine'", &body));
    assert_false(matches_method("method='PlaceAsync'", &body));
    assert_false(matches_method("method='*' async='outer'", &body));
    assert_true(matches_method("method='MoveNext'", &body));
}

static void exclusions_take_out(void **state)
{
    struct sxs_config_method m = method("Shop.Orders", "Place"), n = method("Shop.Carts", "Place");
    struct sxs_config       *config =
        parse_good(INSTRUMENTATION("<rule><match type='Shop.*'/><match type='X'/>"
                                   "<exclude type='*Carts'/><exclude method='Q'/><time/></rule>"));
    (void)state;
    assert_true(sxs_config_matches(config->rules[0], &m));
    assert_false(sxs_config_matches(config->rules[0], &n));
    sxs_config_free(config);
}

static void what_is_not_known_of_a_method_rules_nothing_out(void **state)
{
    struct sxs_config_method m = {.n_parameters = UINT32_MAX, .n_attributes = UINT32_MAX};
    (void)state;
    assert_true(matches_method("runtime='8' assembly='A' type='T' method='M' parameters='void' "
                               "attribute='X' minVersion='7'",
                               &m));
}

static void the_prefilter_asks_for_no_more_than_it_is_given(void **state)
{
    struct sxs_config *config =
        parse_good(INSTRUMENTATION("<rule><match runtime='8' assembly='A*' type='T' method='M'/>"
                                   "<exclude attribute='X'/><time/></rule>"));
    const struct sxs_rule *rule = config->rules[0];
    (void)state;
    assert_true(sxs_config_may_match(rule, "8.0.1", "Ab", &version, "T"));
    assert_true(sxs_config_may_match(rule, NULL, "Ab", NULL, NULL));
    assert_false(sxs_config_may_match(rule, "9.0.1", "Ab", &version, "T"));
    assert_false(sxs_config_may_match(rule, "8.0.1", "B", &version, "T"));
    assert_false(sxs_config_may_match(rule, "8.0.1", "Ab", &version, "U"));
    assert_true(sxs_config_wants_attributes(rule));
    sxs_config_free(config);
}

static void rules_come_by_priority_and_then_as_they_stand(void **state)
{
    struct sxs_config_method m = method("T", "M");
    const struct sxs_rule   *rules[8];
    struct sxs_config       *config = parse_good(
              INSTRUMENTATION("<rule name='a'><match type='T'/><count/></rule>"
                                    "<rule name='b' priority='-1'><match type='T'/><count/></rule>"
                                    "<rule name='c' priority='5'><match type='T'/><count/></rule>"
                                    "<rule name='off' enabled='false'><match type='T'/><count/></rule>"
                                    "<rule name='other'><match type='U'/><count/></rule>"
                                    "<rule name='d'><match type='T'/><count/></rule>"));
    (void)state;
    assert_int_equal(sxs_config_rules(config, &m, rules, 8), 4);
    assert_string_equal(rules[0]->name, "c");
    assert_string_equal(rules[1]->name, "a");
    assert_string_equal(rules[2]->name, "d");
    assert_string_equal(rules[3]->name, "b");
    assert_int_equal(sxs_config_rules(config, &m, rules, 1), 4);
    sxs_config_free(config);
}

static void new_relic_takes_the_parameter_list_first_and_one_rule_only(void **state)
{
    struct sxs_config_method m = method("T", "M");
    const struct sxs_rule   *rules[8];
    struct sxs_config       *config = parse_good(
              EXTENSION("<tracerFactory><match assemblyName='Shop' className='T'>"
                              "<exactMethodMatcher methodName='M'/>"
                              "<exactMethodMatcher methodName='M' parameters='System.String, System.Int32'/>"
                              "</match></tracerFactory>"));
    (void)state;
    assert_int_equal(config->n_rules, 2);
    assert_int_equal(sxs_config_rules(config, &m, rules, 8), 1);
    assert_int_equal(rules[0]->matches[0].n_parameters, 2);
    m.n_parameters = 1;
    assert_int_equal(sxs_config_rules(config, &m, rules, 8), 1);
    assert_int_equal(rules[0]->matches[0].n_parameters, -1);
    sxs_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_match_whole_and_by_case),
        cmocka_unit_test(stars_and_question_marks_stand_for_text),
        cmocka_unit_test(a_question_mark_is_a_character_however_many_bytes_it_has),
        cmocka_unit_test(many_stars_take_no_time),
        cmocka_unit_test(runtimes_match_by_whole_parts_of_their_version),
        cmocka_unit_test(versions_are_from_and_below),
        cmocka_unit_test(parameters_match_as_a_list),
        cmocka_unit_test(brackets_keep_a_generic_parameter_together),
        cmocka_unit_test(attributes_match_by_name),
        cmocka_unit_test(which_body_of_an_async_method_is_said),
        cmocka_unit_test(exclusions_take_out),
        cmocka_unit_test(what_is_not_known_of_a_method_rules_nothing_out),
        cmocka_unit_test(the_prefilter_asks_for_no_more_than_it_is_given),
        cmocka_unit_test(rules_come_by_priority_and_then_as_they_stand),
        cmocka_unit_test(new_relic_takes_the_parameter_list_first_and_one_rule_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
