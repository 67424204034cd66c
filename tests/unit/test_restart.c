/* SPDX-License-Identifier: MIT */
/* test_restart.c - system calls that a signal interrupts, and that the handler begins again. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tools/recorder/restart.h"
#include "tests/unit/sanitized.h"

#define WAIT_MS 60
#define WAIT_NS (WAIT_MS * 1000000L)

static int         just_begun;
static int         was_in_time; /* 1: a signal came before the wait had ended */
static _Atomic int n_signals;
static pthread_t   waiter;
static int         fds[2];

static void on_signal(int sig, siginfo_t *info, void *uc)
{
    (void)sig, (void)info;
    atomic_fetch_add(&n_signals, 1);
    sxs_restart_interrupted(uc, just_begun);
}

static void *send_signals(void *number)
{
    for (int i = 0; i < *(int *)number; i++) {
        nanosleep(&(struct timespec){0, WAIT_NS / 6}, NULL);
        pthread_kill(waiter, SIGUSR1);
    }
    return NULL;
}

static int by_poll(void)
{
    return poll(NULL, 0, WAIT_MS);
}

static int by_epoll_wait(void)
{
    struct epoll_event event;
    int                fd = epoll_create1(EPOLL_CLOEXEC), n = epoll_wait(fd, &event, 1, WAIT_MS);
    int                err = errno;
    close(fd);
    errno = err;
    return n;
}

static int by_nanosleep(void)
{
    return nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
}

static int by_select(void)
{
    return select(0, NULL, NULL, NULL, &(struct timeval){0, WAIT_MS * 1000L});
}

static int by_ppoll(void)
{
    return ppoll(NULL, 0, &(struct timespec){0, WAIT_NS}, NULL);
}

static int is_over(int result, int err)
{
    return result == 0 || (result < 0 && errno == err) ? 0 : -1;
}

static int by_sem_timedwait(void)
{
    sem_t           sem;
    struct timespec until;
    sem_init(&sem, 0, 0);
    until = sxs_timespec_of(sxs_now_ns(CLOCK_REALTIME) + WAIT_NS);
    return is_over(sem_timedwait(&sem, &until), ETIMEDOUT);
}

static int by_sigtimedwait(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return is_over(sigtimedwait(&set, NULL, &(struct timespec){0, WAIT_NS}), EAGAIN);
}

static int by_recv(void)
{
    char byte;
    return is_over((int)recv(fds[0], &byte, 1, 0), EAGAIN);
}

static const struct way {
    const char *name;
    int (*wait)(void);
    int begins_anew; /* its timeout, when the call is begun again */
} ways[] = {
    {"poll", by_poll, 1},
    {"epoll_wait", by_epoll_wait, 1},
    {"nanosleep", by_nanosleep, 1},
    {"recv", by_recv, 1},
    {"sigtimedwait", by_sigtimedwait, 1},
    {"select", by_select, 0},
    {"ppoll", by_ppoll, 0},
    {"sem_timedwait", by_sem_timedwait, 0},
};

/* Waits in @way while @n signals come. On a busy machine they may come too late. Returns the ns that it has taken, or 0: it failed with EINTR. */
static uint64_t wait_in(const struct way *way, int n)
{
    pthread_t sender;
    uint64_t  began = sxs_now_ns(CLOCK_MONOTONIC);
    int       result, err;
    atomic_store(&n_signals, 0);
    assert_int_equal(pthread_create(&sender, NULL, send_signals, &n), 0);
    errno = 0;
    result = way->wait();
    err = errno;
    was_in_time = atomic_load(&n_signals) > 0;
    began = sxs_now_ns(CLOCK_MONOTONIC) - began;
    pthread_join(sender, NULL);
    if (result < 0 && err == EINTR)
        return 0;
    if (result < 0)
        fail_msg("%s: %s", way->name, strerror(err));
    return began;
}

static uint64_t interrupt_wait(const struct way *way, int n)
{
    uint64_t took;
    do
        took = wait_in(way, n);
    while (!was_in_time);
    return took;
}

static int set_up(void **state)
{
    struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct timeval   time = {0, WAIT_MS * 1000L};
    (void)state;
    waiter = pthread_self();
    assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    return setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

static void a_call_that_has_just_begun_is_begun_again(void **state)
{
    (void)state;
    skip_under_thread_sanitizer("it delivers signals of handlers later");
    just_begun = 1;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        uint64_t took = interrupt_wait(&ways[i], 1);
        if (took < WAIT_NS - 1000000)
            fail_msg("%s took %llu ns", ways[i].name, (unsigned long long)took);
    }
}

static void another_is_only_if_its_timeout_does_not_begin_anew(void **state)
{
    (void)state;
    skip_under_thread_sanitizer("it delivers signals of handlers later");
    just_begun = 0;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        uint64_t took = interrupt_wait(&ways[i], 3);
        if (ways[i].begins_anew ? took != 0 : took < WAIT_NS - 1000000)
            fail_msg("%s took %llu ns", ways[i].name, (unsigned long long)took);
    }
}

static int timed(const char *text)
{
    struct sxs_waiting_call call;
    assert_int_equal(sxs_waiting_call_parse(text, &call), 0);
    return sxs_waiting_call_is_timed(&call);
}

static void the_kernels_text_tells_which_calls_have_a_timeout(void **state)
{
    struct sxs_waiting_call call;
    char                    text[128];
    (void)state;
    assert_int_equal(sxs_waiting_call_parse("running\n", &call), -1);
    assert_int_equal(sxs_waiting_call_parse("-1 0x7ff0 0x40\n", &call), -1);
    assert_int_equal(sxs_waiting_call_parse("7 0x1 0x2\n", &call), -1);
    assert_int_equal(
        sxs_waiting_call_parse("7 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffe10 0x7f20\n", &call), 0);
    assert_int_equal(call.number, 7);
    assert_int_equal(call.args[5], 6);
    assert_int_equal(call.sp, 0x7ffe10);
    assert_int_equal(call.ip, 0x7f20);
    assert_true(timed("7 0x1 0x2 0x3e8 0x0 0x0 0x0 0x1 0x1"));       /* poll */
    assert_false(timed("7 0x1 0x2 0xffffffff 0x0 0x0 0x0 0x1 0x1")); /* without end */
    assert_true(timed("230 0x1 0x0 0x5 0x0 0x0 0x0 0x1 0x1"));       /* clock_nanosleep */
    assert_false(timed("230 0x1 0x1 0x5 0x0 0x0 0x0 0x1 0x1"));      /* until a time */
    assert_true(timed("202 0x1 0x80 0x0 0x5 0x0 0x0 0x1 0x1"));      /* futex */
    assert_false(timed("202 0x1 0x80 0x0 0x0 0x0 0x0 0x1 0x1"));
    assert_false(timed("202 0x1 0x189 0x0 0x5 0x0 0xffffffff 0x1 0x1"));
    assert_false(timed("1000 0x1 0x1 0x1 0x1 0x1 0x1 0x1 0x1"));
    snprintf(text, sizeof(text), "45 0x%x 0x0 0x0 0x0 0x0 0x0 0x1 0x1", fds[0]);
    assert_true(timed(text));
    snprintf(text, sizeof(text), "45 0x%x 0x0 0x0 0x0 0x0 0x0 0x1 0x1", fds[1]);
    assert_false(timed(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_has_just_begun_is_begun_again),
        cmocka_unit_test(another_is_only_if_its_timeout_does_not_begin_anew),
        cmocka_unit_test(the_kernels_text_tells_which_calls_have_a_timeout),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
