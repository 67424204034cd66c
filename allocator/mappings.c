/* SPDX-License-Identifier: MIT */
#include "allocator/mappings.h"

#include <stdatomic.h>

/* States of a place other than the address of a byte. */
enum { EMPTY, RESERVED };

static struct mapping_place {
    _Atomic uintptr_t address;
    uint64_t          id; /* written while the place is RESERVED */
} places[SXS_MAPPINGS];

static _Atomic uint32_t n_used; /* the places from here on have never been in use */

SXS_SIGSAFE static void include_place(uint32_t place)
{
    uint32_t n = atomic_load(&n_used);
    while (n <= place && !atomic_compare_exchange_weak(&n_used, &n, place + 1)) {
    }
}

SXS_SIGSAFE int64_t sxs_mapping_reserve(void)
{
    for (uint32_t i = 0; i < SXS_MAPPINGS; i++) {
        uintptr_t empty = EMPTY;
        if (atomic_load_explicit(&places[i].address, memory_order_relaxed) == EMPTY &&
            atomic_compare_exchange_strong(&places[i].address, &empty, RESERVED)) {
            include_place(i);
            return i;
        }
    }
    return -1;
}

SXS_SIGSAFE void sxs_mapping_fill(int64_t place, uintptr_t address, uint64_t id)
{
    places[place].id = id;
    atomic_store_explicit(&places[place].address, id ? address : EMPTY, memory_order_release);
}

SXS_SIGSAFE int sxs_mapping_take(uintptr_t lo, uintptr_t hi, uintptr_t *address, uint64_t *id)
{
    uint32_t n = atomic_load_explicit(&n_used, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        uintptr_t at = atomic_load_explicit(&places[i].address, memory_order_acquire);
        if (at <= RESERVED || at < lo || at >= hi ||
            !atomic_compare_exchange_strong(&places[i].address, &at, RESERVED))
            continue;
        *address = at;
        *id = places[i].id;
        atomic_store_explicit(&places[i].address, EMPTY, memory_order_release);
        return 1;
    }
    return 0;
}

SXS_SIGSAFE void sxs_mappings_clear(void)
{
    uintptr_t address;
    uint64_t  id;
    while (sxs_mapping_take(0, UINTPTR_MAX, &address, &id))
        continue;
}
