/* SPDX-License-Identifier: MIT */
/**
 * ranges.h - which runtime's code an address lies in: a lock-free index of address ranges.
 *
 * Readers (signal handlers) search a sorted snapshot and start again only if SXS_RANGES_KEPT updates
 * happened meanwhile: they never wait for a writer, not even for one they interrupted. Writers are
 * serialized by the caller. Nothing is allocated.
 */
#ifndef SXS_RANGES_H
#define SXS_RANGES_H

#include <stdatomic.h>

#include "base/base.h"

#define SXS_RANGES_MAX  512
#define SXS_RANGES_KEPT 4

enum sxs_range_kind {
    SXS_RANGE_MODULE, /* a loaded module's own segments */
    SXS_RANGE_CODE,   /* what that module mapped to run: JIT code, stubs, precompiled images */
};

struct sxs_range {
    uintptr_t lo, hi; /* bytes, half-open */
    int16_t   owner;
    int16_t   kind; /* enum sxs_range_kind */
};

struct sxs_ranges {
    _Atomic unsigned generation; /* the snapshot in force is generation % KEPT */
    unsigned         overflow;   /* ranges that found no room */
    struct snapshot {
        unsigned n;
        struct sxs_range at[SXS_RANGES_MAX];
    } kept[SXS_RANGES_KEPT];
};

/**
 * sxs_ranges_find - the range that contains @addr.
 * @out: receives a copy. Returns 1 if found, else 0. Lock-free, signal-safe, O(log n).
 */
SXS_SIGSAFE int sxs_ranges_find(const struct sxs_ranges *r, uintptr_t addr, struct sxs_range *out);

/**
 * sxs_ranges_add - [lo, hi) belongs to @owner from now on, whoever had it before.
 * Neighbours of the same owner and kind are joined. Module ranges are never overwritten by code
 * ranges. Returns 0, or -1 when the table is full (counted in overflow). Callers are serialized.
 */
int sxs_ranges_add(struct sxs_ranges *r, uintptr_t lo, uintptr_t hi, int owner,
                   enum sxs_range_kind kind);

/** sxs_ranges_remove - what code ranges of @owner overlap [lo, hi) is cut out. Callers serialized. */
void sxs_ranges_remove(struct sxs_ranges *r, uintptr_t lo, uintptr_t hi, int owner);

#endif
