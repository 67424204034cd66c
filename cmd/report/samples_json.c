/* SPDX-License-Identifier: MIT */
#include "cmd/report/samples_json.h"

#include <jansson.h>

#include "cmd/output/json_values.h"
#include "cmd/output/must.h"
#include "cmd/output/names_of_values.h"

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
    err |= sxs_json_set_number(o, "recorded",
                               atomic_load_explicit(&h->n_samples, memory_order_relaxed));
    err |= sxs_json_set_number(o, "dropped",
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

static json_t *sums_json(const struct sxs_model *m)
{
    json_t                  *o = json_object(), *processes = json_array(), *ends = json_object();
    int                      err = json_object_set_new(o, "processes", processes);
    static const char *const end_texts[] = {
#define X(name, text) text,
        SXS_SAMPLE_ENDS(X)
#undef X
    };
    uint64_t without = 0;
    for (size_t i = 0; i < m->n_nodes; i++)
        without += m->nodes[i].parent == SXS_NO_NODE ? m->nodes[i].self_ns : 0;
    for (size_t i = 0; i < m->n_processes && !err; i++)
        err = json_array_append_new(processes, process_json(&m->processes[i]));
    err |= sxs_json_set_number(o, "samples", m->total);
    err |= sxs_json_set_number(o, "total_ns", m->total_ns);
    err |= sxs_json_set_number(o, "waiting_samples", m->waiting);
    err |= sxs_json_set_number(o, "waiting_ns", m->waiting_ns);
    err |= sxs_json_set_number(o, "native_ns", m->native_ns);
    err |= sxs_json_set_number(o, "gc_ns", m->gc_ns);
    err |= sxs_json_set_number(o, "jit_ns", m->jit_ns);
    err |= sxs_json_set_number(o, "sxsprof_ns", m->own_ns);
    err |= sxs_json_set_number(o, "without_stack_ns", without);
    err |= sxs_json_set_number(o, "left_out", m->filtered_out);
    err |= sxs_json_set_number(o, "counted_at_callers", m->merged);
    err |= json_object_set_new(o, "ends", ends);
    for (size_t i = 0; i < SXS_N_SAMPLE_ENDS; i++)
        if (m->ends[i])
            err |= sxs_json_set_number(ends, end_texts[i], m->ends[i]);
    return sxs_json_whole(o, err);
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
    err |= sxs_json_set_text(o, "file", sxs_model_text(m, f->file));
    err |= sxs_json_set_text(o, "source", sxs_model_text(m, f->source));
    err |= sxs_json_set_number(o, "line", f->line);
    err |= sxs_json_set_number(o, "runtime", r ? r->number : 0);
    err |= sxs_json_set_text(o, "version", r ? sxs_model_text(m, r->version) : "");
    err |= sxs_json_set_number(o, "self_samples", f->self);
    err |= sxs_json_set_number(o, "self_ns", f->self_ns);
    err |= sxs_json_set_number(o, "total_samples", f->total);
    err |= sxs_json_set_number(o, "total_ns", f->total_ns);
    return sxs_json_whole(o, err);
}

static json_t *thread_json(const struct sxs_model *m, const struct sxs_model_thread *t)
{
    json_t *o = json_object();
    int     err = 0;
    err |= sxs_json_set_number(o, "pid", m->processes[t->process].pid);
    err |= sxs_json_set_number(o, "tid", t->tid);
    err |= sxs_json_set_text(o, "name", sxs_model_text(m, t->name));
    err |= sxs_json_set_number(o, "samples", t->samples);
    err |= sxs_json_set_number(o, "total_ns", t->weight_ns);
    err |= sxs_json_set_number(o, "waiting_samples", t->waiting);
    err |= sxs_json_set_number(o, "waiting_ns", t->waiting_ns);
    err |= sxs_json_set_number(o, "unsampled_ns", t->unsampled_ns);
    return sxs_json_whole(o, err);
}

/* @row: the index of each node in the list. */
static json_t *node_json(const struct sxs_model *m, const struct sxs_model_node *n,
                         const uint32_t *row)
{
    bool    root = m->nodes[n->parent].parent == SXS_NO_NODE;
    json_t *o = json_object();
    int     err = 0;
    err |= json_object_set_new(o, "parent", root ? json_null() : sxs_json_number(row[n->parent]));
    err |= sxs_json_set_number(o, "function", n->frame);
    err |= sxs_json_set_number(o, "thread", n->thread);
    err |= sxs_json_set_number(o, "self_samples", n->self);
    err |= sxs_json_set_number(o, "self_ns", n->self_ns);
    return sxs_json_whole(o, err);
}

static int put_tree(struct sxs_json_stream *to, const struct sxs_model *m)
{
    uint32_t *row = sxs_must_zeroed(m->n_nodes, sizeof(*row)), n = 0;
    int       err = sxs_json_stream_array(to, "sampletree");
    for (size_t i = 0; i < m->n_nodes && !err; i++)
        if (m->nodes[i].parent != SXS_NO_NODE) {
            row[i] = n++;
            err = sxs_json_stream_row(to, node_json(m, &m->nodes[i], row));
        }
    free(row);
    return err ? err : sxs_json_stream_end(to);
}

int sxs_samples_json(struct sxs_json_stream *to, const struct sxs_model *m)
{
    json_t *sums = json_object();
    int     err = json_object_set_new(sums, "samples", sums_json(m));
    if (!err)
        err = sxs_json_stream_object(to, sums);
    json_decref(sums);
    if (!err)
        err = sxs_json_stream_array(to, "sampled_functions");
    for (uint32_t i = 0; i < m->n_frames && !err; i++)
        err = sxs_json_stream_row(to, function_json(m, i));
    if (!err)
        err = sxs_json_stream_end(to) || sxs_json_stream_array(to, "sampled_threads");
    for (size_t i = 0; i < m->n_threads && !err; i++)
        err = sxs_json_stream_row(to, thread_json(m, &m->threads[i]));
    if (!err)
        err = sxs_json_stream_end(to) || put_tree(to, m);
    return err ? -1 : 0;
}
