/* SPDX-License-Identifier: MIT */
/* bench_native.c - native functions with almost no work, which rules and the app `bench` call. */
#include <stdint.h>

#include "include/sxsprof.h"

#define EXPORT __attribute__((visibility("default"), used))

/* One for each thread, so that threads do not slow each other down. */
static _Thread_local volatile long calls;

EXPORT void bench_nothing(const struct sxsprof_method *method);
EXPORT void bench_nothing(const struct sxsprof_method *method)
{
    (void)method;
    calls++;
}

EXPORT void bench_number(const struct sxsprof_method *method, int n);
EXPORT void bench_number(const struct sxsprof_method *method, int n)
{
    (void)method;
    calls += n;
}

EXPORT intptr_t bench_start(const struct sxsprof_method *method);
EXPORT intptr_t bench_start(const struct sxsprof_method *method)
{
    (void)method;
    return ++calls;
}

EXPORT void bench_finish(const struct sxsprof_method *method, intptr_t state, int64_t result,
                         intptr_t threw);
EXPORT void bench_finish(const struct sxsprof_method *method, intptr_t state, int64_t result,
                         intptr_t threw)
{
    (void)method;
    calls += state == result || threw;
}
