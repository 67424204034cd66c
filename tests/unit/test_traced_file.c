/* SPDX-License-Identifier: MIT */
/* test_traced_file.c - damaged files "traced": under the address sanitizer a read after a chunk ends the test; and
 * files that are written one after the other while a thread records. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/read/traced_read.h"
#include "session/write/traced_write.h"
#include "tests/unit/folder_fixture.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/sanitized.h"

static int make_folder(void **state)
{
    (void)state;
    return open_folder();
}

static int remove_folder(void **state)
{
    (void)state;
    return remove_folder_with(SXS_TRACED_FILE);
}

/* A file of one chunk, whose last @size bytes are a record of that size and of @type, of nothing but its head. */
static void write_file(uint32_t size, uint16_t type)
{
    static unsigned char      bytes[SXS_HEADER_SIZE + SXS_CHUNK_SIZE];
    struct sxs_traced_header *head = (struct sxs_traced_header *)bytes;
    struct sxs_chunk_header  *chunk = (struct sxs_chunk_header *)(bytes + SXS_HEADER_SIZE);
    struct sxs_record        *record = (struct sxs_record *)(bytes + sizeof(bytes) - size);
    int                       fd;
    memset(bytes, 0, sizeof(bytes));
    memcpy(head->magic, SXS_TRACED_MAGIC, sizeof(head->magic));
    head->version = SXS_TRACED_VERSION;
    head->chunk_size = SXS_CHUNK_SIZE;
    head->n_chunks = head->max_chunks = 1;
    chunk->magic = SXS_CHUNK_MAGIC;
    chunk->used = SXS_CHUNK_SIZE;
    *record = (struct sxs_record){.size = size, .mark = SXS_RECORD_MARK, .type = type};
    fd = openat(folder_fd, SXS_TRACED_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
    close(fd);
}

static void a_record_too_short_for_its_type_is_left_out(void **state)
{
    (void)state;
    for (int type = 1; type <= SXS_TRACED_LAST; type++)
        for (uint32_t size = sizeof(struct sxs_record); size < 24; size += 8) {
            struct sxs_traced_data d;
            char                   why[256];
            write_file(size, (uint16_t)type);
            assert_int_equal(sxs_traced_read(SXS_FILES_OF(folder_fd), &d, why, sizeof(why)), 0);
            assert_int_equal(d.n_calls, 0);
            assert_true(d.n_problems > 0);
            sxs_traced_free(&d);
        }
}

/* ---- one file after the other ---------------------------------------------------------------- */

#define FILES 50

static _Atomic int      is_over;
static _Atomic unsigned n_written;

static void *record_calls(void *arg)
{
    const struct sxs_traced_text text = {"text", 4}, none = {"", 0};
    while (!atomic_load(&is_over)) {
        sxs_traced_enter(1, 2, text);
        sxs_traced_end(1, 2, 3, 0, text, none, none);
        atomic_fetch_add(&n_written, 1);
    }
    return arg;
}

static unsigned long mapped_pages(void)
{
    unsigned long pages = 0;
    FILE         *statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    assert_int_equal(fscanf(statm, "%lu", &pages), 1);
    fclose(statm);
    return pages;
}

/* Each session of a ring has one. */
static void files_that_are_closed_while_a_thread_records_leave_no_memory(void **state)
{
    struct sxs_folder      to;
    struct sxs_traced_data d;
    pthread_t              thread;
    unsigned long          before = 0;
    char                   why[256];
    (void)state;
    skip_under_thread_sanitizer("its own memory grows");
    assert_int_equal(sxs_folder_open(&to, folder), 0);
    assert_int_equal(pthread_create(&thread, NULL, record_calls, NULL), 0);
    for (unsigned i = 0; i < FILES; i++) {
        unsigned n;
        unlinkat(folder_fd, SXS_TRACED_FILE, 0);
        assert_int_equal(sxs_traced_create(&to, 64, 0), 0);
        n = atomic_load(&n_written);
        while (atomic_load(&n_written) - n < 1000)
            sxs_traced_keep();
        sxs_traced_close();
        before = before ? before : mapped_pages();
    }
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    assert_true(mapped_pages() < before + 4096); /* 16 MiB, what one file takes */
    assert_int_equal(sxs_traced_read(SXS_FILES_OF(folder_fd), &d, why, sizeof(why)), 0);
    assert_true(d.n_calls > 0);
    assert_int_equal(d.n_problems, 0);
    sxs_traced_free(&d);
    sxs_folder_close(&to);
}

/* What is allowed is looked at more often than calls are allowed. */
static void a_rate_is_kept_however_often_it_is_looked_at(void **state)
{
    enum { RATE = 150, FOR_NS = 500000000 };
    const struct timespec pause = {0, 10000000}; /* worth 1.5 calls */
    struct sxs_folder     to;
    uint64_t              began, created, ended;
    unsigned              n = 0;
    (void)state;
    assert_int_equal(sxs_folder_open(&to, folder), 0);
    unlinkat(folder_fd, SXS_TRACED_FILE, 0);
    began = sxs_now_ns(CLOCK_MONOTONIC);
    assert_int_equal(sxs_traced_create(&to, 16, RATE), 0);
    created = sxs_now_ns(CLOCK_MONOTONIC); /* the rate counts from some time between the two */
    while (sxs_traced_take())
        n++;
    do {
        nanosleep(&pause, NULL);
        ended = sxs_now_ns(CLOCK_MONOTONIC);
        sxs_traced_keep();
        while (sxs_traced_take())
            n++;
    } while (ended < began + FOR_NS);
    sxs_traced_close();
    sxs_folder_close(&to);
    n -= RATE * SXS_TRACED_BURST;
    print_message("%u calls in %llu ns\n", n, (unsigned long long)(ended - created));
    assert_true(n + 2 >= (double)(ended - created) * RATE / 1e9); /* of which one is begun */
    began = sxs_now_ns(CLOCK_MONOTONIC) - began;
    assert_true(n <= (double)began * RATE / 1e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_too_short_for_its_type_is_left_out),
        cmocka_unit_test(a_rate_is_kept_however_often_it_is_looked_at),
        cmocka_unit_test(files_that_are_closed_while_a_thread_records_leave_no_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
