/* SPDX-License-Identifier: MIT */
/**
 * fuzz_session.h - what fuzz drivers of a session's files share: a folder of which one file changes,
 * random numbers, rounds.
 *
 *   fuzz_X [-n COUNT] [-s SEED] [FILE]...
 *
 * runs every FILE, then COUNT mutated copies of a generated file. A crash, a sanitizer's word or a run
 * of ten seconds is a failure. With libFuzzer: clang -fsanitize=fuzzer,address -DSXS_LIBFUZZER.
 */
#ifndef SXS_TESTS_FUZZ_SESSION_H
#define SXS_TESTS_FUZZ_SESSION_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/format/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/** The session's folder, the one of its process, and the file that changes. */
static char fuzz_dir[64], fuzz_process[96], fuzz_input[192];

static void fuzz_remove(void)
{
    char path[192];
    unlink(fuzz_input);
    snprintf(path, sizeof(path), "%s/" SXS_CENSUS_FILE, fuzz_process);
    unlink(path);
    rmdir(fuzz_process);
    rmdir(fuzz_dir);
}

/** Make the session's folder, removed at the end; the driver makes that of process @pid in it. */
static void fuzz_folder(const char *pid, const char *file)
{
    strcpy(fuzz_dir, "/tmp/fuzz-session-XXXXXX");
    if (!mkdtemp(fuzz_dir))
        exit(1);
    snprintf(fuzz_process, sizeof(fuzz_process), "%s/%s", fuzz_dir, pid);
    snprintf(fuzz_input, sizeof(fuzz_input), "%s/%s", fuzz_process, file);
    atexit(fuzz_remove);
}

static void fuzz_write(const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(fuzz_input, "w");
    if (!f || (size && fwrite(bytes, size, 1, f) != 1) || fclose(f) != 0)
        exit(1);
}

#ifndef SXS_LIBFUZZER
static uint64_t fuzz_state;

/** A number below @below. */
static uint64_t roll(uint64_t below)
{
    fuzz_state ^= fuzz_state << 13;
    fuzz_state ^= fuzz_state >> 7;
    fuzz_state ^= fuzz_state << 17;
    return fuzz_state % below;
}

static void fuzz_file(const char *path)
{
    char  *bytes = NULL;
    size_t size = 0;
    FILE  *in = fopen(path, "r"), *to = open_memstream(&bytes, &size);
    for (int c; in && (c = getc(in)) != EOF;)
        putc(c, to);
    fclose(to);
    if (in)
        fclose(in);
    alarm(10);
    LLVMFuzzerTestOneInput((uint8_t *)bytes, size);
    free(bytes);
}

/** The program. @mutate: changes a copy of @whole, and returns how much of it counts. */
static int fuzz_main(int argc, char **argv, const void *whole, size_t size,
                     size_t (*mutate)(uint8_t *bytes, size_t size), const char *what)
{
    unsigned long count = 1000, seed = 1;
    uint8_t      *copy;
    for (int opt; (opt = getopt(argc, argv, "n:s:")) != -1;) {
        if (opt == '?')
            return 2;
        *(opt == 'n' ? &count : &seed) = strtoul(optarg, NULL, 10);
    }
    for (int i = optind; i < argc; i++)
        fuzz_file(argv[i]);
    fuzz_state = seed * 0x9e3779b97f4a7c15u | 1;
    copy = malloc(size);
    for (unsigned long i = 0; copy && i < count; i++) {
        memcpy(copy, whole, size);
        alarm(10);
        LLVMFuzzerTestOneInput(copy, mutate(copy, size));
    }
    free(copy);
    printf("ok - %lu damaged %s\n", count, what);
    return 0;
}
#endif

#endif
