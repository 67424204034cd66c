/* SPDX-License-Identifier: MIT */
/**
 * retained.h - computes the size that all objects of one type, or all roots of one kind, keep alive together.
 *
 * Without the objects of a type, an object is garbage if every path of references from a root to it
 * has an object of that type. This can be more than the sum of what the objects dominate one by one: two objects
 * of the type that share an array both keep it, and neither dominates it.
 */
#ifndef SXS_CMD_HEAP_RETAINED_H
#define SXS_CMD_HEAP_RETAINED_H

#include "cmd/heap/paths.h"

#define SXS_HEAP_N_KINDS 96u /* of roots: kind * 16 + flags */

/** sxs_heap_kind - return the kind of a root as one number below SXS_HEAP_N_KINDS. That a root
 *  points into its object makes no difference. */
static inline unsigned sxs_heap_kind(const struct sxs_heap_root *r)
{
    return r->kind * 16u + (r->flags & 15u & ~(unsigned)SXS_HEAP_ROOT_INTERIOR);
}

/**
 * sxs_heap_retained - find the bytes that would be garbage without all objects of a type, and
 * without all roots of a kind.
 * @by_type: g->n_types elements, zero; receives those of each type. Objects that no root leads to
 * are not in them.
 * @by_kind: SXS_HEAP_N_KINDS elements, zero; receives those of each kind of roots.
 *
 * The results are exact. Needs about 28 bytes for each object and 4 for each reference to an object
 * that several others refer to, while it runs.
 */
void sxs_heap_retained(const struct sxs_heap_graph *g, const struct sxs_heap_dominators *d,
                       const struct sxs_heap_paths *p, uint64_t *by_type, uint64_t *by_kind);

#endif
