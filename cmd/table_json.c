/* SPDX-License-Identifier: MIT */
#include "base/mask.h"
#include "cmd/gc/gc.h"
#include "cmd/table.h"

#include "cmd/calls/call_trace.h"
#include "cmd/calls/coverage_gaps.h"
#include "cmd/calls/tree.h"
#include "cmd/output/json_document.h"
#include "cmd/output/json_stream.h"
#include "cmd/output/json_values.h"
#include "cmd/output/missing.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/segments.h"
#include "cmd/report/profile_json.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *runtime_json(const struct sxs_session_process *p,
                            const struct sxs_session_runtime *r)
{
    json_t *o = json_object();
    int     err = 0;
    err |= sxs_json_set_number(o, "runtime", r->number);
    err |= sxs_json_set_text(o, "version", r->version);
    err |= sxs_json_set_text(o, "path", r->path);
    err |= sxs_json_set_text(o, "state", sxs_state_text((uint32_t)r->state));
    err |= sxs_json_set_number(o, "modules", r->modules);
    err |= sxs_json_set_number(o, "methods", r->methods);
    err |= sxs_json_set_number(o, "threads_created", r->threads);
    err |= sxs_json_set_number(o, "gcs", r->gcs);
    err |= sxs_json_set_number(o, "exceptions_thrown", r->exceptions);
    err |= sxs_json_set_number(o, "signals", r->signals);
    err |= sxs_json_set_number(o, "pid", p->pid);
    err |= sxs_json_set_text(o, "command", p->command);
    err |= sxs_json_set_text(o, "mask", sxs_mask_name((enum sxs_mask)p->mask));
    return sxs_json_whole(o, err);
}

/* Returns the histogram of the durations of a function's calls. */
static json_t *histogram_json(const struct sxs_calls_process       *p,
                              const struct sxs_calls_read_function *fn)
{
    json_t *rows = json_array();
    int     err = 0;
    for (unsigned i = 0; fn->buckets && i < SXS_CALLS_BUCKETS && !err; i++) {
        if (!fn->buckets[i])
            continue;
        json_t *row = json_object();
        err |= sxs_json_set_number(row, "duration_ns", sxs_calls_bucket_ns(p->calls, i));
        err |= sxs_json_set_number(row, "calls", fn->buckets[i]);
        err |= json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *function_json(const struct sxs_calls_process       *p,
                             const struct sxs_calls_read_function *fn)
{
    char    name[4096];
    json_t *o = json_object();
    int     err = 0;
    err |= sxs_json_set_number(o, "runtime", fn->runtime);
    err |= sxs_json_set_text(o, "version", sxs_process_version(p->process, fn->runtime));
    err |= sxs_json_set_text(o, "name", sxs_calls_plain_name(fn->name, name, sizeof(name)));
    err |= sxs_json_set_text(o, "signature", fn->name);
    err |= sxs_json_set_text(o, "assembly", fn->file);
    err |= sxs_json_set_number(o, "calls", fn->calls);
    err |= sxs_json_set_number(o, "self_ns", fn->self_ns);
    err |= sxs_json_set_number(o, "total_ns", fn->total_ns);
    err |= sxs_json_set_number(o, "min_ns", fn->min_ns);
    err |= sxs_json_set_number(o, "median_ns", sxs_calls_quantile(p->calls, fn, 0.5));
    err |= sxs_json_set_number(o, "p99_ns", sxs_calls_quantile(p->calls, fn, 0.99));
    err |= sxs_json_set_number(o, "max_ns", fn->max_ns);
    err |= json_object_set_new(o, "histogram", histogram_json(p, fn));
    err |= sxs_json_set_number(o, "calls_unwound", fn->unwound);
    err |= json_object_set_new(o, "backed_off", json_boolean(fn->backed_off));
    err |= json_object_set_new(o, "tail_calls",
                               json_pack("{s:I, s:I, s:I, s:I}", "left", (json_int_t)fn->tail_left,
                                         "called", (json_int_t)fn->tail_called, "end_not_seen",
                                         (json_int_t)fn->tail_late, "again",
                                         (json_int_t)fn->tail_looped));
    err |= sxs_json_set_number(o, "times_compiled", fn->compiled);
    err |= sxs_json_set_number(o, "pid", p->process->pid);
    return sxs_json_whole(o, err);
}

static int put_functions(struct sxs_json_stream *to, const struct sxs_calls_report *calls)
{
    int err = sxs_json_stream_array(to, "functions");
    for (size_t p = 0; p < calls->n && !err; p++)
        for (size_t i = 0; i < calls->processes[p].calls->n_fns && !err; i++)
            err = sxs_json_stream_row(
                to, function_json(&calls->processes[p], &calls->processes[p].calls->fns[i]));
    return err ? err : sxs_json_stream_end(to);
}

/* @first: index of the process's first function in "functions"; @base: index of its first node in
 * "calltree". */
static int put_nodes(struct sxs_json_stream *to, const struct sxs_calls_tree *t, size_t first,
                     size_t base)
{
    int err = 0;
    for (size_t i = t->n_roots; i < t->n && !err; i++) {
        const struct sxs_calls_tree_node *n = &t->nodes[i];
        json_t                           *parent =
            n->parent < t->n_roots ? json_null() : sxs_json_number(base + n->parent - t->n_roots);
        json_t *row = json_object();
        err |= sxs_json_set_number(row, "pid", t->p->process->pid);
        err |= json_object_set_new(row, "parent", parent);
        err |= sxs_json_set_number(row, "function", first + n->fn);
        err |= sxs_json_set_number(row, "calls", n->calls);
        err |= sxs_json_set_number(row, "self_ns", n->self_ns);
        err |= sxs_json_set_number(row, "total_ns", n->total_ns);
        err |= json_object_set_new(row, "awaits", json_boolean(n->awaits));
        err |= sxs_json_stream_row(to, sxs_json_whole(row, err));
    }
    return err;
}

static int put_tree(struct sxs_json_stream *to, const struct sxs_calls_report *calls)
{
    static const struct sxs_calls_view all;
    size_t                             first = 0, base = 0;
    int                                err = sxs_json_stream_array(to, "calltree");
    for (size_t p = 0; p < calls->n && !err; p++) {
        struct sxs_calls_tree t = {0};
        if (calls->processes[p].calls->head.mode == SXS_CALLS_TREE) {
            err = sxs_calls_tree_build(&calls->processes[p], &all, &t);
            if (!err)
                err = put_nodes(to, &t, first, base);
            base += err ? 0 : t.n - t.n_roots;
        }
        first += calls->processes[p].calls->n_fns;
        sxs_calls_tree_free(&t);
    }
    return err ? err : sxs_json_stream_end(to);
}

static json_t *text_or_null(const char *s)
{
    return s ? sxs_json_text(s) : json_null();
}

static json_t *trace_entry_json(const struct sxs_calls_process     *p,
                                const struct sxs_calls_trace_entry *s)
{
    const struct sxs_calls    *c = p->calls;
    const struct sxs_calls_read_function *fn = &c->fns[c->paths[s->path].fn];
    char                       name[4096];
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "pid",
        sxs_json_number(p->process->pid), "tid", sxs_json_number(c->threads[s->thread].tid),
        "thread", sxs_json_text(c->threads[s->thread].name), "runtime",
        sxs_json_number(fn->runtime), "name",
        sxs_json_text(sxs_calls_plain_name(fn->name, name, sizeof(name))), "depth",
        sxs_json_number(s->depth), "begin_ns", sxs_json_number(s->ns), "duration_ns",
        s->ended ? sxs_json_number(s->duration_ns) : json_null(), "arguments",
        text_or_null(s->arguments), "result", text_or_null(s->result), "unwound", s->unwound);
}

static int add_values(json_t *top, const struct sxs_calls_report *calls, size_t limit)
{
    static const struct sxs_calls_view all;
    json_t                            *rows = json_array();
    size_t                             all_processes = 0;
    int                                err = json_object_set_new(top, "values", rows);
    for (size_t p = 0; p < calls->n && !err; p++) {
        struct sxs_calls_trace_entry *trace_entries;
        size_t                        total,
            n = sxs_calls_trace_collect(&calls->processes[p], &all, limit, &trace_entries, &total);
        all_processes += total;
        for (size_t i = 0; i < n && !err; i++)
            err = json_array_append_new(rows,
                                        trace_entry_json(&calls->processes[p], &trace_entries[i]));
        free(trace_entries);
    }
    return err ? err : sxs_json_set_number(top, "single_calls", all_processes);
}

static void tell_of_cut(const json_t *top)
{
    json_int_t all = json_integer_value(json_object_get(top, "single_calls")) +
                     json_integer_value(json_object_get(top, "traced_calls"));
    size_t     n = json_array_size(json_object_get(top, "values"));
    if (n < (size_t)all)
        sxs_print_to(
            stderr,
            "sxsprof: \"values\" has the first %zu of %lld single calls; --single N has more\n", n,
            (long long)all);
}

/* What the library had to say in the processes, line by line. */
static json_t *log_json(const struct sxs_session *s)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < s->n_notes; i++)
        json_array_append_new(lines, sxs_json_text(s->notes[i]));
    return lines;
}

/* Names the parts that are left out because they cannot be chosen by thread, trace or kind of frame. */
static int add_left_out(json_t *top, const struct sxs_table_parts *parts)
{
    const struct {
        const char *name;
        bool        is_there;
    } all[] = {{"functions", parts->calls->n}, {"events", parts->events->n},
               {"instrument", parts->instrument->n}, {"costs", parts->costs->n},
               {"guests", parts->guests->n}, {"heap", parts->heap->n}};
    json_t *names = json_array();
    int     err = json_object_set_new(top, "left_out", names);
    for (size_t i = 0; i < ARRAY_LEN(all) && !err; i++)
        if (all[i].is_there)
            err = json_array_append_new(names, sxs_json_text(all[i].name));
    return err;
}

/* The parts besides the profile that are lists. */
static int put_lists(struct sxs_json_stream *to, const struct sxs_table_parts *parts)
{
    int err = 0;
    if (parts->calls->n)
        err = put_functions(to, parts->calls) || put_tree(to, parts->calls);
    if (!err && parts->events->n)
        err = sxs_events_json(to, parts->events) || sxs_gc_json(to, parts->events);
    if (!err && parts->instrument->n)
        err = sxs_instrument_json(to, parts->instrument);
    if (!err && parts->costs->n)
        err = sxs_costs_json(to, parts->costs, parts->runtime);
    return err;
}

/* The parts besides the profile that are objects. */
static int add_objects(json_t *top, const struct sxs_table_parts *parts)
{
    size_t limit = parts->trace_entries ? parts->trace_entries : SXS_JSON_TRACE_ENTRIES;
    int    err = 0;
    if (parts->calls->n)
        err = sxs_gaps_json(top, parts->calls) || add_values(top, parts->calls, limit);
    if (!err && parts->instrument->n)
        err = sxs_instrument_calls_json(top, parts->instrument, limit);
    if (!err && parts->guests->n)
        err = sxs_guests_json(top, parts->guests);
    if (!err && parts->heap->n)
        err = sxs_heap_newest_json(top, parts->heap);
    return err;
}

int sxs_table_json(FILE *to, const struct sxs_session *s, const struct sxs_table_parts *parts)
{
    json_t                *top = sxs_json_document_new(SXS_JSON_REPORT), *rows = json_array();
    int     err = json_object_set_new(top, "runtimes", rows);
    struct sxs_json_stream stream = {.to = to};
    for (size_t p = 0; p < s->n_processes && !err; p++)
        for (size_t r = 0; r < s->processes[p].n_runtimes && !err; r++)
            err = json_array_append_new(
                rows, runtime_json(&s->processes[p], &s->processes[p].runtimes[r]));
    if (!err && s->n_left_out)
        err = sxs_json_set_number(top, "processes_left_out", s->n_left_out);
    if (!err && s->n_notes)
        err = json_object_set_new(top, "log", log_json(s));
    if (!err && parts->missing->n)
        err = json_object_set_new(top, "missing", sxs_missing_json(parts->missing));
    if (!err && parts->segments->n)
        err = json_object_set_new(top, "segments", sxs_segments_json(parts->segments));
    if (!err && parts->chosen)
        err = add_left_out(top, parts);
    if (!err)
        err = sxs_json_stream_object(&stream, top);
    if (!err && parts->profile)
        err = sxs_profile_json(&stream, parts->profile);
    if (!err && !parts->chosen)
        err = put_lists(&stream, parts);
    json_object_clear(top);
    if (!err && !parts->chosen)
        err = add_objects(top, parts);
    if (!err && parts->traces->on)
        err = sxs_traces_json(top, parts->traces);
    if (!err)
        err = sxs_json_stream_object(&stream, top);
    sxs_json_stream_close(&stream);
    fputc('\n', to);
    tell_of_cut(top);
    json_decref(top);
    return err ? -1 : 0;
}
