/* SPDX-License-Identifier: MIT */
/** bench.h - what the small native benchmarks share: a clock, a simulated runtime, a median. */
#ifndef SXS_BENCH_H
#define SXS_BENCH_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/fake/fakeclr.h"

#define BENCH_BATCHES 101 /* odd: there is a middle one */

static inline double bench_now(void) /* ns */
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/** Calls once(arg, n) in batches; prints "bench: NAME VALUE", the median time of one of n in ns. */
static inline void bench_report(const char *name, void (*once)(void *arg, unsigned n), void *arg,
                                unsigned n)
{
    double times[BENCH_BATCHES];
    once(arg, n);
    for (int i = 0; i < BENCH_BATCHES; i++) {
        double start = bench_now();
        once(arg, n);
        times[i] = (bench_now() - start) / n;
    }
    qsort(times, BENCH_BATCHES, sizeof(times[0]), bench_compare);
    printf("bench: %s %.2f\n", name, times[BENCH_BATCHES / 2]);
}

/** Starts the simulated runtime at @path; ends the program when there is none. */
static inline const struct fakeclr_control *bench_start(const char *path)
{
    const struct fakeclr_control *(*control)(void) = NULL;
    HRESULT (*initialize)(const char *, const char *, int, const char **, const char **, void **,
                          unsigned *) = NULL;
    void    *library = dlopen(path, RTLD_NOW);
    void    *host = NULL;
    unsigned domain = 0;
    if (library) {
        *(void **)&control = dlsym(library, "fakeclr_control");
        *(void **)&initialize = dlsym(library, "coreclr_initialize");
    }
    if (!control || !initialize || FAILED(initialize("", "", 0, NULL, NULL, &host, &domain))) {
        fprintf(stderr, "bench: %s is no simulated runtime that starts\n", path);
        exit(1);
    }
    return control();
}

#endif
