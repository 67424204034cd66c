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

/** IDs of the events that are read. */
enum sxs_gc_event_id {
    SXS_GC_STARTED = 1,
    SXS_GC_ENDED = 2,
    SXS_GC_RESUMED = 3, /* all threads were resumed */
    SXS_GC_HEAP_STATS = 4,
    SXS_GC_RESUMING = 7,
    SXS_GC_SUSPENDED = 8, /* all threads had stopped */
    SXS_GC_SUSPENDING = 9,
    SXS_GC_FINALIZERS_ENDED = 13,
    SXS_GC_FINALIZERS_STARTED = 14,
    SXS_GC_TRIGGERED = 35,
    SXS_GC_HEAP_HISTORY = 204, /* one for each heap */
    SXS_GC_GLOBAL_HISTORY = 205,
};

/** Bytes of one generation of one heap, from the event HEAP_HISTORY. */
struct sxs_gc_heap_generation {
    uint64_t before, free_before, after, free_after, survived, pinned;
};

/** An event; members that its ID does not have are 0. */
struct sxs_gc_event {
    uint32_t id;         /* enum sxs_gc_event_id */
    uint32_t number;     /* STARTED, ENDED: of the collection (ENDED 0: of that which began last);
                          * SUSPENDING: of the one before; FINALIZERS_ENDED: how many ran */
    uint32_t generation; /* STARTED, ENDED, GLOBAL_HISTORY */
    uint32_t reason;     /* STARTED, TRIGGERED: enum sxs_gc_reason; SUSPENDING: the runtime's */
    uint32_t type;       /* STARTED: enum sxs_gc_type */
    uint32_t heap;       /* HEAP_HISTORY: its index; GLOBAL_HISTORY: number of heaps */
    uint32_t mechanisms; /* GLOBAL_HISTORY: bits, see struct sxs_event_collection */
    uint32_t n_pinned, sync_blocks, n_handles;                       /* HEAP_STATS */
    uint64_t finalizable, n_finalizable;                             /* HEAP_STATS */
    uint64_t size[SXS_GC_GENERATIONS], promoted[SXS_GC_GENERATIONS]; /* HEAP_STATS */
    struct sxs_gc_heap_generation generations[SXS_GC_GENERATIONS];   /* HEAP_HISTORY */
};

/** Reasons of SUSPENDING that are of collections. */
#define SXS_SUSPENDED_FOR_GC      1u
#define SXS_SUSPENDED_FOR_GC_PREP 6u /* a background collection, to finish its marking */

/** sxs_gc_decode - read the payload @data of @size bytes of the event @id into @out. Returns 1, or
 *  0 for other events and for payloads that are too short. Pure. */
int sxs_gc_decode(uint32_t id, const void *data, size_t size, struct sxs_gc_event *out);

#endif
