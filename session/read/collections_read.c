/* SPDX-License-Identifier: MIT */
/* collections_read.c - reads the records of collections in the file "events". */
#include "session/read/collections_read.h"

static uint64_t load(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

static void take_pauses(struct sxs_events_collection *to, const struct sxs_event_collection *from)
{
    for (unsigned i = 0; i < SXS_GC_PAUSES; i++) {
        to->pauses[i].time_ns = load(&from->pauses[i].time_ns);
        to->pauses[i].suspension_ns = load(&from->pauses[i].suspension_ns);
        to->pauses[i].duration_ns = load(&from->pauses[i].duration_ns);
    }
    to->n_pauses = atomic_load(&from->n_pauses);
    to->pause_ns = load(&from->pause_ns);
    to->suspension_ns = load(&from->suspension_ns);
}

/* A younger generation than the collection's own is collected, too, and with generation 2 the heaps
 * of large and of pinned objects. Of other generations nothing is freed. A background collection
 * frees nothing in generations 0 and 1. */
static bool is_collected(const struct sxs_events_collection *c, unsigned i)
{
    if (i < 2 && c->type == SXS_GC_BACKGROUND)
        return false;
    return i <= c->generation || (c->generation == 2 && i > 2);
}

static void take_generations(struct sxs_events_collection      *to,
                             const struct sxs_event_collection *from)
{
    for (unsigned i = 0; i < SXS_GC_GENERATIONS; i++) {
        const struct sxs_gc_generation *g = &from->generations[i];
        to->generations[i].size = load(&g->size);
        to->generations[i].promoted = load(&g->promoted);
        to->generations[i].before = load(&g->before);
        to->generations[i].free_before = load(&g->free_before);
        to->generations[i].fragmentation = load(&g->fragmentation);
        to->generations[i].survived = load(&g->survived);
        to->generations[i].pinned = load(&g->pinned);
        uint64_t gone = load(&g->free_before) + load(&g->survived);
        if ((to->known & SXS_GC_KNOWS_DETAIL) && is_collected(to, i) && load(&g->before) > gone)
            to->generations[i].freed = load(&g->before) - gone;
    }
    /* The runtimes' statistics always have 0 for the heap of pinned objects (.NET 8 to 10). */
    if ((to->known & SXS_GC_KNOWS_DETAIL) && !to->generations[4].promoted)
        to->generations[4].promoted = to->generations[4].survived;
}

/* A collection that starts as a background collection is blocking after all when the runtime finds
 * that it must be: then it does not have the mark of a concurrent one. */
static void correct_type(struct sxs_events_collection *c)
{
    if (c->type == SXS_GC_BACKGROUND && (c->known & SXS_GC_KNOWS_GLOBAL) &&
        !(c->mechanisms & SXS_GC_CONCURRENT))
        c->type = SXS_GC_BLOCKING;
}

bool sxs_collection_read(const struct sxs_record *record, struct sxs_events_collection *out)
{
    const struct sxs_event_collection *v = (const void *)record;
    if (record->size < sizeof(*v))
        return false;
    *out = (struct sxs_events_collection){
        .time_ns = v->time_ns,
        .end_ns = load(&v->end_ns),
        .number = v->number,
        .tid = v->tid,
        .runtime = v->runtime,
        .generation = v->generation,
        .reason = v->reason,
        .type = v->type,
        .known = atomic_load(&v->known),
        .heaps = atomic_load(&v->heaps),
        .mechanisms = atomic_load(&v->mechanisms),
        .n_pinned = atomic_load(&v->n_pinned),
        .n_handles = atomic_load(&v->n_handles),
        .sync_blocks = atomic_load(&v->sync_blocks),
        .trigger_tid = atomic_load(&v->trigger_tid),
        .finalizable = load(&v->finalizable),
        .n_finalizable = load(&v->n_finalizable),
        .n_finalized = load(&v->n_finalized),
        .finalizers_ns = load(&v->finalizers_ns),
    };
    take_pauses(out, v);
    correct_type(out);
    take_generations(out, v);
    return (out->generation < 3 || out->generation == SXS_GC_UNKNOWN) &&
           (out->reason < SXS_N_GC_REASONS || out->reason == SXS_GC_UNKNOWN) &&
           (out->type < SXS_N_GC_TYPES || out->type == SXS_GC_UNKNOWN);
}

int sxs_collection_order(const void *a, const void *b)
{
    const struct sxs_events_collection *x = a, *y = b;
    if (x->runtime != y->runtime)
        return x->runtime < y->runtime ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

const char *sxs_gc_reason_text(uint8_t reason)
{
    static const char *const texts[] = {
#define X(name, text) [SXS_GC_##name] = text,
        SXS_GC_REASONS(X)
#undef X
    };
    return reason < SXS_N_GC_REASONS ? texts[reason] : "unknown";
}

const char *sxs_gc_type_text(uint8_t type)
{
    static const char *const texts[] = {"blocking", "background", "foreground"};
    return type < SXS_N_GC_TYPES ? texts[type] : "unknown";
}
