/* SPDX-License-Identifier: MIT */
/** types.h - sums over the objects of each type. */
#ifndef SXS_CMD_HEAP_TYPES_H
#define SXS_CMD_HEAP_TYPES_H

#include "cmd/heap/retained.h"

/** The objects of one type. */
struct sxs_heap_sum {
    uint64_t objects, bytes;
    uint64_t retained; /* bytes of its objects and of all that they keep alive together */
    uint64_t by_generation[SXS_N_GENERATIONS]; /* objects */
    uint64_t pinned;                           /* objects with a root that pins them */
    uint64_t not_reached;                      /* objects that no root leads to */
};

/** sxs_heap_sums - add up the objects of each type of @g. Returns an owned list, by index of the
 *  type. @by_kind: as for sxs_heap_retained(). */
struct sxs_heap_sum *sxs_heap_sums(const struct sxs_heap_graph      *g,
                                   const struct sxs_heap_dominators *d,
                                   const struct sxs_heap_paths *p, uint64_t *by_kind);

/** sxs_heap_types_by_bytes - return the indexes of all types, by falling bytes, then by name.
 *  Owned; g->n_types elements. */
uint32_t *sxs_heap_types_by_bytes(const struct sxs_heap_snapshot *s, const struct sxs_heap_graph *g,
                                  const struct sxs_heap_sum *sums);

/** The roots of one kind. */
struct sxs_heap_root_sum {
    uint8_t  kind, flags; /* enum sxs_heap_root_kind, enum sxs_heap_root_flag (without INTERIOR) */
    uint64_t roots, objects; /* objects: different ones */
    uint64_t bytes;          /* own bytes of these objects */
    uint64_t kept;           /* what would be garbage without these roots */
};

/** sxs_heap_root_sums - add up the roots of each kind. @by_kind: from sxs_heap_retained().
 *  @n: receives their number. Owned list. */
struct sxs_heap_root_sum *sxs_heap_root_sums(const struct sxs_heap_graph *g,
                                             const uint64_t *by_kind, size_t *n);

#endif
