/* SPDX-License-Identifier: MIT */
#include "cmd/instrument/instrument.h"
#include "cmd/output/json_stream.h"
#include "cmd/output/json_values.h"
#include "cmd/output/processes.h"

static json_t *method_json(const struct sxs_instrument_process *p, const struct sxs_instrumented *s)
{
    json_t *o = json_object();
    int     err = sxs_json_set_number(o, "runtime", s->runtime);
    err |= sxs_json_set_text(o, "version", sxs_process_version(p->process, s->runtime));
    err |= sxs_json_set_number(o, "pid", p->process->pid);
    err |= sxs_json_set_text(o, "assembly", s->assembly);
    err |= sxs_json_set_text(o, "name", s->name);
    if (s->label[0])
        err |= sxs_json_set_text(o, "label", s->label);
    err |= sxs_json_set_number(o, "token", s->token);
    err |= sxs_json_set_text(o, "state", sxs_instrumented_state_text(s->state));
    err |= json_object_set_new(o, "compiled", json_boolean(s->compiled));
    err |= sxs_json_set_text(o, "rules", s->rules);
    if (s->reason[0])
        err |= sxs_json_set_text(o, "reason", s->reason);
    if (s->hr)
        err |= sxs_json_set_number(o, "hr", s->hr);
    err |= sxs_json_set_number(o, "changes", s->n_changes);
    err |= sxs_json_set_number(o, "calls", s->calls);
    err |= sxs_json_set_number(o, "calls_ended", s->ended);
    err |= sxs_json_set_number(o, "calls_threw", s->threw);
    err |= sxs_json_set_number(o, "total_ns", s->total_ns);
    err |= sxs_json_set_number(o, "mean_ns", s->ended ? s->sum_ns / s->ended : 0);
    err |= sxs_json_set_number(o, "calls_traced", s->traced);
    err |= sxs_json_set_number(o, "swallowed", s->swallowed);
    return sxs_json_whole(o, err);
}

static json_t *spent_json(const struct sxs_instrument_process *p)
{
    static const char *const names[] = {
#define X(name, text) text,
        SXS_SPENT_KINDS(X)
#undef X
    };
    json_t *o = json_object();
    int     err = sxs_json_set_number(o, "pid", p->process->pid);
    for (int i = 0; i < SXS_N_SPENT; i++) {
        const struct sxs_instrument_spent *s = &p->data->head.spent[i];
        json_t                            *one = json_object();
        err |= sxs_json_set_number(one, "count", s->n);
        err |= sxs_json_set_number(one, "total_ns", s->ns);
        err |= sxs_json_set_number(one, "longest_ns", s->longest_ns);
        err |= json_object_set_new(o, names[i], one);
    }
    return sxs_json_whole(o, err);
}

static json_t *rule_json(const struct sxs_instrument_process *p,
                         const struct sxs_instrumented_rule  *r)
{
    json_t *o = json_object();
    int     err = sxs_json_set_number(o, "pid", p->process->pid);
    err |= sxs_json_set_text(o, "name", r->name);
    err |= sxs_json_set_text(o, "file", r->file);
    err |= sxs_json_set_number(o, "line", r->line);
    err |= json_object_set_new(o, "matched", json_boolean(r->matched));
    err |= sxs_json_set_number(o, "without_il", r->without_il);
    err |= sxs_json_set_text(o, "text", r->text);
    return sxs_json_whole(o, err);
}

/* Writes the rules that are still in force. */
static int put_rules(struct sxs_json_stream *to, const struct sxs_instrument_process *p)
{
    int err = 0;
    for (size_t i = 0; i < p->data->n_rules && !err; i++)
        if (!p->data->rules[i].gone)
            err = sxs_json_stream_row(to, rule_json(p, &p->data->rules[i]));
    return err;
}

static json_t *text_or_null(const char *s)
{
    return s ? sxs_json_text(s) : json_null();
}

/* A traced call. The keys are those of calls with values (cmd/table_json.c), and more. */
static json_t *trace_entry_json(const struct sxs_instrument_process *p,
                                const struct sxs_traced_call        *c)
{
    const struct sxs_instrument_data *d = p->data;
    const struct sxs_instrumented    *s = sxs_instrument_find(d, c->method);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "pid",
        sxs_json_number(p->process->pid), "tid", sxs_json_number(c->tid), "thread",
        sxs_json_text(sxs_instrument_thread(d, c)), "runtime", sxs_json_number(s ? s->runtime : 0),
        "name", sxs_json_text(s ? s->name : "?"), "label",
        text_or_null(s && s->label[0] ? s->label : NULL), "depth", sxs_json_number(c->depth),
        "begin_ns", sxs_json_number(sxs_instrument_ns(d, c->started_tick)), "duration_ns",
        c->ended ? sxs_json_number(sxs_instrument_duration(d, c->ended_tick - c->started_tick))
                 : json_null(),
        "arguments", text_or_null(c->arguments), "result", text_or_null(c->result), "after",
        text_or_null(c->after), "exception", text_or_null(c->thrown), "unwound", c->threw);
}

static int add_trace_entries(json_t *top, const struct sxs_instrument_process *p, size_t limit)
{
    json_t *rows = json_object_get(top, "values");
    int     err = 0;
    if (!p->data->traced.n_calls)
        return 0;
    if (!rows) {
        rows = json_array();
        err = json_object_set_new(top, "values", rows);
    }
    for (size_t i = 0; i < p->data->traced.n_calls && i < limit && !err; i++)
        err = json_array_append_new(rows, trace_entry_json(p, &p->data->traced.calls[i]));
    return err;
}

static json_t *helper_json(const struct sxs_instrument_process *p,
                           const struct sxs_instrument_called *h)
{
    return json_pack("{s:o, s:o, s:o, s:b, s:o}", "pid", sxs_json_number(p->process->pid), "runtime",
                     sxs_json_number(h->runtime), "name", sxs_json_text(h->text), "failed",
                     h->failed, "swallowed", sxs_json_number(h->threw));
}

static int put_methods(struct sxs_json_stream *to, const struct sxs_instrument_process *p)
{
    int err = 0;
    for (size_t i = 0; i < p->data->n_methods && !err; i++)
        err = sxs_json_stream_row(to, method_json(p, &p->data->methods[i]));
    return err;
}

static int put_helpers(struct sxs_json_stream *to, const struct sxs_instrument_process *p)
{
    int err = 0;
    for (size_t i = 0; i < p->data->n_helpers && !err; i++)
        err = sxs_json_stream_row(to, helper_json(p, &p->data->helpers[i]));
    return err;
}

static int put_spent(struct sxs_json_stream *to, const struct sxs_instrument_process *p)
{
    return sxs_json_stream_row(to, spent_json(p));
}

/* Writes a list of all processes. */
static int put_list(struct sxs_json_stream *to, const struct sxs_instrument_report *r, const char *key,
                    int (*put)(struct sxs_json_stream *to, const struct sxs_instrument_process *p))
{
    int err = sxs_json_stream_array(to, key);
    for (size_t i = 0; i < r->n && !err; i++)
        err = put(to, &r->processes[i]);
    return err ? err : sxs_json_stream_end(to);
}

int sxs_instrument_json(struct sxs_json_stream *to, const struct sxs_instrument_report *r)
{
    int err = put_list(to, r, "instrument", put_methods);
    if (!err)
        err = put_list(to, r, "helpers", put_helpers);
    if (!err)
        err = put_list(to, r, "instrument_spent", put_spent);
    return err ? err : put_list(to, r, "instrument_rules", put_rules);
}

int sxs_instrument_calls_json(json_t *top, const struct sxs_instrument_report *r,
                              size_t trace_entries)
{
    uint64_t lost = 0, calls = 0, left_out = 0;
    int      err = 0;
    for (size_t i = 0; i < r->n && !err; i++) {
        lost += r->processes[i].data->traced.head.lost;
        left_out += r->processes[i].data->traced.head.left_out;
        calls += r->processes[i].data->traced.n_calls;
        err = add_trace_entries(top, &r->processes[i], trace_entries);
    }
    err |= sxs_json_set_number(top, "traced_calls", calls);
    err |= sxs_json_set_number(top, "traced_left_out", left_out);
    return err | sxs_json_set_number(top, "traced_lost", lost);
}
