/* SPDX-License-Identifier: MIT */
/* test_clocks.c - a thread's clock when the host closes descriptors and takes their numbers. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "manager/base/base.h"
#include "sampler/clocks.h"

static struct sxs_sampled_thread self;

/* A perf event of this thread, whose signal is blocked: nothing handles it here. */
static int begin(void **state)
{
    sigset_t block;
    (void)state;
    sigemptyset(&block);
    sigaddset(&block, SIGURG);
    pthread_sigmask(SIG_BLOCK, &block, NULL);
    memset(&self, 0, sizeof(self));
    self.timer = self.perf_fd = -1;
    self.tid = (uint32_t)syscall(SYS_gettid);
    if (sxs_clocks_choose(997) != SXS_CLOCK_PERF)
        return 0;
    return sxs_clocks_start(&self);
}

static int end(void **state)
{
    (void)state;
    sxs_clocks_stop(&self);
    return 0;
}

/* With @limit descriptors: a host that lowers the limit later has the low numbers. */
static void begin_with_limit(rlim_t limit)
{
    struct rlimit was, now;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    now = (struct rlimit){limit, was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    sxs_clocks_stop(&self);
    assert_int_equal(sxs_clocks_start(&self), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

static void an_event_leaves_the_host_the_low_numbers(void **state)
{
    (void)state;
    if (self.perf_fd < 0)
        skip();
    begin_with_limit(1024);
    assert_in_range(self.perf_fd, 768, 1023);
    assert_int_equal(self.timer, -1);
}

static void where_descriptors_are_few_a_timer_takes_none(void **state)
{
    (void)state;
    if (self.perf_fd < 0)
        skip();
    begin_with_limit(100);
    assert_int_equal(self.perf_fd, -1);
    assert_int_not_equal(self.timer, -1);
}

/* Closes the event and opens a file that gets its number. */
static int take_number(void)
{
    int fd = self.perf_fd, mine;
    close(fd);
    mine = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (mine != fd) {
        assert_int_equal(dup2(mine, fd), fd);
        close(mine);
    }
    return fd;
}

static void the_end_of_a_thread_closes_its_event_alone(void **state)
{
    int fd = self.perf_fd;
    (void)state;
    if (fd < 0)
        skip(); /* perf events are refused here */
    sxs_clocks_stop(&self);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_equal(self.perf_fd, -1);
}

static void a_file_of_the_host_with_the_events_number_is_not_closed(void **state)
{
    struct stat st;
    int         fd;
    (void)state;
    if (self.perf_fd < 0)
        skip();
    fd = take_number();
    sxs_clocks_stop(&self);
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    close(fd);
}

static void another_event_with_the_same_number_is_not_closed(void **state)
{
    struct sxs_sampled_thread other = self;
    int                       fd = self.perf_fd;
    (void)state;
    if (fd < 0)
        skip();
    close(fd);
    assert_int_equal(sxs_clocks_start(&self), 0);
    if (self.perf_fd != fd) {
        assert_int_equal(dup2(self.perf_fd, fd), fd);
        close(self.perf_fd);
        self.perf_fd = fd;
    }
    other.timer = -1;
    sxs_clocks_stop(&other);
    assert_int_not_equal(fcntl(fd, F_GETFD), -1);
}

static void a_signal_with_the_number_of_a_closed_event_is_not_ours(void **state)
{
    siginfo_t info = {.si_signo = SIGURG, .si_code = POLL_IN};
    uint64_t  weight = 0;
    int       fd;
    (void)state;
    if (self.perf_fd < 0)
        skip();
    info.si_fd = self.perf_fd;
    assert_int_equal(sxs_clocks_own(&self, &info, &weight), 1);
    fd = take_number();
    assert_int_equal(sxs_clocks_own(&self, &info, &weight), 0);
    close(fd);
}

static void a_timer_takes_the_place_of_a_closed_event(void **state)
{
    int fd;
    (void)state;
    if (self.perf_fd < 0)
        skip();
    sxs_clocks_check(&self);
    assert_int_equal(self.timer, -1);
    fd = take_number();
    sxs_clocks_check(&self);
    assert_int_equal(self.perf_fd, -1);
    assert_int_not_equal(self.timer, -1);
    close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(an_event_leaves_the_host_the_low_numbers),
        TEST(where_descriptors_are_few_a_timer_takes_none),
        TEST(the_end_of_a_thread_closes_its_event_alone),
        TEST(a_file_of_the_host_with_the_events_number_is_not_closed),
        TEST(another_event_with_the_same_number_is_not_closed),
        TEST(a_signal_with_the_number_of_a_closed_event_is_not_ours),
        TEST(a_timer_takes_the_place_of_a_closed_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
