/* SPDX-License-Identifier: MIT */
/**
 * tools/locks/decode.h - decodes the events of a runtime about waits for locks and about its
 * thread pool. docs/internals/locks.md has the facts about these events.
 *
 * All functions are pure: data that is not such an event is refused, not trusted. Signal-safe.
 */
#ifndef SXS_TOOLS_LOCKS_DECODE_H
#define SXS_TOOLS_LOCKS_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "session/format/samples.h"

/* Keywords and level of the provider Microsoft-Windows-DotNETRuntime. */
#define SXS_LOCKS_KEYWORD UINT64_C(0x4000)
#define SXS_POOL_KEYWORD  UINT64_C(0x10000)
#define SXS_LOCKS_LEVEL   4u

/* IDs of its events: ThreadPoolWorkerThreadStart, ThreadPoolWorkerThreadStop,
 * ThreadPoolWorkerThreadAdjustmentAdjustment, ContentionStart, ContentionStop. */
enum {
    SXS_EVENT_POOL_THREAD_START = 50,
    SXS_EVENT_POOL_THREAD_STOP = 51,
    SXS_EVENT_POOL_ADJUSTMENT = 55,
    SXS_EVENT_CONTENTION_START = 81,
    SXS_EVENT_CONTENTION_STOP = 91,
};

/** A thread begins to wait for a lock. */
struct sxs_contention {
    uint64_t lock;       /* identifies the lock in its runtime while a thread waits for it */
    uint64_t object;     /* address of the object that is locked, at the time of the event */
    uint64_t owner;      /* thread number (tid) of the thread that holds it; 0: not known */
    int      is_monitor; /* 1: of any object; 0: of a System.Threading.Lock, whose address may be
                          * out of date */
};

/** sxs_contention_start - decode the event ContentionStart. Returns 1 and fills @out, or 0 when
 *  the data is another event's, of another version, or of a wait in native code. */
SXS_SIGSAFE int sxs_contention_start(uint32_t id, uint32_t version, const void *data, size_t size,
                                     struct sxs_contention *out);

/** sxs_contention_stop - decode the event ContentionStop. Returns 1 and sets @ns, the length of
 *  the wait, or 0. */
SXS_SIGSAFE int sxs_contention_stop(uint32_t id, uint32_t version, const void *data, size_t size,
                                    uint64_t *ns);

/** What happened to a thread pool. */
struct sxs_pool_event {
    enum sxs_pool_change change;
    uint32_t             value; /* as in struct sxs_record_pool */
    uint8_t              reason;
};

/** sxs_pool_event_decode - decode an event of the runtime about its thread pool. Returns 1 and
 *  fills @out, or 0. */
SXS_SIGSAFE int sxs_pool_event_decode(uint32_t id, uint32_t version, const void *data, size_t size,
                                      struct sxs_pool_event *out);

/** sxs_pool_queue_decode - decode the event of the provider System.Runtime that has the value of
 *  its counter "threadpool-queue-length". Returns 1 and fills @out, or 0 when the data is that of
 *  another counter or event. */
SXS_SIGSAFE int sxs_pool_queue_decode(const void *data, size_t size, struct sxs_pool_event *out);

#endif
