/* SPDX-License-Identifier: MIT */
/* test_session.c - the census file: whose it is, what it survives, what becomes of it in trouble. */
#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>

#include "session/read/session_read.h"
#include "session/write/session_write.h"
#include "tests/unit/fake_host.h"

static char dir[256]; /* the test at hand's folder; the session goes to dir/out */
static char out[300];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "%s", temporary());
    snprintf(out, sizeof(out), "%s/out", dir);
    return 0;
}

static int drop_dir(void **state)
{
    (void)state;
    remove_tree(dir);
    return 0;
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    CHECK_EQ(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static int entries(const char *path)
{
    DIR *d = opendir(path);
    int  n = 0;
    CHECK(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* Counts to @n in row 1 of a census that is to be in @where; *said: what went to stderr. */
static void count_to(const char *where, unsigned n, const char **said)
{
    capture();
    struct sxs_census *c = sxs_session_open(where);
    *said = captured();
    CHECK(c);
    struct sxs_census_runtime *row = sxs_session_row(1);
    atomic_fetch_add(&row->modules, n);
    atomic_store(&row->state, SXS_STATE_PICKED);
    CHECK_EQ(c->runtimes[0].modules, n);
}

static uint64_t recorded_modules(void)
{
    struct sxs_session s;
    CHECK_EQ(sxs_session_read(out, &s), 0);
    CHECK_EQ(s.n_problems, 0);
    CHECK_EQ(s.n_processes, 1);
    CHECK_EQ(s.processes[0].n_runtimes, 1);
    uint64_t n = s.processes[0].runtimes[0].modules;
    sxs_session_free(&s);
    return n;
}

/* ---- where it lies --------------------------------------------------------------------------- */

static void private_body(void)
{
    const char *said;
    char        path[400];
    umask(0);
    count_to(out, 7, &said);
    CHECK_EQ(lines_of(said), 0);
    CHECK_EQ(mode_of(out), 0700);
    snprintf(path, sizeof(path), "%s/%d", out, (int)getpid());
    CHECK_EQ(mode_of(path), 0700);
    snprintf(path, sizeof(path), "%s/%d/census", out, (int)getpid());
    CHECK_EQ(mode_of(path), 0600);
    struct sxs_census *again = sxs_session_open("/somewhere/else"); /* the first call decided */
    CHECK_EQ(again->runtimes[0].modules, 7);
    CHECK_EQ(again->pid, getpid());
}

static void folder_and_file_are_private_whatever_the_umask(void **state)
{
    (void)state;
    PASSES(private_body);
    assert_int_equal(recorded_modules(), 7);
}

static void pid_again_body(void)
{
    const char *said;
    char        taken[400], file[420];
    snprintf(taken, sizeof(taken), "%s/%d", out, (int)getpid());
    snprintf(file, sizeof(file), "%s/census", taken);
    CHECK_EQ(mkdir(out, 0700), 0);
    CHECK_EQ(mkdir(taken, 0700), 0);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    count_to(out, 3, &said);
    CHECK_EQ(lines_of(said), 0);
    struct stat st;
    CHECK_EQ(stat(file, &st), 0);
    CHECK_EQ(st.st_size, 0); /* what was there is never written to */
    snprintf(file, sizeof(file), "%s-2/census", taken);
    CHECK_EQ(stat(file, &st), 0);
    CHECK_EQ(st.st_size, sizeof(struct sxs_census));
}

static void a_pid_that_comes_back_gets_a_folder_of_its_own(void **state)
{
    (void)state;
    PASSES(pid_again_body);
}

static void planted_link_body(void)
{
    const char *said;
    char        planted[400], target[400];
    snprintf(target, sizeof(target), "%s/target", dir);
    snprintf(planted, sizeof(planted), "%s/%d", out, (int)getpid());
    CHECK_EQ(mkdir(out, 0700), 0);
    CHECK_EQ(mkdir(target, 0700), 0);
    CHECK_EQ(symlink(target, planted), 0);
    count_to(out, 3, &said);
    CHECK_EQ(entries(target), 0);
}

static void a_link_planted_in_its_place_is_not_followed(void **state)
{
    (void)state;
    PASSES(planted_link_body);
}

/* ---- trouble --------------------------------------------------------------------------------- */

static void one_line_and_in_memory(const char *where, const char *why)
{
    const char *said;
    count_to(where, 5, &said); /* counts all the same */
    CHECK_EQ(lines_of(said), 1);
    if (!strstr(said, why))
        dprintf(check_fd, "%s", said);
    CHECK(strstr(said, why));
    CHECK(strstr(said, "SXSPROF_OUT=") && strstr(said, "the program runs on"));
}

static void linked_body(void)
{
    char target[400];
    snprintf(target, sizeof(target), "%s/target", dir);
    CHECK_EQ(mkdir(target, 0700), 0);
    CHECK_EQ(symlink(target, out), 0);
    one_line_and_in_memory(out, "it is a symbolic link");
    CHECK_EQ(entries(target), 0);
}

static void linked_with_slash_body(void)
{
    char target[400];
    snprintf(target, sizeof(target), "%s/target", dir);
    CHECK_EQ(mkdir(target, 0700), 0);
    CHECK_EQ(symlink(target, out), 0);
    strcat(out, "//");
    one_line_and_in_memory(out, "it is a symbolic link");
    CHECK_EQ(entries(target), 0);
}

static void a_folder_that_is_a_link_is_refused(void **state)
{
    (void)state;
    PASSES(linked_body);
}

static void a_slash_behind_it_makes_no_link_a_folder(void **state)
{
    (void)state;
    PASSES(linked_with_slash_body);
}

static mode_t open_to;
static void   open_folder_body(void)
{
    CHECK_EQ(mkdir(out, 0700), 0);
    CHECK_EQ(chmod(out, open_to), 0);
    one_line_and_in_memory(out, "others may write into the folder");
    CHECK_EQ(entries(out), 0);
}

static void a_folder_that_others_may_write_into_is_refused(void **state)
{
    static const mode_t modes[] = {0770, 0702, 01777, 02775};
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(modes); i++) {
        open_to = modes[i];
        PASSES(open_folder_body);
        assert_int_equal(rmdir(out), 0);
    }
}

static void readable_body(void)
{
    const char *said;
    CHECK_EQ(mkdir(out, 0700), 0);
    CHECK_EQ(chmod(out, 0755), 0);
    count_to(out, 8, &said);
    CHECK_EQ(lines_of(said), 0);
}

static void a_folder_that_others_may_read_is_taken(void **state)
{
    (void)state;
    PASSES(readable_body);
    assert_int_equal(recorded_modules(), 8);
}

static void foreign_body(void)
{
    CHECK_EQ(mkdir(out, 0700), 0);
    CHECK_EQ(chown(out, 65534, 65534), 0);
    one_line_and_in_memory(out, "belongs to another user (uid 65534)");
    CHECK_EQ(entries(out), 0);
}

static void a_folder_of_another_user_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root may give a folder away */
    PASSES(foreign_body);
}

static void unwritable_body(void)
{
    CHECK_EQ(mkdir(out, 0500), 0);
    CHECK_EQ(chmod(dir, 0755), 0);
    CHECK_EQ(chmod(out, 0555), 0);
    if (geteuid() == 0) { /* permissions mean nothing to root */
        CHECK_EQ(chown(out, 65534, 65534), 0);
        CHECK_EQ(setresuid(65534, 65534, 65534), 0);
    }
    one_line_and_in_memory(out, "Permission denied");
}

static void a_folder_without_write_permission_costs_one_line(void **state)
{
    (void)state;
    PASSES(unwritable_body);
}

static void missing_body(void)
{
    one_line_and_in_memory("/nonexistent/folder/below", "No such file or directory");
}

static void file_body(void)
{
    close(open(out, O_CREAT | O_WRONLY, 0600));
    one_line_and_in_memory(out, "Not a directory");
}

static void a_folder_that_cannot_be_costs_one_line(void **state)
{
    (void)state;
    PASSES(missing_body);
    PASSES(file_body);
}

static void too_large_body(void)
{
    struct rlimit small = {4096, 4096};
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0); /* SIGXFSZ has its default: it would end us */
    one_line_and_in_memory(out, "File too large");
    CHECK_EQ(entries(out), 0);
    sigset_t pending;
    sigpending(&pending);
    CHECK(!sigismember(&pending, SIGXFSZ));
}

static void a_file_size_limit_costs_one_line_and_not_the_host(void **state)
{
    (void)state;
    PASSES(too_large_body);
}

static int  tiny_disk; /* 0 when one could be mounted */
static void disk_full_body(void)
{
    CHECK_EQ(mkdir(out, 0700), 0);
    one_line_and_in_memory(out, "No space left on device");
    CHECK_EQ(entries(out), 0);
}

static void try_mount_body(void)
{
    char command[700];
    snprintf(command, sizeof(command),
             "mount -t tmpfs -o size=8k,nr_inodes=100 none '%s' 2>/dev/null", dir);
    exit(system(command) == 0 ? 0 : 1);
}

static void a_full_disk_costs_one_line(void **state)
{
    char command[400];
    (void)state;
    tiny_disk = child_status(try_mount_body);
    if (tiny_disk != 0)
        skip(); /* only root may mount, and not everywhere */
    int status = child_status(disk_full_body);
    snprintf(command, sizeof(command), "umount '%s'", dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(status, 0);
}

static void memory_only_body(void)
{
    const char *said;
    count_to(NULL, 9, &said);
    CHECK_EQ(lines_of(said), 0);
}

static void empty_body(void)
{
    const char *said;
    count_to("", 9, &said);
    CHECK_EQ(lines_of(said), 0);
}

static void without_a_folder_it_counts_in_memory_and_says_nothing(void **state)
{
    (void)state;
    PASSES(memory_only_body);
    PASSES(empty_body);
}

/* ---- forks and ends -------------------------------------------------------------------------- */

static void fork_body(void)
{
    const char *said;
    int         status;
    count_to(out, 5, &said);
    struct sxs_census_runtime *row = sxs_session_row(1);
    pid_t                      pid = fork();
    if (pid == 0) {
        atomic_fetch_add(&row->modules, 100); /* the row is still there, in memory of its own */
        sxs_session_row(2)->modules = 50;
        _exit(atomic_load(&row->modules) < 100);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(row->modules, 5);
    CHECK_EQ(sxs_session_open(NULL)->n_runtimes, 1);
    atomic_fetch_add(&row->modules, 1);
}

static void what_a_forked_child_counts_is_not_in_the_parents_file(void **state)
{
    (void)state;
    PASSES(fork_body);
    assert_int_equal(recorded_modules(), 6);
}

/* The fork copies the limit; the child's mapping is refused. */
static void poor_fork_body(void)
{
    const struct rlimit none = {4096, 4096};
    const char         *said;
    int                 status;
    count_to(out, 5, &said);
    struct sxs_census_runtime *row = sxs_session_row(1);
    CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
    pid_t pid = fork();
    if (pid == 0) {
        atomic_fetch_add(&row->modules, 100);
        _exit(0);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(row->modules, 105);
    CHECK_EQ(sxs_session_open(NULL)->has_children, 1);
}

static void a_child_that_is_counted_with_its_parent_is_noted_in_the_parents_file(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* the sanitizer ends a process that gets no memory */
#endif
    PASSES(poor_fork_body);
}

static void exit_at_once_body(void)
{
    const char *said;
    count_to(out, 11, &said);
    _exit(0);
}

static void killed_body(void)
{
    const char *said;
    count_to(out, 12, &said);
    kill(getpid(), SIGKILL);
    pause();
}

static void counts_survive_an_exit_that_runs_no_handlers(void **state)
{
    (void)state;
    PASSES(exit_at_once_body);
    assert_int_equal(recorded_modules(), 11);
}

static void counts_survive_kill_9(void **state)
{
    (void)state;
    ENDS_BY(killed_body, SIGKILL);
    assert_int_equal(recorded_modules(), 12);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void many_body(void)
{
    struct sxs_census *c = sxs_session_open(out);
    for (unsigned i = 1; i <= SXS_MAX_RUNTIMES + 6; i++) {
        struct sxs_census_runtime *row = sxs_session_row(i);
        CHECK_EQ(row == &c->runtimes[i - 1], i <= SXS_MAX_RUNTIMES);
        row->modules += i;
        row->state = SXS_STATE_PICKED;
    }
    CHECK_EQ(c->n_runtimes, SXS_MAX_RUNTIMES);
    CHECK_EQ(c->n_unlisted, 6);
}

static void runtimes_beyond_the_table_are_counted_not_listed(void **state)
{
    struct sxs_session s;
    (void)state;
    PASSES(many_body);
    assert_int_equal(sxs_session_read(out, &s), 0);
    assert_int_equal(s.processes[0].n_runtimes, SXS_MAX_RUNTIMES);
    assert_int_equal(s.processes[0].n_unlisted, 6);
    for (unsigned i = 0; i < SXS_MAX_RUNTIMES; i++)
        assert_int_equal(s.processes[0].runtimes[i].modules, i + 1);
    sxs_session_free(&s);
}

static void *take_rows(void *arg)
{
    for (unsigned i = 1 + (unsigned)(uintptr_t)arg; i <= SXS_MAX_RUNTIMES; i += 4)
        atomic_store(&sxs_session_row(i)->state, SXS_STATE_GUARDED);
    return NULL;
}

static void at_once_body(void)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, take_rows, (void *)i), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    struct sxs_census *c = sxs_session_open(NULL);
    CHECK_EQ(c->n_runtimes, SXS_MAX_RUNTIMES);
    for (unsigned i = 0; i < SXS_MAX_RUNTIMES; i++)
        CHECK_EQ(c->runtimes[i].number, i + 1);
}

static void rows_may_be_taken_on_several_threads_at_once(void **state)
{
    (void)state;
    PASSES(at_once_body);
}

static void command_body(void)
{
    struct sxs_census *c = sxs_session_open(out);
    CHECK(strstr(c->command, "test_session"));
    for (const char *p = c->command; *p; p++)
        CHECK((unsigned char)*p >= ' ');
    CHECK(c->started_ns > UINT64_C(1500000000) * 1000000000);
    CHECK_EQ(memcmp(c->magic, SXS_CENSUS_MAGIC, 8), 0);
}

static void the_header_says_what_ran_and_when(void **state)
{
    (void)state;
    PASSES(command_body);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, drop_dir)
    static const struct CMUnitTest tests[] = {
        TEST(folder_and_file_are_private_whatever_the_umask),
        TEST(a_pid_that_comes_back_gets_a_folder_of_its_own),
        TEST(a_link_planted_in_its_place_is_not_followed),
        TEST(a_folder_that_is_a_link_is_refused),
        TEST(a_slash_behind_it_makes_no_link_a_folder),
        TEST(a_folder_that_others_may_write_into_is_refused),
        TEST(a_folder_that_others_may_read_is_taken),
        TEST(a_folder_of_another_user_is_refused),
        TEST(a_folder_without_write_permission_costs_one_line),
        TEST(a_folder_that_cannot_be_costs_one_line),
        TEST(a_file_size_limit_costs_one_line_and_not_the_host),
        TEST(a_full_disk_costs_one_line),
        TEST(without_a_folder_it_counts_in_memory_and_says_nothing),
        TEST(what_a_forked_child_counts_is_not_in_the_parents_file),
        TEST(a_child_that_is_counted_with_its_parent_is_noted_in_the_parents_file),
        TEST(counts_survive_an_exit_that_runs_no_handlers),
        TEST(counts_survive_kill_9),
        TEST(runtimes_beyond_the_table_are_counted_not_listed),
        TEST(rows_may_be_taken_on_several_threads_at_once),
        TEST(the_header_says_what_ran_and_when),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
