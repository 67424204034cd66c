/* SPDX-License-Identifier: MIT */
#include "signals/ranges.h"

#include <string.h>

SXS_SIGSAFE static int search_snapshot(const struct snapshot *s, uintptr_t addr,
                                       struct sxs_range *out)
{
    unsigned lo = 0, hi = __atomic_load_n(&s->n, __ATOMIC_RELAXED);
    if (hi > SXS_RANGES_MAX)
        return 0; /* being overwritten: the caller sees the new generation and searches again */
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (__atomic_load_n(&s->at[mid].hi, __ATOMIC_RELAXED) <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo >= SXS_RANGES_MAX || lo >= __atomic_load_n(&s->n, __ATOMIC_RELAXED))
        return 0;
    out->lo = __atomic_load_n(&s->at[lo].lo, __ATOMIC_RELAXED);
    out->hi = __atomic_load_n(&s->at[lo].hi, __ATOMIC_RELAXED);
    out->owner = __atomic_load_n(&s->at[lo].owner, __ATOMIC_RELAXED);
    out->kind = __atomic_load_n(&s->at[lo].kind, __ATOMIC_RELAXED);
    return addr >= out->lo && addr < out->hi;
}

SXS_SIGSAFE int sxs_ranges_find(const struct sxs_ranges *r, uintptr_t addr, struct sxs_range *out)
{
    for (;;) {
        unsigned before = atomic_load_explicit(&r->generation, memory_order_acquire);
        int      found = search_snapshot(&r->kept[before % SXS_RANGES_KEPT], addr, out);
        atomic_thread_fence(memory_order_acquire);
        unsigned after = atomic_load_explicit(&r->generation, memory_order_relaxed);
        /* A writer at generation g fills the snapshot of g + 1. So it begins to overwrite the
         * snapshot of `before` when the generation is before + SXS_RANGES_KEPT - 1. */
        if (after - before < SXS_RANGES_KEPT - 1)
            return found;
    }
}

/* Appends @v to @s, or extends the last range by it. */
static void put_range(struct snapshot *s, struct sxs_range v)
{
    if (v.lo >= v.hi)
        return;
    if (s->n) {
        struct sxs_range *last = &s->at[s->n - 1];
        if (last->hi == v.lo && last->owner == v.owner && last->kind == v.kind) {
            __atomic_store_n(&last->hi, v.hi, __ATOMIC_RELAXED);
            return;
        }
    }
    if (s->n >= SXS_RANGES_MAX)
        return; /* not reached: the callers of rebuild_snapshot() check the room */
    struct sxs_range *at = &s->at[s->n];
    __atomic_store_n(&at->lo, v.lo, __ATOMIC_RELAXED);
    __atomic_store_n(&at->hi, v.hi, __ATOMIC_RELAXED);
    __atomic_store_n(&at->owner, v.owner, __ATOMIC_RELAXED);
    __atomic_store_n(&at->kind, v.kind, __ATOMIC_RELAXED);
    __atomic_store_n(&s->n, s->n + 1, __ATOMIC_RELAXED);
}

/* Builds the next snapshot from the present one and publishes it: [lo, hi) is cut out of the ranges
 * that may be cut, and @fresh is put in its place. If @fresh is code, it fills the gaps between
 * modules only.
 * @only_owner: if @fresh is NULL, the owner whose code ranges are cut. */
static void rebuild_snapshot(struct sxs_ranges *r, uintptr_t lo, uintptr_t hi, int only_owner,
                             const struct sxs_range *fresh)
{
    unsigned               gen = atomic_load_explicit(&r->generation, memory_order_relaxed);
    const struct snapshot *now = &r->kept[gen % SXS_RANGES_KEPT];
    struct snapshot       *next = &r->kept[(gen + 1) % SXS_RANGES_KEPT];
    uintptr_t              todo = lo; /* the part of @fresh below this address has been written */
    __atomic_store_n(&next->n, 0, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < now->n; i++) {
        struct sxs_range v = now->at[i];
        int              keeps = v.hi <= lo || v.lo >= hi ||
                    (fresh ? v.kind == SXS_RANGE_MODULE && fresh->kind == SXS_RANGE_CODE
                           : v.owner != only_owner || v.kind == SXS_RANGE_MODULE);
        if (keeps) {
            if (fresh && todo < hi && v.lo >= lo) {
                put_range(next, (struct sxs_range){todo, v.lo < hi ? v.lo : hi, fresh->owner,
                                                   fresh->kind});
                todo = v.hi;
            } else if (fresh && v.hi > todo && v.lo < todo) {
                todo = v.hi;
            }
            put_range(next, v);
            continue;
        }
        if (v.lo < lo)
            put_range(next, (struct sxs_range){v.lo, lo, v.owner, v.kind});
        if (v.hi > hi) {
            if (fresh && todo < hi) {
                put_range(next, (struct sxs_range){todo, hi, fresh->owner, fresh->kind});
                todo = hi;
            }
            put_range(next, (struct sxs_range){hi, v.hi, v.owner, v.kind});
        }
    }
    if (fresh && todo < hi)
        put_range(next, (struct sxs_range){todo, hi, fresh->owner, fresh->kind});
    atomic_store_explicit(&r->generation, gen + 1, memory_order_release);
}

int sxs_ranges_add(struct sxs_ranges *r, uintptr_t lo, uintptr_t hi, int owner,
                   enum sxs_range_kind kind)
{
    struct sxs_range       fresh = {lo, hi, (int16_t)owner, (int16_t)kind};
    struct sxs_range       had;
    unsigned               n_pieces = 1;
    const struct snapshot *now =
        &r->kept[atomic_load_explicit(&r->generation, memory_order_relaxed) % SXS_RANGES_KEPT];
    if (lo >= hi)
        return 0;
    if (sxs_ranges_find(r, lo, &had) && had.owner == owner && had.kind == (int16_t)kind &&
        had.hi >= hi)
        return 0;
    /* @fresh is split once more by every module inside it; a range that is cut leaves two
     * pieces. */
    for (unsigned i = 0; i < now->n; i++)
        n_pieces += now->at[i].lo < hi && now->at[i].hi > lo;
    if (now->n + n_pieces + 2 > SXS_RANGES_MAX) {
        r->overflow++;
        return -1;
    }
    rebuild_snapshot(r, lo, hi, -1, &fresh);
    return 0;
}

void sxs_ranges_remove(struct sxs_ranges *r, uintptr_t lo, uintptr_t hi, int owner)
{
    const struct snapshot *now =
        &r->kept[atomic_load_explicit(&r->generation, memory_order_relaxed) % SXS_RANGES_KEPT];
    int touched = 0, splits = 0;
    for (unsigned i = 0; i < now->n; i++) {
        const struct sxs_range *v = &now->at[i];
        if (v->owner != owner || v->kind != SXS_RANGE_CODE || v->lo >= hi || v->hi <= lo)
            continue;
        touched = 1;
        splits |= v->lo < lo && v->hi > hi; /* at most one range: it is in two pieces then */
    }
    if (touched && now->n + (unsigned)splits > SXS_RANGES_MAX)
        r->overflow++;
    else if (touched)
        rebuild_snapshot(r, lo, hi, owner, NULL);
}
