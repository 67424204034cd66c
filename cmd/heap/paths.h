/* SPDX-License-Identifier: MIT */
/** paths.h - the shortest path of references from a root to each object. */
#ifndef SXS_CMD_HEAP_PATHS_H
#define SXS_CMD_HEAP_PATHS_H

#include "cmd/heap/dominators.h"

struct sxs_heap_paths {
    uint32_t *from;  /* by object: the object before it; SXS_NO_OBJECT: a root refers to it;
                      * SXS_NOT_REACHED: no root leads to it. Owned */
    uint32_t *by; /* by object: the index in g->to of the reference to it from that object. Owned */
    uint32_t *order; /* the objects that are reached, by the length of their paths. Owned */
    uint32_t  n;     /* number of these */
};

/** sxs_heap_paths - find the paths. Of paths of the same length, one that begins at a static field
 *  is preferred, then one that begins on a stack, then one that begins at a handle. */
void sxs_heap_paths(const struct sxs_heap_graph *g, struct sxs_heap_paths *out);
void sxs_heap_paths_free(struct sxs_heap_paths *p);

#endif
