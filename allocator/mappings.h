/* SPDX-License-Identifier: MIT */
/**
 * mappings.h - one byte of each mapping that was reported and still exists.
 *
 * A mapping may be unmapped in parts. So one of its bytes is chosen at random, and the mapping counts
 * as freed when this byte is unmapped: on average over many mappings, the bytes that are still
 * there are those of the mappings whose byte is still there.
 *
 * No function takes a lock or allocates.
 */
#ifndef SXS_ALLOCATOR_MAPPINGS_H
#define SXS_ALLOCATOR_MAPPINGS_H

#include <stdint.h>

#include "base/base.h"

#define SXS_MAPPINGS 4096u /* places */

/** sxs_mapping_reserve - return a place for a byte, or -1 if there is none. The place is to be filled
 *  or returned by sxs_mapping_fill(). Signal-safe. */
SXS_SIGSAFE int64_t sxs_mapping_reserve(void);

/** sxs_mapping_fill - add the byte at @address with the number @id to its reserved place; @id 0:
 *  return the place. Signal-safe. */
SXS_SIGSAFE void sxs_mapping_fill(int64_t place, uintptr_t address, uint64_t id);

/** sxs_mapping_take - remove one byte from @lo up to @hi. Returns 1 with its address and number, or 0
 *  if there is none. Signal-safe. */
SXS_SIGSAFE int sxs_mapping_take(uintptr_t lo, uintptr_t hi, uintptr_t *address, uint64_t *id);

/** sxs_mappings_clear - forget all mappings: they were reported to an earlier listener. Other threads may
 *  add and take mappings meanwhile. Signal-safe; takes no lock. */
SXS_SIGSAFE void sxs_mappings_clear(void);

#endif
