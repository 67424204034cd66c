/* SPDX-License-Identifier: MIT */
#include "tools/gc/collections.h"

#include <string.h>

#include "manager/watch.h"

static struct sxs_gc_recent *find_recent(struct sxs_gc_collections *c, uint32_t number)
{
    for (uint32_t i = 0; i < SXS_GC_RECENT; i++)
        if (c->recent[i].number == number && number)
            return &c->recent[i];
    return NULL;
}

/* Returns the collection in progress that thread @tid has started, or else the one that started
 * last. NULL: none is in progress. */
static struct sxs_gc_recent *in_progress(struct sxs_gc_collections *c, uint32_t tid)
{
    struct sxs_gc_recent *found = NULL;
    for (uint32_t i = 0; i < SXS_GC_RECENT; i++) {
        struct sxs_gc_recent *r = &c->recent[i];
        if (!r->number || r->until_ns)
            continue;
        if (!found || (r->start_tid == tid) > (found->start_tid == tid) ||
            ((r->start_tid == tid) == (found->start_tid == tid) && r->number > found->number))
            found = r;
    }
    return found;
}

/* Returns the collection that ended last, of those whose end thread @tid has reported if there is
 * any. NULL: none has ended. */
static struct sxs_gc_recent *last_ended(struct sxs_gc_collections *c, uint32_t tid)
{
    struct sxs_gc_recent *found = NULL;
    for (uint32_t i = 0; i < SXS_GC_RECENT; i++) {
        struct sxs_gc_recent *r = &c->recent[i];
        if (!r->number || !r->until_ns)
            continue;
        if (!found || (r->end_tid == tid) > (found->end_tid == tid) ||
            ((r->end_tid == tid) == (found->end_tid == tid) && r->until_ns > found->until_ns))
            found = r;
    }
    return found;
}

/* Returns the entry for a new collection: a free one, or the oldest, but not that of a background
 * collection in progress. */
static struct sxs_gc_recent *take_entry(struct sxs_gc_collections *c)
{
    struct sxs_gc_recent *oldest = NULL;
    for (uint32_t i = 0; i < SXS_GC_RECENT; i++) {
        struct sxs_gc_recent *r = &c->recent[i];
        if (!r->number)
            return r;
        if (r->until_ns && (!oldest || r->until_ns < oldest->until_ns))
            oldest = r;
    }
    return oldest ? oldest : &c->recent[0]; /* all in progress: their ends were lost */
}

static uint8_t limited(uint32_t value, uint32_t n)
{
    return (uint8_t)(value < n ? value : SXS_GC_UNKNOWN);
}

static int start(struct sxs_gc_collections *c, const struct sxs_gc_event *e, uint64_t now,
                 uint32_t tid)
{
    struct sxs_gc_recent        *r;
    struct sxs_event_collection *v;
    if (!e->number || find_recent(c, e->number))
        return 1;
    r = take_entry(c);
    memset(r, 0, sizeof(*r));
    r->number = e->number;
    r->from_ns = now;
    r->start_tid = tid;
    r->in_pause = c->stopped_ns != 0;
    v = c->reserve(sizeof(*v));
    if (v) {
        v->time_ns = now;
        v->number = e->number;
        v->tid = tid;
        v->runtime = (uint16_t)c->runtime;
        v->generation = limited(e->generation, 3);
        v->reason = limited(e->reason, SXS_N_GC_REASONS);
        v->type = limited(e->type, SXS_N_GC_TYPES);
        v->trigger_tid = c->trigger_tid;
        v->known = e->id == SXS_GC_START ? SXS_GC_KNOWS_START : 0;
        c->commit(v, SXS_EVENT_COLLECTION);
    }
    c->trigger_tid = 0;
    r->record = v;
    return v != NULL;
}

static void end(struct sxs_gc_collections *c, const struct sxs_gc_event *e, uint64_t now,
                uint32_t tid)
{
    struct sxs_gc_recent *r = e->number ? find_recent(c, e->number) : in_progress(c, tid);
    if (!r || r->until_ns)
        return;
    r->until_ns = now;
    r->end_tid = tid;
    r->in_pause = c->stopped_ns != 0;
    if (r->record)
        atomic_store(&r->record->end_ns, now);
}

/* ---- suspensions ---- */

static void add_pause(struct sxs_event_collection *v, uint64_t from, uint64_t suspension,
                      uint64_t duration)
{
    uint8_t n = atomic_load(&v->n_pauses);
    if (n < SXS_GC_PAUSES) {
        atomic_store(&v->pauses[n].time_ns, from);
        atomic_store(&v->pauses[n].suspension_ns, suspension);
        atomic_store(&v->pauses[n].duration_ns, duration);
    }
    atomic_store(&v->n_pauses, (uint8_t)(n < UINT8_MAX ? n + 1 : n));
    atomic_store(&v->suspension_ns, atomic_load(&v->suspension_ns) + suspension);
    atomic_store(&v->pause_ns, atomic_load(&v->pause_ns) + duration);
}

/* Returns the collection that the present suspension is for: the first that started or ended in it,
 * or else a background collection in progress. */
static struct sxs_gc_recent *owner_of_pause(struct sxs_gc_collections *c)
{
    struct sxs_gc_recent *first = NULL, *background = NULL;
    for (uint32_t i = 0; i < SXS_GC_RECENT; i++) {
        struct sxs_gc_recent *r = &c->recent[i];
        if (r->number && r->in_pause && (!first || r->number < first->number))
            first = r;
        if (r->number && !r->until_ns)
            background = r;
    }
    return first ? first : background;
}

/* Ends the present suspension, whose threads were resumed at @now. Its time is that of the
 * collection that it is for, except for the time of other collections from their start to their
 * end. */
static void end_pause(struct sxs_gc_collections *c, uint64_t now)
{
    struct sxs_gc_recent *owner = owner_of_pause(c);
    uint64_t              from = c->requested_ns, left = now - from;
    for (uint32_t i = 0; i < SXS_GC_RECENT; i++) {
        struct sxs_gc_recent *r = &c->recent[i];
        if (!r->number || !r->in_pause || r == owner)
            continue;
        uint64_t work = (r->until_ns ? r->until_ns : now) - (r->from_ns > from ? r->from_ns : from);
        work = work < left ? work : left;
        left -= work;
        if (r->record)
            add_pause(r->record, r->from_ns, 0, work);
    }
    uint64_t suspension = c->stopped_ns - from;
    sxs_watch_pause(c->runtime, from, now - from);
    if (owner && owner->record)
        add_pause(owner->record, from, suspension < left ? suspension : left, left);
    c->resumed_ns = now;
}

static void forget_pause(struct sxs_gc_collections *c)
{
    c->requested_ns = c->stopped_ns = c->resuming_ns = 0;
    for (uint32_t i = 0; i < SXS_GC_RECENT; i++)
        c->recent[i].in_pause = 0;
}

static void suspending(struct sxs_gc_collections *c, const struct sxs_gc_event *e, uint64_t now,
                       uint32_t tid)
{
    struct sxs_gc_request *to = &c->requests[0]; /* if all are in use, their ends were lost */
    if (e->reason != SXS_SUSPENDED_FOR_GC && e->reason != SXS_SUSPENDED_FOR_GC_PREP)
        return;
    for (uint32_t i = SXS_GC_REQUESTS; i-- > 0;)
        if (!c->requests[i].tid)
            to = &c->requests[i];
    for (uint32_t i = 0; i < SXS_GC_REQUESTS; i++)
        if (c->requests[i].tid == tid)
            to = &c->requests[i];
    *to = (struct sxs_gc_request){tid, now};
}

/* All threads have stopped, as thread @tid had requested. */
static void suspended(struct sxs_gc_collections *c, uint64_t now, uint32_t tid)
{
    for (uint32_t i = 0; i < SXS_GC_REQUESTS; i++) {
        struct sxs_gc_request *r = &c->requests[i];
        if (r->tid != tid)
            continue;
        if (c->stopped_ns && c->resuming_ns)
            end_pause(c, c->resuming_ns); /* the event GCRestartEEEnd comes later, or never */
        forget_pause(c);
        c->requested_ns = r->time_ns > c->resumed_ns ? r->time_ns : c->resumed_ns;
        c->stopped_ns = now;
        *r = (struct sxs_gc_request){0};
        return;
    }
}

static void resumed(struct sxs_gc_collections *c, uint64_t now)
{
    if (!c->stopped_ns || !c->resuming_ns)
        return; /* the same event again, or that of an earlier suspension */
    end_pause(c, now);
    forget_pause(c);
}

/* ---- details ---- */

static void take_heap_stats(struct sxs_event_collection *v, const struct sxs_gc_event *e)
{
    for (unsigned i = 0; i < SXS_GC_GENERATIONS; i++) {
        atomic_store(&v->generations[i].size, e->size[i]);
        atomic_store(&v->generations[i].promoted, e->promoted[i]);
    }
    atomic_store(&v->finalizable, e->finalizable);
    atomic_store(&v->n_finalizable, e->n_finalizable);
    atomic_store(&v->n_pinned, e->n_pinned);
    atomic_store(&v->n_handles, e->n_handles);
    atomic_store(&v->sync_blocks, e->sync_blocks);
    atomic_fetch_or(&v->known, SXS_GC_KNOWS_HEAP);
}

static void add_to(_Atomic uint64_t *sum, uint64_t value)
{
    atomic_store(sum, atomic_load(sum) + value);
}

static void take_heap_history(struct sxs_gc_recent *r, const struct sxs_gc_event *e)
{
    uint64_t bit = UINT64_C(1) << (e->heap % 64);
    if (e->heap >= SXS_GC_MAX_HEAPS || (r->heaps_seen[e->heap / 64] & bit))
        return;
    r->heaps_seen[e->heap / 64] |= bit;
    for (unsigned i = 0; i < SXS_GC_GENERATIONS; i++) {
        const struct sxs_gc_heap_generation *from = &e->generations[i];
        struct sxs_gc_generation            *to = &r->record->generations[i];
        add_to(&to->before, from->before);
        add_to(&to->free_before, from->free_before);
        add_to(&to->fragmentation, from->free_after);
        add_to(&to->survived, from->survived);
        add_to(&to->pinned, from->pinned);
    }
    atomic_fetch_or(&r->record->known, SXS_GC_KNOWS_DETAIL);
}

static int lacks(const struct sxs_gc_recent *r, const struct sxs_gc_event *e)
{
    if (e->id == SXS_GC_GLOBAL_HEAP_HISTORY)
        return !(atomic_load(&r->record->known) & SXS_GC_KNOWS_GLOBAL);
    return e->heap < SXS_GC_MAX_HEAPS && !(r->heaps_seen[e->heap / 64] >> (e->heap % 64) & 1);
}

/* Returns the background collection that a global history is of, if it says that it is of one. A
 * foreground collection may have begun since. */
static struct sxs_gc_recent *of_concurrent(struct sxs_gc_collections *c,
                                           const struct sxs_gc_event *e)
{
    struct sxs_gc_recent *found = NULL;
    if (e->id != SXS_GC_GLOBAL_HEAP_HISTORY || !(e->mechanisms & SXS_GC_CONCURRENT))
        return NULL;
    for (uint32_t i = 0; i < SXS_GC_RECENT; i++) {
        struct sxs_gc_recent *r = &c->recent[i];
        if (r->number && r->record && r->record->type == SXS_GC_BACKGROUND && lacks(r, e) &&
            (!found || r->number > found->number))
            found = r;
    }
    return found;
}

/* Returns the collection whose global history thread @tid has reported last, if @e is the history
 * of a heap that belongs to it: a thread reports the global one first. */
static struct sxs_gc_recent *of_same_thread(struct sxs_gc_collections *c,
                                            const struct sxs_gc_event *e, uint32_t tid)
{
    struct sxs_gc_recent *found = NULL;
    if (e->id != SXS_GC_PER_HEAP_HISTORY)
        return NULL;
    for (uint32_t i = 0; i < SXS_GC_RECENT; i++) {
        struct sxs_gc_recent *r = &c->recent[i];
        if (r->number && r->history_order && r->history_tid == tid &&
            (!found || r->history_order > found->history_order))
            found = r;
    }
    return found && found->record && lacks(found, e) ? found : NULL;
}

/* Returns the collection that a history is of. It comes before the collection's end; but that of a
 * background collection of server GC comes after it, on the thread that reported the end. */
static struct sxs_gc_recent *of_history(struct sxs_gc_collections *c, const struct sxs_gc_event *e,
                                        uint32_t tid)
{
    struct sxs_gc_recent *known = of_concurrent(c, e), *ended;
    if (!known)
        known = of_same_thread(c, e, tid);
    if (known)
        return known;
    ended = last_ended(c, tid);
    if (ended && ended->record && ended->end_tid == tid &&
        ended->record->type == SXS_GC_BACKGROUND && lacks(ended, e))
        return ended;
    return in_progress(c, tid);
}

/* The statistics of the heap come after the end of a collection, on the same thread. */
static void take_detail(struct sxs_gc_collections *c, const struct sxs_gc_event *e, uint32_t tid)
{
    struct sxs_gc_recent *r =
        e->id == SXS_GC_HEAP_STATS ? last_ended(c, tid) : of_history(c, e, tid);
    if (!r || !r->record)
        return;
    if (e->id == SXS_GC_HEAP_STATS) {
        take_heap_stats(r->record, e);
    } else if (e->id == SXS_GC_PER_HEAP_HISTORY) {
        take_heap_history(r, e);
    } else {
        atomic_store(&r->record->heaps, e->heap);
        atomic_store(&r->record->mechanisms, e->mechanisms);
        atomic_fetch_or(&r->record->known, SXS_GC_KNOWS_GLOBAL);
        r->history_tid = tid;
        r->history_order = c->n_events;
    }
}

static void finalizers_ended(struct sxs_gc_collections *c, const struct sxs_gc_event *e,
                             uint64_t now)
{
    struct sxs_gc_recent *r = last_ended(c, 0);
    if (!c->finalizers_ns)
        return; /* the same event again */
    if (r && r->record) {
        add_to(&r->record->n_finalized, e->number);
        add_to(&r->record->finalizers_ns, now - c->finalizers_ns);
    }
    c->finalizers_ns = 0;
}

static int take_locked(struct sxs_gc_collections *c, const struct sxs_gc_event *e, uint64_t now,
                       uint32_t tid)
{
    switch (e->id) {
    case SXS_GC_TRIGGERED: c->trigger_tid = tid; break;
    case SXS_GC_SUSPEND_EE_BEGIN: suspending(c, e, now, tid); break;
    case SXS_GC_SUSPEND_EE_END: suspended(c, now, tid); break;
    case SXS_GC_START: return start(c, e, now, tid);
    case SXS_GC_END: end(c, e, now, tid); break;
    case SXS_GC_RESTART_EE_BEGIN:
        if (c->stopped_ns && !c->resuming_ns)
            c->resuming_ns = now;
        break;
    case SXS_GC_RESTART_EE_END: resumed(c, now); break;
    case SXS_GC_FINALIZERS_BEGIN:
        if (!c->finalizers_ns)
            c->finalizers_ns = now;
        break;
    case SXS_GC_FINALIZERS_END: finalizers_ended(c, e, now); break;
    default: take_detail(c, e, tid); break;
    }
    return 1;
}

/* Returns 1 if the previous event of thread @tid was the same one: it comes once for each session
 * that enables it, one directly after the other. No event follows itself otherwise. */
static int is_again(struct sxs_gc_collections *c, const struct sxs_gc_event *e, uint32_t tid)
{
    struct sxs_gc_seen *to = &c->seen[0], now = {tid, e->id, e->number, e->heap, ++c->n_events};
    for (uint32_t i = 0; i < SXS_GC_THREADS; i++) {
        struct sxs_gc_seen *at = &c->seen[i];
        if (at->tid == tid) {
            to = at;
            break;
        }
        if (at->order < to->order)
            to = at;
    }
    int again = to->tid == tid && to->id == e->id && to->number == e->number && to->heap == e->heap;
    *to = now;
    return again;
}

int sxs_gc_take(struct sxs_gc_collections *c, const struct sxs_gc_event *e, uint64_t now_ns,
                uint32_t tid)
{
    int had_room;
    pthread_mutex_lock(&c->lock);
    had_room = is_again(c, e, tid) || take_locked(c, e, now_ns, tid);
    pthread_mutex_unlock(&c->lock);
    return had_room;
}
