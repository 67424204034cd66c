/* SPDX-License-Identifier: MIT */
/**
 * must.h - memory for reports. The command has nothing to save when memory is out: it says so in one
 * line and ends with status 1, so callers need no check.
 */
#ifndef SXS_REPORT_PROFILE_MUST_H
#define SXS_REPORT_PROFILE_MUST_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/** sxs_must - @p, or the end of the program when it is NULL. */
static inline void *sxs_must(void *p)
{
    if (p)
        return p;
    fputs("sxsprof: out of memory\n", stderr);
    exit(1);
}

/** sxs_must_zeroed - owned, zeroed room for @n elements; never NULL, also for 0. */
static inline void *sxs_must_zeroed(size_t n, size_t size)
{
    return sxs_must(calloc(n ? n : 1, size));
}

/** SXS_GROW - make room for one more element in @list, which has @n of @cap. Evaluates twice. */
#define SXS_GROW(list, n, cap)                                                                     \
    do {                                                                                           \
        if (!(list) || (n) == (cap)) {                                                             \
            (cap) = (cap) ? (cap)*2 : 16;                                                          \
            (list) = sxs_must(reallocarray((list), (cap), sizeof(*(list))));                       \
        }                                                                                          \
    } while (0)

#endif
