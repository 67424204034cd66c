/* SPDX-License-Identifier: MIT */
/** fast_path.h - inline functions that hooks share. Included by fast.c, slow.c, values.c and
 *  exceptions.c of tools/calls/. */
#ifndef SXS_TOOLS_CALLS_FAST_PATH_H
#define SXS_TOOLS_CALLS_FAST_PATH_H

#include "arch/arch.h"
#include "elt/calls_functions.h"
#include "tools/calls/thread_state.h"

#define HOT    static inline __attribute__((always_inline))
#define RARE(x) __builtin_expect(!!(x), 0)

HOT struct sxs_calls_node *node_at(const struct sxs_calls_state *s, sxs_calls_ref ref)
{
    return (struct sxs_calls_node *)(s->cells + (uint64_t)ref * SXS_CALLS_CELL);
}

HOT sxs_calls_ref ref_of(const struct sxs_calls_state *s, const struct sxs_calls_node *node)
{
    return (sxs_calls_ref)(((uintptr_t)node - (uintptr_t)s->cells) / SXS_CALLS_CELL);
}

/** Returns the child node that has @key (sxs_calls_key()), or 0 when there is none yet. */
HOT sxs_calls_ref find_child(const struct sxs_calls_state *s, uint64_t key)
{
    for (uint32_t i = sxs_calls_slot_of(s, key);; i = (i + 1) & (s->n_slots - 1)) {
        const struct sxs_calls_slot *slot = &s->slots[i];
        if (!slot->node || slot->key == key)
            return slot->node;
    }
}

/** Adds the duration of a call to its node, with a tree. A path node has at most one call in
 *  progress. */
HOT void end_path(struct sxs_calls_frame *f, uint64_t ticks)
{
    f->node->ticks += ticks;
    f->node->entered = 0;
}

/** The same without a tree. A function node may have several calls in progress (recursion); only
 *  the outermost call adds to the total. */
HOT void end_flat(struct sxs_calls_frame *f, uint64_t ticks)
{
    f->node->self += ticks - f->callees;
    if (!--f->node->active)
        f->node->ticks += ticks;
    f[-1].callees += ticks;
}

/** Appends an event (start or end of a call) to the call trace. Without room, counts it in
 *  record->events_lost. */
HOT void note_event(struct sxs_calls_state *s, const struct sxs_calls_node *node, uint64_t now,
                    enum sxs_calls_event_kind kind)
{
    struct sxs_calls_event *e = s->event;
    if (RARE(e == s->event_end)) {
        atomic_store_explicit(&s->record->events_lost,
                              atomic_load_explicit(&s->record->events_lost, memory_order_relaxed) + 1,
                              memory_order_relaxed);
        return;
    }
    s->event = e + 1;
    e->node = ref_of(s, node);
    e->kind = kind;
    /* The tick is written last: an event with a tick is complete, whenever the process ends. */
    atomic_signal_fence(memory_order_release);
    e->tick = now;
}

/** Returns 1 when there is no room for the next event, but the file may provide another block. */
HOT int lacks_room(const struct sxs_calls_state *s)
{
    return s->event == s->event_end && s->tracing == SXS_TRACE_ON;
}

/** Returns the ticks that a call adds to its node, when its frame ends. @ticks: the call's
 *  duration. The result excludes calls that ran within this frame but lie elsewhere in the tree,
 *  below the methods that await them. Also updates f[-1].callees, the ticks that the frame below
 *  must exclude: all of @ticks if this call itself lies elsewhere in the tree, else the excluded
 *  ticks. */
HOT uint64_t own_ticks(struct sxs_calls_state *s, struct sxs_calls_frame *f, uint64_t ticks)
{
    uint64_t own = ticks > f->callees ? ticks - f->callees : 0;
    if (f->node->parent == ref_of(s, f[-1].node))
        f[-1].callees += f->callees;
    else
        f[-1].callees += ticks;
    f->callees = 0;
    return own;
}

/** Adds the callees of a frame that is not timed to the frame below. */
HOT void pass_on(struct sxs_calls_frame *f)
{
    f[-1].callees += f->callees;
    f->callees = 0;
}

/** Returns 1 for a frame whose call was left by a tail call that has not returned yet. Its `sp` is
 *  then 2 less than a multiple of 8, or SXS_TAILS_DISPATCHED. */
HOT int is_left(const struct sxs_calls_frame *f)
{
    return (f->sp & 3) == 2;
}

/** Returns 1 when @fn is the runtime's dispatcher of tail calls, which is hooked but not counted.
 *  @fn: NULL: no. */
HOT int is_dispatcher(const struct sxs_called *fn)
{
    return fn && (atomic_load_explicit(&fn->off, memory_order_relaxed) & SXS_CALLED_TAILS) != 0;
}

/** Pops the youngest frame, whose call ended without a leave hook. @how: the counter of the
 *  thread's record to increment. */
HOT void drop(struct sxs_calls_state *s, uint64_t now, _Atomic uint64_t *how)
{
    struct sxs_calls_frame *f = s->top--;
    if (!f->start)
        f->start = f->began;
    if (f->start) {
        f->node->unwound++;
        if (RARE(s->tracing))
            note_event(s, f->node, now, SXS_CALLS_UNWOUND);
        if (f->node->active)
            end_flat(f, now - f->start);
        else
            end_path(f, f->callees ? own_ticks(s, f, now - f->start) : now - f->start);
    } else {
        pass_on(f);
    }
    if (!is_dispatcher(f->fn))
        atomic_store_explicit(how, atomic_load_explicit(how, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

/** Drops the frames whose stack pointer is not above @sp. Their calls have ended without a hook or
 *  a callback. */
HOT void drop_stale(struct sxs_calls_state *s, uintptr_t sp)
{
    if (RARE(s->top->sp <= sp)) {
        uint64_t now = sxs_tick();
        do
            drop(s, now, &s->record->stale);
        while (s->top->sp <= sp);
    }
}

/**
 * Stores a duration as pending, for the histogram @of, and counts the previously pending duration
 * in its histogram. Returns nonzero, and changes nothing, when this needs a histogram part that is
 * not allocated yet, or when that duration has no octave.
 *
 * Counting is delayed by one call because the address of the counter depends on the clock, which
 * takes long to read. While the processor does not know the address of a store, it delays the loads
 * that follow.
 */
HOT int note_duration(const struct sxs_calls_state *s, sxs_calls_ref of, uint64_t ticks)
{
    struct sxs_calls_thread    *r = s->record;
    struct sxs_calls_histogram *h = (void *)(s->cells + (uint64_t)r->pending_of * SXS_CALLS_CELL);
    uint64_t                    last = r->pending;
    unsigned                    octave = 63 - (unsigned)__builtin_clzll(last | 8);
    struct sxs_calls_octave    *o;
    if (__builtin_expect(r->pending_of != 0, 1)) {
        if (RARE(octave >= SXS_CALLS_OCTAVES || !h->octaves[octave]))
            return 1;
        o = (struct sxs_calls_octave *)(s->cells + (uint64_t)h->octaves[octave] * SXS_CALLS_CELL);
        o->n[(last >> (octave - 3)) & 7]++;
        if (RARE(last < h->min))
            h->min = last;
        if (RARE(last > h->max))
            h->max = last;
    }
    r->pending = ticks;
    r->pending_of = of;
    return 0;
}

/** Returns 1 when calls of @fn are counted, but no longer timed (back-off). */
HOT int is_off(const struct sxs_called *fn)
{
    return (atomic_load_explicit(&fn->off, memory_order_relaxed) & SXS_CALLED_OFF) != 0;
}

/** Returns 1 when calls of @fn are for the slow path, whatever the thread's state. */
HOT int is_special(const struct sxs_called *fn)
{
    return (atomic_load_explicit(&fn->off, memory_order_relaxed) &
            (SXS_CALLED_RESUMES | SXS_CALLED_TAILS)) != 0;
}

/** Returns 1 when @fn is the MoveNext of an async method whose callers are to be found. */
HOT int resumes(const struct sxs_called *fn)
{
    return (atomic_load_explicit(&fn->off, memory_order_relaxed) & SXS_CALLED_RESUMES) != 0;
}

/** Returns 1 when back-off is to be checked: once in SXS_CALLS_BACKOFF_EVERY calls of a node. */
HOT int is_due(const struct sxs_calls_node *node)
{
    return !(node->calls & (SXS_CALLS_BACKOFF_EVERY - 1));
}

/** Returns 1 when the youngest frame belongs to the call of @fn that is leaving. Drops stale frames
 *  below @sp first. Returns 0 when the call has no frame: @fn is no longer timed, or no hook saw
 *  the call start, which is counted in record->unmatched. */
HOT int matches(struct sxs_calls_state *s, struct sxs_called *fn, uintptr_t sp)
{
    struct sxs_calls_frame *f = s->top;
    if (__builtin_expect(f->sp == sp && f->fn == fn, 1))
        return 1;
    if (is_off(fn))
        return 0;
    if (f->sp < sp) {
        uint64_t now = sxs_tick();
        while (s->top->sp < sp)
            drop(s, now, &s->record->stale);
        if (s->top->sp == sp && s->top->fn == fn)
            return 1;
    }
    atomic_store_explicit(&s->record->unmatched,
                          atomic_load_explicit(&s->record->unmatched, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return 0;
}

#endif
