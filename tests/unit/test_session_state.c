/* SPDX-License-Identifier: MIT */
/* test_session_state.c - variables get their first values back, threads of a session end, and large
 * tables are given back. */
#include "base/session_state.h"

#include "base/pages.h"
#include "base/thread.h"
#include "tests/unit/fake_host.h"

static int first = 7; /* not zero when the program is loaded */
SXS_SESSION_RESETS(first);
static struct {
    int             n;
    pthread_mutex_t lock;
    const char     *text;
} mixed = {1, PTHREAD_MUTEX_INITIALIZER, "text"};
SXS_SESSION_RESETS(mixed);
static unsigned char small, large[5 * 4096 + 100];
SXS_SESSION_RESETS(small);
SXS_SESSION_RESETS(large);
static int kept = 1, beside[2];
SXS_SESSION_KEEPS(kept);
SXS_SESSION_KEEPS(beside);

static int all_are(const unsigned char *at, size_t size, unsigned char value)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != value)
            return 0;
    return 1;
}

static void variables_get_their_first_values_back_each_time(void **state)
{
    (void)state;
    assert_int_equal(sxs_session_state_save(), 0);
    for (int i = 0; i < 3; i++) {
        unsigned before = sxs_session_generation();
        first = 8;
        mixed.n = 9;
        mixed.text = NULL;
        small = 1;
        memset(large, 0xab, sizeof(large));
        kept += 1;
        beside[0] = beside[1] = 5;
        sxs_session_state_reset();
        assert_int_equal(first, 7);
        assert_int_equal(mixed.n, 1);
        assert_string_equal(mixed.text, "text");
        assert_int_equal(small, 0);
        assert_true(all_are(large, sizeof(large), 0));
        assert_int_equal(kept, 2 + i);
        assert_int_equal(beside[0] + beside[1], 10);
        assert_int_not_equal(sxs_session_generation(), before);
        assert_int_equal(sxs_session_state_save(), 0); /* does nothing */
    }
}

static void each_variable_is_listed_with_its_name(void **state)
{
    size_t                                    n;
    const struct sxs_session_variable *const *all = sxs_session_state_all(&n);
    int                                       found = 0;
    (void)state;
    for (size_t i = 0; i < n; i++)
        found += all[i]->at == &large && all[i]->size == sizeof(large) &&
                 strcmp(all[i]->name, "large") == 0;
    assert_int_equal(found, 1);
}

/* ---- threads --------------------------------------------------------------------------------- */

static struct sxs_worker worker;
static _Atomic unsigned  n_rounds, n_ends;

static void work(void)
{
    while (!sxs_worker_pause(&worker, UINT64_C(3600) * 1000000000))
        atomic_fetch_add(&n_rounds, 1);
    atomic_fetch_add(&n_ends, 1);
}

static void a_thread_wakes_and_ends_when_it_is_asked_to(void **state)
{
    static const struct sxs_thread thread = {"worker", work};
    (void)state;
    sxs_worker_end(&worker); /* not started: does nothing */
    for (unsigned i = 1; i <= 50; i++) {
        unsigned before = atomic_load(&n_rounds);
        assert_int_equal(sxs_worker_start(&worker, &thread), 0);
        sxs_worker_wake(&worker);
        while (atomic_load(&n_rounds) == before)
            usleep(100);
        assert_false(sxs_worker_is_asked(&worker));
        sxs_worker_end(&worker);
        assert_int_equal(n_ends, i);
        sxs_worker_end(&worker);
    }
    /* A thread that is started again is ended first. */
    assert_int_equal(sxs_worker_start(&worker, &thread), 0);
    assert_int_equal(sxs_worker_start(&worker, &thread), 0);
    assert_int_equal(n_ends, 51);
    sxs_worker_end(&worker);
    assert_int_equal(n_ends, 52);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void blocks_of_every_size_keep_their_bytes_as_they_grow(void **state)
{
    unsigned char *block = NULL;
    (void)state;
    for (size_t size = 1; size < 3u << 20; size = size * 3 + 1) {
        unsigned char *more = sxs_pages_realloc(block, size);
        assert_non_null(more);
        assert_int_equal((uintptr_t)more % 16, 0);
        assert_true(size == 1 || all_are(more, (size - 1) / 3, 0x5a));
        memset(more, 0x5a, size);
        block = more;
    }
    block = sxs_pages_realloc(block, 10);
    assert_true(all_are(block, 10, 0x5a));
    sxs_pages_free(block);
    sxs_pages_free(NULL);
    assert_null(sxs_pages_alloc(SIZE_MAX - 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_get_their_first_values_back_each_time),
        cmocka_unit_test(each_variable_is_listed_with_its_name),
        cmocka_unit_test(a_thread_wakes_and_ends_when_it_is_asked_to),
        cmocka_unit_test(blocks_of_every_size_keep_their_bytes_as_they_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
