/* SPDX-License-Identifier: MIT */
/* test_settings.c - what the environment may say, and what holds when it says nonsense. */
#include "manager/settings.h"

#include "manager/base/log.h"
#include "signals/signals.h"
#include "tests/unit/fake_host.h"

/* Settings are read once per process and kept; here many times. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char                                        *__lsan_default_suppressions(void)
{
    return "leak:sxs_settings_read\n";
}

static const struct sxs_tool        always = {.name = "always", .always = 1};
static const struct sxs_tool        red = {.name = "red"};
static const struct sxs_tool        redder = {.name = "redder"};
static const struct sxs_tool *const known[] = {&always, &red, &redder};

/* Reads settings with @name set to @value (NULL: not set); *said gets what went to stderr. */
static struct sxs_settings read_with(const char *name, const char *value, const char **said)
{
    struct sxs_settings s;
    plain_environment(NULL);
    if (value)
        setenv(name, value, 1);
    capture();
    sxs_settings_read(&s, known, ARRAY_LEN(known));
    *said = captured();
    plain_environment(NULL);
    return s;
}

static void every_value_of_pick_is_understood_or_reported_once(void **state)
{
    static char too_long[700] = "one:";
    static const struct {
        const char   *value;
        enum sxs_pick pick;
        const char   *what;
        int           lines;
    } rows[] = {
        {NULL, SXS_PICK_ALL, "", 0},
        {"", SXS_PICK_ALL, "", 0},
        {"all", SXS_PICK_ALL, "", 0},
        {"first", SXS_PICK_FIRST, "", 0},
        {"one:8", SXS_PICK_ONE, "8", 0},
        {"one:8.0.29", SXS_PICK_ONE, "8.0.29", 0},
        {"one:/opt/x/libcoreclr.so", SXS_PICK_ONE, "/opt/x/libcoreclr.so", 0},
        {"one:", SXS_PICK_ALL, "", 1},
        {"one", SXS_PICK_ALL, "", 1},
        {"ALL", SXS_PICK_ALL, "", 1},
        {"first ", SXS_PICK_ALL, "", 1},
        {"last", SXS_PICK_ALL, "", 1},
        {too_long, SXS_PICK_ALL, "", 1},
    };
    (void)state;
    memset(too_long + 4, 'x', sizeof(too_long) - 5);
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        const char         *said;
        struct sxs_settings s = read_with("SXSPROF_PICK", rows[i].value, &said);
        assert_int_equal(s.pick, rows[i].pick);
        assert_string_equal(s.pick_what, rows[i].what);
        assert_int_equal(lines_of(said), rows[i].lines);
        if (rows[i].lines) {
            assert_non_null(strstr(said, "SXSPROF_PICK="));
            assert_non_null(strstr(said, "expected all, first, or one:"));
        }
    }
}

static void every_value_of_unpicked_is_understood_or_reported_once(void **state)
{
    static const struct {
        const char *value;
        int         cancel, lines;
    } rows[] = {{NULL, 0, 0},     {"", 0, 0},     {"guard", 0, 0}, {"cancel", 1, 0},
                {"Cancel", 0, 1}, {"none", 0, 1}, {"1", 0, 1},     {"cancel,guard", 0, 1}};
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        const char         *said;
        struct sxs_settings s = read_with("SXSPROF_UNPICKED", rows[i].value, &said);
        assert_int_equal(s.cancel, rows[i].cancel);
        assert_int_equal(lines_of(said), rows[i].lines);
        if (rows[i].lines)
            assert_non_null(strstr(said, "expected guard or cancel"));
    }
}

static void tools_are_enabled_by_name_with_options_and_unknown_ones_are_named(void **state)
{
    static const struct {
        const char            *value;
        size_t                 n;
        const struct sxs_tool *last;
        const char            *options;
        int                    lines;
    } rows[] = {
        {NULL, 1, &always, "", 0},
        {"", 1, &always, "", 0},
        {";;", 1, &always, "", 0},
        {"red", 2, &red, "", 0},
        {"red:", 2, &red, "", 0},
        {"redder:a=1,b:2", 2, &redder, "a=1,b:2", 0},
        {"red;redder:x", 3, &redder, "x", 0},
        {"red:1;red:2", 2, &red, "2", 0},
        {"always:o", 1, &always, "o", 0},
        {"re", 1, &always, "", 1},
        {"blue;red:k", 2, &red, "k", 1},
        {"blue;green", 1, &always, "", 2},
        {":red", 1, &always, "", 1},
    };
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        const char         *said;
        struct sxs_settings s = read_with("SXSPROF_TOOLS", rows[i].value, &said);
        assert_int_equal(s.n_tools, rows[i].n);
        assert_ptr_equal(s.tools[0].tool, &always);
        assert_ptr_equal(s.tools[s.n_tools - 1].tool, rows[i].last);
        assert_string_equal(s.tools[s.n_tools - 1].options, rows[i].options);
        assert_int_equal(lines_of(said), rows[i].lines);
    }
}

/* One more than a runtime can have. */
static void a_tool_too_many_is_named(void **state)
{
    static struct sxs_tool       many[SXS_MAX_TOOLS + 1];
    static char                  names[SXS_MAX_TOOLS + 1][8];
    static const struct sxs_tool *all[SXS_MAX_TOOLS + 1];
    struct sxs_settings          s;
    const char                  *said;
    (void)state;
    for (unsigned i = 0; i <= SXS_MAX_TOOLS; i++) {
        snprintf(names[i], sizeof(names[i]), "t%u", i);
        many[i] = (struct sxs_tool){.name = names[i], .always = 1};
        all[i] = &many[i];
    }
    plain_environment(NULL);
    capture();
    sxs_settings_read(&s, all, SXS_MAX_TOOLS);
    assert_int_equal(lines_of(captured()), 0);
    capture();
    sxs_settings_read(&s, all, SXS_MAX_TOOLS + 1);
    said = captured();
    assert_int_equal(s.n_tools, SXS_MAX_TOOLS);
    assert_int_equal(lines_of(said), 1);
    assert_non_null(strstr(said, "tool t64 is off"));
}

static void the_folder_is_kept_though_the_host_changes_its_environment(void **state)
{
    const char         *said;
    struct sxs_settings s = read_with("SXSPROF_OUT", "/some/where", &said);
    (void)state;
    assert_string_equal(s.out, "/some/where");
    assert_int_equal(lines_of(said), 0);
    s = read_with("SXSPROF_OUT", NULL, &said);
    assert_null(s.out);
}

static void every_value_of_log_is_understood_or_reported_once(void **state)
{
    static const struct {
        const char        *value;
        enum sxs_log_level level;
        int                lines;
    } rows[] = {{NULL, SXS_LOG_WARN, 0},   {"", SXS_LOG_WARN, 0},     {"error", SXS_LOG_ERROR, 0},
                {"warn", SXS_LOG_WARN, 0}, {"info", SXS_LOG_INFO, 0}, {"debug", SXS_LOG_DEBUG, 0},
                {"all", SXS_LOG_WARN, 1},  {"3", SXS_LOG_WARN, 1}};
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        plain_environment(NULL);
        if (rows[i].value)
            setenv("SXSPROF_LOG", rows[i].value, 1);
        sxs_log_level = SXS_LOG_WARN;
        capture();
        sxs_log_init();
        assert_int_equal(lines_of(captured()), rows[i].lines);
        assert_int_equal(sxs_log_level, rows[i].level);
    }
    sxs_log_level = SXS_LOG_WARN;
}

/* The router reads its own variable, once. */
static const char *signals_value;
static int         signals_off, signals_lines;
static void        read_signals(void)
{
    if (signals_value)
        setenv("SXSPROF_SIGNALS", signals_value, 1);
    capture();
    const struct sxs_signals *s = sxs_signals();
    CHECK_EQ(lines_of(captured()), signals_lines);
    CHECK_EQ(s->off, signals_off);
    CHECK_EQ(s->preloaded, 0);
}

static void every_value_of_signals_is_understood_or_reported_once(void **state)
{
    static const struct {
        const char *value;
        int         off, lines;
    } rows[] = {{NULL, 0, 0},  {"", 0, 0},   {"on", 0, 0}, {"off", 1, 0},
                {"OFF", 0, 1}, {"no", 0, 1}, {"0", 0, 1}};
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        signals_value = rows[i].value;
        signals_off = rows[i].off;
        signals_lines = rows[i].lines;
        PASSES(read_signals);
    }
}

static void a_version_is_named_by_its_whole_leading_parts(void **state)
{
    static const struct {
        const char *what, *version;
        int         yes;
    } rows[] = {
        {"8", "8.0.29", 1},        {"8.0", "8.0.29", 1},   {"8.0.29", "8.0.29", 1},
        {"8", "80.1", 0},          {"8.0.2", "8.0.29", 0}, {"8.", "8.0.29", 0},
        {"8.0.29.1", "8.0.29", 0}, {"9", "8.0.29", 0},     {"10", "10.0.11", 1},
        {"1", "10.0.11", 0},       {"2", "2.0", 1},        {"2.0", "2.0", 1},
        {"4", "4.0.30319", 1},     {"8", "", 0},           {"10.0.11", "10.0.110", 0},
    };
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(sxs_settings_names(rows[i].what, rows[i].version, "/x/libcoreclr.so"),
                         rows[i].yes);
}

static void a_path_names_the_very_file_through_links_too(void **state)
{
    char dir[300], file[320], other[320], link_file[320], link_dir[320], through[360], dots[360];
    (void)state;
    snprintf(dir, sizeof(dir), "%s", temporary());
    snprintf(file, sizeof(file), "%s/libcoreclr.so", dir);
    snprintf(other, sizeof(other), "%s/other.so", dir);
    snprintf(link_file, sizeof(link_file), "%s/link.so", dir);
    snprintf(link_dir, sizeof(link_dir), "%s/link", dir);
    snprintf(through, sizeof(through), "%s/libcoreclr.so", link_dir);
    snprintf(dots, sizeof(dots), "%s/./link/./libcoreclr.so", dir);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    close(open(other, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(symlink(file, link_file), 0);
    assert_int_equal(symlink(".", link_dir), 0);
    assert_true(sxs_settings_names(file, "8.0", file));
    assert_true(sxs_settings_names(link_file, "8.0", file));
    assert_true(sxs_settings_names(through, "8.0", file));
    assert_true(sxs_settings_names(file, "8.0", link_file));
    assert_true(sxs_settings_names(dots, "8.0", through));
    assert_false(sxs_settings_names(other, "8.0", file));
    assert_false(sxs_settings_names("/nowhere/libcoreclr.so", "8.0", file));
    assert_true(sxs_settings_names("/nowhere/a.so", "8.0", "/nowhere/a.so"));
    assert_false(sxs_settings_names("8.0/", "8.0", file));
    remove_tree(dir);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_of_pick_is_understood_or_reported_once),
        cmocka_unit_test(every_value_of_unpicked_is_understood_or_reported_once),
        cmocka_unit_test(tools_are_enabled_by_name_with_options_and_unknown_ones_are_named),
        cmocka_unit_test(a_tool_too_many_is_named),
        cmocka_unit_test(the_folder_is_kept_though_the_host_changes_its_environment),
        cmocka_unit_test(every_value_of_log_is_understood_or_reported_once),
        cmocka_unit_test(every_value_of_signals_is_understood_or_reported_once),
        cmocka_unit_test(a_version_is_named_by_its_whole_leading_parts),
        cmocka_unit_test(a_path_names_the_very_file_through_links_too),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
