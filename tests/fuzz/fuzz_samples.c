/* SPDX-License-Identifier: MIT */
/*
 * Damaged samples files. Each goes through the reader and the whole model. fuzz_session.h has the options.
 */
#include "session/read/samples_read.h"
#include "session/format/session.h"
#include "cmd/report/format.h"
#include "tests/fuzz/fuzz_session.h"
#include "tests/profile/samples_file.h"

#include <sys/stat.h>

/* One session folder for all runs; only its file "samples" changes. */
static void make_dir(void)
{
    static struct sxs_census c;
    char                     path[192];
    fuzz_folder("1", SXS_SAMPLES_FILE);
    if (mkdir(fuzz_process, 0700) != 0)
        exit(1);
    snprintf(path, sizeof(path), "%s/" SXS_CENSUS_FILE, fuzz_process);
    memcpy(c.magic, SXS_CENSUS_MAGIC, sizeof(c.magic));
    c.version = SXS_CENSUS_VERSION;
    c.size = sizeof(c);
    c.row_size = sizeof(c.runtimes[0]);
    c.pid = 1;
    FILE *f = fopen(path, "w");
    if (!f || fwrite(&c, sizeof(c), 1, f) != 1 || fclose(f) != 0)
        exit(1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct sxs_profile_format *const formats[] = {
        &sxs_format_text, &sxs_format_html, &sxs_format_chrome, &sxs_format_firefox,
        &sxs_format_pprof, &sxs_format_speedscope, &sxs_format_collapsed};
    static const enum sxs_data kinds[8] = {SXS_DATA_SAMPLES, SXS_DATA_ALLOC, SXS_DATA_SAMPLES,
                                           SXS_DATA_LIVE, SXS_DATA_NATIVE, SXS_DATA_NATIVE_LIVE,
                                           SXS_DATA_LOCKS, SXS_DATA_LOCK_OWNERS};
    static unsigned            turn;
    struct sxs_report_options o = {0};
    struct sxs_model           m = {0};
    struct sxs_opened          session;
    if (!fuzz_dir[0])
        make_dir();
    fuzz_write(bytes, size);
    enum sxs_data data = kinds[turn / 7 % 8];
    unsigned detail = SXS_DETAIL_TIMELINE | SXS_DETAIL_LINES | SXS_DETAIL_GONE;
    if (sxs_opened_open(fuzz_dir, NULL, &session) == 0 &&
        sxs_model_load(&session, &o, data, detail, &m) == 0 && m.n_processes) {
        FILE *null = fopen("/dev/null", "w");
        if (null) {
            formats[turn++ % 7]->write(&m, &o, null);
            fclose(null);
        }
    }
    sxs_model_free(&m);
    sxs_opened_close(&session);
    return 0;
}

#ifndef SXS_LIBFUZZER
static uint8_t *seed_file(size_t *size)
{
    static struct samples_file f;
    char                      *bytes = NULL;
    FILE                      *to = open_memstream(&bytes, size);
    const uint64_t             ips[] = {0x8010, 0x9010, 0x7f0000000100, 0x8110};
    samples_begin(&f, to, 1, "fuzz");
    add_runtime(&f, 1, "8.0.29", "/net/libcoreclr.so");
    add_thread(&f, 7, "worker", 2);
    add_module(&f, 1, 0x7f0000000000, 0x7f0000000000, 0x7f0000100000, "/net/libclrgc.so", 0);
    for (uint64_t i = 0; i < 40; i++) {
        add_code(&f, i, 0x8000 + i * 0x80, 0x8100 + i * 0x80, 1, SXS_TIER_1, "A.B.C<int>(D)");
        add_sample(&f, 100 + i, 7, (uint16_t)(i % 5), ips, SXS_SAMPLE_END_BOTTOM, i & 1);
    }
    add_module(&f, 90, 0x7f0000000000, 0x7f0000000000, 0x7f0000100000, "/net/libclrgc.so", 1);
    add_pause(&f, 110, 5, 1);
    add_costs(&f, 120, ips, 4);
    samples_end(&f);
    fclose(to);
    return (uint8_t *)bytes;
}

/* A few bytes, words or stretches changed where the content is, sometimes the end cut off. */
static size_t mutate(uint8_t *b, size_t size)
{
    static const uint64_t odd[] = {0, 1, 7, 8, 0xff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX};
    size_t                content = SXS_HEADER_SIZE + 7000;
    for (uint64_t n = 1 + roll(12); n-- > 0;) {
        size_t at = roll(8) ? SXS_HEADER_SIZE + roll(content - SXS_HEADER_SIZE) : roll(128);
        switch (roll(4)) {
        case 0: b[at] = (uint8_t)roll(256); break;
        case 1: memcpy(b + at, &odd[roll(9)], 1u << roll(4)); break;
        case 2: memmove(b + at, b + SXS_HEADER_SIZE + roll(6000), roll(200)); break;
        default: b[at] ^= (uint8_t)(1u << roll(8)); break;
        }
    }
    return roll(6) ? size : roll(size);
}

int main(int argc, char **argv)
{
    size_t   size;
    uint8_t *whole = seed_file(&size);
    int      status = fuzz_main(argc, argv, whole, size, mutate, "samples files");
    free(whole);
    return status;
}
#endif
