/* SPDX-License-Identifier: MIT */
/**
 * live.h - the blocks that were reported and have not been freed.
 *
 * Every free() of the process asks whether its block is one of them. A filter in front of the table
 * answers most of these questions with one load: it counts, for each value of some bits of the
 * address, the blocks in the table.
 *
 * No function takes a lock or allocates. A block may be added by one thread and taken by another if
 * the program has passed the block's address from one to the other, as it must before free().
 */
#ifndef SXS_ALLOCATOR_LIVE_H
#define SXS_ALLOCATOR_LIVE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/base.h"

#define SXS_LIVE_BLOCKS (UINT32_C(1) << 16) /* places in the table */
#define SXS_LIVE_FILTER (UINT32_C(1) << 16) /* counters in the filter */

extern _Atomic uint16_t sxs_live_filter[SXS_LIVE_FILTER];

/* The filter's counter for a block. Blocks that lie side by side, which programs use together, have
 * counters side by side. */
SXS_SIGSAFE static inline uint32_t sxs_live_counter(uintptr_t block)
{
    return (uint32_t)(block >> 4) % SXS_LIVE_FILTER;
}

/** sxs_live_may_be - return 0 if the block @address is not in the table. Another result says
 *  nothing. Signal-safe. */
SXS_SIGSAFE static inline int sxs_live_may_be(const void *address)
{
    return atomic_load_explicit(&sxs_live_filter[sxs_live_counter((uintptr_t)address)],
                                memory_order_relaxed) != 0;
}

/** sxs_live_mark - let sxs_live_may_be(@address) be nonzero for ever. For at most 1000 blocks. */
SXS_SIGSAFE void sxs_live_mark(const void *address);

/** sxs_live_reserve - return a place for a block, or -1 if there is none. The place is to be filled
 *  or returned by sxs_live_fill(). Signal-safe. */
SXS_SIGSAFE int64_t sxs_live_reserve(const void *address);

/** sxs_live_fill - add the block @address with the number @id to its reserved place; @id 0: return
 *  the place. Signal-safe. */
SXS_SIGSAFE void sxs_live_fill(int64_t place, const void *address, uint64_t id);

/** sxs_live_take - remove the block @address from the table. Returns its number, or 0 if it is not in
 *  the table. Signal-safe. */
SXS_SIGSAFE uint64_t sxs_live_take(const void *address);

/** sxs_live_clear - forget all blocks: they were reported to an earlier listener. Other threads may
 *  add and take blocks meanwhile. Signal-safe; takes no lock. */
SXS_SIGSAFE void sxs_live_clear(void);

#endif
