/* SPDX-License-Identifier: MIT */
#include "report/instrument/instrument.h"
#include "report/json_values.h"
#include "report/processes.h"

static json_t *site_json(const struct sxs_instrument_process *p, const struct sxs_instrumented *s)
{
    json_t *o = json_object();
    int     err = sxs_json_set_number(o, "runtime", s->runtime);
    err |= sxs_json_set_text(o, "version", sxs_process_version(p->process, s->runtime));
    err |= sxs_json_set_number(o, "pid", p->process->pid);
    err |= sxs_json_set_text(o, "assembly", s->assembly);
    err |= sxs_json_set_text(o, "name", s->name);
    err |= sxs_json_set_number(o, "token", s->token);
    err |= sxs_json_set_text(o, "state", sxs_site_state_text(s->state));
    err |= sxs_json_set_text(o, "rules", s->rules);
    if (s->reason[0])
        err |= sxs_json_set_text(o, "reason", s->reason);
    if (s->hr)
        err |= sxs_json_set_number(o, "hr", s->hr);
    err |= sxs_json_set_number(o, "changes", s->n_changes);
    err |= sxs_json_set_number(o, "calls", s->calls);
    err |= sxs_json_set_number(o, "ended", s->ended);
    err |= sxs_json_set_number(o, "threw", s->threw);
    err |= sxs_json_set_number(o, "total_ns", s->total_ns);
    err |= sxs_json_set_number(o, "traced", s->traced);
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

/* Those in force. */
static int rules_json(json_t *top, const struct sxs_instrument_report *r)
{
    json_t *rows = json_array();
    int     err = 0;
    for (size_t i = 0; i < r->n && !err; i++)
        for (size_t s = 0; s < r->processes[i].data->n_rules && !err; s++)
            if (!r->processes[i].data->rules[s].gone)
                err = json_array_append_new(
                    rows, rule_json(&r->processes[i], &r->processes[i].data->rules[s]));
    if (err) {
        json_decref(rows);
        return -1;
    }
    return json_object_set_new(top, "instrument_rules", rows);
}

int sxs_instrument_json(json_t *top, const struct sxs_instrument_report *r)
{
    json_t *rows = json_array();
    int     err = 0;
    for (size_t i = 0; i < r->n && !err; i++)
        for (size_t s = 0; s < r->processes[i].data->n_sites && !err; s++)
            err = json_array_append_new(
                rows, site_json(&r->processes[i], &r->processes[i].data->sites[s]));
    if (err) {
        json_decref(rows);
        return -1;
    }
    return json_object_set_new(top, "instrument", rows) || rules_json(top, r) ? -1 : 0;
}
