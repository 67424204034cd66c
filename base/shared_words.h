/* SPDX-License-Identifier: MIT */
/** shared_words.h - copies memory while other threads write to it. */
#ifndef SXS_BASE_SHARED_WORDS_H
#define SXS_BASE_SHARED_WORDS_H

#include <stddef.h>
#include <stdint.h>

/**
 * sxs_copy_words - copy @size bytes that other threads may write. Each word of 8 bytes is copied whole; different
 * words can be from different points in time.
 * @to, @from: at multiples of 8. @size: a multiple of 8. Any thread; signal-safe.
 */
static inline void sxs_copy_words(void *to, const void *from, size_t size)
{
    uint64_t       *t = to;
    const uint64_t *f = from;
    for (size_t i = 0; i < size / sizeof(*t); i++)
        t[i] = __atomic_load_n(&f[i], __ATOMIC_RELAXED);
}

#endif
