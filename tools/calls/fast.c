/* SPDX-License-Identifier: MIT */
/* fast.c - the fast path of hooks. Compiled without vector registers, because the hooked code may
 * hold arguments and results in them. */
#include "tools/calls/fast_path.h"

#include <stddef.h>

_Static_assert(offsetof(struct sxs_calls_state, top) == STATE_TOP, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_state, limit) == STATE_LIMIT, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_state, cells) == STATE_CELLS, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_state, flat) == STATE_FLAT, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_state, n_flat) == STATE_N_FLAT, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_state, slots) == STATE_SLOTS, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_state, n_slots) == STATE_N_SLOTS, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_state, record) == STATE_RECORD, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_state, event) == STATE_EVENT, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_state, event_end) == STATE_EVENT_END,
               "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_thread, pending_of) == RECORD_PENDING_OF,
               "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_thread, pending) == RECORD_PENDING, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_slot, node) == SLOT_NODE, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_frame, sp) == FRAME_SP, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_frame, node) == FRAME_NODE, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_frame, fn) == FRAME_FN, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_frame, start) == FRAME_START, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_frame, callees) == FRAME_CALLEES, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_node, function) == NODE_FUNCTION, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_node, calls) == NODE_CALLS, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_node, ticks) == NODE_TICKS, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_node, entered) == NODE_ENTERED, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_node, latest) == NODE_LATEST, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_node, histogram) == NODE_HISTOGRAM, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_node, self) == NODE_SELF, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_node, active) == NODE_ACTIVE, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_histogram, min) == HISTOGRAM_MIN, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_histogram, max) == HISTOGRAM_MAX, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_histogram, octaves) == HISTOGRAM_OCTAVES,
               "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_event, tick) == EVENT_TICK, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_event, node) == EVENT_NODE, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_calls_event, kind) == EVENT_NODE + 4, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_called, off) == CALLED_OFF, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_called, number) == CALLED_NUMBER, "elt/calls_offsets.h");
_Static_assert(offsetof(struct sxs_called, cell) == CALLED_CELL, "elt/calls_offsets.h");
_Static_assert(SXS_CALLED_OFF == CALLED_IS_OFF &&
                   (SXS_CALLED_RESUMES | SXS_CALLED_TAILS) == CALLED_SPECIAL,
               "elt/calls_offsets.h");
_Static_assert(SXS_CALLS_ENTER == 1 << EVENT_ENTER && SXS_CALLS_LEAVE == 1 << EVENT_LEAVE,
               "elt/calls_offsets.h");
_Static_assert(sizeof(struct sxs_calls_event) == EVENT_SIZE, "elt/calls_offsets.h");
_Static_assert(sizeof(struct sxs_calls_slot) == 16, "elt/calls_offsets.h");
_Static_assert(sizeof(struct sxs_calls_frame) == FRAME_SIZE, "elt/calls_offsets.h");
_Static_assert(sizeof(struct sxs_calls_node) == 1 << CELL_BITS, "elt/calls_offsets.h");
_Static_assert(SXS_CALLS_OCTAVES == LAST_OCTAVE + 1, "elt/calls_offsets.h");
_Static_assert(SXS_CALLS_BACKOFF_EVERY == DUE_MASK + 1, "elt/calls_offsets.h");

/* Returns 1 when the leave of the call of @f is for the slow path, because of a tail call. */
HOT int is_for_tails(const struct sxs_calls_frame *f)
{
    return !f->start && (f->began || is_dispatcher(f->fn));
}

/* @trace: a compile-time constant, 1: record an event for the call. */
HOT int tree_enter(struct sxs_called *fn, uintptr_t sp, int trace)
{
    struct sxs_calls_state *s = sxs_calls_state;
    struct sxs_calls_node  *parent, *node;
    struct sxs_calls_frame *f;
    sxs_calls_ref           ref;
    if (RARE(!s || is_special(fn) || is_left(s->top)))
        return 1;
    drop_stale(s, sp);
    if (RARE(is_left(s->top)))
        return 1;
    f = s->top;
    parent = f->node;
    node = node_at(s, parent->latest);
    if (RARE(!parent->latest || node->function != fn->cell)) {
        ref = find_child(s, sxs_calls_key(ref_of(s, parent), fn->cell));
        if (!ref)
            return 1;
        parent->latest = ref;
        node = node_at(s, ref);
    }
    if (RARE(f == s->limit) || (trace && RARE(lacks_room(s))))
        return 1;
    node->calls++;
    if (RARE(is_off(fn)))
        return 0;
    f++;
    f->sp = sp;
    f->node = node;
    f->fn = fn;
    s->top = f;
    f->start = node->entered = sxs_tick();
    if (trace)
        note_event(s, node, f->start, SXS_CALLS_ENTER);
    return 0;
}

HOT int tree_leave(struct sxs_called *fn, uintptr_t sp, uint64_t now, int trace)
{
    struct sxs_calls_state *s = sxs_calls_state;
    struct sxs_calls_frame *f;
    if (RARE(!s))
        return 0;
    s->now = now;
    if (RARE(is_left(s->top)))
        return 1;
    if (!matches(s, fn, sp))
        return 0;
    f = s->top;
    if (RARE(is_for_tails(f)))
        return 1;
    if (f->start) {
        if (RARE(f->callees || is_due(f->node) || (trace && lacks_room(s)) ||
                 note_duration(s, f->node->histogram, now - f->start)))
            return 1;
        end_path(f, now - f->start);
        if (trace)
            note_event(s, f->node, now, SXS_CALLS_LEAVE);
    } else {
        pass_on(f);
    }
    s->top = f - 1;
    return 0;
}

int sxs_tree_enter(struct sxs_called *fn, uintptr_t sp)
{
    return tree_enter(fn, sp, 0);
}

int sxs_tree_leave(struct sxs_called *fn, uintptr_t sp, uint64_t now)
{
    return tree_leave(fn, sp, now, 0);
}

int sxs_trace_enter(struct sxs_called *fn, uintptr_t sp)
{
    return tree_enter(fn, sp, 1);
}

int sxs_trace_leave(struct sxs_called *fn, uintptr_t sp, uint64_t now)
{
    return tree_leave(fn, sp, now, 1);
}

int sxs_time_enter(struct sxs_called *fn, uintptr_t sp)
{
    struct sxs_calls_state *s = sxs_calls_state;
    struct sxs_calls_node  *node;
    struct sxs_calls_frame *f;
    if (RARE(!s || is_special(fn) || is_left(s->top)))
        return 1;
    drop_stale(s, sp);
    f = s->top;
    if (RARE(is_left(f) || fn->number >= s->n_flat || f == s->limit))
        return 1;
    node = s->flat[fn->number];
    if (RARE(!node))
        return 1;
    node->calls++;
    if (RARE(is_off(fn)))
        return 0;
    node->active++;
    f++;
    f->sp = sp;
    f->node = node;
    f->fn = fn;
    f->callees = 0;
    s->top = f;
    f->start = sxs_tick();
    return 0;
}

int sxs_time_leave(struct sxs_called *fn, uintptr_t sp, uint64_t now)
{
    uint64_t                ticks;
    struct sxs_calls_state *s = sxs_calls_state;
    struct sxs_calls_frame *f;
    if (RARE(!s))
        return 0;
    s->now = now;
    if (RARE(is_left(s->top)))
        return 1;
    if (!matches(s, fn, sp))
        return 0;
    f = s->top;
    if (RARE(is_for_tails(f)))
        return 1;
    if (f->start) {
        ticks = now - f->start;
        if (RARE(is_due(f->node) || note_duration(s, f->node->histogram, ticks)))
            return 1;
        end_flat(f, ticks);
    }
    s->top = f - 1;
    return 0;
}
