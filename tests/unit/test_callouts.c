/* SPDX-License-Identifier: MIT */
/* test_callouts.c - what a thread's counters of instrumented methods take of the host's memory limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "instr/weave/callouts.h"

#define LIMIT (UINT64_C(2) << 30)

/* KiB that /proc/self/status says of @name: VmData is private writable memory, which a system that does not
 * overcommit sets aside; VmSize is what RLIMIT_AS limits. */
static long status_kib(const char *name)
{
    char  line[200];
    long  kib = -1;
    FILE *f = fopen("/proc/self/status", "re");
    assert_non_null(f);
    while (kib < 0 && fgets(line, sizeof(line), f))
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtol(line + strlen(name) + 1, NULL, 10);
    fclose(f);
    return kib;
}

static size_t place_of(uint32_t number)
{
    struct sxs_marker marker;
    sxs_marker_set(&marker, number);
    return marker.place;
}

static void a_thread_that_counts_commits_little_memory(void **state)
{
    long before = status_kib("VmData:");
    (void)state;
    sxs_callout_count(place_of(5));
    assert_in_range(status_kib("VmData:") - before, 0, 512);
}

static void methods_far_apart_are_counted(void **state)
{
    static const uint32_t numbers[] = {
        0, 1, 255, 256, 8191, 8192, 100000, (1u << 20) - 1, 1u << 20, 5u << 20};
    (void)state;
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < ARRAY_LEN(numbers); i++)
            sxs_callout_count(place_of(numbers[i]));
    assert_int_equal(place_of(1u << 20), place_of(5u << 20));
    assert_int_not_equal(place_of((1u << 20) - 1), place_of(1u << 20));
}

/* In a process that has begun under the limit. */
static int limited(void)
{
    long before = status_kib("VmSize:");
    sxs_callout_count(place_of(0));
    sxs_callout_count(place_of(1u << 20));
    printf("# %ld KiB more\n", status_kib("VmSize:") - before);
    return status_kib("VmSize:") - before > 1024;
}

static void of_limited_address_space_a_thread_takes_little(void **state)
{
    int   status;
    pid_t pid;
    (void)state;
#ifdef SXS_SANITIZED
    skip(); /* a sanitizer needs terabytes */
#endif
    pid = fork();
    if (pid == 0) {
        struct rlimit as = {LIMIT, LIMIT};
        setrlimit(RLIMIT_AS, &as);
        execl("/proc/self/exe", "test_callouts", "limited", NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_counts_commits_little_memory),
        cmocka_unit_test(methods_far_apart_are_counted),
        cmocka_unit_test(of_limited_address_space_a_thread_takes_little),
    };
    if (argc == 2 && strcmp(argv[1], "limited") == 0)
        return limited();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
