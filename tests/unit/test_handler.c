/* SPDX-License-Identifier: MIT */
/* test_handler.c - the sample signal's handler, when a great many threads are in it at once. */
#include "tests/unit/fake_host.h"

#include <sys/syscall.h>

#include "record/session_write.h"
#include "sampler/clocks.h"
#include "sampler/handler.h"
#include "sampler/scratch.h"
#include "sampler/tables.h"

#define INTERVAL_NS 10000000u
#define MOST        4096u /* more rooms than there can be */

static struct sxs_samples_writer *writer;

static void sampling(void)
{
    static struct sxs_folder folder;
    const char              *path = temporary();
    CHECK_EQ(sxs_folder_open(&folder, path), 0);
    writer = sxs_samples_create(&folder, 1 << 24);
    CHECK(writer && sxs_tables_refresh() >= 0);
    remove_tree(path);
    sxs_clocks_choose(100);
    CHECK_EQ(sxs_handler_install(writer, SXS_WALKER_FAST), 0);
}

/* Sent to itself, the signal arrives before the call returns. */
static void a_sample(void)
{
    CHECK_EQ(sxs_clocks_poke((uint32_t)syscall(SYS_gettid), INTERVAL_NS), 0);
}

/* As if that many threads were preempted in the middle of their walks. Returns how many. */
static unsigned all_rooms_taken(void)
{
    unsigned n = 0;
    while (n < MOST && sxs_scratch_take(n))
        n++;
    return n;
}

static void without_room(void)
{
    const struct sxs_samples_header *header;
    sampling();
    header = sxs_samples_header(writer);
    a_sample();
    CHECK_EQ(atomic_load(&header->n_samples), 1);
    CHECK(all_rooms_taken() < MOST);
    a_sample();
    CHECK_EQ(atomic_load(&header->n_dropped), 0);
    CHECK_EQ(atomic_load(&header->n_samples), 2);
}

static void no_sample_is_dropped_for_want_of_room_to_walk_in(void **state)
{
    (void)state;
    PASSES(without_room);
}

static void two_hundred_walks_at_once_each_have_a_room_of_their_own(void **state)
{
    enum { N = 200 };
    struct sxs_scratch *rooms[N];
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        rooms[i] = sxs_scratch_take(i / 3);
        assert_non_null(rooms[i]);
        for (unsigned j = 0; j < i; j++)
            assert_ptr_not_equal(rooms[i], rooms[j]);
    }
    for (unsigned i = 0; i < N; i++)
        sxs_scratch_give_back(rooms[i]);
    assert_non_null(sxs_scratch_take(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_sample_is_dropped_for_want_of_room_to_walk_in),
        cmocka_unit_test(two_hundred_walks_at_once_each_have_a_room_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
