/* SPDX-License-Identifier: MIT */
/** collections_read.h - reads the records of collections in the file "events", for
 *  session/read/events_read.h. */
#ifndef SXS_SESSION_READ_COLLECTIONS_READ_H
#define SXS_SESSION_READ_COLLECTIONS_READ_H

#include <stdbool.h>

#include "session/format/events.h"

/** One collection in detail; not atomic, otherwise as struct sxs_event_collection describes it. */
struct sxs_events_collection {
    uint64_t time_ns, end_ns;
    uint32_t number, tid, runtime;
    uint8_t  generation, reason, type, known, n_pauses;
    uint32_t heaps, mechanisms, n_pinned, n_handles, sync_blocks, trigger_tid;
    uint64_t pause_ns, suspension_ns, finalizable, n_finalizable, n_finalized, finalizers_ns;
    struct {
        uint64_t time_ns, suspension_ns, duration_ns;
    } pauses[SXS_GC_PAUSES];
    struct {
        uint64_t size, promoted, before, free_before, fragmentation, survived, pinned;
        /* Bytes of objects that were in the generation at the start and did not survive. */
        uint64_t freed;
    } generations[SXS_GC_GENERATIONS];
};

/** sxs_collection_read - copy a record of type SXS_EVENT_COLLECTION to @out. Returns false when the
 *  record is damaged. Pure. */
bool sxs_collection_read(const struct sxs_record *record, struct sxs_events_collection *out);

/** sxs_collection_order - compare two collections by runtime, then time, for qsort(). */
int sxs_collection_order(const void *a, const void *b);

/** Return the text of an enum sxs_gc_reason: "induced"..., or "unknown". Static string. */
const char *sxs_gc_reason_text(uint8_t reason);
/** Return the text of an enum sxs_gc_type: "blocking"..., or "unknown". Static string. */
const char *sxs_gc_type_text(uint8_t type);

#endif
