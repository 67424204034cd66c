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
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "sampling/restart.h"
#include "tests/unit/sanitized.h"

#define WAIT_MS 60
#define WAIT_NS (WAIT_MS * 1000000L)

static int         just_begun;
static int         meanwhile; /* not 0: a signal that comes while the handler runs */
static int         was_in_time; /* 1: a signal came before the wait had ended */
static _Atomic int n_signals;
static pthread_t   waiter;
static int         fds[2];

static void on_signal(int sig, siginfo_t *info, void *uc)
{
    (void)info;
    atomic_fetch_add(&n_signals, 1);
    if (meanwhile)
        pthread_kill(pthread_self(), meanwhile);
    sxs_restart_interrupted(uc, sig, just_begun);
}

static void on_host_signal(int sig)
{
    (void)sig;
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
    sigfillset(&act.sa_mask);
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

static void a_host_s_signal_that_comes_meanwhile_still_interrupts_the_call(void **state)
{
    const struct sigaction host = {.sa_handler = on_host_signal, .sa_flags = SA_RESTART};
    (void)state;
    skip_under_thread_sanitizer("it delivers signals of handlers later");
    assert_int_equal(sigaction(SIGUSR2, &host, NULL), 0);
    just_begun = 1;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (ways[i].wait == by_sigtimedwait) /* which takes this signal itself */
            continue;
        meanwhile = SIGUSR2;
        if (interrupt_wait(&ways[i], 1) != 0)
            fail_msg("%s went on", ways[i].name);
        meanwhile = SIGCHLD; /* without a handler: it interrupts nothing */
        if (interrupt_wait(&ways[i], 1) < WAIT_NS - 1000000)
            fail_msg("%s ended", ways[i].name);
    }
    meanwhile = 0;
    signal(SIGUSR2, SIG_DFL);
}

/* Returns whether the call whose instruction ends at @next is begun again. */
static int is_begun_again(const unsigned char *next)
{
    ucontext_t uc;
    memset(&uc, 0, sizeof(uc));
    uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)next;
    uc.uc_mcontext.gregs[REG_RAX] = -EINTR;
    sxs_restart_interrupted(&uc, SIGUSR1, 1);
    if (uc.uc_mcontext.gregs[REG_RIP] == (greg_t)(uintptr_t)next)
        return 0;
    assert_int_equal(uc.uc_mcontext.gregs[REG_RAX], SYS_poll);
    return 1;
}

static void code_at_the_edge_of_a_page_is_read_as_far_as_it_can_be(void **state)
{
    const unsigned char code[] = {0xb8, SYS_poll, 0, 0, 0, 0x0f, 0x05}; /* mov $SYS_poll, %eax; syscall */
    const size_t        page = 4096, size = sizeof(code);
    unsigned char      *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(at != MAP_FAILED);
    for (size_t before = 0; before <= size; before++) { /* bytes that are in the first page */
        memset(at, 0x90, 2 * page);
        memcpy(at + page - before, code, size);
        if (!is_begun_again(at + page - before + size))
            fail_msg("%zu bytes before the edge: not begun again", before);
        assert_int_equal(mprotect(at, page, PROT_NONE), 0);
        if (is_begun_again(at + page - before + size) != !before)
            fail_msg("%zu bytes before the edge, which cannot be read", before);
        assert_int_equal(mprotect(at, page, PROT_READ | PROT_WRITE), 0);
    }
    assert_int_equal(mprotect(at, 2 * page, PROT_NONE), 0);
    assert_false(is_begun_again(at + page + 40));
    munmap(at, 2 * page);
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
        cmocka_unit_test(a_host_s_signal_that_comes_meanwhile_still_interrupts_the_call),
        cmocka_unit_test(code_at_the_edge_of_a_page_is_read_as_far_as_it_can_be),
        cmocka_unit_test(the_kernels_text_tells_which_calls_have_a_timeout),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
