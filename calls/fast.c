/* SPDX-License-Identifier: MIT */
/* fast.c - the beaten path of hooks. Compiled without vector registers: compiled code may hold
 * arguments and results in them. */
#include "calls/beaten.h"

/* @trace: a constant. */
HOT int tree_enter(struct sxs_called *fn, uintptr_t sp, int trace)
{
    struct sxs_calls_state *s = sxs_calls_state;
    struct sxs_calls_node  *parent, *node;
    struct sxs_calls_frame *f;
    sxs_calls_ref           ref;
    if (RARE(!s))
        return 1;
    drop_stale(s, sp);
    f = s->top;
    parent = f->node;
    node = node_at(s, parent->latest);
    if (RARE(!parent->latest || node->function != fn->cell)) {
        ref = find_child(s, ref_of(s, parent), fn->cell);
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

HOT int tree_leave(struct sxs_called *fn, uintptr_t sp, int trace)
{
    uint64_t                now = sxs_tick();
    struct sxs_calls_state *s = sxs_calls_state;
    struct sxs_calls_frame *f;
    if (RARE(!s))
        return 0;
    if (!matches(s, fn, sp))
        return 0;
    f = s->top;
    if (f->start) {
        if (RARE(is_due(f->node) || (trace && lacks_room(s)) ||
                 note_duration(s, histogram_of(s, f->node), now - f->start))) {
            s->now = now;
            return 1;
        }
        end_path(f, now - f->start);
        if (trace)
            note_event(s, f->node, now, SXS_CALLS_LEAVE);
    }
    s->top = f - 1;
    return 0;
}

int sxs_tree_enter(struct sxs_called *fn, uintptr_t sp)
{
    return tree_enter(fn, sp, 0);
}

int sxs_tree_leave(struct sxs_called *fn, uintptr_t sp)
{
    return tree_leave(fn, sp, 0);
}

int sxs_trace_enter(struct sxs_called *fn, uintptr_t sp)
{
    return tree_enter(fn, sp, 1);
}

int sxs_trace_leave(struct sxs_called *fn, uintptr_t sp)
{
    return tree_leave(fn, sp, 1);
}

int sxs_time_enter(struct sxs_called *fn, uintptr_t sp)
{
    struct sxs_calls_state *s = sxs_calls_state;
    struct sxs_calls_node  *node;
    struct sxs_calls_frame *f;
    if (RARE(!s))
        return 1;
    drop_stale(s, sp);
    f = s->top;
    if (RARE(fn->number >= s->n_flat || f == s->limit))
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

int sxs_time_leave(struct sxs_called *fn, uintptr_t sp)
{
    uint64_t                now = sxs_tick(), ticks;
    struct sxs_calls_state *s = sxs_calls_state;
    struct sxs_calls_frame *f;
    if (RARE(!s))
        return 0;
    if (!matches(s, fn, sp))
        return 0;
    f = s->top;
    if (f->start) {
        ticks = now - f->start;
        if (RARE(is_due(f->node) || note_duration(s, histogram_of(s, f->node), ticks))) {
            s->now = now;
            return 1;
        }
        end_flat(f, ticks);
    }
    s->top = f - 1;
    return 0;
}
