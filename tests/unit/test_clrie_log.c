/* SPDX-License-Identifier: MIT */
/* The engine's log: levels, the form of lines, paths of the file, and what must not disturb the host. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "clrie/log/log.h"

#define PREFIX "MicrosoftInstrumentationEngine_"

static const GUID plugin_id = {
    0xD2959618, 0xF9B6, 0x4CB6, {0x80, 0xCF, 0xF3, 0xB0, 0xE3, 0x26, 0x38, 0x88}};
#define PLUGIN_UPPER "D2959618-F9B6-4CB6-80CF-F3B0E3263888"
#define PLUGIN_LOWER "d2959618-f9b6-4cb6-80cf-f3b0e3263888"

static char  folder[64], log_path[96];
static char  text_read[400000];
static WCHAR wide_room[200000];

/* ---- help -------------------------------------------------------------------------------------- */

static const WCHAR *wide(const char *text)
{
    size_t n = 0;
    for (; text[n]; n++)
        wide_room[n] = (unsigned char)text[n];
    wide_room[n] = 0;
    return wide_room;
}

static void set(const char *name, const char *value)
{
    char whole[128];
    snprintf(whole, sizeof(whole), PREFIX "%s", name);
    if (value)
        setenv(whole, value, 1);
    else
        unsetenv(whole);
}

/* Sets the variables, and opens the log. */
static void open_log(const char *level, const char *file_level, const char *path)
{
    set("LogLevel", level);
    set("FileLog", file_level);
    set("FileLogPath", path);
    clrie_log_open();
}

static const char *read_file(const char *path)
{
    FILE  *f = fopen(path, "r");
    size_t n = f ? fread(text_read, 1, sizeof(text_read) - 1, f) : 0;
    if (f)
        fclose(f);
    text_read[n] = '\0';
    return f ? text_read : NULL;
}

static const char *read_log(void)
{
    const char *text = read_file(log_path);
    return text ? text : "(no file)";
}

/* Takes "NAME[HH:MM:SS]:" from @at, with a time of now. Returns what follows. */
static const char *after_time(const char *at, const char *name)
{
    time_t now = time(NULL);
    for (time_t t = now + 1; t >= now - 20; t--) {
        char      expected[64];
        struct tm tm;
        size_t    n = strlen(name);
        memcpy(expected, name, n);
        localtime_r(&t, &tm);
        strftime(expected + n, sizeof(expected) - n, "[%H:%M:%S]:", &tm);
        if (strncmp(at, expected, strlen(expected)) == 0)
            return at + strlen(expected);
    }
    fail_msg("no '%s' with the local time: %.60s", name, at);
    return NULL;
}

static int clean(void **state)
{
    static const char *const names[] = {"LogLevel",
                                        "FileLog",
                                        "FileLogPath",
                                        "DisableLogMethodPrefix",
                                        "LogLevel_" PLUGIN_UPPER,
                                        "LogLevel_" PLUGIN_LOWER};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        set(names[i], NULL);
    unlink(log_path);
    assert_int_equal(clrie_log_flags(), 0); /* each case closes what it opened */
    return 0;
}

/* ---- levels ------------------------------------------------------------------------------------ */

static void a_level_is_found_anywhere_in_the_text(void **state)
{
    static const struct {
        const char *text;
        uint32_t    flags;
    } cases[] = {{"", 0},
                 {"All", 7},
                 {"Errors", 1},
                 {"Messages", 2},
                 {"Dumps", 4},
                 {"Errors,Dumps", 5},
                 {"xMessagesyErrorsz", 3},
                 {"Errors|All", 7},
                 {"messages", 0},
                 {"ALL", 0},
                 {"Error", 0},
                 {"7", 0}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(clrie_log_parse(cases[i].text), cases[i].flags);
}

static void without_variables_nothing_is_written(void **state)
{
    (void)state;
    open_log(NULL, NULL, log_path);
    clrie_log_error(NULL, wide("text"));
    assert_int_equal(clrie_log_flags(), 0);
    assert_null(read_file(log_path));
    clrie_log_close();
    open_log("All", NULL, NULL); /* a level without a path */
    assert_int_equal(clrie_log_flags(), 0);
    clrie_log_error(NULL, wide("text"));
    clrie_log_close();
}

static void the_level_of_the_file_comes_before_the_level_of_everything(void **state)
{
    (void)state;
    open_log("All", "Dumps", log_path);
    assert_int_equal(clrie_log_flags(), CLRIE_LOG_RESULTS);
    clrie_log_error(NULL, wide("an error"));
    clrie_log_dump(NULL, wide("a dump"));
    assert_string_equal(read_log(), "a dump\n");
    clrie_log_close();
    open_log(NULL, "Errors", log_path); /* is enough alone */
    assert_int_equal(clrie_log_flags(), CLRIE_LOG_ERRORS);
    clrie_log_close();
    open_log("Messages", "nothing known", log_path); /* counts as none */
    assert_int_equal(clrie_log_flags(), CLRIE_LOG_TRACE);
    clrie_log_close();
}

static void flags_can_be_set_later(void **state)
{
    (void)state;
    open_log(NULL, NULL, log_path);
    clrie_log_set_flags(CLRIE_LOG_RESULTS);
    assert_int_equal(clrie_log_flags(), CLRIE_LOG_RESULTS);
    clrie_log_dump(NULL, wide("one"));
    clrie_log_set_flags(0);
    clrie_log_dump(NULL, wide("two"));
    assert_string_equal(read_log(), "one\n");
    clrie_log_set_file_flags(CLRIE_LOG_ALL); /* LogFileLevel of an attach */
    assert_int_equal(clrie_log_flags(), CLRIE_LOG_ALL);
    clrie_log_close();
}

/* ---- lines ------------------------------------------------------------------------------------- */

static void lines_have_the_form_of_the_engine(void **state)
{
    const char *at;
    (void)state;
    open_log("All", NULL, log_path);
    clrie_log_error(NULL, wide("an error"));
    clrie_log_message(NULL, wide("a message"));
    clrie_log_dump(NULL, wide("<Pid>1</Pid>"));
    clrie_log_message(NULL, wide(""));
    at = after_time(read_log(), "LogError");
    assert_int_equal(strncmp(at, "an error\n", 9), 0);
    at = after_time(at + 9, "LogMessage");
    assert_int_equal(strncmp(at, "a message\n<Pid>1</Pid>\n", 23), 0);
    at = after_time(at + 23, "LogMessage");
    assert_string_equal(at, "\n");
    clrie_log_close();
}

static void texts_are_written_literally(void **state)
{
    static const char text[] = "%s %n %d %% \\n \"<&>\r\nsecond line\t%";
    (void)state;
    open_log("Dumps", NULL, log_path);
    clrie_log_dump(NULL, wide(text));
    read_log();
    assert_int_equal(strlen(text_read), strlen(text) + 1);
    assert_int_equal(strncmp(text_read, text, strlen(text)), 0);
    clrie_log_close();
}

static void texts_are_utf_8(void **state)
{
    static const WCHAR text[] = {'a', 0xe4, 0x20ac, 0xd83d, 0xde00, 0xd800, 'b', 0};
    (void)state;
    open_log("Dumps", NULL, log_path);
    clrie_log_dump(NULL, text);
    assert_string_equal(read_log(), "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd"
                                    "b\n");
    clrie_log_close();
}

static void long_texts_are_cut(void **state)
{
    static char             text[100001];
    struct clrie_log_plugin plugin;
    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    open_log("Dumps", NULL, log_path);
    clrie_log_dump(NULL, wide(text));
    assert_int_equal(strlen(read_log()), CLRIE_LOG_TEXT_MAX + 1);
    unlink(log_path);
    clrie_log_close();
    open_log("Dumps", NULL, log_path);
    clrie_log_plugin_start(&plugin, &plugin_id);
    clrie_log_dump(&plugin, wide(text)); /* with the prefix, that ends CLRIE's process */
    assert_int_equal(strlen(read_log()), CLRIE_LOG_TEXT_MAX + 1);
    for (size_t i = 0; i < CLRIE_LOG_TEXT_MAX; i++)
        wide_room[i] = 0x20ac; /* three bytes each */
    wide_room[CLRIE_LOG_TEXT_MAX] = 0;
    unlink(log_path);
    clrie_log_plugin_end(&plugin);
    clrie_log_close();
    open_log("Dumps", NULL, log_path);
    clrie_log_dump(NULL, wide_room);
    assert_int_equal(strlen(read_log()), 3 * CLRIE_LOG_TEXT_MAX + 1);
    clrie_log_close();
}

static void messages_of_the_engine_are_formatted(void **state)
{
    (void)state;
    open_log("Dumps", NULL, log_path);
    clrie_log_print(CLRIE_LOG_RESULTS, "%s 0x%08x \xc3\xa4", "%d", 0x80004005u);
    clrie_log_print(CLRIE_LOG_ERRORS, "not in this level");
    assert_string_equal(read_log(), "%d 0x80004005 \xc3\xa4\n");
    clrie_log_close();
}

/* ---- plug-ins ---------------------------------------------------------------------------------- */

static void texts_of_a_plug_in_have_a_prefix(void **state)
{
    struct clrie_log_plugin plugin;
    (void)state;
    open_log("All", NULL, log_path);
    clrie_log_plugin_start(&plugin, &plugin_id);
    clrie_log_dump(&plugin, wide("text"));
    assert_string_equal(read_log(), "[IM:" PLUGIN_UPPER "]text\n");
    unlink(log_path);
    clrie_log_plugin_end(&plugin);
    clrie_log_close();
    set("DisableLogMethodPrefix", "0"); /* any value */
    open_log("All", NULL, log_path);
    clrie_log_plugin_start(&plugin, &plugin_id);
    clrie_log_error(&plugin, wide("text"));
    assert_string_equal(after_time(read_log(), "LogError"), "text\n");
    clrie_log_plugin_end(&plugin);
    clrie_log_close();
}

static void a_plug_in_has_a_level_of_its_own(void **state)
{
    static const char *const names[] = {"LogLevel_" PLUGIN_UPPER, "LogLevel_" PLUGIN_LOWER};
    struct clrie_log_plugin  plugin;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        set(names[i], "Dumps");
        open_log(NULL, NULL, log_path);
        assert_null(read_file(log_path));
        clrie_log_plugin_start(&plugin, &plugin_id); /* opens the file */
        assert_int_equal(plugin.flags, CLRIE_LOG_RESULTS);
        assert_int_equal(clrie_log_flags(), 0); /* the engine stays silent */
        clrie_log_dump(NULL, wide("engine"));
        clrie_log_error(&plugin, wide("not in its level"));
        clrie_log_dump(&plugin, wide("plug-in"));
        assert_string_equal(read_log(), "[IM:" PLUGIN_UPPER "]plug-in\n");
        clrie_log_plugin_end(&plugin);
        clrie_log_close();
        clean(NULL);
    }
}

static void a_plug_in_without_a_level_has_that_of_the_engine(void **state)
{
    struct clrie_log_plugin plugin;
    (void)state;
    open_log("Errors", NULL, log_path);
    clrie_log_plugin_start(&plugin, &plugin_id);
    assert_int_equal(plugin.flags, CLRIE_LOG_ERRORS);
    clrie_log_plugin_end(&plugin);
    set("LogLevel_" PLUGIN_UPPER, "Messages"); /* set: instead of the engine's */
    clrie_log_plugin_start(&plugin, &plugin_id);
    assert_int_equal(plugin.flags, CLRIE_LOG_TRACE);
    clrie_log_error(&plugin, wide("e"));
    clrie_log_message(&plugin, wide("m"));
    assert_string_equal(after_time(read_log(), "LogMessage"), "[IM:" PLUGIN_UPPER "]m\n");
    clrie_log_plugin_end(&plugin);
    clrie_log_close();
}

/* ---- the path ---------------------------------------------------------------------------------- */

static void a_folder_gets_a_file_with_the_process_id(void **state)
{
    static const char *const forms[] = {"%s", "%s/", "%s/."};
    char                     path[160], expected[160];
    (void)state;
    snprintf(expected, sizeof(expected), "%s/ProfilerLog_%u.txt", folder, (unsigned)getpid());
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        path[0] = '\0';
        if (strcmp(forms[i], "%s") == 0)
            snprintf(path, sizeof(path), "%s", folder);
        else
            snprintf(path, sizeof(path), "%s%s", folder, forms[i] + 2);
        open_log("Dumps", NULL, path);
        clrie_log_dump(NULL, wide("text"));
        assert_string_equal(read_file(expected), "text\n");
        clrie_log_close();
        unlink(expected);
    }
}

static void a_relative_path_is_of_the_folder_at_the_start(void **state)
{
    char here[256];
    (void)state;
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(folder), 0);
    open_log("Dumps", NULL, "log.txt");
    assert_int_equal(chdir(here), 0);
    clrie_log_dump(NULL, wide("text"));
    assert_string_equal(read_log(), "text\n");
    clrie_log_close();
}

static void a_missing_folder_means_no_log(void **state)
{
    char path[160];
    (void)state;
    snprintf(path, sizeof(path), "%s/no/log.txt", folder);
    open_log("All", NULL, path);
    assert_int_equal(clrie_log_flags(), 0);
    clrie_log_error(NULL, wide("text"));
    clrie_log_close();
    snprintf(path, sizeof(path), "%s/no/", folder);
    open_log("All", NULL, path);
    assert_int_equal(clrie_log_flags(), 0);
    clrie_log_close();
}

static void the_file_has_mode_0600_and_is_appended_to(void **state)
{
    struct stat st;
    mode_t      before = umask(0);
    (void)state;
    open_log("Dumps", NULL, log_path);
    umask(before);
    clrie_log_dump(NULL, wide("one"));
    assert_int_equal(stat(log_path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    clrie_log_close();
    open_log("Dumps", NULL, log_path);
    clrie_log_dump(NULL, wide("two"));
    assert_string_equal(read_log(), "one\ntwo\n");
    clrie_log_set_file_path(log_path); /* LogFilePath of an attach */
    clrie_log_dump(NULL, wide("three"));
    assert_string_equal(read_log(), "one\ntwo\nthree\n");
    clrie_log_close();
}

static void the_last_user_closes_the_log(void **state)
{
    (void)state;
    open_log("Dumps", NULL, log_path);
    clrie_log_open();
    clrie_log_close();
    clrie_log_dump(NULL, wide("one"));
    clrie_log_close();
    clrie_log_dump(NULL, wide("two"));
    assert_string_equal(read_log(), "one\n");
    clrie_log_close(); /* once too often: nothing */
    open_log("Dumps", NULL, log_path);
    clrie_log_dump(NULL, wide("three"));
    assert_string_equal(read_log(), "one\nthree\n");
    clrie_log_close();
}

/* ---- the host process -------------------------------------------------------------------------- */

static void a_host_that_closes_all_descriptors_keeps_its_files(void **state)
{
    char        other[96];
    struct stat st;
    int         first;
    (void)state;
    snprintf(other, sizeof(other), "%s/other", folder);
    open_log("Dumps", NULL, log_path);
    clrie_log_dump(NULL, wide("one"));
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    first = open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 20; i++)
        assert_true(dup(first) >
                    first); /* one of them has the number that the log might have had */
    clrie_log_dump(NULL, wide("two"));
    assert_string_equal(read_log(), "one\ntwo\n");
    assert_int_equal(fstat(first, &st), 0);
    assert_int_equal(st.st_size, 0);
    for (int fd = first; fd < first + 30; fd++)
        close(fd);
    clrie_log_close();
}

static void a_full_disk_loses_lines_and_nothing_else(void **state)
{
    struct rlimit limit, old;
    (void)state;
    open_log("Dumps", NULL, log_path);
    clrie_log_dump(NULL, wide("one"));
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 7; /* a write beyond it fails, and sends SIGXFSZ, which ends a process */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    clrie_log_dump(NULL, wide("second"));
    clrie_log_dump(NULL, wide("third"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    clrie_log_dump(NULL, wide("last"));
    assert_string_equal(read_log(), "one\nsec\nlast\n"); /* on a line of its own */
    clrie_log_close();
}

static void a_pipe_never_stops_the_host(void **state)
{
    static char text[3000];
    char        path[96], got[64] = "";
    int         fd;
    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    snprintf(path, sizeof(path), "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    open_log("Dumps", NULL, path); /* nobody reads it */
    assert_int_equal(clrie_log_flags(), 0);
    clrie_log_close();
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    open_log("Dumps", NULL, path);
    clrie_log_dump(NULL, wide("text"));
    if (clrie_log_flags()) /* 0 on a kernel without close_range(): pipes are refused there */
        assert_int_equal(read(fd, got, sizeof(got)), 5);
    for (int i = 0; i < 100; i++)
        clrie_log_dump(NULL, wide(text)); /* more than a pipe holds */
    close(fd);
    clrie_log_dump(NULL, wide("nobody reads this: no SIGPIPE"));
    clrie_log_close();
    alarm(0);
    unlink(path);
}

static void a_forked_child_writes_nothing(void **state)
{
    pid_t child;
    int   status;
    (void)state;
    open_log("Dumps", NULL, log_path);
    clrie_log_dump(NULL, wide("parent"));
    child = fork();
    if (child == 0) {
        alarm(20);
        clrie_log_dump(NULL, wide("child"));
        clrie_log_close();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    clrie_log_dump(NULL, wide("parent again"));
    assert_string_equal(read_log(), "parent\nparent again\n");
    clrie_log_close();
}

static void *write_lines(void *arg)
{
    static const WCHAR line[] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 0};
    (void)arg;
    for (int i = 0; i < 200; i++)
        clrie_log_dump(NULL, line);
    return NULL;
}

static void lines_of_several_threads_stay_whole(void **state)
{
    pthread_t threads[4];
    (void)state;
    open_log("Dumps", NULL, log_path);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    read_log();
    assert_int_equal(strlen(text_read), 4 * 200 * 11);
    for (size_t at = 0; text_read[at]; at += 11)
        assert_int_equal(strncmp(text_read + at, "0123456789\n", 11), 0);
    clrie_log_close();
}

static int make_folder(void **state)
{
    char made[] = "/tmp/sxsprof-test-XXXXXX";
    (void)state;
    if (!mkdtemp(made))
        return -1;
    snprintf(folder, sizeof(folder), "%s", made);
    snprintf(log_path, sizeof(log_path), "%s/log.txt", folder);
    return clean(NULL);
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_is_found_anywhere_in_the_text),
        cmocka_unit_test_teardown(without_variables_nothing_is_written, clean),
        cmocka_unit_test_teardown(the_level_of_the_file_comes_before_the_level_of_everything,
                                  clean),
        cmocka_unit_test_teardown(flags_can_be_set_later, clean),
        cmocka_unit_test_teardown(lines_have_the_form_of_the_engine, clean),
        cmocka_unit_test_teardown(texts_are_written_literally, clean),
        cmocka_unit_test_teardown(texts_are_utf_8, clean),
        cmocka_unit_test_teardown(long_texts_are_cut, clean),
        cmocka_unit_test_teardown(messages_of_the_engine_are_formatted, clean),
        cmocka_unit_test_teardown(texts_of_a_plug_in_have_a_prefix, clean),
        cmocka_unit_test_teardown(a_plug_in_has_a_level_of_its_own, clean),
        cmocka_unit_test_teardown(a_plug_in_without_a_level_has_that_of_the_engine, clean),
        cmocka_unit_test_teardown(a_folder_gets_a_file_with_the_process_id, clean),
        cmocka_unit_test_teardown(a_relative_path_is_of_the_folder_at_the_start, clean),
        cmocka_unit_test_teardown(a_missing_folder_means_no_log, clean),
        cmocka_unit_test_teardown(the_file_has_mode_0600_and_is_appended_to, clean),
        cmocka_unit_test_teardown(the_last_user_closes_the_log, clean),
        cmocka_unit_test_teardown(a_host_that_closes_all_descriptors_keeps_its_files, clean),
        cmocka_unit_test_teardown(a_full_disk_loses_lines_and_nothing_else, clean),
        cmocka_unit_test_teardown(a_pipe_never_stops_the_host, clean),
        cmocka_unit_test_teardown(a_forked_child_writes_nothing, clean),
        cmocka_unit_test_teardown(lines_of_several_threads_stay_whole, clean),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
