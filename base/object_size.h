/* SPDX-License-Identifier: MIT */
/**
 * object_size.h - the bytes that an object takes on a heap of a runtime.
 *
 * A runtime says how many bytes an object has: 100 for `new int[3, 5]`. On the heap the next object
 * begins at a multiple of 8 bytes, and none takes less than 24. Sums of sizes are sums of this.
 */
#ifndef SXS_BASE_OBJECT_SIZE_H
#define SXS_BASE_OBJECT_SIZE_H

#include <stdint.h>

#include "base/base.h"

#define SXS_OBJECT_ALIGN UINT64_C(8)
#define SXS_OBJECT_LEAST UINT64_C(24)

/** sxs_object_padded - return the bytes that an object of @size bytes takes on the heap. 0 stays 0:
 *  the size is not known. Signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_object_padded(uint64_t size)
{
    uint64_t padded = (size + SXS_OBJECT_ALIGN - 1) & ~(SXS_OBJECT_ALIGN - 1);
    if (!size || padded < size) /* the second: a size that no object has */
        return size;
    return padded < SXS_OBJECT_LEAST ? SXS_OBJECT_LEAST : padded;
}

#endif
