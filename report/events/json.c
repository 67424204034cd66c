/* SPDX-License-Identifier: MIT */
#include "report/events/events.h"
#include "report/processes.h"
#include "report/text.h"

/* JSON numbers are signed 64-bit here; a count beyond that is garbage, and stays a number. */
static json_t *number(uint64_t v)
{
    return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

/* Text may come from a garbled file; jansson takes valid UTF-8 only. */
static json_t *text(const char *s)
{
    char clean[3 * 4096 + 1];
    sxs_text_clean(s, clean, sizeof(clean));
    return json_string(clean);
}

static int who(json_t *o, const struct sxs_events_process *p, uint32_t runtime)
{
    return json_object_set_new(o, "runtime", number(runtime)) |
           json_object_set_new(o, "version", text(sxs_process_version(p->process, runtime))) |
           json_object_set_new(o, "pid", number(p->process->pid));
}

static json_t *site_json(const struct sxs_events_process *p, const struct sxs_events_site *s)
{
    json_t *o = json_object();
    int     err = who(o, p, s->runtime);
    err |= json_object_set_new(o, "type", text(s->type));
    err |= json_object_set_new(o, "message", text(s->message));
    err |= json_object_set_new(o, "thrown", text(s->thrown));
    err |= json_object_set_new(o, "caught", text(s->caught));
    err |= json_object_set_new(o, "fate", text(sxs_fate_text(p->data, s->fate)));
    err |= json_object_set_new(o, "rethrown", json_boolean(s->rethrown));
    err |= json_object_set_new(o, "count", number(s->n));
    err |= json_object_set_new(o, "total_ns", number(s->total_ns));
    if (!err)
        return o;
    json_decref(o);
    return NULL;
}

/* One that was under way: a site of its own. */
static json_t *flight_json(const struct sxs_events_process *p,
                           const struct sxs_events_exception *v)
{
    const struct sxs_events_site s = {
        .type = v->type, .thrown = v->thrown, .caught = v->caught, .runtime = v->runtime,
        .fate = v->fate, .rethrown = v->rethrown, .n = 1, .message = v->message};
    return site_json(p, &s);
}

static json_t *span_json(const struct sxs_events_process *p, const struct sxs_events_span *s)
{
    json_t *o = json_object();
    int     err = who(o, p, s->runtime);
    err |= json_object_set_new(o, "kind", text(sxs_event_kind_text(s->kind)));
    err |= json_object_set_new(o, "time_ns", number(s->time_ns));
    err |= json_object_set_new(o, "duration_ns", number(s->duration_ns));
    err |= json_object_set_new(o, "tid", number(s->tid));
    if (s->text[0])
        err |= json_object_set_new(o, "name", text(s->text));
    if (s->failed)
        err |= json_object_set_new(o, "failed", json_true());
    switch (s->kind) {
    case SXS_KIND_GC:
        err |= json_object_set_new(o, "generation", number(s->a));
        err |= json_object_set_new(o, "induced", json_boolean(s->b));
        break;
    case SXS_KIND_SUSPENSION:
        err |= json_object_set_new(o, "reason", text(sxs_events_reason(s->a)));
        err |= json_object_set_new(o, "stopping_ns", number((uint64_t)s->b * 1000));
        break;
    case SXS_KIND_JIT:
        err |= json_object_set_new(o, "bytes", number(s->a));
        err |= json_object_set_new(o, "tier", text(sxs_events_tier(s->tier)));
        break;
    default: break;
    }
    if (!err)
        return o;
    json_decref(o);
    return NULL;
}

static int add_exceptions(json_t *rows, const struct sxs_events_process *p)
{
    int err = 0;
    for (size_t i = 0; i < p->data->n_exceptions && !err; i++)
        if (!p->data->exceptions[i].landed)
            err = json_array_append_new(rows, flight_json(p, &p->data->exceptions[i]));
    for (size_t i = 0; i < p->data->n_sites && !err; i++)
        err = json_array_append_new(rows, site_json(p, &p->data->sites[i]));
    return err;
}

static int add_spans(json_t *rows, const struct sxs_events_process *p)
{
    int err = 0;
    for (size_t i = 0; i < p->data->n_spans && !err; i++)
        err = json_array_append_new(rows, span_json(p, &p->data->spans[i]));
    return err;
}

int sxs_events_json(json_t *top, const struct sxs_events_report *r)
{
    json_t  *exceptions = json_array(), *events = json_array();
    uint32_t tools = 0;
    int      err = 0;
    for (size_t i = 0; i < r->n && !err; i++) {
        tools |= r->processes[i].data->head.tools;
        err = add_exceptions(exceptions, &r->processes[i]) || add_spans(events, &r->processes[i]);
    }
    if (!err && (tools & SXS_EVENTS_OF_EXCEPTIONS))
        err |= json_object_set(top, "exceptions", exceptions);
    if (!err && (tools & SXS_EVENTS_OF_RUNTIMES))
        err |= json_object_set(top, "events", events);
    json_decref(exceptions);
    json_decref(events);
    return err ? -1 : 0;
}
