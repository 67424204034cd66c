/* SPDX-License-Identifier: MIT */
/**
 * decode.h - reads the payloads of the runtime's events about collections.
 *
 * The provider Microsoft-Windows-DotNETRuntime raises them with the keyword GC. Their layout is the
 * same in .NET 5 to 10; later versions of an event only add members at its end.
 */
#ifndef SXS_TOOLS_GC_DECODE_H
#define SXS_TOOLS_GC_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "session/format/events.h"

/** The events that are read, with the runtime's names and IDs: GCStart, GCSuspendEEBegin... */
enum sxs_gc_event_id {
    SXS_GC_START = 1,
    SXS_GC_END = 2,
    SXS_GC_RESTART_EE_END = 3, /* all threads were resumed ("EE": the execution engine) */
    SXS_GC_HEAP_STATS = 4,
    SXS_GC_RESTART_EE_BEGIN = 7,
    SXS_GC_SUSPEND_EE_END = 8, /* all threads had stopped */
    SXS_GC_SUSPEND_EE_BEGIN = 9,
    SXS_GC_FINALIZERS_END = 13,
    SXS_GC_FINALIZERS_BEGIN = 14,
    SXS_GC_TRIGGERED = 35,
    SXS_GC_PER_HEAP_HISTORY = 204, /* one for each heap */
    SXS_GC_GLOBAL_HEAP_HISTORY = 205,
};

/** Bytes of one generation of one heap, from the event GCPerHeapHistory. */
struct sxs_gc_heap_generation {
    uint64_t before, free_before, after, free_after, survived, pinned;
};

/** An event; members that its ID does not have are 0. */
struct sxs_gc_event {
    uint32_t id;         /* enum sxs_gc_event_id */
    /* GCStart, GCEnd: of the collection (GCEnd 0: the one that began last); GCSuspendEEBegin: of the
     * collection before; GCFinalizersEnd: the number of finalizers run. */
    uint32_t number;
    uint32_t generation; /* GCStart, GCEnd, GCGlobalHeapHistory */
    uint32_t reason; /* GCStart, GCTriggered: enum sxs_gc_reason; GCSuspendEEBegin: the runtime's */
    uint32_t type;   /* GCStart: enum sxs_gc_type */
    uint32_t heap;   /* GCPerHeapHistory: its index; GCGlobalHeapHistory: number of heaps */
    uint32_t mechanisms; /* GCGlobalHeapHistory: bits, see struct sxs_event_collection */
    uint32_t n_pinned, sync_blocks, n_handles;                       /* GCHeapStats */
    uint64_t finalizable, n_finalizable;                             /* GCHeapStats */
    uint64_t size[SXS_GC_GENERATIONS], promoted[SXS_GC_GENERATIONS]; /* GCHeapStats */
    struct sxs_gc_heap_generation generations[SXS_GC_GENERATIONS];   /* GCPerHeapHistory */
};

/** Reasons of GCSuspendEEBegin that are of collections. */
#define SXS_SUSPENDED_FOR_GC      1u
#define SXS_SUSPENDED_FOR_GC_PREP 6u /* a background collection, to finish its marking */

/** sxs_gc_decode - read the payload @data of @size bytes of the event @id into @out. Returns 1, or
 *  0 for other events and for payloads that are too short. Pure. */
int sxs_gc_decode(uint32_t id, const void *data, size_t size, struct sxs_gc_event *out);

#endif
