/* SPDX-License-Identifier: MIT */
/* test_wall.c - which threads get a sample signal when wall-clock time is sampled. */
#include "tests/unit/fake_host.h"

#include <sys/syscall.h>

#include "base/clock.h"
#include "session/write/session_write.h"
#include "tools/recorder/poke.h"
#include "tools/sample/clocks.h"
#include "tools/sample/handler.h"
#include "tools/recorder/stacks.h"
#include "stackwalk/fast/tables.h"
#include "tools/sample/wall.h"

#define TRIES  20
#define FRAMES 400      /* libunwind takes far longer than RAN_NS for so many */
#define RAN_NS 1000000u /* more than any thread uses on its way into a system call */

static struct sxs_samples_writer *writer;
static uint32_t                   tid;

/* The sampler's handler on this thread, with a walker that is slow. */
static void sampled_by_wall_time(void)
{
    static struct sxs_folder folder;
    const char              *path = temporary();
    CHECK_EQ(sxs_folder_open(&folder, path), 0);
    writer = sxs_samples_create(&folder, 1 << 24);
    CHECK(writer && sxs_tables_refresh() >= 0);
    remove_tree(path);
    sxs_samples_header(writer)->mode = SXS_MODE_WALL;
    sxs_clocks_choose(100);
    CHECK_EQ(sxs_handler_install(writer, SXS_WALKER_UNWIND), 0);
    sxs_wall_init(writer, 100);
    tid = (uint32_t)syscall(SYS_gettid);
    sxs_threads_mark(tid, 0);
    sxs_stacks_refresh();
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
static void a_round(void)
{
    weight = sxs_wall_due(sxs_threads_find(tid));
    if (weight)
        CHECK_EQ(sxs_poke(tid, weight), 0);
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

#define PERIOD UINT64_C(10000000)

/* Begins a round @periods intervals after the last one was due. Checks the weight of a thread that
 * has run, and the waiting time added to a waiting thread: both must be @stands_for intervals. */
static void late_round(uint64_t *now, unsigned periods, unsigned stands_for)
{
    struct sxs_thread_slot *t = sxs_threads_find(tid);
    *now += periods * PERIOD;
    sxs_wall_begin(*now + PERIOD / 2);
    work();
    a_round();
    CHECK_EQ(weight, stands_for * PERIOD);
    CHECK_EQ(atomic_load(&t->waited_ns), 0);
    atomic_store(&t->cpu_ns, UINT64_MAX / 2); /* as if the thread had not run since */
    a_round();
    CHECK_EQ(weight, 0);
    CHECK_EQ(atomic_exchange(&t->waited_ns, 0), stands_for * PERIOD);
}

static void late_body(void)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC) + 1000 * PERIOD;
    sampled_by_wall_time();
    sxs_wall_begin(now); /* far too late, so intervals are counted from here on */
    late_round(&now, 1, 1);
    late_round(&now, 4, 4);
    late_round(&now, 1, 1); /* missed rounds do not follow */
    late_round(&now, 9, 9);
    now += 60 * PERIOD; /* as with the walker "snapshot" on a busy machine */
    sxs_wall_begin(now + PERIOD / 2);
    work();
    a_round();
    CHECK_EQ(weight, 60 * PERIOD);
    sxs_wall_init(writer, 1);
    sxs_wall_begin(sxs_now_ns(CLOCK_MONOTONIC) + 9 * UINT64_C(1000000000));
    work();
    a_round();
    CHECK_EQ(weight, 1000000000); /* 9 s do not fit into a weight */
}

static void a_late_round_stands_for_those_that_were_missed(void **state)
{
    (void)state;
    PASSES(late_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_sample_costs_a_thread_is_not_taken_for_work_of_it),
        cmocka_unit_test(a_thread_that_has_run_gets_a_sample),
        cmocka_unit_test(a_late_round_stands_for_those_that_were_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
