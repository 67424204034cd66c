/* SPDX-License-Identifier: MIT */
/**
 * ranges.h - a lock-free index of address ranges: finds the owner whose code contains an address.
 *
 * Readers (signal handlers) search a sorted snapshot. They start again only if SXS_RANGES_KEPT - 1
 * updates or more have happened meanwhile. So a reader never waits for a writer, not even for a
 * writer that it interrupted. Callers serialize the writers (router.lock). Nothing is allocated.
 */
#ifndef SXS_SIGNALS_RANGES_H
#define SXS_SIGNALS_RANGES_H

#include <stdatomic.h>

#include "base/base.h"

#define SXS_RANGES_MAX  4096 /* ranges in a snapshot */
#define SXS_RANGES_KEPT 4    /* snapshots: the present one and the last ones */

enum sxs_range_kind {
    SXS_RANGE_MODULE, /* the segments of a loaded module */
    SXS_RANGE_CODE,   /* code that the module mapped: JIT code, stubs, precompiled images */
};

struct sxs_range {
    uintptr_t lo, hi; /* addresses, half-open */
    int16_t   owner;
    int16_t   kind; /* enum sxs_range_kind */
};

/** The index. Must be zeroed before use. */
struct sxs_ranges {
    _Atomic unsigned generation; /* the present snapshot is kept[generation % SXS_RANGES_KEPT] */
    unsigned         overflow;   /* calls that changed nothing for lack of room */
    struct snapshot {
        unsigned n;
        struct sxs_range at[SXS_RANGES_MAX]; /* sorted by address, not overlapping */
    } kept[SXS_RANGES_KEPT];
};

/**
 * sxs_ranges_find - find the range that contains @addr.
 * @out: receives a copy of the range.
 * Returns 1 if there is one, else 0. Any thread; lock-free; signal-safe; O(log n).
 */
SXS_SIGSAFE int sxs_ranges_find(const struct sxs_ranges *r, uintptr_t addr, struct sxs_range *out);

/**
 * sxs_ranges_add - make [lo, hi) a range of @owner, whatever owner it had before.
 * Adjacent ranges of the same owner and kind are joined. A code range never replaces a module
 * range.
 * Returns 0, or -1 if the table is full (counted in overflow). Callers must serialize calls.
 */
int sxs_ranges_add(struct sxs_ranges *r, uintptr_t lo, uintptr_t hi, int owner,
                   enum sxs_range_kind kind);

/** sxs_ranges_remove - cut [lo, hi) out of the code ranges of @owner. Does nothing if one of them
 *  would be left in two pieces and the table is full (counted in overflow). Callers must serialize calls. */
void sxs_ranges_remove(struct sxs_ranges *r, uintptr_t lo, uintptr_t hi, int owner);

#endif
