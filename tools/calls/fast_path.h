/* SPDX-License-Identifier: MIT */
/** beaten.h - the work of hooks, inline; included by fast.c and slow.c. */
#ifndef SXS_CALLS_BEATEN_H
#define SXS_CALLS_BEATEN_H

#include "tools/calls/count.h"
#include "tools/calls/thread_state.h"
#include "base/tick.h"

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

/** The child with @key, of a node and a function: its reference, 0 when there is none yet. */
HOT sxs_calls_ref find_child(const struct sxs_calls_state *s, uint64_t key)
{
    for (uint32_t i = sxs_calls_slot_of(s, key);; i = (i + 1) & (s->n_slots - 1)) {
        const struct sxs_calls_slot *slot = &s->slots[i];
        if (!slot->node || slot->key == key)
            return slot->node;
    }
}

/** What a call's end adds to its node: a path's is under way but once, a function's may be again. */
HOT void end_path(struct sxs_calls_frame *f, uint64_t ticks)
{
    f->node->ticks += ticks;
    f->node->entered = 0;
}

HOT void end_flat(struct sxs_calls_frame *f, uint64_t ticks)
{
    f->node->self += ticks - f->callees;
    if (!--f->node->active)
        f->node->ticks += ticks;
    f[-1].callees += ticks;
}

/** A call begins or ends. What finds no room is counted. */
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
    atomic_signal_fence(memory_order_release); /* whatever ends the process: a tick, then all of it */
    e->tick = now;
}

/** The next event finds no room, and there may be more. */
HOT int lacks_room(const struct sxs_calls_state *s)
{
    return s->event == s->event_end && s->tracing == SXS_TRACE_ON;
}

/** A call that lies in the tree below those who await it takes its time with it; what ran within this
 *  frame for others is theirs. The frame's own ticks, of @ticks in all. */
HOT uint64_t settle(struct sxs_calls_state *s, struct sxs_calls_frame *f, uint64_t ticks)
{
    uint64_t own = ticks > f->callees ? ticks - f->callees : 0;
    if (f->node->parent == ref_of(s, f[-1].node))
        f[-1].callees += f->callees;
    else
        f[-1].callees += ticks;
    f->callees = 0;
    return own;
}

/** What ran for others within a frame that has no time of its own did so in the one below. */
HOT void pass_on(struct sxs_calls_frame *f)
{
    f[-1].callees += f->callees;
    f->callees = 0;
}

/** The frame's call is over. @how: a counter of the thread's record. */
HOT void drop(struct sxs_calls_state *s, uint64_t now, _Atomic uint64_t *how)
{
    struct sxs_calls_frame *f = s->top--;
    if (f->start) {
        f->node->unwound++;
        if (RARE(s->tracing))
            note_event(s, f->node, now, SXS_CALLS_UNWOUND);
        if (f->node->active)
            end_flat(f, now - f->start);
        else
            end_path(f, f->callees ? settle(s, f, now - f->start) : now - f->start);
    } else {
        pass_on(f);
    }
    atomic_store_explicit(how, atomic_load_explicit(how, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/** Frames that do not lie above @sp are gone, though nobody said so. */
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
 * Counts a duration, in the histogram @of: the one before it, that is, and this one waits for the next.
 * Where it is counted depends on the clock, which takes its time; while the processor does not know
 * where a store goes, it delays what is read behind it. Nonzero: that needs memory which is not there yet.
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

/** Called too often for too little: counted, no longer timed. */
HOT int is_off(const struct sxs_called *fn)
{
    return (atomic_load_explicit(&fn->off, memory_order_relaxed) & SXS_CALLED_OFF) != 0;
}

HOT int resumes(const struct sxs_called *fn)
{
    return (atomic_load_explicit(&fn->off, memory_order_relaxed) & SXS_CALLED_RESUMES) != 0;
}

/** Once in so many calls of a path it is looked at whether they are too many. */
HOT int is_due(const struct sxs_calls_node *node)
{
    return !(node->calls & (SXS_CALLS_BACKOFF_EVERY - 1));
}

/** Whether the youngest frame is that call. If not, it was never seen to begin. */
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
