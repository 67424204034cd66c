/* SPDX-License-Identifier: MIT */
/**
 * tools/heap/snapshot.h - takes snapshots: of one runtime after the other, into one file.
 *
 * A snapshot of a runtime has two phases. The runtime is stopped, and the sink receives objects and
 * roots. Then the runtime runs again, and types are named; an assembly that is unloaded meanwhile
 * waits until its names have been read.
 */
#ifndef SXS_TOOLS_HEAP_SNAPSHOT_H
#define SXS_TOOLS_HEAP_SNAPSHOT_H

#include <pthread.h>

#include "manager/exit_method.h"
#include "manager/tool.h"
#include "session/format/heap.h"
#include "tools/heap/bulk.h"
#include "tools/heap/statics.h"
#include "tools/heap/types.h"
#include "tools/options/heap_options.h"

/** The tool on one runtime: the state of its subscription. */
struct sxs_heap_runtime {
    struct sxs_sub *sub;
    /* 1: the sink receives. Set before the runtime is asked, and cleared by the first collection
     * that has delivered objects, or when the runtime has answered. */
    _Atomic int          receiving;
    int                  by_callbacks;  /* objects come by ObjectReferences, not by events */
    int                  complete;      /* sxs_heap_received() was called */
    int                  in_gc, walked; /* that collection is under way; it has delivered objects */
    _Atomic unsigned     n_modules;     /* that have been loaded */
    struct sxs_heap_sink sink;
    struct sxs_heap_classes classes;
    struct sxs_heap_file   *file;    /* borrowed: of the snapshot that is being taken */
    struct sxs_heap_slots   slots;   /* static fields that are read when objects were delivered */
    int                     at_exit; /* the event pipe is closed: there is no dump */

    struct sxs_bulk bulk;
    uint64_t        suspend_ns, stopped_ns; /* beginning of the last suspension; its threads had
                                                  * stopped (CLOCK_MONOTONIC) */
    _Atomic int     pausing; /* 1: the objects were delivered in the suspension under way */
    /* 1: the sink has all objects and not all names. Set when the runtime is still stopped; the
     * sink is then used under the lock of names only. */
    _Atomic int              naming;
    _Atomic uint64_t         unload_ns; /* when an assembly was unloaded last (CLOCK_MONOTONIC) */
    struct sxs_heap_naming   named;
    int                      busy, ending; /* a snapshot is being taken; no more may begin */
    struct sxs_exit_method   exit;
    struct sxs_heap_runtime *next; /* in the list of runtimes */
};

/** sxs_heap_take - take a snapshot of all runtimes, or of @only, if it is not NULL. Those at exit
 *  go into one file.
 *  Only one call at a time does work; others wait. Call it on a thread that no runtime knows. */
void sxs_heap_take(const struct sxs_heap_options *options, enum sxs_heap_trigger trigger,
                   struct sxs_runtime *only);

/** sxs_heap_add - take snapshots of a runtime from now on. */
void sxs_heap_add(struct sxs_heap_runtime *h);

/** sxs_heap_leave - take no further snapshot of a runtime that ends, and wait a limited time for one
 *  that is being taken. The snapshot may still use @h afterwards. On the runtime's thread. */
void sxs_heap_leave(struct sxs_heap_runtime *h);

/** sxs_heap_remove - take no further snapshot of a runtime, and wait until one that is being taken is
 *  complete, without a limit: @h can be freed then. Also for one that was removed before. Not on a
 *  thread of the program. */
void sxs_heap_remove(struct sxs_heap_runtime *h);

/** sxs_heap_relax - if a runtime reports every collection in full since Initialize, end that: only
 *  collections for snapshots are reported from now on. On a thread that no runtime knows. */
void sxs_heap_relax(void);

/** sxs_heap_received - note that the sink has all objects: from now on it is named. In a callback
 *  while the runtime is still stopped (@stopped 1); later it does nothing. */
void sxs_heap_received(struct sxs_heap_runtime *h, int stopped);

/** sxs_heap_unloading - name all types before @assembly of @h is unloaded. In a callback. */
void sxs_heap_unloading(struct sxs_heap_runtime *h, sxs_assembly assembly);

/** sxs_heap_end_session - free what belongs to the session. No runtime is left, no snapshot is being
 *  taken, and none will be. */
void sxs_heap_end_session(void);

#endif
