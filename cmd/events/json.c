/* SPDX-License-Identifier: MIT */
#include "cmd/events/events.h"
#include "cmd/output/json_stream.h"
#include "cmd/output/json_values.h"
#include "cmd/output/names_of_values.h"
#include "cmd/output/processes.h"

static int set_runtime(json_t *o, const struct sxs_events_process *p, uint32_t runtime)
{
    return sxs_json_set_number(o, "runtime", runtime) |
           sxs_json_set_text(o, "version", sxs_process_version(p->process, runtime)) |
           sxs_json_set_number(o, "pid", p->process->pid);
}

static json_t *throw_site_json(const struct sxs_events_process    *p,
                               const struct sxs_events_throw_site *s)
{
    json_t *o = json_object();
    int     err = set_runtime(o, p, s->runtime);
    err |= sxs_json_set_text(o, "type", s->type);
    err |= sxs_json_set_text(o, "message", s->message);
    err |= sxs_json_set_text(o, "thrown", s->thrown);
    err |= sxs_json_set_text(o, "caught", s->caught);
    err |= sxs_json_set_text(o, "fate", sxs_fate_text(p->data, s->fate));
    err |= json_object_set_new(o, "rethrown", json_boolean(s->rethrown));
    err |= sxs_json_set_number(o, "count", s->n);
    err |= sxs_json_set_number(o, "total_ns", s->total_ns);
    return sxs_json_whole(o, err);
}

/* Writes an in-flight exception as a throw site of its own. */
static json_t *in_flight_json(const struct sxs_events_process   *p,
                              const struct sxs_events_exception *v)
{
    const struct sxs_events_throw_site s = {.type = v->type,
                                            .thrown = v->thrown,
                                            .caught = v->caught,
                                            .runtime = v->runtime,
                                            .fate = v->fate,
                                            .rethrown = v->rethrown,
                                            .n = 1,
                                            .message = v->message};
    return throw_site_json(p, &s);
}

static json_t *span_json(const struct sxs_events_process *p, const struct sxs_events_span *s)
{
    json_t *o = json_object();
    int     err = set_runtime(o, p, s->runtime);
    err |= sxs_json_set_text(o, "kind", sxs_event_kind_text(s->kind));
    err |= sxs_json_set_number(o, "time_ns", s->time_ns);
    err |= sxs_json_set_number(o, "duration_ns", s->duration_ns);
    err |= sxs_json_set_number(o, "tid", s->tid);
    if (s->tid)
        err |= sxs_json_set_text(o, "thread", sxs_events_thread_name(p->data, s->tid, s->time_ns));
    if (s->text[0])
        err |= sxs_json_set_text(o, "name", s->text);
    if (s->failed)
        err |= json_object_set_new(o, "failed", json_true());
    switch (s->kind) {
    case SXS_KIND_GC:
        err |= sxs_json_set_number(o, "generation", s->a);
        err |= json_object_set_new(o, "induced", json_boolean(s->b));
        break;
    case SXS_KIND_SUSPENSION:
        err |= sxs_json_set_text(o, "reason", sxs_suspension_text(s->a));
        err |= sxs_json_set_number(o, "stopping_ns", (uint64_t)s->b * 1000);
        break;
    case SXS_KIND_JIT:
        err |= sxs_json_set_number(o, "bytes", s->a);
        err |= sxs_json_set_text(o, "tier", sxs_tier_text(s->tier));
        break;
    default: break;
    }
    return sxs_json_whole(o, err);
}

static int put_exceptions(struct sxs_json_stream *to, const struct sxs_events_process *p)
{
    int err = 0;
    for (size_t i = 0; i < p->data->n_exceptions && !err; i++)
        if (!p->data->exceptions[i].landed)
            err = sxs_json_stream_row(to, in_flight_json(p, &p->data->exceptions[i]));
    for (size_t i = 0; i < p->data->n_throw_sites && !err; i++)
        err = sxs_json_stream_row(to, throw_site_json(p, &p->data->throw_sites[i]));
    return err;
}

static int put_spans(struct sxs_json_stream *to, const struct sxs_events_process *p)
{
    int err = 0;
    for (size_t i = 0; i < p->data->n_spans && !err; i++)
        err = sxs_json_stream_row(to, span_json(p, &p->data->spans[i]));
    return err;
}

/* Writes a list of all processes, if a tool was on that makes it. */
static int put_list(struct sxs_json_stream *to, const struct sxs_events_report *r, const char *key,
                    uint32_t tool,
                    int (*put)(struct sxs_json_stream *to, const struct sxs_events_process *p))
{
    uint32_t tools = 0;
    for (size_t i = 0; i < r->n; i++)
        tools |= r->processes[i].data->head.tools;
    if (!(tools & tool))
        return 0;
    int err = sxs_json_stream_array(to, key);
    for (size_t i = 0; i < r->n && !err; i++)
        err = put(to, &r->processes[i]);
    return err ? err : sxs_json_stream_end(to);
}

int sxs_events_json(struct sxs_json_stream *to, const struct sxs_events_report *r)
{
    int err = put_list(to, r, "exceptions", SXS_EVENTS_OF_EXCEPTIONS, put_exceptions);
    return err ? err : put_list(to, r, "events", SXS_EVENTS_OF_RUNTIMES, put_spans);
}
