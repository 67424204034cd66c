/* SPDX-License-Identifier: MIT */
#include "tools/alloc/sizes.h"

#define MAX_BASE    (UINT64_C(1) << 46)
#define MAX_ELEMENT UINT64_C(0xffff) /* the runtime's own limit */

/* Two objects with different numbers of elements say both numbers of their type. */
static uint64_t form_of_two(uint64_t size, uint64_t n, uint64_t other_size, uint64_t other_n)
{
    uint64_t more = size - other_size, by = n - other_n, element;
    if (n < other_n)
        return form_of_two(other_size, other_n, size, n);
    if (!by || size <= other_size || more % by)
        return 0;
    element = more / by;
    if (element > MAX_ELEMENT || element * n > size)
        return 0;
    return (size - element * n) << 17 | element << 1 | 1;
}

void sxs_alloc_size_learn(struct sxs_alloc_sizes *sizes, int varies, uint64_t object, uint64_t size)
{
    uint64_t seen, form;
    uint32_t n;
    if (!varies) {
        if (size && size < MAX_BASE)
            atomic_store_explicit(&sizes->form, sxs_object_padded(size) << 17 | 1,
                                  memory_order_relaxed);
        return;
    }
    if (!size || size > UINT32_MAX)
        return;
    n = sxs_alloc_elements(object);
    seen = atomic_exchange_explicit(&sizes->seen, size << 32 | n, memory_order_relaxed);
    form = seen ? form_of_two(size, n, seen >> 32, seen & UINT32_MAX) : 0;
    if (form)
        atomic_store_explicit(&sizes->form, form, memory_order_relaxed);
}
