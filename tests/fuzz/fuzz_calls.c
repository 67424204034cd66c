/* SPDX-License-Identifier: MIT */
/*
 * Damaged files "calls". With libFuzzer: clang -fsanitize=fuzzer,address -DSXS_LIBFUZZER. Without:
 *
 *   fuzz_calls [-n COUNT] [-s SEED] [FILE]...
 *
 * runs every FILE, then COUNT mutated copies of a generated file. Each goes through the reader, every
 * table of the text, what is not seen, and the model with a format; a crash, a sanitizer's word or a
 * run of ten seconds is a failure.
 */
#include "report/calls/unseen.h"
#include "report/profile/format.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int make_calls(int argc, char **argv);

#define main make_calls
#include "tests/profile/make_calls.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

static char dir[64], calls_path[128];

static void remove_dir(void)
{
    char path[128];
    unlink(calls_path);
    snprintf(path, sizeof(path), "%s/4242/" SXS_CENSUS_FILE, dir);
    unlink(path);
    snprintf(path, sizeof(path), "%s/4242", dir);
    rmdir(path);
    rmdir(dir);
}

/* One session folder for all runs; only its file "calls" changes. */
static void make_dir(void)
{
    char  program[] = "make_calls", kind[] = "trace";
    char *args[] = {program, dir, kind, NULL};
    strcpy(dir, "/tmp/fuzz-calls-XXXXXX");
    if (!mkdtemp(dir) || make_calls(3, args) != 0)
        exit(1);
    snprintf(calls_path, sizeof(calls_path), "%s/4242/" SXS_CALLS_FILE, dir);
    atexit(remove_dir);
}

static void write_texts(FILE *to)
{
    static const struct sxs_calls_view views[] = {{0},
                                                  {.by_thread = true, .depth = 3},
                                                  {.callers = "Inner"},
                                                  {.thread = "main", .runtime = 2}};
    struct sxs_session                 session;
    struct sxs_calls_report            r = {0};
    if (sxs_session_read(dir, &session) == 0 &&
        sxs_calls_report_load(dir, &session, NULL, &r) == 0 && r.n) {
        json_t *top = json_object();
        for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
            sxs_calls_text(to, &r, &views[i]);
        sxs_unseen_json(top, &r);
        json_decref(top);
    }
    sxs_calls_report_free(&r);
    sxs_session_free(&session);
}

static void write_format(FILE *to)
{
    static const struct sxs_profile_format *const formats[] = {
        &sxs_format_html,  &sxs_format_chrome,     &sxs_format_firefox,
        &sxs_format_pprof, &sxs_format_speedscope, &sxs_format_collapsed};
    static unsigned                  turn;
    const struct sxs_profile_format *f = formats[turn++ % 6];
    struct sxs_report_options        o = {.data = SXS_DATA_CALLS};
    struct sxs_model                 m;
    if (sxs_model_load_calls(dir, &o, f->detail, &m) == 0 && m.n_processes)
        f->write(&m, &o, to);
    sxs_model_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static FILE *null;
    if (!dir[0])
        make_dir();
    if (!null)
        null = fopen("/dev/null", "w");
    FILE *f = fopen(calls_path, "w");
    if (!null || !f || (size && fwrite(bytes, size, 1, f) != 1) || fclose(f) != 0)
        exit(1);
    write_texts(null);
    write_format(null);
    return 0;
}

#ifndef SXS_LIBFUZZER
static uint64_t state;

static uint64_t roll(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static uint8_t *read_whole(const char *path, size_t *size)
{
    char *bytes = NULL;
    FILE *in = fopen(path, "r"), *to = open_memstream(&bytes, size);
    for (int c; in && (c = getc(in)) != EOF;)
        putc(c, to);
    fclose(to);
    if (in)
        fclose(in);
    return (uint8_t *)bytes;
}

/* Mostly references and sizes, in cells that are used and in the header; sometimes the end cut off. */
static size_t mutate(uint8_t *b, size_t size)
{
    static const uint64_t odd[] = {0, 1, 7, 8, 0xff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX};
    size_t                used = SXS_CALLS_HEADER + (size_t)next_cell * SXS_CALLS_CELL;
    for (uint64_t n = 1 + roll(12); n-- > 0;) {
        size_t at = roll(8) ? SXS_CALLS_HEADER + roll(used - SXS_CALLS_HEADER) / 4 * 4 : roll(128);
        size_t cell = SXS_CALLS_HEADER + roll(next_cell) * SXS_CALLS_CELL;
        uint32_t ref = (uint32_t)roll(2 * next_cell);
        switch (roll(6)) {
        case 0: b[at] = (uint8_t)roll(256); break;
        case 1: memcpy(b + at, &odd[roll(9)], 1u << roll(4)); break;
        case 2:
            memmove(b + cell, b + SXS_CALLS_HEADER + roll(next_cell) * SXS_CALLS_CELL,
                    SXS_CALLS_CELL);
            break;
        case 3: memset(b + cell, 0, SXS_CALLS_CELL); break;
        case 4: b[at] ^= (uint8_t)(1u << roll(8)); break;
        default: memcpy(b + at, &ref, 4); break;
        }
    }
    return roll(6) ? size : roll(size);
}

static void run_file(const char *path)
{
    size_t   size = 0;
    uint8_t *bytes = read_whole(path, &size);
    alarm(10);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
}

int main(int argc, char **argv)
{
    unsigned long count = 1000, seed = 1;
    int           opt;
    while ((opt = getopt(argc, argv, "n:s:")) != -1) {
        if (opt == 'n')
            count = strtoul(optarg, NULL, 10);
        else if (opt == 's')
            seed = strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    make_dir();
    for (int i = optind; i < argc; i++)
        run_file(argv[i]);
    const size_t size = sizeof(file);
    uint8_t     *copy = malloc(size);
    state = seed * 0x9e3779b97f4a7c15u | 1;
    for (unsigned long i = 0; copy && i < count; i++) {
        memcpy(copy, &file, size);
        alarm(10);
        LLVMFuzzerTestOneInput(copy, mutate(copy, size));
    }
    free(copy);
    printf("ok - %lu damaged files of calls\n", count);
    return 0;
}
#endif
