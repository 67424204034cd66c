/* SPDX-License-Identifier: MIT */
/* test_thread_names.c - the pool of thread names, its file, and the name that a thread gets from all
 * sources together. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "session/read/samples_read.h"
#include "session/read/thread_names_read.h"
#include "session/write/session_write.h"
#include "tests/unit/folder_fixture.h"
#include "thread_names/thread_names.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int files_fd;

static int begin(void **state)
{
    (void)state;
    if (open_folder() != 0)
        return -1;
    sxs_session_open(folder);
    sxs_thread_names_begin();
    files_fd = sxs_session_folder(NULL)
                   ? open(sxs_session_folder(NULL)->path, O_RDONLY | O_DIRECTORY)
                   : -1;
    return files_fd < 0 ? -1 : 0;
}

static int end(void **state)
{
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof(path), "%s", sxs_session_folder(NULL)->path);
    unlinkat(files_fd, SXS_THREAD_NAMES_FILE, 0);
    unlinkat(files_fd, "census", 0);
    unlinkat(files_fd, "log", 0);
    close(files_fd);
    rmdir(path);
    return remove_folder_with("");
}

static void name_thread(uint64_t id, const uint16_t *name)
{
    size_t n = 0;
    while (name[n])
        n++;
    sxs_thread_names_named(1, id, name, n);
}

static const char *picked(const struct sxs_thread_names *names, uint32_t tid, const char *kernel,
                          uint64_t kernel_ns)
{
    struct sxs_thread_known known = {.tid = tid, .kernel = kernel, .kernel_ns = kernel_ns};
    return sxs_thread_name_pick(names, 10, &known);
}

static void names_of_living_and_ended_threads_are_read_again(void **state)
{
    struct sxs_thread_names names = {0};
    char                    name[64];
    uint64_t                since;
    (void)state;
    name_thread(77, (const uint16_t *)u"Order-Processor-Shard-1"); /* before it starts */
    assert_int_equal(sxs_thread_names_get(1, 77, name, sizeof(name)), 0);
    assert_string_equal(name, "Order-Processor-Shard-1");
    sxs_thread_names_started(1, 77, 11);
    sxs_thread_names_started(1, 78, 12);
    sxs_thread_names_started(1, 79, 10);
    name_thread(78, (const uint16_t *)u"Grüße-aus-Köln-am-Rhein");
    name_thread(78, (const uint16_t *)u"Grüße-nach-Köln-am-Main");
    sxs_thread_names_ended(1, 77);
    sxs_thread_names_started(1, 77, 11); /* the same numbers again, and no name */
    assert_int_equal(sxs_thread_names_get(1, 77, name, sizeof(name)), 11);
    assert_string_equal(name, "");
    assert_int_equal(sxs_thread_names_read(SXS_FILES_OF(files_fd), &names), 0);
    assert_int_equal(names.n, 3);
    assert_string_equal(sxs_thread_names_of(&names, 11, 0, 0, &since), "Order-Processor-Shard-1");
    assert_string_equal(sxs_thread_names_of(&names, 11, since, since, NULL),
                        "Order-Processor-Shard-1");
    assert_string_equal(sxs_thread_names_of(&names, 11, UINT64_MAX, 0, NULL), "");
    assert_string_equal(sxs_thread_names_of(&names, 12, 0, 0, &since), "Grüße-nach-Köln-am-Main");
    assert_string_equal(picked(&names, 12, "", 0), "Grüße-nach-Köln-am-Main");
    /* cut in the kernel, within a character or not */
    assert_string_equal(picked(&names, 12, "Grüße-nach-K\xc3", since + 1),
                        "Grüße-nach-Köln-am-Main");
    /* an older name in the kernel, and a later one */
    assert_string_equal(picked(&names, 12, "dotnet", since - 1), "Grüße-nach-Köln-am-Main");
    assert_string_equal(picked(&names, 12, "native", since + 1), "native");
    /* the first thread, and one that nothing is known of */
    assert_string_equal(picked(&names, 10, "dotnet", since + 1), "main thread");
    assert_string_equal(picked(&names, 13, ".NET Finalizer", 0), ".NET Finalizer");
    assert_string_equal(picked(&names, 13, "", 0), "thread");
    sxs_thread_names_free(&names);
}

static void a_later_session_begins_with_the_names_of_living_threads(void **state)
{
    struct sxs_thread_names names = {0};
    (void)state;
    sxs_thread_names_close();
    unlinkat(files_fd, SXS_THREAD_NAMES_FILE, 0);
    sxs_thread_names_begin();
    assert_int_equal(sxs_thread_names_read(SXS_FILES_OF(files_fd), &names), 0);
    assert_int_equal(names.n, 1);
    assert_string_equal(sxs_thread_names_of(&names, 12, 0, 0, NULL), "Grüße-nach-Köln-am-Main");
    sxs_thread_names_runtime_ended(1);
    sxs_thread_names_free(&names);
}

static void very_many_names_grow_the_file(void **state)
{
    struct sxs_thread_names names = {0};
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        sxs_thread_names_started(2, i + 1000, (uint32_t)i + 100);
        sxs_thread_names_named(
            2, i + 1000, (const uint16_t *)u"A-Name-That-Is-Longer-Than-The-Kernel-Keeps", 43);
        sxs_thread_names_ended(2, i + 1000);
    }
    assert_int_equal(sxs_thread_names_read(SXS_FILES_OF(files_fd), &names), 0);
    assert_true(names.n > 20000);
    assert_int_equal(names.lost, 0);
    sxs_thread_names_free(&names);
}

#define MS UINT64_C(1000000)

/* On a busy machine, threads are found long after their first events. The second thread has the number that the first
 * one had; of the third it is not known when it was started. */
static void an_event_before_its_thread_was_found_is_that_threads(void **state)
{
    struct sxs_thread_names_kernel kernel[] = {
        {.tid = 5, .started_ns = 1000 * MS, .ended_ns = 2000 * MS, .name = "one"},
        {.tid = 5, .started_ns = 9000 * MS, .born_ns = 6000 * MS, .name = "two"},
        {.tid = 7, .started_ns = 9000 * MS, .name = "three"},
    };
    const struct sxs_thread_names names = {.kernel = kernel, .n_kernel = 3};
    const struct {
        uint32_t    tid;
        uint64_t    ms;
        const char *name;
    } rows[] = {{5, 1500, "one"},    {5, 5999, "thread"}, {5, 6000, "two"},    {5, 8000, "two"},
                {5, 8950, "two"},    {5, 9500, "two"},    {7, 8000, "thread"}, {7, 8950, "three"},
                {6, 9500, "thread"}, {8, 9500, "thread"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(sxs_thread_names_at(&names, 1, rows[i].tid, rows[i].ms * MS),
                            rows[i].name);
}

/* Of the record of a thread, of this session and of earlier ones. */
static void fields_that_a_record_lacks_are_not_known(void **state)
{
    struct sxs_record_thread v = {.name_ns = 1, .unsampled_ns = 2, .born_ns = 3};
    (void)state;
    v.head.size = 64;
    assert_int_equal(sxs_thread_name_read_ns(&v), 0);
    assert_int_equal(sxs_thread_unsampled_ns(&v), 0);
    assert_int_equal(sxs_thread_born_ns(&v), 0);
    v.head.size = 80;
    assert_int_equal(sxs_thread_name_read_ns(&v), 1);
    assert_int_equal(sxs_thread_unsampled_ns(&v), 2);
    assert_int_equal(sxs_thread_born_ns(&v), 0);
    v.head.size = sizeof(v);
    assert_int_equal(sxs_thread_born_ns(&v), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_living_and_ended_threads_are_read_again),
        cmocka_unit_test(a_later_session_begins_with_the_names_of_living_threads),
        cmocka_unit_test(very_many_names_grow_the_file),
        cmocka_unit_test(fields_that_a_record_lacks_are_not_known),
        cmocka_unit_test(an_event_before_its_thread_was_found_is_that_threads),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
