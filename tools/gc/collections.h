/* SPDX-License-Identifier: MIT */
/**
 * collections.h - puts the events of one runtime together to records of collections.
 *
 * A blocking collection raises these events: GCSuspendEEBegin, GCSuspendEEEnd, GCStart, GCPerHeapHistory and
 * GCGlobalHeapHistory, GCEnd, GCHeapStats, GCRestartEEBegin, GCRestartEEEnd. A background collection has
 * two suspensions: it starts in the first, and ends after the second. Between them, foreground
 * collections come and go. An event that comes twice, because two EventPipe sessions enable it, changes
 * nothing, and one that does not come leaves members unknown.
 */
#ifndef SXS_TOOLS_GC_COLLECTIONS_H
#define SXS_TOOLS_GC_COLLECTIONS_H

#include <pthread.h>

#include "tools/gc/decode.h"

#define SXS_GC_RECENT    8u    /* collections that events can refer to */
#define SXS_GC_REQUESTS  4u    /* suspensions that threads have asked for at the same time */
#define SXS_GC_THREADS   16u   /* threads whose events are recognized when they come again */
#define SXS_GC_MAX_HEAPS 1024u /* heaps of server GC whose details are summed up */

/** A collection that events can still refer to. */
struct sxs_gc_recent {
    struct sxs_event_collection *record; /* NULL: this entry is free, or there was no room */
    uint32_t                     number; /* of the collection; 0: this entry is free */
    uint64_t                     from_ns, until_ns;  /* its start; its end, 0: in progress */
    uint32_t                     start_tid, end_tid; /* the threads that reported these */
    int                          in_pause;      /* 1: it began or ended in the present suspension */
    uint32_t                     history_tid;   /* the thread that reported its global history */
    uint64_t                     history_order; /* n_events then; 0: not reported */
    uint64_t heaps_seen[SXS_GC_MAX_HEAPS / 64]; /* bit N: heap N has reported its details */
};

/** The collections of one runtime. At first, all members after the third one are zero. */
struct sxs_gc_collections {
    pthread_mutex_t lock;    /* guards the rest; held for short times, and no runtime is called */
    uint32_t        runtime; /* its number */
    /* Returns a new record of @size bytes, zeroed except for its head, or NULL; commits it. */
    void *(*reserve)(size_t size);
    void (*commit)(void *record, enum sxs_event_record_type type);

    struct sxs_gc_recent recent[SXS_GC_RECENT];
    /* Suspensions that were requested, by thread. They wait for each other. tid 0: a free entry. */
    struct sxs_gc_request {
        uint32_t tid;
        uint64_t time_ns;
    } requests[SXS_GC_REQUESTS];
    /* The present suspension: when it was requested, threads had stopped, resuming them began.
     * stopped_ns 0: there is none. */
    uint64_t requested_ns, stopped_ns, resuming_ns;
    uint64_t resumed_ns; /* end of the one before */
    /* The latest event of each thread; of 16 threads, those whose event is the newest. */
    struct sxs_gc_seen {
        uint32_t tid, id, number, heap;
        uint64_t order;
    } seen[SXS_GC_THREADS];
    uint64_t n_events;
    uint64_t finalizers_ns; /* when finalizers began to run; 0: they do not run */
    uint32_t trigger_tid;   /* the thread that asked for the next collection */
};

/**
 * sxs_gc_take - take an event.
 * @now_ns: CLOCK_MONOTONIC. @tid: the calling thread, on which the event was raised.
 * Returns 1, or 0 if there was no room for the record of a collection. Any thread; takes the lock.
 */
int sxs_gc_take(struct sxs_gc_collections *c, const struct sxs_gc_event *e, uint64_t now_ns,
                uint32_t tid);

#endif
