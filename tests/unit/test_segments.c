/* SPDX-License-Identifier: MIT */
/* test_segments.c - folders of segments: names, which are read, and how processes are joined. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/output/processes.h"
#include "cmd/output/segments.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define NOON   (UINT64_C(1795521600) * SECOND) /* 2026-11-24T12:00:00Z */

static char dir[] = "/tmp/sxsprof-test.XXXXXX";

static void remove_all(void)
{
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/sxsprof-test.XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
    (void)state;
    remove_all();
    return 0;
}

static void make_folder(const char *name)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* Makes a segment of a process with one runtime, of 10 modules and @gcs collections. */
static void make_segment(const char *name, unsigned number, uint32_t pid, unsigned ticks,
                         unsigned from_s, unsigned to_s, unsigned gcs)
{
    static struct sxs_census c;
    char                     path[300], text[400];
    make_folder(name);
    snprintf(path, sizeof(path), "%s/%u", name, pid);
    make_folder(path);
    memset(&c, 0, sizeof(c));
    memcpy(c.magic, SXS_CENSUS_MAGIC, sizeof(c.magic));
    c.version = SXS_CENSUS_VERSION;
    c.size = sizeof(c);
    c.row_size = sizeof(c.runtimes[0]);
    c.pid = pid;
    c.n_runtimes = 1;
    c.runtimes[0].number = 1;
    c.runtimes[0].state = SXS_STATE_PICKED;
    c.runtimes[0].modules = 10;
    c.runtimes[0].gcs = gcs;
    snprintf(path, sizeof(path), "%s/%u/census", name, pid);
    write_file(path, &c, sizeof(c));
    int n = snprintf(text, sizeof(text),
                     "{\"sxsprof_segment\":1,\"number\":%u,\"pid\":%u,\"process_started\":%u,"
                     "\"started_ns\":%llu,\"ended_ns\":%llu,\"gap_ns\":%u,\"adapted\":\"%s\"}\n",
                     number, pid, ticks, (unsigned long long)(NOON + from_s * SECOND),
                     (unsigned long long)(to_s ? NOON + to_s * SECOND : 0),
                     number > 1 ? 20000000u : 0u, number == 2 ? "9 Hz\\u001b" : "");
    snprintf(path, sizeof(path), "%s/segment.json", name);
    write_file(path, text, (size_t)n);
}

static void names(void **state)
{
    uint64_t at = 0, number = 0;
    (void)state;
    assert_true(sxs_segment_name("20261124T120001Z-41", &at, &number));
    assert_int_equal(at, NOON + SECOND);
    assert_int_equal(number, 41);
    static const char *const others[] = {"",
                                         "kept",
                                         "4242",
                                         "20261124T120001Z",
                                         "20261124T120001Z-",
                                         "20261124T120001Z--1",
                                         "20261124T120001Z-1x",
                                         "20261124T120001Z-1.gone",
                                         ".20261124T120001Z-1",
                                         "2026112 T120001Z-1",
                                         "20261124T12000-Z-1",
                                         "20261124T1200012Z-1",
                                         "20261124T120001Z-1111111111111111111"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(sxs_segment_name(others[i], NULL, NULL));
}

static void ring(void)
{
    make_segment("20261124T120000Z-1", 1, 77, 5, 0, 10, 1);
    make_segment("20261124T120010Z-2", 2, 77, 5, 10, 20, 2);
    make_segment("20261124T120020Z-3", 3, 77, 5, 20, 0, 4);    /* killed */
    make_segment("20261124T120025Z-4", 4, 77, 900, 25, 35, 8); /* another process, by chance */
    make_segment("20261124T120035Z-5", 5, 78, 950, 35, 0, 16);
}

static void joined(void **state)
{
    struct sxs_session  s;
    struct sxs_segments list;
    (void)state;
    ring();
    assert_int_equal(sxs_session_read_joined(dir, NULL, &s, &list), 0);
    assert_int_equal(list.n, 5);
    assert_string_equal(list.all[1].adapted, "9 Hz "); /* safe for terminals */
    assert_int_equal(s.n_problems, 0);
    assert_int_equal(s.n_processes, 3);
    assert_string_equal(s.processes[0].folder, "77");
    assert_int_equal(s.processes[0].n_parts, 3);
    assert_string_equal(sxs_process_part_folder(&s.processes[0], 2), "20261124T120020Z-3/77");
    assert_int_equal(s.processes[0].runtimes[0].gcs, 7);
    assert_int_equal(s.processes[0].runtimes[0].modules, 30);
    assert_string_equal(s.processes[1].folder, "77-2");
    assert_int_equal(s.processes[1].runtimes[0].gcs, 8);
    assert_int_equal(s.processes[2].pid, 78);
    sxs_session_free(&s);
    sxs_segments_free(&list);
}

static size_t listed(uint64_t from_s, uint64_t to_s)
{
    const struct sxs_period p = {from_s ? NOON + from_s * SECOND : 0,
                                 to_s ? NOON + to_s * SECOND : 0};
    struct sxs_segments s;
    assert_int_equal(sxs_segments_list(dir, &p, &s), 0);
    size_t n = s.n;
    sxs_segments_free(&s);
    return n;
}

static void periods(void **state)
{
    (void)state;
    ring();
    assert_int_equal(listed(0, 0), 5);
    assert_int_equal(listed(10, 20), 1); /* the first has ended, the third not begun */
    assert_int_equal(listed(9, 21), 3);
    assert_int_equal(listed(22, 24), 1);
    assert_int_equal(listed(40, 0), 2); /* those that did not end may have what is asked for */
    assert_int_equal(listed(0, 5), 1);
}

static void kept(void **state)
{
    struct sxs_segments     s;
    const struct sxs_period all = {0};
    (void)state;
    make_folder("kept");
    make_segment("kept/20261124T115000Z-1", 1, 77, 5, 1, 2, 1);
    assert_int_equal(listed(0, 0), 1); /* nothing else is there */
    remove_all();
    assert_int_equal(mkdir(dir, 0700), 0);
    make_folder("kept");
    make_segment("kept/20261124T120000Z-1", 1, 77, 5, 1, 2, 1);
    make_segment("20261124T120010Z-2", 2, 77, 5, 10, 20, 2);
    make_segment("kept/20261124T120020Z-3", 3, 77, 5, 20, 30, 2);
    make_segment("20261124T120030Z-4", 4, 77, 5, 30, 40, 2);
    assert_int_equal(sxs_segments_list(dir, &all, &s), 0);
    assert_int_equal(s.n, 3); /* no hole in the ring, and nothing older */
    assert_string_equal(s.all[1].folder, "kept/20261124T120020Z-3");
    assert_true(s.all[1].kept);
    sxs_segments_free(&s);
    assert_int_equal(listed(1, 0), 4);
}

static void damaged(void **state)
{
    struct sxs_session  s;
    struct sxs_segments list;
    (void)state;
    make_segment("20261124T120000Z-1", 1, 77, 5, 0, 10, 1);
    write_file("20261124T120000Z-1/segment.json", "{", 1);
    make_segment("20261124T120010Z-2", 2, 77, 5, 10, 20, 2);
    write_file("20261124T120010Z-2/77/census", "no", 2);
    make_folder(".20261124T120030Z-4.gone");
    make_folder("20261124T120040Z-5"); /* just made */
    char path[300];
    snprintf(path, sizeof(path), "%s/20261124T120050Z-6", dir);
    assert_int_equal(symlink("/", path), 0);
    assert_int_equal(sxs_session_read_joined(dir, NULL, &s, &list), 0);
    assert_int_equal(s.n_processes, 1);
    assert_int_equal(s.n_unread, 1);
    assert_string_equal(s.unread[0].folder, "20261124T120010Z-2/77");
    assert_int_equal(s.n_problems, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal((strstr(s.problems[i], "20261124T120000Z-1/segment.json") != NULL) +
                             (strstr(s.problems[i], "20261124T120010Z-2/77/census") != NULL), 1);
    assert_string_not_equal(s.problems[0], s.problems[1]);
    assert_int_equal(list.n, 3); /* a link is no segment */
    assert_int_equal(list.all[0].pid, 0);
    assert_int_equal(list.all[0].began_ns, NOON);
    sxs_session_free(&s);
    sxs_segments_free(&list);
}

static void refusals(void **state)
{
    char *line;
    (void)state;
    assert_null(sxs_segments_refuse(dir));
    ring();
    line = sxs_segments_refuse(dir);
    assert_non_null(strstr(line, "5 segments"));
    assert_non_null(strstr(line, "20261124T120020Z-3, 20261124T120025Z-4"));
    free(line);
    make_segment("20261124T120045Z-6", 6, 78, 950, 45, 0, 16);
    make_segment("20261124T120055Z-7", 7, 78, 950, 55, 0, 16);
    line = sxs_segments_refuse(dir);
    assert_non_null(strstr(line, "20261124T120035Z-5 ... 20261124T120055Z-7"));
    free(line);
}

/* An ordinary session is read as ever. */
static void ordinary(void **state)
{
    struct sxs_session s;
    (void)state;
    ring();
    make_segment("inner", 1, 77, 5, 0, 10, 1);
    char path[300];
    snprintf(path, sizeof(path), "%s/inner", dir);
    assert_int_equal(sxs_session_read_joined(path, NULL, &s, NULL), 0);
    assert_int_equal(s.n_processes, 1);
    assert_int_equal(s.processes[0].n_parts, 0);
    assert_int_equal(sxs_process_n_parts(&s.processes[0]), 1);
    assert_string_equal(sxs_process_part_folder(&s.processes[0], 0), "77");
    sxs_session_free(&s);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_dir, drop_dir)
    const struct CMUnitTest all[] = {CASE(names),   CASE(joined),   CASE(periods), CASE(kept),
                                     CASE(damaged), CASE(refusals), CASE(ordinary)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
