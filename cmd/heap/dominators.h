/* SPDX-License-Identifier: MIT */
/**
 * dominators.h - finds which objects an object keeps alive.
 *
 * Object A dominates object B if every path of references from a root to B leads through A: B would
 * be garbage without A. The closest such A is the dominator of B, and the dominators form a tree.
 * The retained size of an object is the size of all objects that it dominates, its own included.
 */
#ifndef SXS_CMD_HEAP_DOMINATORS_H
#define SXS_CMD_HEAP_DOMINATORS_H

#include "cmd/heap/graph.h"

#define SXS_NOT_REACHED (UINT32_MAX - 1) /* in place of a dominator: no root leads to the object */

struct sxs_heap_dominators {
    uint32_t *of;       /* by object: its dominator; SXS_NO_OBJECT: none, roots refer to it or to
                         * several objects that do; SXS_NOT_REACHED. Owned */
    uint64_t *retained; /* by object: bytes; the own size of objects that are not reached. Owned */
    uint32_t *order;    /* the objects that are reached, as a preorder of their tree: after each
                         * one are those that it dominates. Owned */
    uint32_t  n;        /* number of these */
};

/**
 * sxs_heap_dominators - find the dominators and the retained sizes of all objects.
 * Uses Lengauer's and Tarjan's algorithm: O(references x log objects), and about 40 bytes for each
 * object and 4 for each reference while it runs.
 */
void sxs_heap_dominators(const struct sxs_heap_graph *g, struct sxs_heap_dominators *out);
/**
 * sxs_heap_preorder - list the objects of a tree so that each subtree is one part of the list.
 * @order: its @n objects, each one after the object above it. @above: by object: that object;
 * SXS_NO_OBJECT: none. @n_objects: elements of @above.
 * Returns an owned list of @n elements.
 */
uint32_t *sxs_heap_preorder(const uint32_t *order, uint32_t n, const uint32_t *above,
                            uint32_t n_objects);
void      sxs_heap_dominators_free(struct sxs_heap_dominators *d);

#endif
