/* SPDX-License-Identifier: MIT */
/* test_samples_file.c - records of costs in the file "samples", whole and damaged. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session/read/samples_read.h"
#include "tests/profile/samples_file.h"
#include "tests/unit/folder_fixture.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct samples_file file;
static const uint64_t      ips[4] = {1, 2, 3, 4};

static int make_folder(void **state)
{
    (void)state;
    return open_folder();
}

static int remove_folder(void **state)
{
    (void)state;
    return remove_folder_with(SXS_SAMPLES_FILE);
}

static void begin_file(void)
{
    int fd = openat(folder_fd, SXS_SAMPLES_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    samples_begin(&file, fdopen(fd, "w"), 1, "app");
}

static struct sxs_samples *end_file(void)
{
    struct sxs_samples *s;
    char                why[256];
    samples_end(&file);
    fclose(file.to);
    assert_int_equal(sxs_samples_open(SXS_FILES_OF(folder_fd), &s, why, sizeof(why)), 0);
    return s;
}

static void costs_are_read_as_they_were_written(void **state)
{
    struct sxs_samples       *s;
    struct sxs_samples_record r;
    unsigned                  n[SXS_RECORD_POOL + 1] = {0};
    (void)state;
    begin_file();
    add_costs(&file, 5, ips, 4);
    s = end_file();
    while (sxs_samples_next(s, &r)) {
        n[r.type]++;
        if (r.type == SXS_RECORD_NAME && r.name->number == 1) {
            assert_int_equal(r.text_size[0], 46);
            assert_memory_equal(r.text[0], "System.Collections", 18);
        } else if (r.type == SXS_RECORD_COST && r.cost->n_ips) {
            assert_memory_equal(r.cost->ips, ips, sizeof(ips));
        } else if (r.type == SXS_RECORD_TOTAL) {
            assert_int_equal(r.total->n, 1000);
            assert_int_equal(r.total->value, 24000);
        }
    }
    assert_null(sxs_samples_problem(s, 0));
    assert_int_equal(n[SXS_RECORD_COST], 23);
    assert_int_equal(n[SXS_RECORD_NAME], 2);
    assert_int_equal(n[SXS_RECORD_RELEASED], 10);
    assert_int_equal(n[SXS_RECORD_LIVE], 10);
    assert_int_equal(n[SXS_RECORD_TOTAL], 1);
    assert_int_equal(n[SXS_RECORD_POOL], SXS_N_POOL_CHANGES - 1);
    assert_int_equal(sxs_samples_head(s)->n_costs[SXS_COST_ALLOCATION], 20);
    sxs_samples_close(s);
}

/* Makes a file with a few costs. */
static void make_file(void)
{
    begin_file();
    add_costs(&file, 5, ips, 4);
    sxs_samples_close(end_file());
}

static size_t read_all(struct sxs_samples *s)
{
    struct sxs_samples_record r;
    size_t                    n = 0;
    while (sxs_samples_next(s, &r))
        n++;
    return n;
}

/* Writes one cost and returns 1 if it is read, 0 if it counts as damaged. */
static int is_read(const struct sxs_record_cost *cost)
{
    struct sxs_samples       *s;
    struct sxs_samples_record r;
    int                       found;
    begin_file();
    add_cost(&file, cost, ips);
    s = end_file();
    found = sxs_samples_next(s, &r);
    assert_true(found == (sxs_samples_problem(s, 0) == NULL));
    sxs_samples_close(s);
    return found;
}

static void a_cost_with_numbers_that_cannot_be_is_damaged(void **state)
{
    const struct sxs_record_cost whole = {
        .n = 2.5, .value = 100, .kind = SXS_COST_NATIVE, .n_ips = 4};
    const double           numbers[] = {0, -1, NAN, INFINITY, -INFINITY, 0x1p53};
    struct sxs_record_cost c = whole;
    (void)state;
    assert_true(is_read(&c));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        c.n = numbers[i];
        assert_false(is_read(&c));
    }
    c = whole;
    c.value = UINT64_MAX; /* times 2.5 */
    assert_false(is_read(&c));
    c = whole;
    c.kind = 0;
    assert_false(is_read(&c));
    c.kind = SXS_N_COST_KINDS;
    assert_false(is_read(&c));
    c = whole;
    c.end = SXS_N_SAMPLE_ENDS;
    assert_false(is_read(&c));
}

/* Writes a record of @type whose first @size bytes exist and all bytes after its head are 0xff. */
static int is_filled_read(enum sxs_record_type type, size_t size)
{
    struct sxs_samples       *s;
    struct sxs_samples_record r;
    char                     *at;
    int                       found;
    begin_file();
    at = samples_add(&file, type, size);
    memset(at + sizeof(struct sxs_record), 0xff, size - sizeof(struct sxs_record));
    s = end_file();
    found = sxs_samples_next(s, &r);
    sxs_samples_close(s);
    return found;
}

static void a_record_too_short_for_its_type_is_left_out(void **state)
{
    static const struct {
        enum sxs_record_type type;
        size_t               size;
    } types[] = {{SXS_RECORD_COST, sizeof(struct sxs_record_cost) + 8},
                 {SXS_RECORD_NAME, sizeof(struct sxs_record_name) + 8},
                 {SXS_RECORD_RELEASED, sizeof(struct sxs_record_released) - 8},
                 {SXS_RECORD_LIVE, sizeof(struct sxs_record_live) - 8},
                 {SXS_RECORD_TOTAL, sizeof(struct sxs_record_total)},
                 {SXS_RECORD_POOL, sizeof(struct sxs_record_pool)}}; /* no such change */
    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        for (size_t size = sizeof(struct sxs_record); size <= types[i].size; size += 8)
            assert_false(is_filled_read(types[i].type, size));
    assert_true(is_filled_read(SXS_RECORD_RELEASED, sizeof(struct sxs_record_released)));
    assert_true(is_filled_read(SXS_RECORD_LIVE, sizeof(struct sxs_record_live)));
}

/* Gives the file the size of so many chunks, and its header a number of chunks. */
static void set_chunks(uint32_t chunks, uint32_t in_header)
{
    static const uint32_t max = 64;
    int                   fd = openat(folder_fd, SXS_SAMPLES_FILE, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &max, sizeof(max), offsetof(struct sxs_samples_header, max_chunks)),
                     sizeof(max));
    assert_int_equal(
        pwrite(fd, &in_header, sizeof(in_header), offsetof(struct sxs_samples_header, n_chunks)),
        sizeof(in_header));
    assert_int_equal(ftruncate(fd, SXS_HEADER_SIZE + (off_t)chunks * SXS_CHUNK_SIZE), 0);
    close(fd);
}

static void a_session_that_ends_while_it_is_read_is_not_damaged(void **state)
{
    struct sxs_samples *s;
    char                why[256];
    (void)state;
    make_file();
    set_chunks(5, 5);
    assert_int_equal(sxs_samples_open(SXS_FILES_OF(folder_fd), &s, why, sizeof(why)), 0);
    set_chunks(1, 1);
    assert_true(read_all(s) > 0);
    assert_null(sxs_samples_problem(s, 0));
    sxs_samples_close(s);
}

static void *end_soon(void *arg)
{
    const struct timespec pause = {0, 500000};
    nanosleep(&pause, NULL);
    set_chunks(1, 1);
    return arg;
}

/* Opens the file until a reader was there between the two steps of the recorder, then too. */
static void a_session_that_ends_while_it_is_opened_is_not_damaged(void **state)
{
    struct sxs_samples *s;
    char                why[256];
    (void)state;
    make_file();
    for (int good = 0, tries = 0; good < 3; tries++) {
        pthread_t thread;
        assert_true(tries < 100); /* on a busy machine the thread may come too late */
        set_chunks(5, 1);         /* the header first, then the size */
        assert_int_equal(pthread_create(&thread, NULL, end_soon, NULL), 0);
        assert_int_equal(sxs_samples_open(SXS_FILES_OF(folder_fd), &s, why, sizeof(why)), 0);
        pthread_join(thread, NULL);
        read_all(s);
        good += sxs_samples_problem(s, 0) == NULL;
        sxs_samples_close(s);
    }
}

static void a_file_that_was_cut_is_damaged(void **state)
{
    struct sxs_samples *s;
    char                why[256];
    (void)state;
    make_file();
    set_chunks(1, 5);
    assert_int_equal(sxs_samples_open(SXS_FILES_OF(folder_fd), &s, why, sizeof(why)), 0);
    read_all(s);
    assert_non_null(strstr(sxs_samples_problem(s, 0), "its last chunks are missing (4)"));
    sxs_samples_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_read_as_they_were_written),
        cmocka_unit_test(a_cost_with_numbers_that_cannot_be_is_damaged),
        cmocka_unit_test(a_record_too_short_for_its_type_is_left_out),
        cmocka_unit_test(a_session_that_ends_while_it_is_read_is_not_damaged),
        cmocka_unit_test(a_session_that_ends_while_it_is_opened_is_not_damaged),
        cmocka_unit_test(a_file_that_was_cut_is_damaged),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
