/* SPDX-License-Identifier: MIT */
/*
 * Damaged files "instrument" and "traced", as fuzz.h has it: an input is the size of the first in four bytes, then
 * both. Each goes through the readers, the text and the JSON.
 */
#include "cmd/instrument/instrument.h"
#include "cmd/output/json_stream.h"

#include "tests/fuzz/fuzz.h"

int make_instrument(int argc, char **argv);

#define main make_instrument
#include "tests/profile/make_instrument.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

static char dir[64];

static void path_of(char *out, size_t size, const char *name)
{
    snprintf(out, size, "%s/%u/%s", dir, PID, name);
}

static void remove_dir(void)
{
    static const char *const names[] = {SXS_CENSUS_FILE, SXS_INSTRUMENT_FILE, SXS_TRACED_FILE, ""};
    char                     path[160];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        path_of(path, sizeof(path), names[i]);
        remove(path);
    }
    rmdir(dir);
}

/* One session folder for all runs. */
static void make_dir(void)
{
    char  program[] = "make_instrument";
    char *args[] = {program, dir, NULL};
    strcpy(dir, "/tmp/fuzz-instrument-XXXXXX");
    if (!mkdtemp(dir) || make_instrument(2, args) != 0)
        exit(1);
    atexit(remove_dir);
}

static void put(const char *name, const uint8_t *bytes, size_t size)
{
    char  path[160];
    FILE *f;
    path_of(path, sizeof(path), name);
    f = fopen(path, "w");
    if (!f || (size && fwrite(bytes, size, 1, f) != 1) || fclose(f) != 0)
        exit(1);
}

static void write_reports(FILE *to)
{
    struct sxs_session read = {.processes = calloc(1, sizeof(*read.processes)), .n_processes = 1};
    struct sxs_opened  session;
    struct sxs_instrument_report r = {0};
    MUST(read.processes);
    read.processes->pid = PID;
    snprintf(read.processes->folder, sizeof(read.processes->folder), "%u", PID);
    if (sxs_opened_open_read(dir, &read, &session) == 0 &&
        sxs_instrument_report_load(&session, NULL, &r) == 0 && r.n) {
        json_t                *top = json_object();
        struct sxs_json_stream stream = {.to = to};
        fuzz_whole +=
            r.processes[0].data->n_methods == 3 && r.processes[0].data->traced.n_calls == 40;
        sxs_instrument_text(to, &r, 0, 1000);
        MUST(sxs_instrument_json(&stream, &r) == 0 && sxs_instrument_calls_json(top, &r, 100) == 0);
        json_dumpf(top, to, 0);
        json_decref(top);
    }
    sxs_instrument_report_free(&r);
    sxs_opened_close(&session);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static FILE *null;
    uint32_t     first = 0;
    if (!dir[0])
        make_dir();
    if (!null)
        null = fopen("/dev/null", "w");
    if (!null || size < sizeof(first))
        return 0;
    memcpy(&first, bytes, sizeof(first));
    bytes += sizeof(first);
    size -= sizeof(first);
    if (first > size)
        first = (uint32_t)size;
    put(SXS_INSTRUMENT_FILE, bytes, first);
    put(SXS_TRACED_FILE, bytes + first, size - first);
    write_reports(null);
    return 0;
}

#ifndef SXS_LIBFUZZER
#define HALF (FUZZ_MAX / 2 - 8)

static size_t read_part(const char *name, uint8_t *out)
{
    static uint8_t whole[2][HALF];
    static size_t  sizes[2];
    int            i = strcmp(name, SXS_TRACED_FILE) == 0;
    if (!sizes[i]) {
        char  path[160];
        FILE *f;
        path_of(path, sizeof(path), name);
        f = fopen(path, "r");
        sizes[i] = f ? fread(whole[i], 1, HALF, f) : 0;
        if (f)
            fclose(f);
        while (sizes[i] && !whole[i][sizes[i] - 1])
            sizes[i]--;
    }
    memcpy(out, whole[i], sizes[i]);
    return sizes[i];
}

static size_t fuzz_make(uint8_t *out)
{
    static uint8_t parts[2][HALF];
    size_t         sizes[2];
    uint32_t       first;
    if (!dir[0])
        make_dir();
    sizes[0] = read_part(SXS_INSTRUMENT_FILE, parts[0]);
    sizes[1] = read_part(SXS_TRACED_FILE, parts[1]);
    for (unsigned i = 0; i < 2; i++)
        if (roll(3))
            sizes[i] = fuzz_mutate(parts[i], sizes[i]);
    first = (uint32_t)sizes[0];
    memcpy(out, &first, sizeof(first));
    memcpy(out + sizeof(first), parts[0], sizes[0]);
    memcpy(out + sizeof(first) + sizes[0], parts[1], sizes[1]);
    return sizeof(first) + sizes[0] + sizes[1];
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "damaged files of traced calls");
}
#endif
