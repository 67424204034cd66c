/* SPDX-License-Identifier: MIT */
/** tools/heap/types.h - names the types, functions and static fields of a sink, and writes them. */
#ifndef SXS_TOOLS_HEAP_TYPES_H
#define SXS_TOOLS_HEAP_TYPES_H

#include "symbols/names.h"
#include "tools/heap/classes.h"
#include "tools/heap/sink.h"

/** How far the naming of a sink has come. At the beginning, `classes` is set and all other members are zero. */
struct sxs_heap_naming {
    struct sxs_heap_classes *classes; /* of the sink's runtime; borrowed */
    int                      begun;
    size_t                   next_class, next_name;
};

/**
 * sxs_heap_name_some - request the names of some types, functions and static fields and write them.
 * Returns 1, or 0 when all are written. Call it in a callback of the sink's runtime, or on a thread
 * that no runtime knows. */
int sxs_heap_name_some(struct sxs_heap_naming *at, struct sxs_heap_sink *sink,
                       struct sxs_namer *namer);

#endif
