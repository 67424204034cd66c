/* SPDX-License-Identifier: MIT */
/* test_log.c - into which files the library writes its lines when the host moves descriptor 2. */
#include <errno.h>
#include <sys/socket.h>

#include "base/log.h"
#include "tests/unit/fake_host.h"

static off_t size_of(int fd)
{
    struct stat st;
    CHECK_EQ(fstat(fd, &st), 0);
    return st.st_size;
}

/* A file of the host that has got the number of standard error. */
static int take_number(void)
{
    int fd = memfd_create("of the host", MFD_CLOEXEC);
    CHECK(fd >= 0);
    check_fd = dup(STDERR_FILENO);
    CHECK_EQ(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    return fd;
}

static void own_file_body(void)
{
    int fd = take_number();
    sxs_error("not for this file");
    sxs_log_raw("nor this");
    CHECK_EQ(size_of(fd), 0);
}

static void a_file_of_the_host_gets_no_line(void **state)
{
    (void)state;
    PASSES(own_file_body);
}

static void socket_body(void)
{
    int  ends[2];
    char c;
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    check_fd = dup(STDERR_FILENO);
    CHECK_EQ(dup2(ends[0], STDERR_FILENO), STDERR_FILENO);
    CHECK_EQ(dup2(ends[0], STDOUT_FILENO), STDOUT_FILENO); /* as inetd does */
    sxs_error("not for the peer");
    CHECK_EQ(read(ends[1], &c, 1), -1);
}

static void a_connection_of_the_host_gets_no_line(void **state)
{
    (void)state;
    PASSES(socket_body);
}

static void same_body(void)
{
    const char *said;
    capture();
    CHECK_EQ(dup2(capture_fd, STDERR_FILENO), STDERR_FILENO); /* the same file once more */
    sxs_error("a line");
    said = captured();
    CHECK_EQ(strcmp(said, "sxsprof: a line\n"), 0);
}

static void standard_error_as_it_was_gets_its_lines(void **state)
{
    (void)state;
    PASSES(same_body);
}

static void redirected_body(void)
{
    int fd = take_number();
    CHECK_EQ(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    sxs_error("a line");
    CHECK_EQ(size_of(fd), (off_t)strlen("sxsprof: a line\n"));
}

static void both_redirected_to_one_file_get_their_lines(void **state)
{
    (void)state;
    PASSES(redirected_body);
}

static void closed_body(void)
{
    check_fd = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    errno = 77;
    sxs_error("to nobody");
    CHECK_EQ(errno, 77);
}

static void closed_it_costs_nothing(void **state)
{
    (void)state;
    PASSES(closed_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_the_host_gets_no_line),
        cmocka_unit_test(a_connection_of_the_host_gets_no_line),
        cmocka_unit_test(standard_error_as_it_was_gets_its_lines),
        cmocka_unit_test(both_redirected_to_one_file_get_their_lines),
        cmocka_unit_test(closed_it_costs_nothing),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
