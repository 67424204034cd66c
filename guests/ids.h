/* SPDX-License-Identifier: MIT */
/**
 * ids.h - which runtime an ID belongs to.
 *
 * A guest may keep one ICorProfilerInfo in a global variable and pass it IDs of all runtimes. An ID
 * of another runtime would crash the process, so it is refused. While a process has one runtime,
 * nothing is checked.
 *
 * IDs are addresses. Most lie in memory that a runtime maps for itself, at least 64 KiB at a time:
 * for these it is enough to know the owner of each 64 KiB. A few kinds (threads, assemblies,
 * application domains, handles in events, EventPipe providers and events) come from malloc(), where
 * the IDs of several runtimes lie side by side: of these, each ID is recorded ("exact"). An ID that
 * was never seen is let through.
 */
#ifndef SXS_GUESTS_IDS_H
#define SXS_GUESTS_IDS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/hash.h"
#include "guests/guest.h"
#include "manager/runtime_internal.h"

#define GUEST_ID_SHIFT 16
#define GUEST_ID_SLOTS (1u << 14)

/** Owners of 64 KiB blocks: block number << 16 | number of the runtime; 0: not in use. Not base/index.h, because each
 *  callback looks in it without a lock. */
extern _Atomic uint64_t guest_id_blocks[GUEST_ID_SLOTS];

static inline uint32_t guest_id_slot(uint64_t key)
{
    return (uint32_t)(sxs_hash_id(key) >> 50);
}

/** Records the owner of an ID when guest_id_note() has not found it in the first place. */
void guest_id_note_slowly(const struct sxs_runtime *rt, uint64_t id, int exact);

/** guest_id_note - record that @id, which a guest is about to see, belongs to @rt. Small numbers
 *  (ReJITIDs) are no addresses and are ignored. Any thread; takes no lock. */
static inline void guest_id_note(const struct sxs_runtime *rt, uint64_t id, int exact)
{
    uint64_t block = id >> GUEST_ID_SHIFT;
    if (!block)
        return;
    if (exact ||
        atomic_load_explicit(&guest_id_blocks[guest_id_slot(block)], memory_order_relaxed) !=
            (block << 16 | rt->number))
        guest_id_note_slowly(rt, id, exact);
}

/** guest_id_check - check an ID that a guest passes to its Info. @slot: of the method, for the
 *  message. Returns S_OK, or E_INVALIDARG after counting when it belongs to another runtime. */
HRESULT guest_id_check(struct guest_instance *g, unsigned slot, uint64_t id, int exact);

#endif
