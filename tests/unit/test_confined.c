/* SPDX-License-Identifier: MIT */
/* test_confined.c - cmd/confined: each limit bites, each call is refused, and no child holds up its
 * parent. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/confined/confined.h"

static const struct sxs_confinement only_time = {.wall_ms = 20000};

static int run(const struct sxs_confinement *c, int (*work)(void *arg, int fd), void *arg)
{
    char   out[64];
    size_t len;
    return sxs_confined_run(c, work, arg, out, sizeof(out), &len);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- results --------------------------------------------------------------------------------- */

static int write_count(void *arg, int fd)
{
    for (size_t i = 0; i < *(size_t *)arg; i++)
        if (write(fd, "x", 1) != 1)
            return errno;
    return 0;
}

static void what_the_work_writes_comes_back(void **state)
{
    char   out[64];
    size_t len, count = 64;
    (void)state;
    assert_int_equal(sxs_confined_run(&only_time, write_count, &count, out, sizeof(out), &len), 0);
    assert_int_equal(len, 64);
    assert_memory_equal(out, "xxxx", 4);
    count = 65;
    assert_int_equal(sxs_confined_run(&only_time, write_count, &count, out, sizeof(out), &len),
                     EOVERFLOW);
    assert_int_equal(len, 64);
}

static int return_number(void *arg, int fd)
{
    (void)fd;
    return *(int *)arg;
}

static int crash(void *arg, int fd)
{
    (void)arg, (void)fd;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGILL, SIG_DFL);
    raise(SIGILL);
    return 0;
}

static void results_and_crashes_are_distinguished(void **state)
{
    int number = ENOEXEC;
    (void)state;
    assert_int_equal(run(&only_time, return_number, &number), ENOEXEC);
    assert_int_equal(run(&only_time, crash, NULL), EBADMSG);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static int loop(void *arg, int fd)
{
    volatile unsigned count = 0;
    (void)arg, (void)fd;
    for (;;)
        count = count + 1;
    return 0;
}

static int sleep_long(void *arg, int fd)
{
    (void)arg, (void)fd;
    signal(SIGTERM, SIG_IGN);
    for (;;)
        sleep(1000);
    return 0;
}

static void a_child_that_does_not_end_is_killed_at_its_time(void **state)
{
    const struct sxs_confinement c = {.wall_ms = 150, .calls = SXS_CONFINED_PARSE};
    double                       began = now();
    (void)state;
    assert_int_equal(run(&c, loop, NULL), ETIMEDOUT);
    assert_int_equal(run(&c, sleep_long, NULL), ETIMEDOUT);
    assert_true(now() - began < 20);
}

static int leave_the_output(void *arg, int fd)
{
    close(fd);
    return sleep_long(arg, -1);
}

static void a_child_that_has_closed_its_output_is_killed_too(void **state)
{
    const struct sxs_confinement c = {.wall_ms = 150};
    (void)state;
    assert_int_equal(run(&c, leave_the_output, NULL), ETIMEDOUT);
}

static void processor_time_is_limited(void **state)
{
    const struct sxs_confinement c = {.cpu_s = 1, .wall_ms = 60000};
    (void)state;
    assert_int_equal(run(&c, loop, NULL), ETIMEDOUT);
}

#ifndef SXS_SANITIZED
static int allocate(void *arg, int fd)
{
    (void)fd;
    char *bytes = malloc(*(size_t *)arg);
    if (!bytes)
        return ENOMEM;
    memset(bytes, 1, *(size_t *)arg);
    free(bytes);
    return 0;
}

static void memory_is_limited_beyond_what_there_is(void **state)
{
    const struct sxs_confinement c = {
        .memory = 32 << 20, .wall_ms = 20000, .calls = SXS_CONFINED_PARSE};
    size_t held = 100 << 20, little = 4 << 20, much = 64 << 20;
    char  *own = malloc(held);
    (void)state;
    assert_non_null(own);
    assert_int_equal(run(&c, allocate, &little), 0);
    assert_int_equal(run(&c, allocate, &much), ENOMEM);
    free(own);
}
#endif

static int write_file(void *arg, int fd)
{
    char bytes[4096] = "";
    (void)fd;
    for (int i = 0; i < 10; i++)
        if (write(*(int *)arg, bytes, sizeof(bytes)) < 0)
            return errno;
    return 0;
}

static void files_are_limited(void **state)
{
    FILE                        *file = tmpfile();
    int                          fd = fileno(file);
    const struct sxs_confinement c = {.file_size = 8192, .wall_ms = 20000};
    (void)state;
    assert_int_equal(run(&c, write_file, &fd), EFBIG);
    fclose(file);
}

static int open_many(void *arg, int fd)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        if (dup(fd) < 0)
            return errno;
    return 0;
}

static void descriptors_are_limited(void **state)
{
    const struct sxs_confinement c = {.descriptors = 50, .wall_ms = 20000};
    (void)state;
    assert_int_equal(run(&c, open_many, NULL), EMFILE);
}

static int write_to(void *arg, int fd)
{
    (void)fd;
    return write(*(int *)arg, "", 1) == 1 ? 0 : errno;
}

static void other_descriptors_are_closed(void **state)
{
    int                          kept = open("/dev/null", O_WRONLY), other = dup(kept);
    const struct sxs_confinement c = {.wall_ms = 20000, .keep = &kept, .n_keep = 1};
    (void)state;
    assert_int_equal(run(&c, write_to, &kept), 0);
    assert_int_equal(run(&c, write_to, &other), EBADF);
    close(kept);
    close(other);
}

/* ---- rights ---------------------------------------------------------------------------------- */

static int tell_rights(void *arg, int fd)
{
    char   text[4096];
    int    from = open("/proc/self/status", O_RDONLY);
    size_t n = from >= 0 ? (size_t)read(from, text, sizeof(text) - 1) : 0;
    (void)arg, (void)fd;
    text[n] = '\0';
    return strstr(text, "\nUid:\t65534\t65534\t65534\t65534\n") &&
                   strstr(text, "\nGid:\t65534\t65534\t65534\t65534\n") &&
                   strstr(text, "\nGroups:\t \n") &&
                   strstr(text, "\nCapPrm:\t0000000000000000\n") &&
                   strstr(text, "\nCapEff:\t0000000000000000\n") &&
                   strstr(text, "\nCapBnd:\t0000000000000000\n") &&
                   strstr(text, "\nNoNewPrivs:\t1\n")
               ? 0
               : 1;
}

static int tell_kept(void *arg, int fd)
{
    char   text[4096];
    int    from = open("/proc/self/status", O_RDONLY);
    size_t n = from >= 0 ? (size_t)read(from, text, sizeof(text) - 1) : 0;
    (void)arg, (void)fd;
    text[n] = '\0';
    return strstr(text, "\nUid:\t0\t0\t0\t0\n") && strstr(text, "\nCapEff:\t0000000000000004\n")
               ? 0
               : 1;
}

static void root_becomes_nobody_without_capabilities(void **state)
{
    const struct sxs_confinement c = {.wall_ms = 20000, .drop_root = true};
    const struct sxs_confinement kept = {.wall_ms = 20000, .capabilities = 1 << 2};
    (void)state;
    if (getuid() != 0)
        skip();
    assert_int_equal(run(&c, tell_rights, NULL), 0);
    assert_int_equal(run(&kept, tell_kept, NULL), 0);
}

/* ---- system calls ---------------------------------------------------------------------------- */

/* Returns 0 when the call was refused. */
#define REFUSED(call) ((call) != -1 || errno != EPERM ? (dprintf(2, "# %s\n", #call), 1) : 0)

static bool is_filtered(void)
{
    char  line[256];
    int   mode = 0;
    FILE *from = fopen("/proc/self/status", "re");
    while (from && fgets(line, sizeof(line), from))
        sscanf(line, "Seccomp: %d", &mode);
    if (from)
        fclose(from);
    return mode == 2;
}

static void *say_nothing(void *arg)
{
    return arg;
}

/* Also calls that fail for other reasons must be refused first. */
static int try_what_reports_do_not(void *arg, int fd)
{
    char *const none[] = {NULL};
    (void)arg, (void)fd;
    return REFUSED(execve("/bin/true", none, none)) + REFUSED(socket(AF_UNIX, SOCK_STREAM, 0)) +
           REFUSED(socket(AF_INET, SOCK_STREAM, 0)) + REFUSED(connect(-1, NULL, 0)) +
           REFUSED(bind(-1, NULL, 0)) + REFUSED(listen(-1, 0)) + REFUSED(accept(-1, NULL, NULL)) +
#ifndef SXS_SANITIZED
           REFUSED(ptrace(PTRACE_ATTACH, 1, NULL, NULL)) +
#endif
           REFUSED(syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0)) +
           REFUSED(kill(getppid(), 0)) + REFUSED(syscall(SYS_tgkill, getppid(), getppid(), 0)) +
           REFUSED(mount("none", "/proc", "tmpfs", 0, NULL)) + REFUSED(chroot("/")) +
           REFUSED((int)syscall(SYS_pivot_root, "/", "/")) + REFUSED((int)syscall(SYS_setuid, 0)) +
           REFUSED((int)syscall(SYS_setresgid, 0, 0, 0)) + REFUSED((int)syscall(SYS_unshare, 0)) +
           REFUSED((int)syscall(SYS_keyctl, 0, 0)) + REFUSED((int)syscall(SYS_bpf, 0, NULL, 0)) +
           REFUSED((int)syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0)) +
           REFUSED((int)syscall(SYS_userfaultfd, 0)) +
           REFUSED((int)syscall(SYS_io_uring_setup, 1, NULL)) + REFUSED(mknod("x", S_IFIFO, 0)) +
           REFUSED(ioctl(0, TIOCSTI, "x")) +
           REFUSED((int)syscall(SYS_clone, 0x10000000, 0, 0, 0, 0)) +
#ifndef SXS_SANITIZED
           REFUSED((int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) +
#endif
           REFUSED((int)syscall(SYS_prlimit64, getppid(), RLIMIT_CPU, NULL, NULL));
}

static int try_what_lookers_do_not(void *arg, int fd)
{
    return try_what_reports_do_not(arg, fd) + REFUSED(open("/dev/null", O_WRONLY)) +
           REFUSED(open("/dev/null", O_RDWR)) + REFUSED(open("/tmp/x", O_RDONLY | O_CREAT, 0600)) +
           REFUSED(unlink("/tmp/x")) + REFUSED(rename("/tmp/x", "/tmp/y")) +
           REFUSED(chmod("/tmp/x", 0)) + REFUSED(chown("/tmp/x", 0, 0)) +
           REFUSED(mkdir("/tmp/x", 0)) + REFUSED(link("/tmp/x", "/tmp/y")) +
           REFUSED(symlink("/tmp/x", "/tmp/y")) + REFUSED((int)syscall(SYS_fork)) +
           REFUSED((int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) +
           REFUSED(mprotect(NULL, 0, PROT_EXEC | PROT_READ)) +
           REFUSED((int)syscall(SYS_setrlimit, RLIMIT_CPU, NULL));
}

/* It may make threads, which end with it. */
static int try_what_pushers_do_not(void *arg, int fd)
{
    pthread_t thread;
    (void)arg, (void)fd;
#ifndef SXS_SANITIZED
    if (REFUSED((int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)))
        return 1;
#endif
    return pthread_create(&thread, NULL, say_nothing, NULL) || pthread_join(thread, NULL);
}

static int try_what_readers_do_not(void *arg, int fd)
{
    struct rlimit processes;
    (void)arg, (void)fd;
    return REFUSED((int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) +
           REFUSED((int)syscall(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0)) +
           REFUSED(kill(getppid(), 0)) + REFUSED(prctl(PR_SET_PDEATHSIG, 0)) +
           REFUSED(prctl(PR_SET_DUMPABLE, 1)) +
           (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getrlimit(RLIMIT_NPROC, &processes) != 0 ||
            processes.rlim_max != 0);
}

static int try_what_parsers_do_not(void *arg, int fd)
{
    struct stat st;
    return try_what_lookers_do_not(arg, fd) + REFUSED(open("/dev/null", O_RDONLY)) +
           REFUSED(stat("/", &st)) + REFUSED(access("/", R_OK));
}

static int look(void *arg, int fd)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)arg, (void)fd;
    return null < 0 ? errno : close(null) != 0;
}

static int parse(void *arg, int fd)
{
    struct stat st;
    char        byte;
    void       *memory = malloc(1 << 20);
    void       *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, *(int *)arg, 0);
    int         failed = fstat(*(int *)arg, &st) != 0 || !memory || mapped == MAP_FAILED ||
                 pread(*(int *)arg, &byte, 1, 0) != 1 || lseek(*(int *)arg, 0, SEEK_DATA) < 0 ||
                 write(fd, "", 1) != 1;
    free(memory);
    return failed;
}

static int make_file(void *arg, int fd)
{
    FILE *file = tmpfile();
    (void)arg, (void)fd;
    return file && fclose(file) == 0 ? 0 : 1;
}

/* Runs the work where filters are to be had. */
static int filtered(void *arg, int fd)
{
    (void)fd;
    const struct sxs_confinement c = {.calls = *(enum sxs_confined_calls *)arg};
    return sxs_confine_self(&c) && is_filtered() ? 0 : 1;
}

static void calls_are_refused(void **state)
{
    enum sxs_confined_calls calls = SXS_CONFINED_REPORT;
    struct sxs_confinement  c = {.wall_ms = 20000, .calls = SXS_CONFINED_REPORT};
    int                     self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    (void)state;
    if (run(&only_time, filtered, &calls) != 0) {
        close(self);
        skip(); /* no filters here */
    }
    assert_int_equal(run(&c, try_what_reports_do_not, NULL), 0);
    assert_int_equal(run(&c, make_file, NULL), 0);
    c.calls = SXS_CONFINED_NETWORK;
    assert_int_equal(run(&c, try_what_pushers_do_not, NULL), 0);
    c.calls = SXS_CONFINED_READ;
    assert_int_equal(run(&c, try_what_readers_do_not, NULL), 0);
    c.calls = SXS_CONFINED_LOOK;
    assert_int_equal(run(&c, try_what_lookers_do_not, NULL), 0);
    assert_int_equal(run(&c, look, NULL), 0);
    c.calls = SXS_CONFINED_PARSE;
    assert_int_equal(run(&c, try_what_parsers_do_not, NULL), 0);
    assert_int_equal(run(&c, parse, &self), 0);
    close(self);
}

/* ---- children that stay ---------------------------------------------------------------------- */

static int answer(void *arg)
{
    char byte;
    int  fd = *(int *)arg;
    return read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1 ? sleep_long(NULL, 0) : 1;
}

static void a_child_that_stays_is_ended(void **state)
{
    int  both[2];
    char byte = 'q';
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both), 0);
    const struct sxs_confinement c = {.calls = SXS_CONFINED_PARSE, .keep = &both[1], .n_keep = 1};
    int                          pid = sxs_confined_start(&c, answer, &both[1]);
    assert_true(pid > 0);
    close(both[1]);
    assert_int_equal(write(both[0], &byte, 1), 1);
    assert_int_equal(read(both[0], &byte, 1), 1);
    assert_int_equal(byte, 'q');
    sxs_confined_end(pid);
    assert_int_equal(kill(pid, 0), -1);
    close(both[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_work_writes_comes_back),
        cmocka_unit_test(results_and_crashes_are_distinguished),
        cmocka_unit_test(a_child_that_does_not_end_is_killed_at_its_time),
        cmocka_unit_test(a_child_that_has_closed_its_output_is_killed_too),
        cmocka_unit_test(processor_time_is_limited),
#ifndef SXS_SANITIZED
        cmocka_unit_test(memory_is_limited_beyond_what_there_is),
#endif
        cmocka_unit_test(files_are_limited),
        cmocka_unit_test(descriptors_are_limited),
        cmocka_unit_test(other_descriptors_are_closed),
        cmocka_unit_test(root_becomes_nobody_without_capabilities),
        cmocka_unit_test(calls_are_refused),
        cmocka_unit_test(a_child_that_stays_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
