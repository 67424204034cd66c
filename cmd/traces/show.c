/* SPDX-License-Identifier: MIT */
/* show.c - traces and endpoints as text and as JSON. */
#include "cmd/traces/traces.h"

#include <stdlib.h>

#include "cmd/output/json_values.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/text.h"

#define TOP      10
#define MAX_JSON 5000u /* traces in the JSON */

static int by_weight(const void *a, const void *b)
{
    const struct sxs_trace_endpoint *x = a, *y = b;
    uint64_t v = x->running_ns + x->waiting_ns, w = y->running_ns + y->waiting_ns;
    if (v != w)
        return v < w ? 1 : -1;
    return (x->endpoint > y->endpoint) - (x->endpoint < y->endpoint);
}

struct sxs_trace_endpoint *sxs_trace_endpoints(const struct sxs_traces *t, size_t *n)
{
    struct sxs_trace_endpoint *all = sxs_must_zeroed(t->strings.n, sizeof(*all));
    *n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct sxs_trace    *trace = &t->all[i];
        struct sxs_trace_endpoint *e = &all[trace->endpoint];
        if (!trace->wanted)
            continue;
        e->endpoint = trace->endpoint;
        e->traces++;
        e->samples += trace->samples;
        e->running_ns += trace->running_ns;
        e->waiting_ns += trace->waiting_ns;
    }
    for (size_t i = 0; i < t->strings.n; i++)
        if (all[i].traces)
            all[(*n)++] = all[i];
    qsort(all, *n, sizeof(*all), by_weight);
    return all;
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *endpoint_text(const struct sxs_traces *t, uint32_t endpoint)
{
    return endpoint ? sxs_strings_text(&t->strings, endpoint) : "?";
}

static double seconds_of(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void write_endpoints(FILE *to, const struct sxs_traces *t, size_t top)
{
    size_t                     n;
    struct sxs_trace_endpoint *all = sxs_trace_endpoints(t, &n);
    fputs("\nendpoints by time\n     running      waiting   samples    traces  endpoint\n", to);
    for (size_t i = 0; i < n && i < top; i++)
        sxs_print_to(to, "  %8.3f s  %9.3f s  %8llu  %8llu  %s\n", seconds_of(all[i].running_ns),
                     seconds_of(all[i].waiting_ns), (unsigned long long)all[i].samples,
                     (unsigned long long)all[i].traces, endpoint_text(t, all[i].endpoint));
    if (n > top)
        sxs_print_to(to, "  and %zu more\n", n - top);
    free(all);
}

static void write_traces(FILE *to, const struct sxs_traces *t, size_t top)
{
    size_t n = 0;
    fputs("\ntraces by time\n     running      waiting   samples  first to last  trace, endpoint\n",
          to);
    for (size_t i = 0; i < t->n; i++) {
        const struct sxs_trace *v = &t->all[i];
        char                    id[SXS_TRACE_ID_SIZE];
        if (!v->wanted || n++ >= top)
            continue;
        sxs_print_to(to, "  %8.3f s  %9.3f s  %8llu  %11.3f s  %s %s\n", seconds_of(v->running_ns),
                     seconds_of(v->waiting_ns), (unsigned long long)v->samples,
                     seconds_of(v->last_ns - v->first_ns), sxs_trace_text(v, id),
                     endpoint_text(t, v->endpoint));
    }
    if (n > top)
        sxs_print_to(to, "  and %zu more\n", n - top);
}

void sxs_traces_text(FILE *to, const struct sxs_traces *t, size_t top)
{
    if (!t->on)
        return;
    if (!t->n) {
        fputs("\nno sample has a trace\n", to);
    } else {
        write_endpoints(to, t, top ? top : TOP);
        write_traces(to, t, top ? top : TOP);
    }
    if (t->n_missed)
        sxs_print_to(to, "of %s the trace could not be read\n", SXS_COUNT(t->n_missed, "sample"));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *endpoint_json(const struct sxs_traces *t, const struct sxs_trace_endpoint *e)
{
    json_t *o = json_object();
    int     err = sxs_json_set_text(o, "endpoint", sxs_strings_text(&t->strings, e->endpoint));
    err |= sxs_json_set_number(o, "trace_count", e->traces);
    err |= sxs_json_set_number(o, "samples", e->samples);
    err |= sxs_json_set_number(o, "cpu_ns", e->running_ns);
    err |= sxs_json_set_number(o, "waiting_ns", e->waiting_ns);
    return sxs_json_whole(o, err);
}

static json_t *trace_json(const struct sxs_traces *t, const struct sxs_trace *v)
{
    char    id[SXS_TRACE_ID_SIZE];
    json_t *o = json_object();
    int     err = sxs_json_set_text(o, "trace_id", sxs_trace_text(v, id));
    err |= sxs_json_set_text(o, "endpoint", sxs_strings_text(&t->strings, v->endpoint));
    err |= sxs_json_set_number(o, "runtime", v->runtime);
    err |= sxs_json_set_text(o, "version", sxs_process_version(v->process, v->runtime));
    err |= sxs_json_set_number(o, "samples", v->samples);
    err |= sxs_json_set_number(o, "cpu_ns", v->running_ns);
    err |= sxs_json_set_number(o, "waiting_ns", v->waiting_ns);
    err |= sxs_json_set_number(o, "duration_ns", v->last_ns - v->first_ns);
    err |= sxs_json_set_number(o, "pid", v->process->pid);
    return sxs_json_whole(o, err);
}

int sxs_traces_json(json_t *top, const struct sxs_traces *t)
{
    json_t                    *endpoints = json_array(), *traces = json_array();
    size_t                     n, n_traces = 0;
    struct sxs_trace_endpoint *all = sxs_trace_endpoints(t, &n);
    int                        err = json_object_set_new(top, "endpoints", endpoints);
    err |= json_object_set_new(top, "traces", traces);
    for (size_t i = 0; i < n && !err; i++)
        err = json_array_append_new(endpoints, endpoint_json(t, &all[i]));
    for (size_t i = 0; i < t->n && !err; i++)
        if (t->all[i].wanted && n_traces++ < MAX_JSON)
            err = json_array_append_new(traces, trace_json(t, &t->all[i]));
    err |= sxs_json_set_number(top, "traces_total", n_traces);
    err |= sxs_json_set_number(top, "samples_without_trace_read", t->n_missed);
    free(all);
    return err ? -1 : 0;
}
