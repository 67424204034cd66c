/* SPDX-License-Identifier: MIT */
/**
 * must.h - memory allocation for reports. When memory runs out, the command prints one line and
 * ends with status 1, because it has no data to save. Callers need no checks.
 */
#ifndef SXS_CMD_OUTPUT_MUST_H
#define SXS_CMD_OUTPUT_MUST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/read/numbers.h"

/** sxs_must - return @p; end the command when @p is NULL. */
static inline void *sxs_must(void *p)
{
    if (p)
        return p;
    fputs("sxsprof: out of memory\n", stderr);
    exit(1);
}

/**
 * sxs_must_zeroed - allocate @n zeroed elements of @size bytes. Returns owned memory, never NULL,
 * not even for @n 0.
 */
static inline void *sxs_must_zeroed(size_t n, size_t size)
{
    return sxs_must(calloc(n ? n : 1, size));
}

/**
 * SXS_GROW - make room for one more element in @list, which contains @n of @cap elements. Evaluates
 * its arguments more than once.
 */
#define SXS_GROW(list, n, cap)                                                                     \
    do {                                                                                           \
        if (!(list) || (n) == (cap)) {                                                             \
            (cap) = (cap) ? (cap)*2 : 16;                                                          \
            (list) = sxs_must(reallocarray((list), (cap), sizeof(*(list))));                       \
        }                                                                                          \
    } while (0)

/**
 * sxs_must_reach - make a list so long that it has an element with the index @number. New elements
 * are zeroed. @number: not one that a file has; see sxs_must_index().
 * @list: owned, of *@n elements of @size bytes; may be NULL when *@n is 0. Returns the list, which may
 * have moved; *@n receives its new length.
 */
static inline void *sxs_must_reach(void *list, size_t *n, uint32_t number, size_t size)
{
    size_t more = *n * 2 > (size_t)number + 16 ? *n * 2 : (size_t)number + 16;
    if (number < *n)
        return list;
    list = sxs_must(reallocarray(list, more, size));
    memset((char *)list + *n * size, 0, (more - *n) * size);
    *n = more;
    return list;
}

/** sxs_must_index - return the index of a number that a file has, for a list; it is added to @all when it is new. */
static inline uint32_t sxs_must_index(struct sxs_numbers *all, uint32_t number)
{
    uint32_t index;
    sxs_must(sxs_numbers_add(all, number, &index) == 0 ? all : NULL);
    return index;
}

#endif
