/* SPDX-License-Identifier: MIT */
/* test_chunks.c - how many chunks the writer of a file of chunks keeps ready, and when it asks for more. */
#include "session/format/samples.h"
#include "session/write/chunks_write.h"
#include "tests/unit/folder_fixture.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MIB          (UINT64_C(1) << 20)
#define RECORD       1024u
#define NAME         "chunks"
#define CHUNK_ROUNDS (SXS_CHUNK_SIZE / RECORD)

static struct sxs_chunks c;
static struct sxs_folder place;
static unsigned          n_asked;

static void count_request(void)
{
    n_asked++;
}

static int begin(void **state)
{
    (void)state;
    n_asked = 0;
    c = (struct sxs_chunks){.low = count_request};
    return open_folder() != 0 || sxs_folder_open(&place, folder) != 0 ||
           sxs_chunks_create(&c, &place, NAME, 64 * MIB,
                             offsetof(struct sxs_samples_header, n_chunks)) != 0;
}

static int end(void **state)
{
    (void)state;
    sxs_chunks_finish(&c);
    sxs_folder_close(&place);
    return remove_folder_with(NAME);
}

/* Fills @n chunks. Returns the number of records that had no room. */
static unsigned fill(unsigned n)
{
    unsigned lost = 0;
    for (unsigned i = 0; i < n * CHUNK_ROUNDS; i++)
        lost += !sxs_chunks_reserve(&c, RECORD);
    return lost;
}

static unsigned ready(void)
{
    return atomic_load(c.n_chunks) - atomic_load(&c.current) - 1;
}

static void a_writer_asks_for_room_before_it_has_none(void **state)
{
    (void)state;
    assert_int_equal(sxs_chunks_make_room(&c), 0);
    assert_int_equal(n_asked, 0);
    assert_int_equal(fill(2), 0);
    assert_true(n_asked > 0);
}

static void a_writer_that_is_slow_asks_no_more_often_than_once_a_chunk(void **state)
{
    (void)state;
    sxs_chunks_keep_ready(&c, 16);
    assert_int_equal(sxs_chunks_make_room(&c), 0);
    assert_int_equal(fill(16), 0);
    assert_in_range(n_asked, 8, 16);
}

static void after_a_burst_more_chunks_are_kept_ready(void **state)
{
    unsigned before;
    (void)state;
    assert_int_equal(sxs_chunks_make_room(&c), 0);
    before = ready();
    assert_int_equal(fill(before - 1), 0);
    assert_int_equal(sxs_chunks_make_room(&c), 0);
    assert_true(ready() >= 2 * before);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(fill(ready() / 2), 0);
        assert_int_equal(sxs_chunks_make_room(&c), 0);
    }
    assert_true(ready() >= 32); /* 8 MiB */
    assert_true(ready() <= 64);
}

static void few_records_leave_the_file_small(void **state)
{
    unsigned before;
    (void)state;
    assert_int_equal(sxs_chunks_make_room(&c), 0);
    before = ready();
    for (int i = 0; i < 100; i++) {
        assert_non_null(sxs_chunks_reserve(&c, RECORD));
        assert_int_equal(sxs_chunks_make_room(&c), 0);
    }
    assert_int_equal(ready(), before);
    assert_int_equal(n_asked, 0);
}

static void a_full_file_asks_for_nothing(void **state)
{
    (void)state;
    while (sxs_chunks_make_room(&c) == 0)
        fill(1);
    n_asked = 0;
    while (fill(1) == 0)
        continue;
    assert_int_equal(n_asked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_writer_asks_for_room_before_it_has_none, begin, end),
        cmocka_unit_test_setup_teardown(a_writer_that_is_slow_asks_no_more_often_than_once_a_chunk,
                                        begin, end),
        cmocka_unit_test_setup_teardown(after_a_burst_more_chunks_are_kept_ready, begin, end),
        cmocka_unit_test_setup_teardown(few_records_leave_the_file_small, begin, end),
        cmocka_unit_test_setup_teardown(a_full_file_asks_for_nothing, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
