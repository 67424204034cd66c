/* SPDX-License-Identifier: MIT */
/* test_wall.c - which threads get a sample signal when wall-clock time is sampled. */
#include "tests/unit/recorder_fixture.h"

#include <sys/prctl.h>

#include "base/clock.h"
#include "sampling/clocks.h"
#include "sampling/handler.h"
#include "sampling/sample_signal.h"
#include "sampling/stacks.h"
#include "sampling/wait_reason.h"
#include "sampling/wall.h"

#define TRIES  20
#define FRAMES 400      /* libunwind takes far longer than RAN_NS for so many */
#define RAN_NS 1000000u /* more than any thread uses on its way into a system call */

static _Atomic uint32_t tid;

/* The sampler's handler on this thread, with a walker that is slow. */
#define PERIOD UINT64_C(10000000)

static uint64_t now_ns; /* of the latest round */

/* A thread that is found now. */
static void find_thread(void)
{
    sxs_threads_mark(tid, 0);
    sxs_threads_find(tid)->started_ns = now_ns;
}

static void sampled_by_wall_time(void)
{
    begin_recording(1 << 24);
    sxs_samples_header(writer)->mode = SXS_MODE_WALL;
    sxs_clocks_choose(100);
    CHECK_EQ(sxs_handler_install(writer, SXS_WALKER_UNWIND), 0);
    sxs_wall_init(writer, 100);
    tid = (uint32_t)syscall(SYS_gettid);
    now_ns = sxs_now_ns(CLOCK_MONOTONIC);
    find_thread();
}

static void work(void)
{
    for (uint64_t end = sxs_now_ns(CLOCK_THREAD_CPUTIME_ID) + RAN_NS;
         sxs_now_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
        continue;
}

/* Calls @then below @frames frames. */
__attribute__((noinline)) static void below(int frames, void (*then)(void))
{
    if (frames > 0)
        below(frames - 1, then);
    else
        then();
    __asm__ volatile(""); /* no tail call */
}

static uint32_t weight;

/* What the sampler's thread does at a round. Sent to itself, a signal arrives before the call returns. */
static void round_after(unsigned periods)
{
    struct sxs_thread_slot *t = sxs_threads_find(tid);
    now_ns += periods * PERIOD;
    sxs_wall_begin(now_ns);
    weight = sxs_wall_due(t);
    if (weight)
        CHECK_EQ(sxs_wall_request(t, weight), 0);
    atomic_store(&t->was_running, 0); /* a thread that asks about itself never waits elsewhere */
}

static void a_round(void)
{
    round_after(1);
}

static void two_rounds(void)
{
    a_round();
    CHECK_EQ(weight, 10000000);
    a_round();
}

static void cost_body(void)
{
    const struct sxs_samples_header *header;
    int                              disturbed = 0;
    sampled_by_wall_time();
    header = sxs_samples_header(writer);
    for (int i = 0; i < TRIES; i++) {
        work();
        below(FRAMES, two_rounds); /* nothing happens between the rounds but the sample */
        disturbed += weight != 0;
    }
    CHECK(header->handler_ns / (uint64_t)(TRIES + disturbed) > 50000); /* else this shows nothing */
    CHECK_EQ(header->n_dropped, 0);
    CHECK(disturbed < TRIES / 2);
}

static void what_a_sample_costs_a_thread_is_not_taken_for_work_of_it(void **state)
{
    (void)state;
    PASSES(cost_body);
}

static void work_body(void)
{
    sampled_by_wall_time();
    for (int i = 0; i < TRIES; i++) {
        work();
        a_round();
        CHECK_EQ(weight, 10000000);
    }
    CHECK_EQ(sxs_samples_header(writer)->n_samples, TRIES);
}

static void a_thread_that_has_run_gets_a_sample(void **state)
{
    (void)state;
    PASSES(work_body);
}

/* A round @periods intervals after the one before. Checks the weight of a thread that has run, and the
 * waiting time added to a waiting thread: both must be the time since. */
static void late_round(unsigned periods)
{
    struct sxs_thread_slot *t = sxs_threads_find(tid);
    uint64_t                waited;
    work();
    round_after(periods);
    CHECK_EQ(weight, periods * PERIOD);
    CHECK_EQ(atomic_load(&t->waited_ns), 0);
    atomic_store(&t->cpu_ns, UINT64_MAX / 2); /* as if the thread had not run since */
    round_after(periods);
    CHECK_EQ(weight, 0);
    waited = atomic_exchange(&t->waited_ns, 0);
    /* waiting time of 100 ms is recorded */
    CHECK_EQ(waited, periods * PERIOD < 10 * PERIOD ? periods * PERIOD : 0);
}

static void late_body(void)
{
    struct sxs_thread_slot *t;
    sampled_by_wall_time();
    t = sxs_threads_find(tid);
    late_round(1);
    late_round(4);
    late_round(1); /* missed rounds do not follow */
    late_round(9);
    late_round(60); /* as with the walker "snapshot" on a busy machine */
    CHECK_EQ(atomic_load(&t->unsampled_ns), 0);
    work();
    round_after(900); /* the process was stopped */
    CHECK_EQ(weight, PERIOD);
    CHECK_EQ(atomic_load(&t->unsampled_ns), 899 * PERIOD);
}

static void a_late_round_stands_for_those_that_were_missed(void **state)
{
    (void)state;
    PASSES(late_body);
}

/* ---- a thread that goes from work into a wait -------------------------------------------------- */

static _Atomic int goes_on;

static void *sample_and_sleep(void *unused)
{
    const struct timespec long_time = {100, 0};
    (void)unused;
    tid = (uint32_t)syscall(SYS_gettid);
    find_thread();
    a_round();
    atomic_store(&goes_on, 1);
    while (atomic_load(&goes_on) != 2)
        nanosleep(&long_time, NULL);
    return NULL;
}

static const struct sxs_record_sample *latest_of(struct sxs_thread_slot *t)
{
    return atomic_load(&t->last);
}

/* Waits until the thread sleeps, whatever the machine does. */
static struct sxs_thread_slot *sleeper(pthread_t *thread)
{
    const struct timespec pause = {0, 1000000};
    atomic_store(&goes_on, 0);
    CHECK_EQ(pthread_create(thread, NULL, sample_and_sleep, NULL), 0);
    while (!atomic_load(&goes_on) || sxs_wait_reason(tid) != SXS_WAITS_SLEEP)
        nanosleep(&pause, NULL);
    sxs_stacks_refresh();
    return sxs_threads_find(tid);
}

/* As if the thread had not run since its stack was taken. */
static uint32_t quiet_round(struct sxs_thread_slot *t)
{
    atomic_store(&t->cpu_ns, UINT64_MAX / 2);
    now_ns += PERIOD;
    sxs_wall_begin(now_ns);
    return sxs_wall_due(t);
}

static void into_wait_body(void)
{
    const struct timespec           pause = {0, 1000000};
    const struct sxs_record_sample *first;
    pthread_t                       thread;
    struct sxs_thread_slot         *t;
    sampled_by_wall_time();
    t = sleeper(&thread);
    first = latest_of(t);
    atomic_store(&t->was_running, 1); /* as if its stack had been taken a moment before it slept */
    weight = quiet_round(t);
    CHECK_EQ(weight, 10000000);
    CHECK_EQ(atomic_load(&t->waited_ns), 0); /* nothing has the stack from before */
    CHECK_EQ(sxs_wall_request(t, weight), 0);
    while (latest_of(t) == first || sxs_wait_reason(tid) != SXS_WAITS_SLEEP)
        nanosleep(&pause, NULL);
    CHECK_EQ(atomic_load(&t->was_running), 0);
    CHECK_EQ(quiet_round(t), 0);
    CHECK_EQ(atomic_load(&t->waited_ns), 10000000);
}

static void a_thread_that_went_into_a_wait_is_asked_where(void **state)
{
    (void)state;
    PASSES(into_wait_body);
}

static void again_body(void)
{
    pthread_t               thread;
    struct sxs_thread_slot *t;
    unsigned                n = 0;
    sampled_by_wall_time();
    t = sleeper(&thread);
    while (n < 10 && (atomic_store(&t->was_running, 1), quiet_round(t)))
        n++;
    CHECK_EQ(n, 4);
}

static void it_is_not_asked_for_ever(void **state)
{
    (void)state;
    PASSES(again_body);
}

static int any(const void *record, void *sum)
{
    *(uint64_t *)sum += ((const struct sxs_record_sample *)record)->weight_ns;
    return 0;
}

static void ended_body(void)
{
    uint64_t                sum = 0;
    pthread_t               thread;
    struct sxs_thread_slot *t;
    sampled_by_wall_time();
    now_ns = sxs_now_ns(CLOCK_MONOTONIC) - 5 * PERIOD;
    t = sleeper(&thread);
    CHECK_EQ(quiet_round(t), 0);
    CHECK_EQ(quiet_round(t), 0);
    sxs_wall_ended(t);
    each_record(SXS_RECORD_SAMPLE, any, &sum);
    CHECK_EQ(sum, atomic_load(&t->weighed_ns));
    CHECK(sum >= 3 * PERIOD); /* with the waiting time that no record had yet */
    CHECK(sum + atomic_load(&t->unsampled_ns) >= 5 * PERIOD);
}

static void the_weights_of_a_thread_and_what_is_not_sampled_are_its_life(void **state)
{
    (void)state;
    PASSES(ended_body);
}

/* What is on its way into a sample when the thread ends is no part of the rest of its life. */
static void one_sample_body(void)
{
    uint64_t                sum = 0, ended;
    struct sxs_thread_slot *t;
    sampled_by_wall_time();
    t = sxs_threads_find(tid);
    now_ns = t->started_ns = sxs_now_ns(CLOCK_MONOTONIC) - 5 * PERIOD;
    work();
    round_after(1);
    CHECK_EQ(weight, PERIOD);
    work();
    now_ns += 3 * PERIOD;
    sxs_wall_begin(now_ns);
    weight = sxs_wall_due(t); /* a round that has not asked for its sample yet, */
    CHECK_EQ(weight, 3 * PERIOD);
    CHECK_EQ(sxs_wall_due(t), 0); /* and that nobody else asks for */
    sxs_wall_ended(t);
    ended = sxs_now_ns(CLOCK_MONOTONIC);
    each_record(SXS_RECORD_SAMPLE, any, &sum);
    CHECK(sum + weight + atomic_load(&t->unsampled_ns) <= ended - t->started_ns);
    CHECK(sum + weight + atomic_load(&t->unsampled_ns) >= 5 * PERIOD);
}

static void no_time_of_a_thread_belongs_to_two_samples(void **state)
{
    (void)state;
    PASSES(one_sample_body);
}

/* Without room in the file. */
static void no_sample_body(void)
{
    struct sxs_thread_slot *t;
    sampled_by_wall_time();
    t = sxs_threads_find(tid);
    now_ns = t->started_ns = sxs_now_ns(CLOCK_MONOTONIC) - 5 * PERIOD;
    work();
    round_after(1);
    while (sxs_samples_reserve(writer, 64))
        continue;
    work();
    round_after(1); /* its sample is dropped */
    CHECK_EQ(weight, PERIOD);
    CHECK_EQ(atomic_load(&t->weighed_ns), PERIOD);
    work();
    round_after(1);
    CHECK_EQ(weight, 2 * PERIOD);
    sxs_wall_ended(t);
    CHECK(atomic_load(&t->unsampled_ns) >= 4 * PERIOD);
}

static void time_whose_sample_is_dropped_is_not_sampled(void **state)
{
    (void)state;
    PASSES(no_sample_body);
}

static unsigned n_seen;

/* The thread of the slot is the calling one, which names itself and ends meanwhile. */
static void see_busy(struct sxs_thread_slot *t)
{
    if (atomic_load(&t->tid) != tid)
        return;
    n_seen++;
    CHECK_EQ(atomic_load(&t->state), SXS_SLOT_BUSY);
    CHECK_EQ(prctl(PR_SET_NAME, "Ends-Meanwhile"), 0);
    CHECK(sxs_threads_finish() == NULL);
    CHECK(strcmp(t->end_name, "Ends-Meanwhile") == 0);
    CHECK(t->end_cpu_ns && t->end_cpu_ns <= sxs_now_ns(CLOCK_THREAD_CPUTIME_ID));
}

static void busy_body(void)
{
    struct sxs_thread_slot *t = sxs_threads_begin(0, 0);
    CHECK(t != NULL);
    tid = gettid_now();
    sxs_threads_ready(t);
    sxs_threads_each(see_busy);
    CHECK_EQ(n_seen, 1);
    CHECK_EQ(atomic_load(&t->state), SXS_SLOT_LIVE);
    CHECK(sxs_threads_finish() == t);
    CHECK(strcmp(t->name, "Ends-Meanwhile") == 0);
}

static int take_any(struct sxs_thread_slot *t)
{
    return t == NULL;
}

static void ignore_any(struct sxs_thread_slot *t)
{
    CHECK(t != NULL);
}

static void *wait_for_scan(void *arg)
{
    atomic_store(&tid, gettid_now());
    CHECK_EQ(pthread_mutex_lock(arg), 0);
    return arg;
}

/* As on a busy machine: the scan comes 300 ms after the thread. */
static void found_late_body(void)
{
    static const struct sxs_threads_events events = {take_any, ignore_any, ignore_any, ignore_any,
                                                     ignore_any};
    static pthread_mutex_t                 held = PTHREAD_MUTEX_INITIALIZER;
    pthread_t                              thread;
    uint64_t                               before = sxs_now_ns(CLOCK_MONOTONIC);
    struct sxs_thread_slot                *t;
    tid = 0;
    CHECK_EQ(pthread_mutex_lock(&held), 0);
    CHECK_EQ(pthread_create(&thread, NULL, wait_for_scan, &held), 0);
    while (!atomic_load(&tid))
        sched_yield();
    uint64_t after = sxs_now_ns(CLOCK_MONOTONIC);
    usleep(300000);
    sxs_threads_scan(&events);
    t = sxs_threads_find(tid);
    CHECK(t && t->started_ns > after + 290000000);
    CHECK(t->born_ns + 20000000 > before && t->born_ns <= after);
    CHECK_EQ(pthread_mutex_unlock(&held), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void of_a_thread_that_is_found_late_its_start_is_known(void **state)
{
    (void)state;
    PASSES(found_late_body);
}

static void no_account_of_a_thread_is_closed_while_a_round_looks_at_it(void **state)
{
    (void)state;
    PASSES(busy_body);
}

static int for_processor(const void *record, void *found)
{
    if (((const struct sxs_record_sample *)record)->waiting != SXS_WAITS_PROCESSOR)
        return 0;
    *(const void **)found = record;
    return 1;
}

static void reasons_body(void)
{
    const void             *record = NULL;
    pthread_t               thread;
    struct sxs_thread_slot *t;
    sampled_by_wall_time();
    sxs_wall_ask_reasons();
    t = sleeper(&thread);
    atomic_store(&t->reason, SXS_WAITS_PROCESSOR); /* as in the rounds before */
    atomic_store(&t->waited_ns, 20000000);
    now_ns += 2 * PERIOD;
    atomic_store(&t->claimed_ns, now_ns);
    CHECK_EQ(quiet_round(t), 0);
    CHECK_EQ(atomic_load(&t->reason), SXS_WAITS_SLEEP);
    CHECK_EQ(atomic_load(&t->waited_ns), 10000000);
    CHECK_EQ(each_record(SXS_RECORD_SAMPLE, for_processor, &record), 2);
    CHECK(record && ((const struct sxs_record_sample *)record)->weight_ns == 20000000);
}

static void a_wait_for_a_processor_does_not_name_the_wait_after_it(void **state)
{
    (void)state;
    PASSES(reasons_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_sample_costs_a_thread_is_not_taken_for_work_of_it),
        cmocka_unit_test(a_thread_that_has_run_gets_a_sample),
        cmocka_unit_test(a_thread_that_went_into_a_wait_is_asked_where),
        cmocka_unit_test(it_is_not_asked_for_ever),
        cmocka_unit_test(a_wait_for_a_processor_does_not_name_the_wait_after_it),
        cmocka_unit_test(the_weights_of_a_thread_and_what_is_not_sampled_are_its_life),
        cmocka_unit_test(no_time_of_a_thread_belongs_to_two_samples),
        cmocka_unit_test(time_whose_sample_is_dropped_is_not_sampled),
        cmocka_unit_test(of_a_thread_that_is_found_late_its_start_is_known),
        cmocka_unit_test(no_account_of_a_thread_is_closed_while_a_round_looks_at_it),
        cmocka_unit_test(a_late_round_stands_for_those_that_were_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
