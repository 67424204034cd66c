/* SPDX-License-Identifier: MIT */
/* test_file_write.c - recorded files when the host closes descriptors, limits files, or is a fork. */
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/descriptors.h"
#include "session/write/file_write.h"
#include "tests/unit/fake_host.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define HEADER   4096u
#define MAP_SIZE (1u << 20)

static char              dir[256];
static struct sxs_folder folder;
static struct sxs_file   file;
static unsigned char    *map;

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

/* How many descriptors this process has that others can see; the listing's own is left out. */
static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int  n = 0;
    CHECK(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n - 1;
}

static void make_file(void)
{
    CHECK_EQ(sxs_folder_open(&folder, dir), 0);
    CHECK_EQ(sxs_file_create(&file, &folder, "it", HEADER, MAP_SIZE, &map), 0);
}

static off_t length(void)
{
    char        path[300];
    struct stat st;
    snprintf(path, sizeof(path), "%s/it", dir);
    CHECK_EQ(stat(path, &st), 0);
    return st.st_size;
}

static int run_own(void *arg)
{
    (void)arg;
    return sxs_descriptors_are_own();
}

/* As a sandbox does it, or a kernel before 5.9: the system call is refused. */
static void refuse_close_range(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {ARRAY_LEN(code), code};
    CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* ---- descriptors ------------------------------------------------------------------------------------ */

static void none_is_kept_body(void)
{
    int before = descriptors();
    make_file();
    CHECK_EQ(descriptors(), before);
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536), 0);
    CHECK_EQ(descriptors(), before);
}

static void none_is_kept_without_a_table_body(void)
{
    refuse_close_range();
    none_is_kept_body();
    CHECK_EQ(sxs_descriptors_call(run_own, NULL), 0);
}

static void no_descriptor_is_kept_in_the_hosts_table(void **state)
{
    (void)state;
    PASSES(none_is_kept_body);
    remove_tree(dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    PASSES(none_is_kept_without_a_table_body);
}

/* Takes all numbers that are free up to 40, for a file of the host's. Returns the first. */
static int take_numbers(const char *path)
{
    int first = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(first >= 0);
    CHECK_EQ(write(first, "host", 4), 4);
    while (dup(first) < 40)
        continue;
    return first;
}

static void close_all_body(void)
{
    char        path[300];
    struct stat st;
    int         first;
    make_file();
    for (int fd = 3; fd < 1024; fd++)
        if (fd != check_fd)
            close(fd);
    snprintf(path, sizeof(path), "%s/host", dir);
    first = take_numbers(path);
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536), 0);
    memset(map + HEADER, 1, 65536);
    CHECK_EQ(length(), HEADER + 65536);
    CHECK_EQ(sxs_file_shorten(&file, HEADER), 0);
    CHECK_EQ(length(), HEADER);
    sxs_file_close(&file);
    sxs_folder_close(&folder);
    for (int fd = first; fd < 40; fd++)
        CHECK(fstat(fd, &st) == 0 && st.st_size == 4);
}

static void close_all_without_a_table_body(void)
{
    refuse_close_range();
    close_all_body();
}

static void a_host_that_closes_all_descriptors_keeps_its_files_and_we_ours(void **state)
{
    (void)state;
    PASSES(close_all_body);
    remove_tree(dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    PASSES(close_all_without_a_table_body);
}

/* A pipe ends when the host closes its last descriptor: no copy of it is in the thread's table. */
static void pipe_body(void)
{
    char c;
    int  ends[2];
    CHECK_EQ(pipe(ends), 0);
    make_file();
    close(ends[1]);
    CHECK_EQ(read(ends[0], &c, 1), 0);
}

static void the_hosts_pipes_end_when_the_host_closes_them(void **state)
{
    (void)state;
    PASSES(pipe_body);
}

static void replaced_body(void)
{
    char path[300], away[300];
    refuse_close_range();
    make_file();
    snprintf(path, sizeof(path), "%s/it", dir);
    snprintf(away, sizeof(away), "%s/away", dir);
    CHECK_EQ(rename(path, away), 0);
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536), -ENOENT);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536), -ESTALE);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(symlink(away, path), 0);
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536), -ELOOP);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(rename(away, path), 0);
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536), 0);
}

static void another_file_in_its_place_is_left_alone(void **state)
{
    (void)state;
    PASSES(replaced_body);
}

static void vanished_body(void)
{
    char command[400];
    make_file();
    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    CHECK_EQ(system(command), 0);
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536), 0); /* it has no name any more */
    memset(map + HEADER, 1, 65536);
    CHECK_EQ(mkdir(dir, 0700), 0);
}

static void vanished_without_a_table_body(void)
{
    char command[400];
    refuse_close_range();
    make_file();
    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    CHECK_EQ(system(command), 0);
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536), -ENOENT);
    CHECK_EQ(mkdir(dir, 0700), 0);
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536), -ESTALE); /* another folder */
}

static void a_folder_that_vanishes_is_an_error_at_most(void **state)
{
    (void)state;
    PASSES(vanished_body);
    PASSES(vanished_without_a_table_body);
}

/* ---- limits ------------------------------------------------------------------------------------------ */

static void limit_body(void)
{
    struct rlimit small = {65536, 65536};
    sigset_t      pending;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0); /* SIGXFSZ has its default: it would end us */
    make_file();
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536 - HEADER), 0);
    CHECK_EQ(sxs_file_reserve(&file, 65536, 65536), -EFBIG);
    sigpending(&pending);
    CHECK(!sigismember(&pending, SIGXFSZ));
}

static void no_threads_body(void)
{
    struct rlimit none = {1, 1};
    CHECK_EQ(setresuid(64321, 64321, 64321), 0); /* a user without processes, and root has no limit */
    CHECK_EQ(setrlimit(RLIMIT_NPROC, &none), 0);
    limit_body();
    CHECK_EQ(sxs_descriptors_call(run_own, NULL), 0);
    _exit(0); /* a leak checker would start a thread at exit */
}

static void a_file_beyond_the_limit_is_an_error_and_no_signal(void **state)
{
    (void)state;
    PASSES(limit_body);
}

static void neither_is_it_where_no_thread_can_be_had(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root may become a user without processes */
    remove_tree(dir);
    assert_int_equal(mkdir(dir, 0777), 0);
    assert_int_equal(chmod(dir, 0777), 0);
    PASSES(no_threads_body);
}

static void map_limit_body(void)
{
    struct rlimit as = {UINT64_C(16) << 30, UINT64_C(16) << 30};
    CHECK_EQ(sxs_file_may_map(UINT64_C(1) << 40), UINT64_C(1) << 40);
    CHECK_EQ(setrlimit(RLIMIT_AS, &as), 0);
    CHECK_EQ(sxs_file_may_map(UINT64_C(1) << 40), UINT64_C(1) << 28);
    CHECK_EQ(sxs_file_may_map(1000), 1000);
}

static void of_limited_address_space_files_take_a_small_part(void **state)
{
    (void)state;
#ifdef SXS_SANITIZED
    skip(); /* a sanitizer has taken terabytes */
#endif
    PASSES(map_limit_body);
}

static void fork_body(void)
{
    int   status;
    pid_t pid;
    make_file();
    pid = fork();
    if (pid == 0)
        _exit(sxs_file_reserve(&file, HEADER, 65536) != -ECHILD);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); /* no handlers are called */
    if (pid == 0)
        _exit(sxs_file_reserve(&file, HEADER, 65536) != -ECHILD);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(length(), HEADER);
    CHECK_EQ(sxs_file_reserve(&file, HEADER, 65536), 0);
}

static void a_forked_child_reserves_nothing_and_does_not_wait(void **state)
{
    (void)state;
    PASSES(fork_body);
}

static void *reserve_many(void *arg)
{
    uint64_t n = (uintptr_t)arg;
    for (uint64_t i = 0; i < 50; i++)
        if (sxs_file_reserve(&file, HEADER + (i * 4 + n) * 4096, 4096))
            return arg;
    return NULL;
}

static void at_once_body(void)
{
    pthread_t threads[4];
    void     *bad;
    make_file();
    for (uintptr_t i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, reserve_many, (void *)i), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &bad);
        CHECK(!bad);
    }
    CHECK_EQ(length(), HEADER + 200 * 4096);
}

static void several_threads_may_ask_at_once(void **state)
{
    (void)state;
    PASSES(at_once_body);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, drop_dir)
    static const struct CMUnitTest tests[] = {
        TEST(no_descriptor_is_kept_in_the_hosts_table),
        TEST(a_host_that_closes_all_descriptors_keeps_its_files_and_we_ours),
        TEST(the_hosts_pipes_end_when_the_host_closes_them),
        TEST(another_file_in_its_place_is_left_alone),
        TEST(a_folder_that_vanishes_is_an_error_at_most),
        TEST(a_file_beyond_the_limit_is_an_error_and_no_signal),
        TEST(neither_is_it_where_no_thread_can_be_had),
        TEST(of_limited_address_space_files_take_a_small_part),
        TEST(a_forked_child_reserves_nothing_and_does_not_wait),
        TEST(several_threads_may_ask_at_once),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
