/* SPDX-License-Identifier: MIT */
/**
 * fuzz.h - what fuzz drivers share: random numbers, files, rounds.
 *
 *   fuzz_X [-n COUNT] [-s SEED] [FILE]...
 *
 * runs every FILE, then COUNT inputs that fuzz_make() makes. A crash, a sanitizer's word, an abort() or a run
 * of ten seconds is a failure. With libFuzzer: clang -fsanitize=fuzzer,address -DSXS_LIBFUZZER.
 */
#ifndef SXS_TESTS_FUZZ_H
#define SXS_TESTS_FUZZ_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint64_t      fuzz_state = 1;
static unsigned long fuzz_whole; /* inputs that were taken for what they claim to be */

/** A number below @n. */
static inline uint64_t roll(uint64_t n)
{
    fuzz_state ^= fuzz_state << 13;
    fuzz_state ^= fuzz_state >> 7;
    fuzz_state ^= fuzz_state << 17;
    return n ? (fuzz_state * 0x2545f4914f6cdd1du >> 16) % n : 0;
}

/** Say what must not be, and where, and end as a crash does. */
#define MUST(what)                                                     \
    do {                                                               \
        if (!(what)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
            abort();                                                   \
        }                                                              \
    } while (0)

/** Change some of @size bytes. Returns how many are left of them. */
static inline size_t fuzz_mutate(uint8_t *b, size_t size)
{
    static const uint64_t odd[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, UINT64_MAX};
    for (uint64_t n = size ? 1 + roll(6) : 0; n-- > 0;) {
        size_t at = roll(size), left = size - at, len = (size_t)1 << roll(4);
        switch (roll(4)) {
        case 0: b[at] = (uint8_t)roll(256); break;
        case 1: memcpy(b + at, &odd[roll(9)], len < left ? len : left); break;
        case 2: memmove(b + at, b + roll(at + 1), roll(left < 64 ? left : 64)); break;
        default: b[at] ^= (uint8_t)(1u << roll(8)); break;
        }
    }
    return roll(8) ? size : roll(size + 1);
}

/** Copy @text without its end to @out. Returns its bytes. */
static inline size_t fuzz_put(uint8_t *out, const char *text)
{
    size_t len = strlen(text);
    memcpy(out, text, len); /* NOLINT(bugprone-not-null-terminated-result): bytes, no text */
    return len;
}

#ifndef SXS_LIBFUZZER
#ifndef FUZZ_MAX
#define FUZZ_MAX (1u << 16)
#endif

/** Write an input of at most FUZZ_MAX bytes to @out. The driver's own. */
static size_t fuzz_make(uint8_t *out);

/* In memory of just that size, so that a sanitizer sees a byte too far. */
static void fuzz_one(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        exit(1);
    memcpy(copy, bytes, size);
    alarm(10);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void fuzz_file(const char *path)
{
    static uint8_t bytes[1u << 22];
    FILE          *f = fopen(path, "r");
    if (f) {
        fuzz_one(bytes, fread(bytes, 1, sizeof(bytes), f));
        fclose(f);
    }
}

/* Returns the number of open descriptors. */
static unsigned long fuzz_descriptors(void)
{
    unsigned long n = 0;
    DIR          *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/** The program. @what: "IL bodies". */
static int fuzz_main(int argc, char **argv, const char *what)
{
    static uint8_t bytes[FUZZ_MAX];
    unsigned long  count = 1000, seed = 1;
    const char    *kept = getenv("FUZZ_KEEP"); /* a file for the input at work */
    for (int opt; (opt = getopt(argc, argv, "n:s:")) != -1;) {
        if (opt == '?')
            return 2;
        *(opt == 'n' ? &count : &seed) = strtoul(optarg, NULL, 10);
    }
    for (int i = optind; i < argc; i++)
        fuzz_file(argv[i]);
    unsigned long open_before = fuzz_descriptors();
    for (unsigned long i = 0; i < count; i++) {
        size_t size;
        FILE  *f;
        fuzz_state = (seed * 1000003 + i + 1) * 0x9e3779b97f4a7c15u | 1;
        size = fuzz_make(bytes);
        if (kept && (f = fopen(kept, "w"))) {
            fwrite(bytes, 1, size, f);
            fclose(f);
        }
        fuzz_one(bytes, size);
    }
    unsigned long open_after = fuzz_descriptors();
    if (open_after > open_before + 8) { /* some are opened once */
        printf("not ok - %lu %s left %lu descriptors open\n", count, what,
               open_after - open_before);
        return 1;
    }
    printf("ok - %lu %s and %d of the corpus, %lu of them whole\n", count, what, argc - optind,
           fuzz_whole);
    return 0;
}
#endif

#endif
