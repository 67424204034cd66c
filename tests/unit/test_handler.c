/* SPDX-License-Identifier: MIT */
/* test_handler.c - the sample signal's handler when very many threads are in it at the same time. */
#include "tests/unit/fake_host.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "session/write/session_write.h"
#include "stackwalk/fast/tables.h"
#include "tools/recorder/poke.h"
#include "tools/sample/clocks.h"
#include "tools/sample/handler.h"
#include "tools/recorder/scratch.h"

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
    CHECK_EQ(sxs_poke((uint32_t)syscall(SYS_gettid), INTERVAL_NS), 0);
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
    CHECK_EQ(sxs_poke(0, INTERVAL_NS), -ESRCH); /* the slot of a thread that has just ended: no refusal */
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
    CHECK_EQ(atomic_load(&t->asked), 0);
    atomic_store(&t->round_due_ns, 1);
    atomic_store(&t->poked_ns, 3 * INTERVAL_NS);
    a_sample();
    CHECK_EQ(atomic_load(&header->n_samples), 2);
    CHECK_EQ(atomic_load(&t->poked_ns), 0);
    CHECK_EQ(atomic_load(&t->weighed_ns), 1 + 3 * INTERVAL_NS);
}

static void a_signal_that_has_lost_what_it_carried_is_a_sample(void **state)
{
    (void)state;
    PASSES(without_room);
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
        cmocka_unit_test(a_signal_that_has_lost_what_it_carried_is_a_sample),
        cmocka_unit_test(no_sample_is_dropped_if_all_buffers_are_in_use),
        cmocka_unit_test(two_hundred_walks_at_a_time_have_a_buffer_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
