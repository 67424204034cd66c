/* SPDX-License-Identifier: MIT */
/* test_clocks.c - which clock a thread has, also when the host closes descriptors and takes their numbers. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/clock.h"
#include "sampling/clocks.h"

static struct sxs_thread_slot self;

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
    int fd = self.perf_fd, other_fd;
    close(fd);
    other_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (other_fd != fd) {
        assert_int_equal(dup2(other_fd, fd), fd);
        close(other_fd);
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
    struct sxs_thread_slot other = self;
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

/* ---- the kind of clock that suits the thread ---- */

static void sleep_often(void)
{
    for (int i = 0; i < 8; i++)
        nanosleep(&(struct timespec){0, 1000}, NULL);
}

static void run_for_long(void)
{
    uint64_t until = sxs_cpu_ns_of(self.tid) + 5000000;
    while (sxs_cpu_ns_of(self.tid) < until)
        ;
}

/* Lives from sample to sample as @live says, until the thread asks for the other kind of clock, at most @n times. */
static int asks_within(int n, siginfo_t info, void (*live)(void))
{
    uint64_t weight;
    for (int i = 0; i < n; i++) {
        live();
        assert_int_equal(sxs_clocks_own(&self, &info, &weight), 1);
        if (sxs_clocks_any_to_move())
            return 1;
    }
    return 0;
}

static siginfo_t of_event(void)
{
    return (siginfo_t){.si_signo = SIGURG, .si_code = POLL_IN, .si_fd = self.perf_fd};
}

/* What a timer of the library sends. */
static siginfo_t of_timer(void)
{
    siginfo_t info = {.si_signo = SIGURG, .si_code = SI_TIMER};
    info.si_value.sival_ptr = (void *)(uintptr_t)0x53585354u;
    return info;
}

static void a_thread_that_switches_often_gets_a_timer(void **state)
{
    uint64_t next;
    (void)state;
    if (self.perf_fd < 0)
        skip();
    assert_true(asks_within(40, of_event(), sleep_often));
    next = self.move_ns;
    sxs_clocks_move(&self);
    assert_int_equal(self.perf_fd, -1);
    assert_int_not_equal(self.timer, -1);
    assert_int_equal(self.first_due_ns, next); /* no time is lost in between */
}

static void a_thread_that_runs_for_long_gets_an_event_again(void **state)
{
    (void)state;
    if (self.perf_fd < 0)
        skip();
    assert_true(asks_within(40, of_event(), sleep_often));
    sxs_clocks_move(&self);
    assert_true(asks_within(10000, of_timer(), run_for_long));
    sxs_clocks_move(&self);
    assert_int_equal(self.timer, -1);
    assert_int_not_equal(self.perf_fd, -1);
}

static void a_thread_that_computes_keeps_its_event(void **state)
{
    (void)state;
    if (self.perf_fd < 0)
        skip();
    sxs_clocks_any_to_move();
    assert_false(asks_within(40, of_event(), run_for_long));
    sxs_clocks_move(&self);
    assert_int_not_equal(self.perf_fd, -1);
}

static _Atomic uint64_t weighed_ns;
static _Atomic int      at_end;

static void on_sample(int sig, siginfo_t *info, void *context)
{
    uint64_t weight;
    int      err = errno;
    (void)sig;
    (void)context;
    if (sxs_clocks_own(&self, info, &weight))
        atomic_fetch_add(&weighed_ns, weight);
    errno = err;
}

static void *move_now_and_then(void *moves)
{
    while (!atomic_load(&at_end)) {
        if (sxs_clocks_any_to_move()) {
            sxs_clocks_move(&self);
            ++*(unsigned *)moves;
        }
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    return NULL;
}

/* Lives as @live says for @ns of CPU time. */
static void spend(uint64_t ns, void (*live)(void))
{
    uint64_t until = sxs_cpu_ns_of(self.tid) + ns;
    while (sxs_cpu_ns_of(self.tid) < until)
        live();
}

static void samples_stand_for_all_time_whichever_the_clock(void **state)
{
    struct sigaction act = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART}, was;
    sigset_t         ours;
    pthread_t        mover;
    unsigned         moves = 0;
    uint64_t         began, ran;
    (void)state;
    if (self.perf_fd < 0)
        skip();
    assert_int_equal(sigaction(SIGURG, &act, &was), 0);
    assert_int_equal(pthread_create(&mover, NULL, move_now_and_then, &moves), 0);
    sigemptyset(&ours);
    sigaddset(&ours, SIGURG);
    began = sxs_cpu_ns_of(self.tid);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    for (int i = 0; i < 3; i++) {
        spend(400000000, sleep_often);
        spend(400000000, run_for_long);
    }
    pthread_sigmask(SIG_BLOCK, &ours, NULL);
    ran = sxs_cpu_ns_of(self.tid) - began;
    atomic_store(&at_end, 1);
    pthread_join(mover, NULL);
    assert_in_range(moves, 3, 6); /* to and fro, and not more often */
    assert_in_range(weighed_ns, ran - ran / 16, ran + ran / 16);
    sigaction(SIGURG, &was, NULL);
}

static void a_slow_rate_has_timers_only(void **state)
{
    (void)state;
    sxs_clocks_stop(&self);
    assert_int_equal(sxs_clocks_choose(199), SXS_CLOCK_CPU_TIMER);
    assert_int_equal(sxs_clocks_start(&self), 0);
    assert_false(asks_within(40, of_timer(), run_for_long));
}

/* ---- forks ----------------------------------------------------------------------------------- */

static _Atomic int forks_meanwhile, has_chosen;
static int         had_chosen;
static pthread_t   chooser;

static void *choose_clock(void *arg)
{
    (void)arg;
    sxs_clocks_choose(997); /* opens an event, to see whether there are any */
    atomic_store(&has_chosen, 1);
    return NULL;
}

/* A handler of the host, between those of the library and the fork: a session begins now. */
static void prepare_host(void)
{
    if (!atomic_load(&forks_meanwhile))
        return;
    assert_int_equal(pthread_create(&chooser, NULL, choose_clock, NULL), 0);
    for (int i = 0; i < 200 && !atomic_load(&has_chosen); i++)
        usleep(1000);
    had_chosen = atomic_load(&has_chosen);
}

static void no_event_is_opened_between_the_beginning_of_a_fork_and_its_child(void **state)
{
    pid_t child;
    int   status;
    (void)state;
    if (self.perf_fd < 0)
        skip();
    atomic_store(&forks_meanwhile, 1);
    child = fork();
    if (child == 0)
        _exit(0);
    atomic_store(&forks_meanwhile, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(pthread_join(chooser, NULL), 0);
    assert_false(had_chosen);
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
        TEST(a_thread_that_switches_often_gets_a_timer),
        TEST(a_thread_that_runs_for_long_gets_an_event_again),
        TEST(a_thread_that_computes_keeps_its_event),
        TEST(samples_stand_for_all_time_whichever_the_clock),
        TEST(no_event_is_opened_between_the_beginning_of_a_fork_and_its_child),
        TEST(a_slow_rate_has_timers_only),
    };
    pthread_atfork(prepare_host, NULL, NULL); /* before the library does: called after it */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
