/* SPDX-License-Identifier: MIT */
/**
 * tools/alloc/types.h - the types of allocated objects: from ClassID to the number of the name and
 * the exact counts. One table for each runtime.
 *
 * Lookups take no lock, because they are made for every object. A ClassID may be used again after
 * an unload, so an unload makes the table check all names again.
 */
#ifndef SXS_TOOLS_ALLOC_TYPES_H
#define SXS_TOOLS_ALLOC_TYPES_H

#include <stdatomic.h>

#include "manager/runtime.h"
#include "session/format/samples.h"
#include "tools/alloc/sizes.h"

struct sxs_alloc_types;

/** Exact counts of all types of one name, by flags: plain, SXS_COST_LARGE, SXS_COST_PINNED. */
struct sxs_alloc_counts {
    _Atomic(struct sxs_record_total *) totals[SXS_COST_PINNED + 1];
};

/** A type. Lives as long as the table. */
struct sxs_alloc_type {
    uint64_t         id;         /* ClassID */
    _Atomic uint32_t generation; /* of the table, when the name was last checked */
    uint32_t         name;       /* number of the name; 0: there is none */
    uint32_t         varies;     /* 1: its objects differ in size (arrays, strings) */
    uint32_t                 at_least;   /* 1: the runtime may not report all of them */
    struct sxs_alloc_sizes   sizes;      /* nothing is learned of the type for all without a name */
    struct sxs_alloc_counts *counts; /* borrowed; shared by types of the same name */
};

/** sxs_alloc_types_new - make a table. @lacks_boxed: 1: the runtime does not report all boxed values and
 *  delegates, so their counts are marked. Returns NULL when memory ran out. */
struct sxs_alloc_types *sxs_alloc_types_new(struct sxs_runtime *rt, int lacks_boxed);

/** sxs_alloc_types_free - free a table (NULL is allowed) that no thread uses any more. */
void sxs_alloc_types_free(struct sxs_alloc_types *types);

/** sxs_alloc_types_find - return the type of a ClassID; never NULL. A type that has no room, or no
 *  name because a call of the runtime failed, is one without a name. Call in a callback of the
 *  table's runtime, with a ClassID that is in use. Any thread; not signal-safe. */
struct sxs_alloc_type *sxs_alloc_types_find(struct sxs_alloc_types *types, uint64_t id);

/** sxs_alloc_types_unloading - note that ClassIDs may be used again. Any thread. */
void sxs_alloc_types_unloading(struct sxs_alloc_types *types);

/** sxs_alloc_types_count - add an object of @size bytes to the exact counts of its type. @flags: 0,
 *  SXS_COST_LARGE or SXS_COST_PINNED. Any thread. */
void sxs_alloc_types_count(struct sxs_alloc_types *types, struct sxs_alloc_type *type,
                           uint64_t size, uint8_t flags);

/** sxs_alloc_types_uncounted - return the number of objects that are in no exact count, because the
 *  file had no room. */
uint64_t sxs_alloc_types_uncounted(const struct sxs_alloc_types *types);

#endif
