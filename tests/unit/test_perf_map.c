/* SPDX-License-Identifier: MIT */
/* test_perf_map.c - files /tmp/perf-PID.map that take several rounds to read. */
#include "tests/unit/fake_host.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/recorder/perf_map.h"

#define FIRST UINT64_C(0x7f0000000000)
#define BYTES 64u     /* of a piece */
#define LINES 120000u /* more than 4 MiB of them, which is what one round reads */

static char path[64];

static void add_lines(FILE *file, unsigned from, unsigned n)
{
    for (unsigned i = from; i < from + n; i++)
        fprintf(file, "%llx %x a function with a name\n",
                (unsigned long long)(FIRST + (uint64_t)i * BYTES), BYTES);
    CHECK_EQ(fflush(file), 0);
}

/* A round is a second. Returns what the call says. */
static int next_round(void)
{
    const struct timespec second = {1, 50000000};
    nanosleep(&second, NULL);
    return sxs_perf_map_update();
}

static void long_file(void)
{
    static struct sxs_perf_code code;
    const uintptr_t             last = FIRST + (LINES - 1) * BYTES;
    FILE                       *file;
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    file = fopen(path, "wx");
    CHECK(file != NULL);
    CHECK_EQ(fchmod(fileno(file), 0600), 0);
    add_lines(file, 0, LINES);
    CHECK(ftell(file) > 4 << 20);
    CHECK_EQ(sxs_perf_map_update(), 1);
    CHECK_EQ(sxs_perf_map_find(FIRST, &code), 1);
    CHECK_EQ(sxs_perf_map_find(last, &code), 0);
    CHECK_EQ(next_round(), 1); /* it has been read to its end */
    CHECK_EQ(sxs_perf_map_find(last, &code), 1);
    CHECK(code.lo == last && code.hi == last + BYTES);
    add_lines(file, LINES, 10);
    CHECK_EQ(next_round(), 0); /* names that came in time need not be asked for again */
    CHECK_EQ(sxs_perf_map_find(last + BYTES, &code), 1);
    fclose(file);
    unlink(path);
}

static void code_may_have_a_name_once_a_long_file_has_been_read(void **state)
{
    (void)state;
    PASSES(long_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_may_have_a_name_once_a_long_file_has_been_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
