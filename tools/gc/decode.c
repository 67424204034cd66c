/* SPDX-License-Identifier: MIT */
#include "tools/gc/decode.h"

#include "base/payload.h"

static uint32_t take4(struct sxs_payload *p)
{
    return (uint32_t)sxs_payload_take(p, 4);
}

static uint64_t take8(struct sxs_payload *p)
{
    return sxs_payload_take(p, 8);
}

static void read_started(struct sxs_payload *p, struct sxs_gc_event *e)
{
    e->number = take4(p);
    e->generation = take4(p);
    e->reason = take4(p);
    e->type = take4(p);
}

static void read_ended(struct sxs_payload *p, struct sxs_gc_event *e)
{
    e->number = take4(p);
    e->generation = take4(p);
}

static void read_heap_stats(struct sxs_payload *p, struct sxs_gc_event *e)
{
    for (unsigned i = 0; i < 4; i++) {
        e->size[i] = take8(p);
        e->promoted[i] = take8(p);
    }
    e->finalizable = take8(p);
    e->n_finalizable = take8(p);
    e->n_pinned = take4(p);
    e->sync_blocks = take4(p);
    e->n_handles = take4(p);
    if (p->is_cut || p->left < 2 + 16) /* version 1: without the heap of pinned objects */
        return;
    sxs_payload_skip(p, 2); /* ClrInstanceID */
    e->size[4] = take8(p);
    e->promoted[4] = take8(p);
}

static void read_suspending(struct sxs_payload *p, struct sxs_gc_event *e)
{
    e->reason = take4(p);
    e->number = take4(p);
}

/* Ten pointers in each generation. */
static void read_generation(struct sxs_payload *p, struct sxs_gc_heap_generation *g)
{
    uint64_t free_list, free_objects;
    g->before = take8(p);
    free_list = take8(p);
    free_objects = take8(p);
    g->free_before = free_list + free_objects;
    g->after = take8(p);
    free_list = take8(p);
    free_objects = take8(p);
    g->free_after = free_list + free_objects;
    sxs_payload_skip(p, 8); /* bytes that came into the generation */
    g->pinned = take8(p);
    g->survived = take8(p) + g->pinned;
    sxs_payload_skip(p, 8); /* the next budget */
}

static void read_heap_history(struct sxs_payload *p, struct sxs_gc_event *e)
{
    uint32_t n;
    sxs_payload_skip(p, 2);     /* ClrInstanceID */
    sxs_payload_skip(p, 6 * 8); /* lists of free space */
    sxs_payload_skip(p, 5 * 4); /* their efficiency; reasons and mechanisms of this heap */
    e->heap = take4(p);
    sxs_payload_skip(p, 8);
    n = take4(p);
    for (uint32_t i = 0; i < n && i < SXS_GC_GENERATIONS; i++)
        read_generation(p, &e->generations[i]);
}

static void read_global_history(struct sxs_payload *p, struct sxs_gc_event *e)
{
    sxs_payload_skip(p, 8); /* the budget of generation 0 */
    e->heap = take4(p);
    e->generation = take4(p);
    sxs_payload_skip(p, 4);
    e->reason = take4(p);
    e->mechanisms = take4(p);
}

int sxs_gc_decode(uint32_t id, const void *data, size_t size, struct sxs_gc_event *out)
{
    struct sxs_payload p = {.at = data, .left = data ? size : 0};
    *out = (struct sxs_gc_event){.id = id};
    switch (id) {
    case SXS_GC_START: read_started(&p, out); break;
    case SXS_GC_END: read_ended(&p, out); break;
    case SXS_GC_HEAP_STATS: read_heap_stats(&p, out); break;
    case SXS_GC_SUSPEND_EE_BEGIN: read_suspending(&p, out); break;
    case SXS_GC_TRIGGERED: out->reason = take4(&p); break;
    case SXS_GC_FINALIZERS_END: out->number = take4(&p); break;
    case SXS_GC_PER_HEAP_HISTORY: read_heap_history(&p, out); break;
    case SXS_GC_GLOBAL_HEAP_HISTORY: read_global_history(&p, out); break;
    case SXS_GC_RESTART_EE_END:
    case SXS_GC_RESTART_EE_BEGIN:
    case SXS_GC_SUSPEND_EE_END:
    case SXS_GC_FINALIZERS_BEGIN: break;
    default: return 0;
    }
    return !p.is_cut;
}
