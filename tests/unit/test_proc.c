/* SPDX-License-Identifier: MIT */
/* test_proc.c - files of /proc are read without a descriptor in the host's table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/sanitized.h"

#include "base/maps.h"
#include "base/proc.h"
#include "base/task.h"
#include "base/thread.h"
#include "sampling/stacks.h"
#include "signals/progress.h"

static struct rlimit before;

/* Writes the file for tests that read lines: it has a long line, a line that is too long, and a
 * last line without an end of line. */
#define LONG     4000 /* characters */
#define TOO_LONG 20000
static char path[] = "/tmp/sxs-proc-XXXXXX";

static void put_file(void)
{
    int   fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fprintf(file, "first\n\n%0*d\n%0*d\nlast", LONG, 1, TOO_LONG, 2);
    fclose(file);
}

/* Uses up all descriptor numbers of the host's table, so that opening a file in it fails. The table
 * of the reading thread is empty. */
static int use_up_descriptors(void **state)
{
    struct rlimit limit;
    int           fd;
    (void)state;
    put_file();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = (struct rlimit){64, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    do
        fd = dup(1);
    while (fd >= 0);
    return 0;
}

static int free_descriptors(void **state)
{
    (void)state;
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    unlink(path);
    return setrlimit(RLIMIT_NOFILE, &before);
}

static uint32_t me(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

static void a_file_is_read_in_part(void **state)
{
    char text[4];
    (void)state;
    assert_int_equal(sxs_proc_read("/proc/self/maps", text, sizeof(text)), sizeof(text));
}

struct lines {
    int    n, stop_at;
    size_t len[8];
    char   last[8];
};

static int note_line(char *text, void *arg)
{
    struct lines *lines = arg;
    assert_true(lines->n < 8);
    lines->len[lines->n++] = strlen(text);
    snprintf(lines->last, sizeof(lines->last), "%s", text);
    return lines->n == lines->stop_at ? 7 : 0;
}

static void a_file_is_read_by_lines(void **state)
{
    struct lines lines = {0}, two = {.stop_at = 2}, none = {0};
    (void)state;
    assert_int_equal(sxs_proc_lines(path, note_line, &lines), 0);
    assert_int_equal(lines.n, 5);
    assert_int_equal(lines.len[0], 5);
    assert_int_equal(lines.len[1], 0);
    assert_int_equal(lines.len[2], LONG);
    assert_int_equal(lines.len[3], 4095); /* cut */
    assert_string_equal(lines.last, "last");
    assert_int_equal(sxs_proc_lines(path, note_line, &two), 7);
    assert_int_equal(two.n, 2);
    assert_true(sxs_proc_lines("/none", note_line, &none) < 0);
    assert_int_equal(none.n, 0);
}

static void count_me(uint32_t tid, void *found)
{
    char name[16];
    if (sxs_task_name(tid, name, sizeof(name)) == 0 && strcmp(name, "test_proc") == 0)
        ++*(int *)found;
}

static void threads_are_listed(void **state)
{
    char name[16];
    int  found = 0;
    (void)state;
    skip_under_thread_sanitizer("it has a thread of its own");
    assert_int_equal(sxs_task_name(me(), name, sizeof(name)), 0);
    assert_string_equal(name, "test_proc");
    /* This thread waits for the reading thread, or is about to. */
    assert_non_null(strchr("SR", sxs_task_state(me())));
    assert_int_equal(sxs_tasks_each(count_me, &found), 0);
    assert_int_equal(found, 1);
}

static void mappings_are_found(void **state)
{
    char               name[64];
    struct sxs_mapping mapping;
    uintptr_t          hi = 0;
    (void)state;
    assert_int_equal(sxs_maps_find((uintptr_t)&hi, &mapping, name, sizeof(name)), 0);
    assert_string_equal(mapping.path, "[stack]");
    sxs_stacks_refresh();
    assert_true(sxs_stacks_ns() > 0);
}

static void a_mapping_is_parsed(void **state)
{
    struct sxs_mapping m;
    (void)state;
    assert_int_equal(sxs_maps_parse("7f00-7fffffffe000 r-xp 0001f000 fd:01 1234  /a b", &m), 0);
    assert_int_equal(m.start, 0x7f00);
    assert_int_equal(m.end, 0x7fffffffe000);
    assert_memory_equal(m.permissions, "r-xp", 4);
    assert_int_equal(m.inode, 1234);
    assert_string_equal(m.path, "/a b");
    assert_int_equal(sxs_maps_parse("7f00-7f10 rw-p 00000000 00:00 0 ", &m), 0);
    assert_int_equal(m.inode, 0);
    assert_string_equal(m.path, "");
    assert_int_equal(sxs_maps_parse("7f00 7f10 rw-p 00000000 00:00 0", &m), -1);
    assert_int_equal(sxs_maps_parse("7f00-7f10 rw", &m), -1);
    assert_int_equal(sxs_maps_parse("", &m), -1);
}

static void our_own_thread_is_known(void **state)
{
    struct sxs_unserved_threads progress;
    (void)state;
    sxs_progress_begin(&progress);
    assert_int_equal(progress.n, 0); /* neither the caller nor the reading thread is in the list */
    assert_false(sxs_thread_is_own(me()));
}

/* In a forked child the reading thread does not exist. */
static void a_forked_child_reads_itself(void **state)
{
    int   status;
    pid_t pid;
    (void)state;
    free_descriptors(NULL);
    pid = fork();
    if (!pid)
        _exit(sxs_task_state((uint32_t)getpid()) == 'R' ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_in_part),      cmocka_unit_test(a_file_is_read_by_lines),
        cmocka_unit_test(threads_are_listed),          cmocka_unit_test(mappings_are_found),
        cmocka_unit_test(a_mapping_is_parsed),         cmocka_unit_test(our_own_thread_is_known),
        cmocka_unit_test(a_forked_child_reads_itself),
    };
    return cmocka_run_group_tests(tests, use_up_descriptors, free_descriptors);
}
