/* SPDX-License-Identifier: MIT */
/**
 * tools/alloc/sizes.h - sizes of objects without a call of the runtime.
 *
 * All objects of a class have one size, except arrays and strings: their size is a constant plus a
 * multiple of the number of elements, which stands after the first 8 bytes of the object. The two
 * numbers of a type are learned from sizes that the runtime has said of its objects. Any thread;
 * takes no lock, calls no runtime.
 */
#ifndef SXS_TOOLS_ALLOC_SIZES_H
#define SXS_TOOLS_ALLOC_SIZES_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/object_size.h"

/** What is known of the sizes of one type. Zeroed: nothing. */
struct sxs_alloc_sizes {
    _Atomic uint64_t form; /* 0: not known yet; else base << 17 | bytes of an element << 1 | 1 */
    _Atomic uint64_t seen; /* the last size that was learned from: size << 32 | elements; or 0 */
};

/** sxs_alloc_size_learn - learn from an object whose size the runtime has said. @varies: 1: of an array
 *  or a string. @size: not padded. */
void sxs_alloc_size_learn(struct sxs_alloc_sizes *sizes, int varies, uint64_t object,
                          uint64_t size);

/** sxs_alloc_elements - return the number of elements of an array or a string. */
static inline uint32_t sxs_alloc_elements(uint64_t object)
{
    return *(const volatile uint32_t *)(uintptr_t)(object + 8);
}

/** sxs_alloc_size - return the padded size of @object (base/object_size.h), or 0 when it is not known
 *  yet. @object: the address of an object of the type; read only if its size depends on it. */
static inline uint64_t sxs_alloc_size(const struct sxs_alloc_sizes *sizes, uint64_t object)
{
    uint64_t form = atomic_load_explicit(&sizes->form, memory_order_relaxed);
    uint64_t element = form >> 1 & 0xffff;
    if (!form)
        return 0;
    return element ? sxs_object_padded((form >> 17) + element * sxs_alloc_elements(object))
                   : form >> 17;
}

#endif
