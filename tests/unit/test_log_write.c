/* SPDX-License-Identifier: MIT */
/* test_log_write.c - which lines of the library are in the file "log" of a session. */
#include <sys/wait.h>

#include "base/log.h"
#include "session/format/session.h"
#include "session/write/log_write.h"
#include "tests/unit/fake_host.h"

static char              dir[256];
static struct sxs_folder folder;
static char              text[SXS_LOG_BYTES + 1];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "%s", temporary());
    return 0;
}

static int drop_dir(void **state)
{
    (void)state;
    remove_tree(dir);
    return 0;
}

static void begin(void)
{
    capture(); /* of standard error */
    sxs_log_file_keep();
    CHECK_EQ(sxs_folder_open(&folder, dir), 0);
}

/* The file up to its first zero byte. */
static const char *kept(void)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/" SXS_LOG_FILE, dir);
    int fd = open(path, O_RDONLY);
    memset(text, 0, sizeof(text));
    CHECK(fd >= 0);
    CHECK(read(fd, text, SXS_LOG_BYTES) >= 0);
    close(fd);
    return text;
}

static int has_file(void)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/" SXS_LOG_FILE, dir);
    return access(path, F_OK) == 0;
}

static void once_body(void)
{
    begin();
    sxs_error("a line before the session");
    sxs_log_file_open(&folder);
    sxs_warn("a warning");
    sxs_error("a line before the session");
    sxs_warn("a warn");
    sxs_warn("a warning");
    sxs_note("chatter");
    CHECK_EQ(strcmp(kept(), "sxsprof: a line before the session\nsxsprof: a warning\nsxsprof: a warn\n"),
             0);
    sxs_log_file_close();
    CHECK_EQ(strlen(kept()), sizeof("sxsprof: a line before the session\nsxsprof: a warning\n"
                                    "sxsprof: a warn\n") - 1);
}

static void each_error_and_warning_is_there_once(void **state)
{
    (void)state;
    PASSES(once_body);
}

static void level_body(void)
{
    const char *said;
    begin();
    sxs_log_file_open(&folder);
    sxs_log_level = SXS_LOG_ERROR;
    sxs_warn("a warning");
    said = captured();
    CHECK_EQ(said[0], '\0');
    CHECK_EQ(strcmp(kept(), "sxsprof: a warning\n"), 0);
}

static void a_warning_is_there_whatever_the_level(void **state)
{
    (void)state;
    PASSES(level_body);
}

static void fill(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sxs_error("line %u of many, which are all different", i);
}

static void room_body(void)
{
    begin();
    fill(200); /* more than can wait */
    sxs_log_file_open(&folder);
    fill(1);
    CHECK(strstr(kept(), "\nsxsprof: ") && !strstr(kept(), "line 199 "));
    CHECK(strstr(kept(), "more lines had no room\n"));
    sxs_log_file_close();
    remove_tree(dir);
    CHECK_EQ(mkdir(dir, 0700), 0);
    CHECK_EQ(sxs_folder_open(&folder, dir), 0);
    sxs_log_file_open(&folder);
    fill(1000);
    unsigned lines = 0;
    for (const char *at = kept(); (at = strchr(at, '\n')); at++)
        lines++;
    char last[80];
    snprintf(last, sizeof(last), "\nsxsprof: %u more lines had no room\n", 1000 - (lines - 1));
    CHECK(lines > 200 && strlen(text) <= SXS_LOG_BYTES);
    CHECK_EQ(strcmp(text + strlen(text) - strlen(last), last), 0);
}

static void lines_without_room_are_counted(void **state)
{
    (void)state;
    PASSES(room_body);
}

static void child_body(void)
{
    int status;
    begin();
    sxs_log_file_open(&folder);
    sxs_error("of the parent");
    pid_t pid = fork();
    if (pid == 0) {
        sxs_error("of the child");
        sxs_log_file_close();
        exit(0);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(strcmp(kept(), "sxsprof: of the parent\n"), 0);
}

static void a_forked_child_leaves_its_parents_file_alone(void **state)
{
    (void)state;
    PASSES(child_body);
}

static void none_body(void)
{
    begin();
    sxs_log_file_open(&folder);
    CHECK(has_file());
    sxs_log_file_close();
    CHECK(!has_file());
    size_t mark = sxs_log_file_mark();
    sxs_error("of a session that could not begin");
    sxs_log_file_forget(mark);
    sxs_log_file_open(&folder);
    sxs_log_file_close();
    CHECK(!has_file());
}

static void without_a_line_no_file_is_left(void **state)
{
    (void)state;
    PASSES(none_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_error_and_warning_is_there_once, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(a_warning_is_there_whatever_the_level, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(lines_without_room_are_counted, make_dir, drop_dir),
        cmocka_unit_test_setup_teardown(a_forked_child_leaves_its_parents_file_alone, make_dir,
                                        drop_dir),
        cmocka_unit_test_setup_teardown(without_a_line_no_file_is_left, make_dir, drop_dir),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
