/* SPDX-License-Identifier: MIT */
/* live.c - a hash table with open addressing, in which a block may be in one of the WINDOW places
 * from its hash value on. A search looks at all of them, so an empty place needs no mark that it was
 * in use. Not base/index.h, because it is used inside of malloc(), without a lock. */
#include "allocator/live.h"

#include "base/hash.h"

#define WINDOW 16u

/* States of a place other than the address of a block: blocks begin at multiples of 8. */
enum { EMPTY, RESERVED };

static struct live_place {
    _Atomic uintptr_t block;
    uint64_t          id; /* of a block; written while the place is RESERVED */
} places[SXS_LIVE_BLOCKS];

_Atomic uint16_t sxs_live_filter[SXS_LIVE_FILTER];

SXS_SIGSAFE static uint32_t nth_place(uintptr_t block, uint32_t i)
{
    return ((uint32_t)(sxs_hash_id(block >> 4) >> 48) + i) % SXS_LIVE_BLOCKS;
}

SXS_SIGSAFE void sxs_live_mark(const void *address)
{
    atomic_fetch_add(&sxs_live_filter[sxs_live_counter((uintptr_t)address)], 1);
}

SXS_SIGSAFE int64_t sxs_live_reserve(const void *address)
{
    for (uint32_t i = 0; i < WINDOW; i++) {
        uint32_t  at = nth_place((uintptr_t)address, i);
        uintptr_t empty = EMPTY;
        if (atomic_load_explicit(&places[at].block, memory_order_relaxed) == EMPTY &&
            atomic_compare_exchange_strong(&places[at].block, &empty, RESERVED))
            return at;
    }
    return -1;
}

SXS_SIGSAFE void sxs_live_fill(int64_t place, const void *address, uint64_t id)
{
    places[place].id = id;
    if (id)
        sxs_live_mark(address);
    atomic_store_explicit(&places[place].block, id ? (uintptr_t)address : EMPTY,
                          memory_order_release);
}

SXS_SIGSAFE uint64_t sxs_live_take(const void *address)
{
    uintptr_t block = (uintptr_t)address;
    for (uint32_t i = 0; block > RESERVED && i < WINDOW; i++) {
        struct live_place *p = &places[nth_place(block, i)];
        uintptr_t          expected = block;
        uint64_t           id;
        if (atomic_load_explicit(&p->block, memory_order_acquire) != block ||
            !atomic_compare_exchange_strong(&p->block, &expected, RESERVED))
            continue;
        id = p->id;
        atomic_fetch_sub(&sxs_live_filter[sxs_live_counter(block)], 1);
        atomic_store_explicit(&p->block, EMPTY, memory_order_release);
        return id;
    }
    return 0;
}

SXS_SIGSAFE void sxs_live_clear(void)
{
    for (uint32_t at = 0; at < SXS_LIVE_BLOCKS; at++) {
        uintptr_t block = atomic_load(&places[at].block);
        if (block <= RESERVED || !atomic_compare_exchange_strong(&places[at].block, &block, RESERVED))
            continue;
        atomic_fetch_sub(&sxs_live_filter[sxs_live_counter(block)], 1);
        atomic_store_explicit(&places[at].block, EMPTY, memory_order_release);
    }
}
