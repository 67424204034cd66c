/* SPDX-License-Identifier: MIT */
/* test_symbol_worker.c - cmd/symbols/worker.c and answers.c: a worker that a file has taken over gets no more time than
 * others, keeps nobody waiting, and is not believed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/confined/descriptors.h"
#include "cmd/symbols/answers.h"
#include "cmd/symbols/worker.h"
#include "cmd/symbols/worker_limits.h"
#include "cmd/symbols/worker_message.h"
#include "cmd/symbols/worker_serve.h"

enum { SPEED = 100 };

/* Time passes a hundred times as fast, so that minutes need not be waited for. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int err = (int)syscall(SYS_clock_gettime, clock, now);
    if (err == 0 && clock == CLOCK_MONOTONIC) {
        int64_t ns = ((int64_t)now->tv_sec * 1000000000 + now->tv_nsec) * SPEED;
        *now = (struct timespec){ns / 1000000000, ns % 1000000000};
    }
    return err;
}

static void pause_ms(long ms)
{
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

static const void *ask(struct sxs_symbol_worker *w, size_t size, bool limited, const char **why)
{
    static const char request[SXS_SYMBOL_WORKER_MESSAGE];
    size_t            got;
    int               fd = -1;
    *why = NULL;
    const void *answer = sxs_symbol_worker_ask(w, request, size, limited, &fd, &got, why);
    assert_int_equal(fd, -1);
    return answer;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Says that the file is nobody else's, and again, and never answers. */
static size_t lift_the_limit(void *arg, const void *request, size_t size, void *answer, int *fd)
{
    (void)arg, (void)request, (void)size, (void)answer, (void)fd;
    for (int i = 0; i < 100000; i++) {
        sxs_symbol_worker_limited(false);
        pause_ms(900);
        sxs_symbol_worker_limited(true);
    }
    return 0;
}

static void the_time_is_that_of_the_command(void **state)
{
    const char               *why;
    struct sxs_symbol_worker *w = sxs_symbol_worker_new(lift_the_limit, NULL);
    (void)state;
    alarm(60);
    assert_null(ask(w, 8, true, &why));
    assert_string_equal(why, "it could not be read in time");
    assert_null(ask(w, 8, false, &why)); /* a successor has no more time */
    assert_non_null(why);
    alarm(0);
    sxs_symbol_worker_free(w);
}

static void a_process_ends_itself_after_its_time(void **state)
{
    int   status;
    pid_t child = fork();
    (void)state;
    if (child == 0) {
        sxs_symbol_worker_limit_time(true, 100);
        sxs_symbol_worker_limit_time(false, 0);
        sxs_symbol_worker_limit_time(true, 100);
        alarm(60);
        for (;;)
            ;
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Answers requests before they come, and reads none of them. The connection is one of its descriptors. */
static size_t read_nothing(void *arg, const void *request, size_t size, void *answer, int *fd)
{
    static const struct sxs_symbol_message m = {.tell = SXS_TELL_ANSWER};
    struct iovec                           part = {(void *)(uintptr_t)&m, SXS_SYMBOL_HEAD};
    const struct msghdr                    message = {.msg_iov = &part, .msg_iovlen = 1};
    (void)arg, (void)request, (void)size, (void)answer, (void)fd;
    for (int i = 0; i < 30; i++)
        for (int to = 3; to < 64; to++)
            (void)!sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (int i = 0; i < 10000; i++)
        pause_ms(100);
    return 0;
}

static void a_worker_that_does_not_read_keeps_nobody_waiting(void **state)
{
    const char               *why = NULL;
    struct sxs_symbol_worker *w = sxs_symbol_worker_new(read_nothing, NULL);
    unsigned                  i = 0;
    (void)state;
    alarm(60);
    while (i < 30 && ask(w, SXS_SYMBOL_WORKER_MESSAGE, false, &why))
        i++;
    assert_in_range(i, 1, 29);
    assert_non_null(why);
    alarm(0);
    sxs_symbol_worker_free(w);
}

/* Sends a message with @n_fds descriptors. */
static void send_with(int to, size_t size, size_t n_fds)
{
    static const int fds[4] = {0, 0, 0, 0};
    union {
        struct cmsghdr align;
        char           bytes[CMSG_SPACE(sizeof(fds))];
    } control = {0};
    char            byte = 'm';
    struct iovec    part = {&byte, size};
    struct msghdr   m = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = CMSG_SPACE(n_fds * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
    memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    assert_int_equal(sendmsg(to, &m, 0), (ssize_t)size);
}

static int next_descriptor(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

static void surplus_descriptors_are_closed(void **state)
{
    int  both[2], fd;
    char byte;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both), 0);
    int before = next_descriptor();
    for (size_t n = 1; n <= 4; n++) {
        send_with(both[0], 1, n);
        assert_int_equal(sxs_confined_receive(both[1], &byte, 1, &fd), 1);
        assert_int_equal(fd, before);
        close(fd);
        assert_int_equal(next_descriptor(), before);
    }
    send_with(both[0], 0, 1);
    assert_int_equal(sxs_confined_receive(both[1], &byte, 1, &fd), 0);
    assert_int_equal(fd, -1);
    assert_int_equal(next_descriptor(), before);
    close(both[0]);
    close(both[1]);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void an_answer_to_open_has_bounds(void **state)
{
    struct sxs_elf_opened good = {.is_usable = true, .build_id_size = SXS_BUILD_ID}, bad, out;
    const uint8_t         two = 2;
    (void)state;
    assert_true(sxs_elf_opened_read(&good, sizeof(good), &out));
    assert_false(sxs_elf_opened_read(&good, sizeof(good) - 1, &out));
    bad = good;
    bad.build_id_size = SXS_BUILD_ID + 1;
    assert_false(sxs_elf_opened_read(&bad, sizeof(bad), &out));
    bad = good;
    memset(bad.problem, 'x', sizeof(bad.problem));
    assert_false(sxs_elf_opened_read(&bad, sizeof(bad), &out));
    bad = good;
    memcpy((char *)&bad + offsetof(struct sxs_elf_opened, is_ours), &two, 1);
    assert_false(sxs_elf_opened_read(&bad, sizeof(bad), &out));
}

static void an_answer_with_names_has_bounds(void **state)
{
    static const uint32_t wrong[] = {2, 4, UINT32_MAX};
    struct {
        struct sxs_elf_named n;
        char                 texts[5];
    } good = {{3, 2, 7, 8}, {'a', 'b', 'c', 'd', 'e'}}, bad;
    const size_t         size = sizeof(good.n) + sizeof(good.texts);
    struct sxs_elf_named out;
    const char          *texts;
    (void)state;
    assert_true(sxs_elf_named_read(&good, size, &out, &texts));
    assert_ptr_equal(texts, good.texts);
    assert_false(sxs_elf_named_read(&good, sizeof(good.n) - 1, &out, &texts));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        bad = good;
        bad.n.symbol_size = wrong[i];
        assert_false(sxs_elf_named_read(&bad, size, &out, &texts));
    }
    bad = good;
    bad.texts[1] = '\0';
    assert_false(sxs_elf_named_read(&bad, size, &out, &texts));
    bad = good;
    bad.n.line = (uint32_t)INT32_MAX + 1;
    assert_false(sxs_elf_named_read(&bad, size, &out, &texts));
}

static int memory_file(size_t size, int seals)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(seals ? fcntl(fd, F_ADD_SEALS, seals) : 0, 0);
    return fd;
}

static bool found_with(uint64_t size, bool is_ours, int fd)
{
    struct sxs_pdb_found f, out;
    const char          *wrong;
    memset(&f, 0, sizeof(f));
    f.size = size;
    f.is_ours = is_ours;
    bool is_read = sxs_pdb_found_read(&f, sizeof(f), fd, &out, &wrong);
    if (fd >= 0)
        close(fd);
    return is_read;
}

static void a_pdb_is_a_file_that_nobody_changes(void **state)
{
    static const int parts[] = {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE};
    const size_t     large = (size_t)49 << 20;
    int              ends[2];
    (void)state;
    assert_true(found_with(0, false, -1));
    assert_true(found_with(100, false, memory_file(100, SXS_PDB_SEALS)));
    assert_false(found_with(0, false, memory_file(100, SXS_PDB_SEALS)));
    assert_false(found_with(100, false, -1));
    assert_false(found_with(101, false, memory_file(100, SXS_PDB_SEALS)));
    assert_false(found_with(99, false, memory_file(100, SXS_PDB_SEALS)));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        assert_false(found_with(100, false, memory_file(100, SXS_PDB_SEALS & ~parts[i])));
    assert_false(found_with(100, false, open("/dev/zero", O_RDONLY | O_CLOEXEC)));
    assert_false(found_with(100, false, open("/proc/self/exe", O_RDONLY | O_CLOEXEC)));
    assert_int_equal(pipe(ends), 0);
    assert_false(found_with(100, false, ends[0]));
    close(ends[1]);
    assert_false(found_with(large, false, memory_file(large, SXS_PDB_SEALS)));
    assert_true(found_with(large, true, memory_file(large, SXS_PDB_SEALS)));
    assert_false(found_with((uint64_t)SXS_MAX_PDB + 1, true,
                            memory_file((size_t)SXS_MAX_PDB + 1, SXS_PDB_SEALS)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_to_open_has_bounds),
        cmocka_unit_test(an_answer_with_names_has_bounds),
        cmocka_unit_test(a_pdb_is_a_file_that_nobody_changes),
        cmocka_unit_test(surplus_descriptors_are_closed),
        cmocka_unit_test(a_process_ends_itself_after_its_time),
        cmocka_unit_test(a_worker_that_does_not_read_keeps_nobody_waiting),
        cmocka_unit_test(the_time_is_that_of_the_command), /* the last: it takes all of it */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
