/* SPDX-License-Identifier: MIT */
/* test_runtime_facts.c - the table of runtime facts, and which row a runtime has. */
#include "tests/unit/manager_fixture.h"

/* ---- the table ------------------------------------------------------------------------------- */

static void rows_are_in_the_order_of_versions(void **state)
{
    const struct sxs_runtime_facts *before = sxs_facts_row(0), *f;
    size_t                          n = 1;
    (void)state;
    assert_non_null(before);
    for (; (f = sxs_facts_row(n)) != NULL; n++, before = f) {
        assert_true(f->major > before->major);
        assert_true(f->allocation_events >= before->allocation_events);
    }
    assert_ptr_equal(before, sxs_facts_newest());
    assert_null(sxs_facts_row(n + 1));
}

static void a_version_has_the_row_of_its_major_number(void **state)
{
    static const struct {
        const char *version;
        unsigned    major;
    } rows[] = {
        {"3.1.32", 3},
        {"5.0.17", 5},
        {"8.0.29", 8},
        {"8", 8},
        {"9.0.18", 9},
        {"10", 10},
        {"10.0.11", 10},
        {"2.0", 3},
        {"2.1.30", 3},
        {"4.0.30319", 4},
        {"0", 3},
        {"", 3},
        {"?", 3},
        {"v8.0", 3},
        {"-8", 3},
        {" 8", 3},
        {"8x", 8},
        {"8.x.1", 8},
        {"10.0.0-rc.1", 10},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(sxs_facts_of(rows[i].version)->major, rows[i].major);
        assert_true(sxs_facts_know(rows[i].version));
    }
    for (size_t i = 0; sxs_facts_row(i); i++)
        assert_ptr_equal(sxs_facts_of_major(sxs_facts_row(i)->major), sxs_facts_row(i));
}

static void a_version_that_is_newer_than_all_has_the_newest_row(void **state)
{
    char next[16];
    (void)state;
    snprintf(next, sizeof(next), "%u.0.0", sxs_facts_newest()->major + 1);
    assert_ptr_equal(sxs_facts_of(next), sxs_facts_newest());
    assert_ptr_equal(sxs_facts_of("999999999.0"), sxs_facts_newest());
    assert_ptr_equal(sxs_facts_of_major(UINT32_MAX), sxs_facts_newest());
    assert_false(sxs_facts_know(next));
    assert_ptr_equal(sxs_facts_of_info(1000), sxs_facts_newest());
}

/* What the code decided by versions, column by column. */
static void columns_say_what_was_measured(void **state)
{
    (void)state;
    for (unsigned major = 2; major <= 10; major++) {
        const struct sxs_runtime_facts *f = sxs_facts_of_major(major);
        assert_int_equal(f->is_tested, major >= 8);
        assert_int_equal(f->refuses_old_profilers, major == 4);
        assert_int_equal(f->profiles_by_default, major >= 8);
        assert_int_equal(f->aggressive_is_tier_1, major == 8);
        assert_int_equal(f->has_rejit_race, major < 9);
        assert_int_equal(f->has_filter_race, major >= 9);
        assert_int_equal(f->takes_optimization_late, major >= 10);
        assert_int_equal(f->allocation_events, major >= 10  ? SXS_ALLOCATION_SAMPLES
                                               : major >= 8 ? SXS_ALLOCATION_TICKS
                                                            : SXS_ALLOCATION_NONE);
        assert_int_equal(f->leaves_out_boxed, major >= 10);
        assert_int_equal(f->names_constructor_waits, major >= 10);
        assert_int_equal(f->has_kestrel_routes, major >= 8);
        assert_int_equal(f->info >= SXS_INFO_EVENT_PIPE, major >= 5);
    }
}

static bool has_ticks(const struct sxs_runtime_facts *f)
{
    return f->allocation_events == SXS_ALLOCATION_TICKS;
}

static bool is_first(const struct sxs_runtime_facts *f)
{
    return f->major == 8;
}

static bool is_any(const struct sxs_runtime_facts *f)
{
    return f != NULL;
}

static void messages_list_the_tested_versions_with_a_fact(void **state)
{
    char text[SXS_FACTS_VERSIONS], all[SXS_FACTS_VERSIONS];
    (void)state;
    assert_string_equal(sxs_facts_versions(has_ticks, true, text), "8 and 9");
    assert_string_equal(sxs_facts_versions(is_first, true, text), "8");
    snprintf(all, sizeof(all), "8 to %u", sxs_facts_newest()->major);
    assert_string_equal(sxs_facts_versions(is_any, true, text), all);
}

/* ---- runtimes -------------------------------------------------------------------------------- */

static void every_version_body(void)
{
    struct fake_host hosts[ARRAY_LEN(versions)];
    prepare();
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        const struct sxs_runtime_facts *f;
        hosts[i] = fake_start(versions[i]);
        f = sxs_runtime_facts(kept[i + 1]);
        CHECK(f == sxs_facts_of(versions[i]));
        if (strcmp(versions[i], "2.0") != 0) /* it has no row of its own */
            CHECK_EQ(f->info, kept[i + 1]->info_version);
        CHECK_EQ(sxs_runtime_has(kept[i + 1], SXS_INFO_EVENT_PIPE),
                 kept[i + 1]->info_version >= SXS_INFO_EVENT_PIPE);
    }
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++)
        fake_end(&hosts[i]);
}

static void each_runtime_has_the_row_of_its_version(void **state)
{
    (void)state;
    PASSES(every_version_body);
}

/* Loads a copy of the runtime of @version in a folder named @folder, which does not say its version. */
static struct fake_host load_silent(const char *tmp, const char *version, const char *folder)
{
    char             name[64], command[2048], path[512];
    struct fake_host h;
    snprintf(name, sizeof(name), "fakeclr/%s/libcoreclr.so", version);
    snprintf(command, sizeof(command), "mkdir -p '%s/%s' && cp '%s' '%s/%s/'", tmp, folder,
             built(name), tmp, folder);
    CHECK_EQ(system(command), 0);
    snprintf(path, sizeof(path), "%s/%s/libcoreclr.so", tmp, folder);
    h = fake_load_path(path);
    CHECK_EQ(h.c->fail_call("GetRuntimeInformation", E_FAIL, 0), S_OK);
    return h;
}

static void newer_body(void)
{
    const char      *tmp = temporary(), *said;
    struct fake_host first, second;
    prepare();
    first = load_silent(tmp, "9.0", "99.0.1");
    second = load_silent(tmp, "10.0", "100.0.0-rc.1");
    capture();
    CHECK_EQ(fake_initialize(&first), S_OK);
    CHECK_EQ(fake_initialize(&second), S_OK);
    said = captured();
    CHECK_EQ(lines_of(said), 1);
    CHECK(strstr(said, "runtime 1 (99.0.1) is newer than this profiler knows"));
    CHECK(sxs_runtime_facts(kept[1]) == sxs_facts_newest());
    CHECK(sxs_runtime_facts(kept[2]) == sxs_facts_newest());
    fake_end(&first);
    fake_end(&second);
    remove_tree(tmp);
}

static void newer_runtimes_have_the_newest_row_and_one_line_says_so(void **state)
{
    (void)state;
    PASSES(newer_body);
}

static void nameless_body(void)
{
    const char      *tmp = temporary();
    struct fake_host nameless;
    prepare();
    nameless = load_silent(tmp, "9.0", "app");
    CHECK_EQ(fake_initialize(&nameless), S_OK);
    CHECK(strcmp(sxs_runtime_version(kept[1]), "") == 0);
    CHECK_EQ(sxs_runtime_facts(kept[1])->major, 9);
    fake_end(&nameless);
    remove_tree(tmp);
}

static void a_runtime_without_a_version_has_the_row_of_its_info(void **state)
{
    (void)state;
    PASSES(nameless_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_in_the_order_of_versions),
        cmocka_unit_test(a_version_has_the_row_of_its_major_number),
        cmocka_unit_test(a_version_that_is_newer_than_all_has_the_newest_row),
        cmocka_unit_test(columns_say_what_was_measured),
        cmocka_unit_test(messages_list_the_tested_versions_with_a_fact),
        cmocka_unit_test(each_runtime_has_the_row_of_its_version),
        cmocka_unit_test(newer_runtimes_have_the_newest_row_and_one_line_says_so),
        cmocka_unit_test(a_runtime_without_a_version_has_the_row_of_its_info),
    };
    return cmocka_run_group_tests(tests, plain_environment, NULL);
}
