/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include "report/calls/tree.h"
#include "report/processes.h"
#include "report/text.h"

#include <jansson.h>

/* JSON numbers are signed 64-bit here; a counter beyond that is garbage, and stays a number. */
static json_t *number(uint64_t v)
{
    return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

/* Text may come from a garbled file; jansson takes valid UTF-8 only. Each byte can become three. */
static json_t *text(const char *s)
{
    char clean[3 * 4096 + 1];
    sxs_text_clean(s, clean, sizeof(clean));
    return json_string(clean);
}

static json_t *runtime_json(const struct sxs_session_process *p,
                            const struct sxs_session_runtime *r)
{
    json_t *o = json_object();
    int     err = 0;
    err |= json_object_set_new(o, "number", number(r->number));
    err |= json_object_set_new(o, "version", text(r->version));
    err |= json_object_set_new(o, "path", text(r->path));
    err |= json_object_set_new(o, "state", text(sxs_state_text((uint32_t)r->state)));
    err |= json_object_set_new(o, "modules", number(r->modules));
    err |= json_object_set_new(o, "methods", number(r->methods));
    err |= json_object_set_new(o, "threads", number(r->threads));
    err |= json_object_set_new(o, "gcs", number(r->gcs));
    err |= json_object_set_new(o, "exceptions", number(r->exceptions));
    err |= json_object_set_new(o, "signals", number(r->signals));
    err |= json_object_set_new(o, "pid", number(p->pid));
    err |= json_object_set_new(o, "process", text(p->command));
    if (err) {
        json_decref(o);
        return NULL;
    }
    return o;
}

/* How many calls took about so long. */
static json_t *histogram_json(const struct sxs_calls_process *p, const struct sxs_calls_fn *fn)
{
    json_t *rows = json_array();
    for (unsigned i = 0; fn->buckets && i < SXS_CALLS_BUCKETS; i++)
        if (fn->buckets[i] &&
            json_array_append_new(rows, json_pack("{s:o, s:o}", "ns",
                                                  number(sxs_calls_bucket_ns(p->calls, i)), "calls",
                                                  number(fn->buckets[i]))) != 0)
            break;
    return rows;
}

static json_t *function_json(const struct sxs_calls_process *p, const struct sxs_calls_fn *fn)
{
    char    name[4096];
    json_t *o = json_object();
    int     err = 0;
    err |= json_object_set_new(o, "runtime", number(fn->runtime));
    err |= json_object_set_new(o, "version", text(sxs_process_version(p->process, fn->runtime)));
    err |= json_object_set_new(o, "name", text(sxs_calls_plain_name(fn->name, name, sizeof(name))));
    err |= json_object_set_new(o, "signature", text(fn->name));
    err |= json_object_set_new(o, "assembly", text(fn->file));
    err |= json_object_set_new(o, "calls", number(fn->calls));
    err |= json_object_set_new(o, "self_ns", number(fn->self_ns));
    err |= json_object_set_new(o, "total_ns", number(fn->total_ns));
    err |= json_object_set_new(o, "min_ns", number(fn->min_ns));
    err |= json_object_set_new(o, "median_ns", number(sxs_calls_quantile(p->calls, fn, 0.5)));
    err |= json_object_set_new(o, "p99_ns", number(sxs_calls_quantile(p->calls, fn, 0.99)));
    err |= json_object_set_new(o, "max_ns", number(fn->max_ns));
    err |= json_object_set_new(o, "histogram", histogram_json(p, fn));
    err |= json_object_set_new(o, "unwound", number(fn->unwound));
    err |= json_object_set_new(o, "backed_off", json_boolean(fn->backed_off));
    err |= json_object_set_new(o, "pid", number(p->process->pid));
    if (err) {
        json_decref(o);
        return NULL;
    }
    return o;
}

static int add_functions(json_t *top, const struct sxs_calls_report *calls)
{
    json_t *rows = json_array();
    int     err = json_object_set_new(top, "functions", rows);
    for (size_t p = 0; p < calls->n && !err; p++)
        for (size_t i = 0; i < calls->processes[p].calls->n_fns && !err; i++)
            err = json_array_append_new(rows, function_json(&calls->processes[p],
                                                            &calls->processes[p].calls->fns[i]));
    return err;
}

/* @first: where the process's functions begin in "functions"; @base: where its nodes do. */
static int add_nodes(json_t *rows, const struct sxs_calls_tree *t, size_t first, size_t base)
{
    int err = 0;
    for (size_t i = t->n_roots; i < t->n && !err; i++) {
        const struct sxs_calls_tree_node *n = &t->nodes[i];
        json_t *parent = n->parent < t->n_roots
                             ? json_null() : number(base + n->parent - t->n_roots);
        err = json_array_append_new(
            rows, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "pid", number(t->p->process->pid),
                            "parent", parent, "function", number(first + n->fn), "calls",
                            number(n->calls), "self_ns", number(n->self_ns), "total_ns",
                            number(n->total_ns)));
    }
    return err;
}

static int add_tree(json_t *top, const struct sxs_calls_report *calls)
{
    static const struct sxs_calls_view all;
    json_t                            *rows = json_array();
    size_t                             first = 0;
    int                                err = json_object_set_new(top, "calltree", rows);
    for (size_t p = 0; p < calls->n && !err; p++) {
        struct sxs_calls_tree t = {0};
        if (calls->processes[p].calls->head.mode == SXS_CALLS_TREE) {
            err = sxs_calls_tree_build(&calls->processes[p], &all, &t);
            if (!err)
                err = add_nodes(rows, &t, first, json_array_size(rows));
        }
        first += calls->processes[p].calls->n_fns;
        sxs_calls_tree_free(&t);
    }
    return err;
}

int sxs_table_json(FILE *to, const struct sxs_session *s, const struct sxs_calls_report *calls,
                   const struct sxs_events_report *events)
{
    json_t *top = json_object(), *rows = json_array();
    int     err = json_object_set_new(top, "runtimes", rows);
    for (size_t p = 0; p < s->n_processes && !err; p++)
        for (size_t r = 0; r < s->processes[p].n_runtimes && !err; r++)
            err = json_array_append_new(
                rows, runtime_json(&s->processes[p], &s->processes[p].runtimes[r]));
    if (!err && calls->n)
        err = add_functions(top, calls);
    if (!err && calls->n)
        err = add_tree(top, calls);
    if (!err && events->n)
        err = sxs_events_json(top, events);
    if (!err)
        err = json_dumpf(top, to, JSON_INDENT(2));
    fputc('\n', to);
    json_decref(top);
    return err ? -1 : 0;
}
