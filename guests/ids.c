/* SPDX-License-Identifier: MIT */
#include "guests/ids.h"

#include "base/log.h"
#include "manager/manager.h"

#define MIXED UINT64_C(0xffff) /* the runtime number of a block that has IDs of several */

_Atomic uint64_t guest_id_blocks[GUEST_ID_SLOTS];

/* Exact IDs. `id` is written once; `owner` is the runtime that used it last. */
static struct {
    _Atomic uint64_t id;
    _Atomic uint32_t owner;
} exact_ids[GUEST_ID_SLOTS];

/* Returns the entry of @block, claiming a free one with @word; NULL when the table is full, or
 * with a @word of 0 when it has none. */
static _Atomic uint64_t *find_block(uint64_t block, uint64_t word)
{
    for (uint32_t i = 0, at = guest_id_slot(block); i < 64; i++, at = (at + 1) % GUEST_ID_SLOTS) {
        uint64_t seen = atomic_load_explicit(&guest_id_blocks[at], memory_order_relaxed);
        if (!seen) {
            if (!word)
                return NULL;
            if (atomic_compare_exchange_strong(&guest_id_blocks[at], &seen, word))
                return &guest_id_blocks[at];
        }
        if (seen >> 16 == block)
            return &guest_id_blocks[at];
    }
    return NULL;
}

static void note_exact(uint64_t id, uint32_t owner)
{
    for (uint32_t i = 0, at = guest_id_slot(id); i < 64; i++, at = (at + 1) % GUEST_ID_SLOTS) {
        uint64_t seen = atomic_load_explicit(&exact_ids[at].id, memory_order_relaxed);
        if ((!seen && atomic_compare_exchange_strong(&exact_ids[at].id, &seen, id)) || seen == id) {
            if (atomic_load_explicit(&exact_ids[at].owner, memory_order_relaxed) != owner)
                atomic_store_explicit(&exact_ids[at].owner, owner, memory_order_relaxed);
            return;
        }
    }
}

static uint32_t owner_of_exact(uint64_t id)
{
    for (uint32_t i = 0, at = guest_id_slot(id); i < 64; i++, at = (at + 1) % GUEST_ID_SLOTS) {
        uint64_t seen = atomic_load_explicit(&exact_ids[at].id, memory_order_relaxed);
        if (!seen)
            break;
        if (seen == id)
            return atomic_load_explicit(&exact_ids[at].owner, memory_order_relaxed);
    }
    return 0;
}

void guest_id_note_slowly(const struct sxs_runtime *rt, uint64_t id, int exact)
{
    uint64_t          block = id >> GUEST_ID_SHIFT, word = block << 16 | sxs_runtime_number(rt);
    _Atomic uint64_t *entry;
    if (exact) {
        note_exact(id, sxs_runtime_number(rt));
        return;
    }
    entry = find_block(block, word);
    if (entry && atomic_load_explicit(entry, memory_order_relaxed) != word)
        atomic_store_explicit(entry, block << 16 | MIXED, memory_order_relaxed);
}

static uint32_t owner_of(uint64_t id, int exact)
{
    _Atomic uint64_t *entry;
    uint64_t          owner;
    if (exact)
        return owner_of_exact(id);
    entry = find_block(id >> GUEST_ID_SHIFT, 0);
    owner = entry ? atomic_load_explicit(entry, memory_order_relaxed) & 0xffff : 0;
    return owner == MIXED ? 0 : (uint32_t)owner;
}

HRESULT guest_id_check(struct guest_instance *g, unsigned slot, uint64_t id, int exact)
{
    uint32_t owner;
    if (!(id >> GUEST_ID_SHIFT) || sxs_manager_n_admitted() < 2)
        return S_OK;
    owner = owner_of(id, exact);
    if (!owner || owner == sxs_runtime_number(g->rt))
        return S_OK;
    if (atomic_fetch_add_explicit(&g->row->info_refused, 1, memory_order_relaxed) == 0)
        sxs_error("%s passed an ID of runtime %u to the Info of runtime %u (%s): refused with "
                  "E_INVALIDARG, and counted from now on",
                  g->guest->title, owner, sxs_runtime_number(g->rt), sxs_info_name(slot));
    return E_INVALIDARG;
}
