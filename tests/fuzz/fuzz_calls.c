/* SPDX-License-Identifier: MIT */
/*
 * Damaged files "calls". Each goes through the reader, every table of the text, what is not seen, and
 * the model with a format. fuzz_session.h has the options.
 */
#include "cmd/calls/coverage_gaps.h"
#include "cmd/report/format.h"
#include "tests/fuzz/fuzz_session.h"

int make_calls(int argc, char **argv);

#define main make_calls
#include "tests/profile/make_calls.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

/* One session folder for all runs; only its file "calls" changes. */
static void make_dir(void)
{
    char  program[] = "make_calls", kind[] = "trace";
    char *args[] = {program, fuzz_dir, kind, NULL};
    fuzz_folder("4242", SXS_CALLS_FILE);
    if (make_calls(3, args) != 0)
        exit(1);
}

static void write_texts(FILE *to)
{
    static const struct sxs_calls_view views[] = {{0},
                                                  {.by_thread = true, .depth = 3},
                                                  {.callers = "Inner"},
                                                  {.thread = "main", .runtime = 2}};
    struct sxs_opened                  session;
    struct sxs_calls_report            r = {0};
    if (sxs_opened_open(fuzz_dir, NULL, &session) == 0 &&
        sxs_calls_report_load(&session, NULL, &r) == 0 && r.n) {
        json_t *top = json_object();
        for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
            sxs_calls_text(to, &r, &views[i]);
        sxs_gaps_json(top, &r);
        json_decref(top);
    }
    sxs_calls_report_free(&r);
    sxs_opened_close(&session);
}

static void write_format(FILE *to)
{
    static const struct sxs_profile_format *const formats[] = {
        &sxs_format_html,  &sxs_format_chrome,     &sxs_format_firefox,
        &sxs_format_pprof, &sxs_format_speedscope, &sxs_format_collapsed};
    static unsigned                  turn;
    const struct sxs_profile_format *f = formats[turn++ % 6];
    struct sxs_report_options        o = {.data = SXS_DATA_CALLS};
    struct sxs_model                 m = {0};
    struct sxs_calls_report          r = {0};
    struct sxs_opened                session;
    if (sxs_opened_open(fuzz_dir, NULL, &session) == 0 &&
        sxs_calls_report_load(&session, NULL, &r) == 0) {
        sxs_model_load_calls(&session, &r, &o, f->detail, &m);
        if (m.n_processes)
            f->write(&m, &o, to);
    }
    sxs_model_free(&m);
    sxs_calls_report_free(&r);
    sxs_opened_close(&session);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static FILE *null;
    if (!fuzz_dir[0])
        make_dir();
    if (!null)
        null = fopen("/dev/null", "w");
    if (!null)
        exit(1);
    fuzz_write(bytes, size);
    write_texts(null);
    write_format(null);
    return 0;
}

#ifndef SXS_LIBFUZZER
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

int main(int argc, char **argv)
{
    make_dir();
    return fuzz_main(argc, argv, &file, sizeof(file), mutate, "files of calls");
}
#endif
