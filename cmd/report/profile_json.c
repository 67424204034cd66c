/* SPDX-License-Identifier: MIT */
#include "cmd/report/profile_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output/json_values.h"
#include "cmd/output/must.h"
#include "cmd/output/names_of_values.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"

static json_t *process_json(const struct sxs_model_process *p)
{
    const struct sxs_samples_header *h = &p->head;
    json_t                          *o = json_object();
    int                              err = 0;
    err |= sxs_json_set_number(o, "pid", p->pid);
    err |= sxs_json_set_text(o, "command", h->command);
    err |= sxs_json_set_text(o, "mode", h->mode == SXS_MODE_WALL ? "wall" : "cpu");
    err |= sxs_json_set_text(o, "clock", sxs_sample_clock_text(h->clock));
    err |= sxs_json_set_number(o, "asked_hz", h->asked_hz);
    err |= sxs_json_set_number(o, "samples_recorded",
                               atomic_load_explicit(&h->n_samples, memory_order_relaxed));
    err |= sxs_json_set_number(o, "samples_dropped",
                               atomic_load_explicit(&h->n_dropped, memory_order_relaxed));
    err |= sxs_json_set_number(o, "threads_not_sampled",
                               atomic_load_explicit(&h->n_unlisted, memory_order_relaxed));
    err |= sxs_json_set_number(o, "short_threads_without_sample",
                               atomic_load_explicit(&h->n_short_threads, memory_order_relaxed));
    err |= sxs_json_set_number(o, "short_threads_cpu_ns",
                               atomic_load_explicit(&h->short_cpu_ns, memory_order_relaxed));
    err |= sxs_json_set_number(o, "threads_with_unsampled_time",
                               atomic_load_explicit(&h->n_unsampled, memory_order_relaxed));
    err |= sxs_json_set_number(o, "unsampled_ns",
                               atomic_load_explicit(&h->unsampled_ns, memory_order_relaxed));
    err |= sxs_json_set_number(o, "threads_without_clock",
                               atomic_load_explicit(&h->n_without_clock, memory_order_relaxed));
    err |= sxs_json_set_number(o, "signals_refused",
                               atomic_load_explicit(&h->n_signals_refused, memory_order_relaxed));
    return sxs_json_whole(o, err);
}

/* Sets KEY_UNIT, for example "self_bytes". */
static int set_weight(json_t *o, const struct sxs_model *m, const char *key, uint64_t v)
{
    char whole[64];
    snprintf(whole, sizeof(whole), "%s_%s", key, m->unit == SXS_UNIT_BYTES ? "bytes" : "ns");
    return sxs_json_set_number(o, whole, v);
}

/* Sets KEY_COUNTED, for example "self_objects". */
static int set_count(json_t *o, const struct sxs_model *m, const char *key, uint64_t v)
{
    char whole[64];
    snprintf(whole, sizeof(whole), "%s_%s", key, sxs_data_kind(m->data)->many);
    return sxs_json_set_number(o, whole, v);
}

/* How walks ended, and how often. */
static json_t *ends_json(const struct sxs_model *m)
{
    static const char *const texts[] = {
#define X(name, text) text,
        SXS_SAMPLE_ENDS(X)
#undef X
    };
    json_t *rows = json_array();
    int     err = 0;
    for (size_t i = 0; i < SXS_N_SAMPLE_ENDS && !err; i++) {
        if (!m->ends[i])
            continue;
        json_t *row = json_object();
        err = sxs_json_set_text(row, "end", texts[i]) |
              sxs_json_set_number(row, "count", m->ends[i]) | json_array_append_new(rows, row);
    }
    return sxs_json_whole(rows, err);
}

/* What only samples have. */
static int set_sampled(json_t *o, const struct sxs_model *m)
{
    json_t *processes = json_array();
    int     err = json_object_set_new(o, "processes", processes);
    for (size_t i = 0; i < m->n_processes && !err; i++)
        err = json_array_append_new(processes, process_json(&m->processes[i]));
    err |= sxs_json_set_number(o, "waiting_samples", m->waiting);
    err |= sxs_json_set_number(o, "waiting_ns", m->waiting_ns);
    err |= sxs_json_set_number(o, "native_ns", m->native_ns);
    err |= sxs_json_set_number(o, "gc_ns", m->gc_ns);
    err |= sxs_json_set_number(o, "jit_ns", m->jit_ns);
    return err | sxs_json_set_number(o, "sxsprof_ns", m->own_ns);
}

static json_t *sums_json(const struct sxs_model *m)
{
    const struct sxs_data_kind *kind = sxs_data_kind(m->data);
    json_t                     *o = json_object();
    uint64_t                    without = 0;
    int                         err = sxs_json_set_text(o, "data", kind->name);
    for (size_t i = 0; i < m->n_nodes; i++)
        without += m->nodes[i].parent == SXS_NO_NODE ? m->nodes[i].self_ns : 0;
    err |= set_count(o, m, "total", m->total);
    err |= set_weight(o, m, "total", m->total_ns);
    err |= set_weight(o, m, "without_stack", without);
    err |= set_count(o, m, "filtered_out", m->filtered_out);
    err |= set_count(o, m, "merged_into_callers", m->merged);
    err |= m->costs ? set_count(o, m, "dropped", m->costs->dropped) : set_sampled(o, m);
    err |= json_object_set_new(o, "ends", ends_json(m));
    return sxs_json_whole(o, err);
}

static const char *frame_kind(const struct sxs_model_frame *f)
{
    return f->flags & SXS_FRAME_WAIT   ? "wait"
           : f->flags & SXS_FRAME_TYPE ? "type"
           : f->flags & SXS_FRAME_OWN  ? "sxsprof"
           : f->runtime                ? "managed"
                                       : "native";
}

/* The samples of a function's own code by tier: {"tier 1": 400}. */
static json_t *tiers_json(const struct sxs_model_frame *f)
{
    json_t *rows = json_array();
    int     err = 0;
    for (unsigned t = 0; t < 8 && f->runtime && !err; t++) {
        if (!f->tier_self[t])
            continue;
        json_t *row = json_object();
        err = sxs_json_set_text(row, "tier", sxs_tier_text(t)) |
              sxs_json_set_number(row, "self_samples", f->tier_self[t]) |
              json_array_append_new(rows, row);
    }
    return sxs_json_whole(rows, err);
}

static json_t *function_json(const struct sxs_model *m, uint32_t frame)
{
    static char                     name[70000];
    const struct sxs_model_frame   *f = &m->frames[frame];
    const struct sxs_model_runtime *r = f->runtime ? &m->runtimes[f->runtime - 1] : NULL;
    json_t                         *o = json_object();
    int                             err = 0;
    err |=
        sxs_json_set_text(o, "name", sxs_frame_text(m, frame, SXS_STYLE_FULL, name, sizeof(name)));
    err |= sxs_json_set_text(o, "kind", frame_kind(f));
    err |=
        sxs_json_set_text(o, "file", f->flags & SXS_FRAME_TYPE ? "" : sxs_model_text(m, f->file));
    err |= sxs_json_set_text(o, "source", sxs_model_text(m, f->source));
    err |= sxs_json_set_number(o, "line", f->line);
    err |= sxs_json_set_number(o, "runtime", r ? r->number : 0);
    err |= sxs_json_set_text(o, "version", r ? sxs_model_text(m, r->version) : "");
    if (!m->costs)
        err |= json_object_set_new(o, "tiers", tiers_json(f));
    err |= set_count(o, m, "self", f->self);
    err |= set_weight(o, m, "self", f->self_ns);
    err |= set_count(o, m, "total", f->total);
    err |= set_weight(o, m, "total", f->total_ns);
    return sxs_json_whole(o, err);
}

static json_t *thread_json(const struct sxs_model *m, const struct sxs_model_thread *t)
{
    json_t *o = json_object();
    int     err = 0;
    err |= sxs_json_set_number(o, "pid", m->processes[t->process].pid);
    err |= sxs_json_set_number(o, "tid", t->tid);
    err |= sxs_json_set_text(o, "name", sxs_model_text(m, t->name));
    err |= set_count(o, m, "total", t->samples);
    err |= set_weight(o, m, "total", t->weight_ns);
    if (m->costs)
        return sxs_json_whole(o, err);
    err |= sxs_json_set_number(o, "waiting_samples", t->waiting);
    err |= sxs_json_set_number(o, "waiting_ns", t->waiting_ns);
    err |= sxs_json_set_number(o, "unsampled_ns", t->unsampled_ns);
    return sxs_json_whole(o, err);
}

/* Writes a stack as one line: there may be a million of them, each with a thousand frames. */
static void put_stack(FILE *to, const struct sxs_model *m, uint32_t node, uint32_t *frames)
{
    const struct sxs_model_node *n = &m->nodes[node];
    size_t                       len = sxs_model_stack(m, node, frames);
    fprintf(to, "{\"thread_index\": %" PRIu32 ", \"frames\": [", n->thread);
    for (size_t i = 0; i < len; i++)
        fprintf(to, i ? ",%" PRIu32 : "%" PRIu32, frames[i]);
    fprintf(to, "], \"self_%s\": %" PRIu64 ", \"self_%s\": %" PRIu64 "}",
            sxs_data_kind(m->data)->many, n->self < INT64_MAX ? n->self : INT64_MAX,
            m->unit == SXS_UNIT_BYTES ? "bytes" : "ns",
            n->self_ns < INT64_MAX ? n->self_ns : INT64_MAX);
}

static int put_stacks(struct sxs_json_stream *to, const struct sxs_model *m)
{
    uint32_t *frames = sxs_must_zeroed(SXS_MAX_STACK, sizeof(*frames));
    int       err = sxs_json_stream_array(to, "profile_stacks");
    for (uint32_t i = 0; i < m->n_nodes && !err; i++) {
        if (!m->nodes[i].self && !m->nodes[i].self_ns)
            continue;
        put_stack(sxs_json_stream_text_row(to), m, i, frames);
        err = ferror(to->to);
    }
    free(frames);
    return err ? err : sxs_json_stream_end(to);
}

int sxs_profile_json(struct sxs_json_stream *to, const struct sxs_model *m)
{
    json_t *sums = json_object();
    int     err = json_object_set_new(sums, "profile", sums_json(m));
    if (!err)
        err = sxs_json_stream_object(to, sums);
    json_decref(sums);
    if (!err)
        err = sxs_json_stream_array(to, "profile_functions");
    for (uint32_t i = 0; i < m->n_frames && !err; i++)
        err = sxs_json_stream_row(to, function_json(m, i));
    if (!err)
        err = sxs_json_stream_end(to) || sxs_json_stream_array(to, "profile_threads");
    for (size_t i = 0; i < m->n_threads && !err; i++)
        err = sxs_json_stream_row(to, thread_json(m, &m->threads[i]));
    if (!err)
        err = sxs_json_stream_end(to) || put_stacks(to, m);
    return err ? -1 : 0;
}
