/* SPDX-License-Identifier: MIT */
/**
 * tools/heap/bulk.h - reads the events of a runtime's own heap dump.
 *
 * A session of the runtime's event provider with the keywords below makes the runtime collect all
 * generations, and then describe all objects that are left, while its threads are stopped. The
 * events are delivered at once, on the thread that collects. Unlike the callbacks of
 * COR_PRF_MONITOR_GC this works together with concurrent collections.
 */
#ifndef SXS_TOOLS_HEAP_BULK_H
#define SXS_TOOLS_HEAP_BULK_H

#include "tools/heap/sink.h"

#define SXS_BULK_DUMP    UINT64_C(0x100000) /* GCHeapDump: objects, roots, static fields */
#define SXS_BULK_MOVES   UINT64_C(0x400000) /* GCHeapSurvivalAndMovement: objects that move */

/** What has been received of a dump. Zeroed it is empty. */
struct sxs_bulk {
    /* Objects come in events of their own, and their references, in the same order, in others.
     * Objects wait here until their references have come. */
    struct sxs_bulk_node {
        uint64_t address, size, cls, n;
        int      begun; /* a part was written */
    } * nodes;          /* owned */
    uint64_t *edges;    /* owned */
    size_t    n_nodes, next_node, max_nodes, n_edges, next_edge, max_edges;
    int       objects; /* events of objects have come */
};

/** sxs_bulk_event - receive an event, if it is one of the dump's. @objects: nonzero: also those of
 *  objects and roots; 0: static fields only. */
void sxs_bulk_event(struct sxs_bulk *bulk, struct sxs_heap_sink *sink, int objects, uint32_t id,
                    const uint8_t *data, size_t size);

/** sxs_bulk_end - write what still waits, and free the memory. */
void sxs_bulk_end(struct sxs_bulk *bulk, struct sxs_heap_sink *sink);

#endif
