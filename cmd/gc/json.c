/* SPDX-License-Identifier: MIT */
#include "cmd/gc/gc.h"
#include "cmd/output/json_stream.h"
#include "cmd/output/json_values.h"
#include "cmd/output/processes.h"

bool sxs_gc_recorded(const struct sxs_events_report *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->processes[i].data->head.tools & SXS_EVENTS_OF_COLLECTIONS)
            return true;
    return false;
}

uint64_t sxs_gc_zero_ns(const struct sxs_events_report *r)
{
    uint64_t zero = UINT64_MAX;
    for (size_t i = 0; i < r->n; i++)
        if (r->processes[i].data->head.started_ns < zero)
            zero = r->processes[i].data->head.started_ns;
    return r->n ? zero : 0;
}

static json_t *pauses_json(const struct sxs_events_collection *c)
{
    json_t *rows = json_array();
    int     err = 0;
    for (unsigned i = 0; i < c->n_pauses && i < SXS_GC_PAUSES && !err; i++) {
        json_t *o = json_object();
        err = sxs_json_set_number(o, "time_ns", c->pauses[i].time_ns) |
              sxs_json_set_number(o, "suspension_ns", c->pauses[i].suspension_ns) |
              sxs_json_set_number(o, "pause_ns", c->pauses[i].duration_ns) |
              json_array_append_new(rows, o);
    }
    return sxs_json_whole(rows, err);
}

static json_t *generations_json(const struct sxs_events_collection *c)
{
    static const char *const names[] = {"0", "1", "2", "large", "pinned"};
    json_t                  *rows = json_array();
    int                      err = 0;
    for (unsigned i = 0; i < SXS_GC_GENERATIONS && !err; i++) {
        json_t *o = json_object();
        err = sxs_json_set_text(o, "name", names[i]);
        if (c->known & SXS_GC_KNOWS_HEAP)
            err |= sxs_json_set_number(o, "size_bytes", c->generations[i].size) |
                   sxs_json_set_number(o, "promoted_bytes", c->generations[i].promoted);
        if (c->known & SXS_GC_KNOWS_DETAIL)
            err |= sxs_json_set_number(o, "before_bytes", c->generations[i].before) |
                   sxs_json_set_number(o, "fragmentation_before_bytes",
                                       c->generations[i].free_before) |
                   sxs_json_set_number(o, "fragmentation_bytes", c->generations[i].fragmentation) |
                   sxs_json_set_number(o, "survived_bytes", c->generations[i].survived) |
                   sxs_json_set_number(o, "pinned_bytes", c->generations[i].pinned) |
                   sxs_json_set_number(o, "freed_bytes", c->generations[i].freed);
        err |= json_array_append_new(rows, o);
    }
    return sxs_json_whole(rows, err);
}

static int set_heap(json_t *o, const struct sxs_events_collection *c)
{
    uint64_t size = 0, promoted = 0, freed = 0, fragmentation = 0;
    int      err = 0;
    for (unsigned i = 0; i < SXS_GC_GENERATIONS; i++) {
        size += c->generations[i].size;
        promoted += c->generations[i].promoted;
        freed += c->generations[i].freed;
        fragmentation += c->generations[i].fragmentation;
    }
    if (c->known & SXS_GC_KNOWS_HEAP)
        err = sxs_json_set_number(o, "heap_bytes", size) |
              sxs_json_set_number(o, "promoted_bytes", promoted) |
              sxs_json_set_number(o, "pinned_objects", c->n_pinned) |
              sxs_json_set_number(o, "handles", c->n_handles) |
              sxs_json_set_number(o, "sync_blocks", c->sync_blocks) |
              sxs_json_set_number(o, "finalizable_objects", c->n_finalizable) |
              sxs_json_set_number(o, "finalizable_bytes", c->finalizable);
    if (c->known & SXS_GC_KNOWS_DETAIL)
        err |= sxs_json_set_number(o, "freed_bytes", freed) |
               sxs_json_set_number(o, "fragmentation_bytes", fragmentation);
    if (c->known & SXS_GC_KNOWS_GLOBAL)
        err |=
            sxs_json_set_number(o, "heaps", c->heaps) |
            json_object_set_new(o, "concurrent", json_boolean(c->mechanisms & SXS_GC_CONCURRENT)) |
            json_object_set_new(o, "compacting", json_boolean(c->mechanisms & SXS_GC_COMPACTING));
    return err;
}

static json_t *collection_json(const struct sxs_events_process    *p,
                               const struct sxs_events_collection *c, uint64_t zero_ns)
{
    json_t *o = json_object();
    int     err = sxs_json_set_number(o, "runtime", c->runtime);
    err |= sxs_json_set_text(o, "version", sxs_process_version(p->process, c->runtime));
    err |= sxs_json_set_number(o, "pid", p->process->pid);
    err |= sxs_json_set_number(o, "number", c->number);
    if (c->generation != SXS_GC_UNKNOWN)
        err |= sxs_json_set_number(o, "generation", c->generation);
    err |= sxs_json_set_text(o, "reason", sxs_gc_reason_text(c->reason));
    err |= sxs_json_set_text(o, "type", sxs_gc_type_text(c->type));
    err |= sxs_json_set_number(o, "time_ns", c->time_ns);
    if (c->time_ns >= zero_ns)
        err |= sxs_json_set_number(o, "at_ns", c->time_ns - zero_ns);
    if (c->end_ns >= c->time_ns)
        err |= sxs_json_set_number(o, "duration_ns", c->end_ns - c->time_ns);
    err |= sxs_json_set_number(o, "pause_ns", c->pause_ns);
    err |= sxs_json_set_number(o, "suspension_ns", c->suspension_ns);
    err |= json_object_set_new(o, "pauses", pauses_json(c));
    err |= sxs_json_set_number(o, "tid", c->tid);
    err |= sxs_json_set_text(o, "thread", sxs_events_thread_name(p->data, c->tid, c->time_ns));
    if (c->trigger_tid)
        err |= sxs_json_set_number(o, "trigger_tid", c->trigger_tid) |
               sxs_json_set_text(o, "trigger_thread",
                                 sxs_events_thread_name(p->data, c->trigger_tid, c->time_ns));
    err |= set_heap(o, c);
    err |= sxs_json_set_number(o, "finalized_objects", c->n_finalized);
    err |= sxs_json_set_number(o, "finalizers_ns", c->finalizers_ns);
    if (c->known & (SXS_GC_KNOWS_HEAP | SXS_GC_KNOWS_DETAIL))
        err |= json_object_set_new(o, "generations", generations_json(c));
    return sxs_json_whole(o, err);
}

int sxs_gc_json(struct sxs_json_stream *to, const struct sxs_events_report *r)
{
    if (!sxs_gc_recorded(r))
        return 0;
    uint64_t zero = sxs_gc_zero_ns(r);
    int      err = sxs_json_stream_array(to, "collections");
    for (size_t i = 0; i < r->n; i++) {
        const struct sxs_events_process *p = &r->processes[i];
        for (size_t k = 0; k < p->data->n_collections && !err; k++)
            err = sxs_json_stream_row(to, collection_json(p, &p->data->collections[k], zero));
    }
    return err ? err : sxs_json_stream_end(to);
}
