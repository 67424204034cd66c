/* SPDX-License-Identifier: MIT */
/* test_perf_map.c - files /tmp/perf-PID.map that are large, damaged or rewritten. */
#include "tests/unit/fake_host.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "sampling/perf_map.h"

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

/* Writes a file in place of the one before: the same one, as a program does that opens it for writing. */
static FILE *begin_file(void)
{
    FILE *file;
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    file = fopen(path, "w");
    CHECK(file != NULL);
    CHECK_EQ(fchmod(fileno(file), 0600), 0);
    return file;
}

static struct sxs_perf_code code;

static void has_name(uintptr_t ip, const char *name)
{
    if (!name) {
        CHECK_EQ(sxs_perf_map_find(ip, &code), 0);
        return;
    }
    CHECK_EQ(sxs_perf_map_find(ip, &code), 1);
    CHECK_EQ(code.name_size, strlen(name));
    CHECK(memcmp(code.name, name, strlen(name)) == 0);
}

static void long_lines(void)
{
    enum { BUFFER = 64 << 10 }; /* bytes that are read at a time */
    FILE *file = begin_file();
    int   n = fprintf(file, "7f1000000000 40 begins");
    for (; n < BUFFER; n++)
        fputc('-', file);
    fprintf(file, "7f2000000000 40 pretended\n7f3000000000 40 behind\n");
    fprintf(file, "7f4000000000 40 ");
    for (int i = 0; i < 600; i++) /* 1,200 bytes; the end of the cut would be inside of a character */
        fputs(i ? "\xc3\xa4" : "ab", file);
    fprintf(file, "\n7f5000000000 40 without an end");
    CHECK_EQ(fflush(file), 0);
    sxs_perf_map_update();
    has_name(0x7f2000000000, NULL);
    has_name(0x7f3000000000, "behind");
    CHECK_EQ(sxs_perf_map_find(0x7f1000000000, &code), 1);
    CHECK_EQ(code.name_size, SXS_PERF_NAME);
    CHECK(memcmp(code.name, "begins--", 8) == 0 && memcmp(code.name + SXS_PERF_NAME - 4, "-...", 4) == 0);
    CHECK_EQ(sxs_perf_map_find(0x7f4000000000, &code), 1);
    CHECK_EQ(code.name_size, SXS_PERF_NAME - 1);
    CHECK(memcmp(code.name + SXS_PERF_NAME - 6, "\xc3\xa4...", 5) == 0);
    has_name(0x7f5000000000, NULL);
    fclose(file);
    unlink(path);
}

static void a_long_line_has_one_name_which_says_that_it_is_cut(void **state)
{
    (void)state;
    PASSES(long_lines);
}

static void odd_lines(void)
{
    FILE *file = begin_file();
    fputs("7f1000000000 0 nothing\n7f1100000000 ffffffffffffffff huge\nffffffffffffffc0 80 beyond\n"
          "17f12000000000000 40 long\n7f1300000000 40 \n7f1400000000 40\nxyz 40 none\n-7f1500000000 40 minus\n"
          "0x7f1600000000 0x40 right\n7f1600000020 10 above\n",
          file);
    CHECK_EQ(fflush(file), 0);
    sxs_perf_map_update();
    for (uintptr_t ip = 0x7f1000000000; ip < 0x7f1600000000; ip += 0x100000000)
        has_name(ip, NULL);
    has_name(0xffffffffffffffc0, NULL);
    has_name(0, NULL);
    has_name(0x7f160000001f, "right");
    has_name(0x7f1600000020, "above");
    has_name(0x7f1600000030, "right");
    has_name(0x7f1600000040, NULL);
    fclose(file);
    unlink(path);
}

static void lines_that_name_no_code_are_left_out(void **state)
{
    (void)state;
    PASSES(odd_lines);
}

static void written_anew(void)
{
    FILE *file = begin_file();
    fputs("7f1000000000 40 first\n7f2000000000 40 second\n", file);
    CHECK_EQ(fflush(file), 0);
    sxs_perf_map_update();
    has_name(0x7f2000000000, "second");
    fclose(file);
    file = begin_file();
    fputs("7f1000000000 40 a much longer name than it had before\n7f2000000000 40 another\n", file);
    CHECK_EQ(fflush(file), 0);
    has_name(0x7f2000000000, NULL); /* not what stands where its name was */
    next_round();
    has_name(0x7f1000000000, "a much longer name than it had before");
    has_name(0x7f2000000000, "another");
    fclose(file);
    unlink(path);
}

static void a_file_that_is_written_anew_gives_no_wrong_names(void **state)
{
    (void)state;
    PASSES(written_anew);
}

static char said[200];

static void keep_line(const char *line, size_t len)
{
    snprintf(said, sizeof(said), "%.*s", (int)len, line);
}

static void too_many(void)
{
    FILE *file = begin_file();
    sxs_log_keep(keep_line);
    for (unsigned i = 0; i <= 1u << 18; i++)
        fprintf(file, "%llx 10 f\n", (unsigned long long)(FIRST + (uint64_t)i * BYTES));
    CHECK_EQ(fflush(file), 0);
    sxs_perf_map_update();
    CHECK_EQ(said[0], 0);
    for (int i = 0; i < 4 && !said[0]; i++)
        next_round();
    CHECK(strstr(said, "more code than") != NULL);
    said[0] = 0;
    next_round();
    CHECK_EQ(said[0], 0); /* once */
    fclose(file);
    unlink(path);
}

static void more_code_than_has_room_is_said_once(void **state)
{
    (void)state;
    PASSES(too_many);
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
        cmocka_unit_test(a_long_line_has_one_name_which_says_that_it_is_cut),
        cmocka_unit_test(lines_that_name_no_code_are_left_out),
        cmocka_unit_test(a_file_that_is_written_anew_gives_no_wrong_names),
        cmocka_unit_test(more_code_than_has_room_is_said_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
