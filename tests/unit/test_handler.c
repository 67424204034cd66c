/* SPDX-License-Identifier: MIT */
/* test_handler.c - the sample signal's handler when very many threads are in it at the same time. */
#include "tests/unit/fake_host.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "sampling/clocks.h"
#include "sampling/handler.h"
#include "sampling/sample_signal.h"
#include "sampling/scratch.h"
#include "session/write/session_write.h"
#include "signals/router.h"
#include "stackwalk/fast/tables.h"
#include "stackwalk/snapshot/walk_request.h"

#define INTERVAL_NS 10000000u
#define MOST        4096u /* more buffers than there are */

static struct sxs_samples_writer *writer;

static void sampling(void)
{
    static struct sxs_folder folder;
    const char              *path = temporary();
    CHECK_EQ(sxs_folder_open(&folder, path), 0);
    writer = sxs_samples_create(&folder, 1 << 24, NULL);
    CHECK(writer && sxs_tables_refresh() >= 0);
    remove_tree(path);
    sxs_clocks_choose(100);
    CHECK_EQ(sxs_handler_install(writer, SXS_WALKER_FAST), 0);
}

/* A signal that a thread sends to itself arrives before the call returns. */
static void a_sample(void)
{
    CHECK_EQ(sxs_sample_signal_send((uint32_t)syscall(SYS_gettid), INTERVAL_NS), 0);
}

/* Whether the thread has not handled all that sxs_sample_signal_send() has asked it for. */
static int is_asked(struct sxs_thread_slot *t)
{
    uint64_t by = 0;
    for (int kind = 0; kind < SXS_ASKED_KINDS; kind++)
        by |= atomic_load(&t->asked[kind]);
    return by != 0;
}

/* Takes all buffers, as if that many threads were preempted in the middle of their walks. Returns the number. */
static unsigned take_all_buffers(void)
{
    unsigned n = 0;
    while (n < MOST && sxs_scratch_take(n))
        n++;
    return n;
}

static void without_buffer(void)
{
    const struct sxs_samples_header *header;
    sampling();
    header = sxs_samples_header(writer);
    /* the slot of a thread that has just ended: no refusal */
    CHECK_EQ(sxs_sample_signal_send(0, INTERVAL_NS), -ESRCH);
    a_sample();
    CHECK_EQ(atomic_load(&header->n_samples), 1);
    CHECK(take_all_buffers() < MOST);
    a_sample();
    CHECK_EQ(atomic_load(&header->n_dropped), 0);
    CHECK_EQ(atomic_load(&header->n_samples), 2);
}

/* The kernel delivers a signal that has no room without what it carries. */
static void without_room(void)
{
    const struct rlimit              none = {0, 0};
    const struct sxs_samples_header *header;
    struct sxs_thread_slot          *t = sxs_threads_begin(0, 0);
    CHECK(t != NULL);
    sxs_threads_ready(t);
    sampling();
    header = sxs_samples_header(writer);
    CHECK_EQ(setrlimit(RLIMIT_SIGPENDING, &none), 0);
    a_sample();
    CHECK_EQ(atomic_load(&header->n_samples), 1);
    CHECK(!is_asked(t));
    atomic_store(&t->round_due_ns, 1);
    atomic_store(&t->requested_ns, 3 * INTERVAL_NS);
    a_sample();
    CHECK_EQ(atomic_load(&header->n_samples), 2);
    CHECK_EQ(atomic_load(&t->requested_ns), 0);
    CHECK_EQ(atomic_load(&t->weighed_ns), 1 + 3 * INTERVAL_NS);
}

static void a_signal_that_has_lost_what_it_carried_is_a_sample(void **state)
{
    (void)state;
    PASSES(without_room);
}

/* What a thread is asked for by another one. */
static struct {
    uint32_t    tid, first; /* the first signal's weight */
    _Atomic int has_sent;   /* 1: both signals */
} asking;

static int ask_for_walk(uint32_t tid)
{
    int err =
        asking.first == SXS_SAMPLE_SIGNAL_WALK ? 0 : sxs_sample_signal_send(tid, asking.first);
    err = err ? err : sxs_sample_signal_send(tid, SXS_SAMPLE_SIGNAL_WALK);
    err = err || asking.first != SXS_SAMPLE_SIGNAL_WALK ? err
                                                        : sxs_sample_signal_send(tid, INTERVAL_NS);
    atomic_store(&asking.has_sent, 1);
    return err;
}

/* Returns the number of frames that the thread has answered, or NULL. */
static void *ask_twice(void *arg)
{
    const struct sxs_walk_answer *answer;
    uintptr_t                     n;
    (void)arg;
    CHECK_EQ(sxs_walk_request_hold(1000000), 0);
    answer = sxs_walk_request(asking.tid, 5000000, ask_for_walk);
    n = answer ? answer->n : 0;
    sxs_walk_request_release();
    return (void *)n; // NOLINT(performance-no-int-to-ptr)
}

/* The thread has the signal blocked while it is asked for a sample and for a stack, @first of them first: the
 * kernel keeps one signal. */
static void asked_for_both(uint32_t first)
{
    unsigned long           before = atomic_load(&sxs_samples_header(writer)->n_samples);
    pthread_t               thread;
    sigset_t                one;
    void                   *n_frames = NULL;
    struct sxs_thread_slot *t = sxs_threads_find((uint32_t)syscall(SYS_gettid));
    asking.tid = (uint32_t)syscall(SYS_gettid);
    asking.first = first;
    atomic_store(&asking.has_sent, 0);
    sigemptyset(&one);
    sigaddset(&one, sxs_sample_signal_number());
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
    CHECK_EQ(pthread_create(&thread, NULL, ask_twice, NULL), 0);
    while (!atomic_load(&asking.has_sent))
        sched_yield();
    CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &one, NULL), 0);
    CHECK_EQ(pthread_join(thread, &n_frames), 0);
    CHECK(n_frames != NULL);
    CHECK_EQ(atomic_load(&sxs_samples_header(writer)->n_samples), before + 1);
    CHECK(!is_asked(t));
}

static void for_both(void)
{
    struct sxs_thread_slot *t = sxs_threads_begin(0, 0);
    CHECK(t != NULL);
    sxs_threads_ready(t);
    sampling();
    asked_for_both(INTERVAL_NS);
    asked_for_both(SXS_SAMPLE_SIGNAL_WALK);
}

static void one_signal_serves_all_that_a_thread_is_asked_for(void **state)
{
    (void)state;
    PASSES(for_both);
}

/* A timer as those that clock threads, of a session that has ended or has no sampler. */
static void late_timer(void)
{
    const struct itimerspec soon = {.it_value.tv_nsec = 1};
    struct sigevent         event = {.sigev_notify = SIGEV_SIGNAL};
    timer_t                 first, second; /* the kernel's number of the first may be 0 */
    sigset_t                one;
    CHECK_EQ(sxs_sample_signal_install(), 0);
    CHECK_EQ(sxs_sample_signal_number(), SIGSTKFLT); /* whose default action ends the process */
    event.sigev_signo = sxs_sample_signal_number();
    event.sigev_value.sival_ptr = (void *)SXS_SAMPLE_SIGNAL_VALUE;
    CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &first), 0);
    CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &second), 0);
    sigemptyset(&one);
    sigaddset(&one, event.sigev_signo);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
    CHECK_EQ(timer_settime(second, 0, &soon, NULL), 0);
    for (sigset_t pending = {0}; !sigismember(&pending, event.sigev_signo);)
        sigpending(&pending);
    CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &one, NULL), 0);
}

static void a_timer_that_no_sampler_waits_for_does_no_harm(void **state)
{
    (void)state;
    PASSES(late_timer);
}

/* Makes the system call @number fail with EPERM from now on, as sandboxes do. */
static void refuse(uint32_t number)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {ARRAY_LEN(rules), rules};
    CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* Two signals without a value may meet one handler that takes what both ask for. The second then asks
 * for nothing, and looks like one of the host's. */
static void two_for_one(void)
{
    struct sxs_thread_slot *t = sxs_threads_begin(0, 0);
    CHECK(t != NULL);
    sxs_threads_ready(t);
    a_sample();
    CHECK(!is_asked(t));
    CHECK_EQ(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sxs_sample_signal_number()), 0);
}

static void refused_before(void)
{
    refuse(SYS_rt_tgsigqueueinfo);
    CHECK_EQ(sxs_sample_signal_install(), 0);
    CHECK_EQ(sxs_sample_signal_number(), SIGURG);
    two_for_one();
}

static void refused_later(void)
{
    CHECK_EQ(sxs_sample_signal_install(), 0);
    CHECK_EQ(sxs_sample_signal_number(), SIGSTKFLT);
    CHECK_EQ(sxs_sample_signal_check(), SXS_SAMPLE_SIGNAL_SAME);
    refuse(SYS_rt_tgsigqueueinfo);
    CHECK(sxs_threads_begin(0, 0) != NULL);
    a_sample();
    CHECK_EQ(sxs_sample_signal_check(), SXS_SAMPLE_SIGNAL_MOVED);
    CHECK_EQ(sxs_sample_signal_number(), SIGURG);
    CHECK_EQ(sxs_sample_signal_check(), SXS_SAMPLE_SIGNAL_SAME);
    a_sample();
}

/* A signal that has lost its value stays pending at exec, other than those of timers. */
static void lost_later(void)
{
    const struct rlimit none = {0, 0};
    CHECK_EQ(sxs_sample_signal_install(), 0);
    CHECK_EQ(sxs_sample_signal_number(), SIGSTKFLT);
    CHECK(sxs_threads_begin(0, 0) != NULL);
    a_sample();
    CHECK_EQ(sxs_sample_signal_check(), SXS_SAMPLE_SIGNAL_SAME);
    CHECK_EQ(setrlimit(RLIMIT_SIGPENDING, &none), 0);
    a_sample();
    CHECK_EQ(sxs_sample_signal_check(), SXS_SAMPLE_SIGNAL_MOVED);
    CHECK_EQ(sxs_sample_signal_number(), SIGURG);
}

static int n_hosts; /* signals that the host's handler got */

static void count_hosts(int sig)
{
    (void)sig;
    n_hosts++;
}

/* The host's handler was registered where the library sees it, so the library's is still the kernel's for that
 * signal. Meanwhile a sample is asked for by the signal that it has moved to. */
static void moved_from_the_hosts(void)
{
    static const struct sigaction hosts = {.sa_handler = count_hosts};
    const struct rlimit           none = {0, 0};
    struct sxs_thread_slot       *t = sxs_threads_begin(0, 0);
    sigset_t                      one;
    CHECK(t != NULL);
    sxs_threads_ready(t);
    sampling();
    CHECK_EQ(setrlimit(RLIMIT_SIGPENDING, &none), 0);
    a_sample();
    CHECK_EQ(sxs_sample_signal_check(), SXS_SAMPLE_SIGNAL_MOVED);
    CHECK_EQ(sxs_sample_signal_number(), SIGURG);
    CHECK_EQ(hook_sigaction((uintptr_t)count_hosts, SIGURG, &hosts, NULL), 0);
    CHECK_EQ(sxs_sample_signal_check(), SXS_SAMPLE_SIGNAL_MOVED);
    CHECK_EQ(sxs_sample_signal_number(), SIGWINCH);
    sigemptyset(&one);
    sigaddset(&one, SIGWINCH);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
    a_sample();
    CHECK_EQ(raise(SIGURG), 0);
    CHECK_EQ(n_hosts, 1);
    CHECK(is_asked(t));
    CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &one, NULL), 0);
    CHECK(!is_asked(t));
    CHECK_EQ(n_hosts, 1);
    CHECK_EQ(atomic_load(&sxs_samples_header(writer)->n_samples), 2);
}

static void a_signal_of_the_host_is_no_sample_that_comes_by_another(void **state)
{
    (void)state;
    PASSES(moved_from_the_hosts);
}

/* What could not be sent will not come. */
static void refused_at_all(void)
{
    struct sxs_thread_slot *t = sxs_threads_begin(0, 0);
    CHECK(t != NULL);
    sxs_threads_ready(t);
    CHECK_EQ(sxs_sample_signal_install(), 0);
    refuse(SYS_rt_tgsigqueueinfo);
    refuse(SYS_tgkill);
    CHECK_EQ(sxs_sample_signal_send((uint32_t)syscall(SYS_gettid), INTERVAL_NS), -EPERM);
    CHECK(!is_asked(t));
}

static void a_signal_that_was_refused_is_not_awaited(void **state)
{
    (void)state;
    PASSES(refused_at_all);
}

static void signals_without_a_value_are_harmless_ones(void **state)
{
    (void)state;
    PASSES(refused_before);
    PASSES(refused_later);
    PASSES(lost_later);
}

static void host_alarm(int sig)
{
    (void)sig;
    a_sample(); /* stays pending until this returns, if it is blocked */
}

/* The host's handler interrupts a call that the host wants to fail. A sample that comes when the
 * handler returns finds the call failed. */
static void sample_after_handler(void)
{
    struct sigaction       act = {.sa_handler = host_alarm};
    const struct itimerval soon = {.it_value.tv_usec = 50000};
    const struct timespec  one = {1, 0}, round = {0, 150000000};
    sampling();
    sigfillset(&act.sa_mask);
    CHECK_EQ(sigaction(SIGALRM, &act, NULL), 0);
    nanosleep(&round, NULL);
    CHECK_EQ(sxs_sample_signal_check(), SXS_SAMPLE_SIGNAL_SAME);
    CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
    CHECK(nanosleep(&one, NULL) == -1 && errno == EINTR);
    CHECK_EQ(atomic_load(&sxs_samples_header(writer)->n_samples), 1);
}

static void a_sample_hides_no_interruption_by_a_handler_of_the_host(void **state)
{
    (void)state;
    PASSES(sample_after_handler);
}

static void no_sample_is_dropped_if_all_buffers_are_in_use(void **state)
{
    (void)state;
    PASSES(without_buffer);
}

static void two_hundred_walks_at_a_time_have_a_buffer_each(void **state)
{
    enum { N = 200 };
    struct sxs_scratch *buffers[N];
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        buffers[i] = sxs_scratch_take(i / 3);
        assert_non_null(buffers[i]);
        for (unsigned j = 0; j < i; j++)
            assert_ptr_not_equal(buffers[i], buffers[j]);
    }
    for (unsigned i = 0; i < N; i++)
        sxs_scratch_give_back(buffers[i]);
    assert_non_null(sxs_scratch_take(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_that_no_sampler_waits_for_does_no_harm),
        cmocka_unit_test(a_signal_of_the_host_is_no_sample_that_comes_by_another),
        cmocka_unit_test(a_signal_that_was_refused_is_not_awaited),
        cmocka_unit_test(signals_without_a_value_are_harmless_ones),
        cmocka_unit_test(a_sample_hides_no_interruption_by_a_handler_of_the_host),
        cmocka_unit_test(a_signal_that_has_lost_what_it_carried_is_a_sample),
        cmocka_unit_test(one_signal_serves_all_that_a_thread_is_asked_for),
        cmocka_unit_test(no_sample_is_dropped_if_all_buffers_are_in_use),
        cmocka_unit_test(two_hundred_walks_at_a_time_have_a_buffer_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
