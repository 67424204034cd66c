/* SPDX-License-Identifier: MIT */
/* slow.c - the slow path of hooks: for the first call on a thread, the first call of a path, and
 * the first duration in an octave. */
#include "tools/calls/fast_path.h"

#include <string.h>

#include "tools/calls/await.h"
#include "tools/calls/tails.h"

#define AWAITS (UINT32_C(1) << 31) /* flag in a key; references to cells are smaller */

static void add_one(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static struct sxs_calls_node *new_node(struct sxs_calls_state *s, struct sxs_calls_node *parent,
                                       const struct sxs_called *fn)
{
    sxs_calls_ref          histogram = sxs_calls_histogram(s, fn);
    sxs_calls_ref          ref = histogram ? sxs_calls_cells(&s->arena, 1) : 0;
    struct sxs_calls_node *node;
    if (!ref)
        return NULL;
    node = node_at(s, ref);
    node->parent = ref_of(s, parent);
    node->function = fn->cell;
    node->histogram = histogram;
    node->sibling = parent->child;
    atomic_thread_fence(memory_order_release);
    parent->child = ref;
    atomic_fetch_or_explicit(&s->record->runtimes, UINT64_C(1) << (fn->runtime & 63),
                             memory_order_relaxed);
    return node;
}

/* Returns the child of @parent for @fn; makes it if there is none. NULL when there is no room.
 * @awaits: AWAITS for a node of a method that awaits the nodes below it, else 0. */
static struct sxs_calls_node *child_of(struct sxs_calls_state *s, struct sxs_calls_node *parent,
                                       const struct sxs_called *fn, uint32_t awaits)
{
    uint64_t               key = sxs_calls_key(ref_of(s, parent), fn->cell | awaits);
    sxs_calls_ref          ref = find_child(s, key);
    struct sxs_calls_node *node;
    uint32_t               i;
    if (ref)
        return node_at(s, ref);
    if (2 * (s->n_slots_used + 1) > s->n_slots && sxs_calls_more_slots(s))
        return NULL;
    node = new_node(s, parent, fn);
    if (!node)
        return NULL;
    node->self = awaits != 0;
    for (i = sxs_calls_slot_of(s, key); s->slots[i].node; i = (i + 1) & (s->n_slots - 1))
        ;
    s->slots[i] = (struct sxs_calls_slot){.key = key, .node = ref_of(s, node)};
    s->n_slots_used++;
    return node;
}

static struct sxs_calls_node *flat_of(struct sxs_calls_state *s, const struct sxs_called *fn)
{
    if (fn->number >= s->n_flat && sxs_calls_more_flat(s, fn->number))
        return NULL;
    if (!s->flat[fn->number])
        s->flat[fn->number] = new_node(s, s->frames[0].node, fn);
    return s->flat[fn->number];
}

/* Counts a call in @node and pushes its frame. @node NULL: there was no room for a node. Then the
 * frame is not timed, and the functions that it calls are counted below the caller's node. */
static void push_call(struct sxs_calls_state *s, struct sxs_called *fn, uintptr_t sp,
                      struct sxs_calls_node *node, enum sxs_tails_entry entry)
{
    struct sxs_calls_frame *f;
    uint64_t                now;
    if (node)
        node->calls++;
    else
        add_one(&s->record->nodes_lost);
    if (is_off(fn))
        return;
    if (s->top == s->limit && sxs_calls_more_frames(s)) {
        add_one(&s->record->too_deep);
        return;
    }
    f = s->top + 1;
    *f = (struct sxs_calls_frame){.sp = sp, .node = node ? node : s->top->node, .fn = fn};
    s->top = f;
    if (!node)
        return;
    now = sxs_tick();
    if (entry == SXS_TAILS_FAST) {
        f->began = now;
        f->how = SXS_TAILS_ENDS_CHAIN;
    } else {
        f->start = now;
    }
}

static void trace_event(struct sxs_calls_state *s, const struct sxs_calls_node *node, uint64_t now,
                        enum sxs_calls_event_kind kind)
{
    if (lacks_room(s))
        sxs_calls_more_events(s);
    if (s->tracing)
        note_event(s, node, now, kind);
}

/* Returns the parent node for the call of a MoveNext: the node of the method that awaits it when it
 * resumes after an await, else the caller's node. */
static struct sxs_calls_node *find_parent(struct sxs_calls_state *s, const struct sxs_called *fn,
                                          uintptr_t sp, uintptr_t self)
{
    struct sxs_called     *callers[SXS_AWAIT_MAX];
    struct sxs_calls_node *parent = s->frames[0].node;
    int                    n = sxs_await_callers(fn, sp, self, callers);
    if (n < 0)
        return s->top->node;
    while (n-- > 0) {
        struct sxs_calls_node *next = child_of(s, parent, callers[n], AWAITS);
        if (!next) {
            add_one(&s->record->nodes_lost);
            break;
        }
        parent = next;
    }
    return parent;
}

void sxs_tree_enter_slow(struct sxs_called *fn, uintptr_t sp, uintptr_t first)
{
    struct sxs_calls_state *s = sxs_calls_state_get();
    struct sxs_calls_node  *node, *parent;
    enum sxs_tails_entry    entry;
    if (!s)
        return;
    entry = sxs_tails_enter(s, fn, sp);
    if (is_dispatcher(fn)) {
        sxs_tails_push_dispatcher(s, fn, sp, first);
        return;
    }
    parent = resumes(fn) ? find_parent(s, fn, sp, first) : s->top->node;
    node = child_of(s, parent, fn, 0);
    if (node)
        parent->latest = ref_of(s, node);
    push_call(s, fn, sp, node, entry);
    if (node && s->top->node == node && s->top->sp == sp) {
        s->top->callees = parent != s->top[-1].node;
        node->entered = s->top->start ? s->top->start : s->top->began;
        trace_event(s, node, node->entered, SXS_CALLS_ENTER);
    }
}

void sxs_time_enter_slow(struct sxs_called *fn, uintptr_t sp, uintptr_t first)
{
    struct sxs_calls_state *s = sxs_calls_state_get();
    struct sxs_calls_node  *node;
    enum sxs_tails_entry    entry;
    if (!s)
        return;
    entry = sxs_tails_enter(s, fn, sp);
    if (is_dispatcher(fn)) {
        sxs_tails_push_dispatcher(s, fn, sp, first);
        return;
    }
    node = flat_of(s, fn);
    push_call(s, fn, sp, node, entry);
    if (node && s->top->node == node && s->top->sp == sp)
        node->active++;
}

void sxs_count_enter_slow(struct sxs_called *fn, uintptr_t sp)
{
    struct sxs_calls_state *s = sxs_calls_state_get();
    struct sxs_calls_node  *node = s ? flat_of(s, fn) : NULL;
    (void)sp;
    if (node)
        node->calls++;
    else if (s)
        add_one(&s->record->nodes_lost);
}

/* As note_duration(), but allocates the histogram part. When there is no memory, the pending
 * duration is not counted in the histogram. */
static void record_duration(struct sxs_calls_state *s, sxs_calls_ref of, uint64_t ticks)
{
    struct sxs_calls_thread *r = s->record;
    if (r->pending_of) {
        struct sxs_calls_histogram *h = sxs_calls_cell(r->pending_of);
        unsigned                    octave = 63 - (unsigned)__builtin_clzll(r->pending | 8);
        if (octave < SXS_CALLS_OCTAVES && !h->octaves[octave])
            h->octaves[octave] = sxs_calls_cells(&s->arena, 1);
    }
    if (note_duration(s, of, ticks)) {
        r->pending = ticks;
        r->pending_of = of;
    }
}

void sxs_calls_end_top(struct sxs_calls_state *s, uint64_t now)
{
    struct sxs_calls_frame *f = s->top;
    uint64_t                ticks;
    if (!f->start)
        f->start = f->began;
    ticks = now - f->start;
    if (!f->start) {
        pass_on(f);
    } else if (f->node->active) {
        record_duration(s, f->node->histogram, ticks);
        end_flat(f, ticks);
    } else {
        if (f->callees)
            ticks = own_ticks(s, f, ticks);
        record_duration(s, f->node->histogram, ticks);
        end_path(f, ticks);
        trace_event(s, f->node, now, SXS_CALLS_LEAVE);
    }
    s->top = f - 1;
}

static void leave_slowly(struct sxs_called *fn, uintptr_t sp)
{
    struct sxs_calls_state       *s = sxs_calls_state;
    const struct sxs_calls_frame *f;
    if (sxs_tails_leave(s, fn, sp))
        return;
    f = s->top;
    if (f->start && is_due(f->node))
        sxs_functions_back_off(fn, f->node->ticks / f->node->calls);
    sxs_calls_end_top(s, s->now);
}

void sxs_tree_leave_slow(struct sxs_called *fn, uintptr_t sp)
{
    leave_slowly(fn, sp);
}

void sxs_time_leave_slow(struct sxs_called *fn, uintptr_t sp)
{
    leave_slowly(fn, sp);
}
