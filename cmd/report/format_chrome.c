/* SPDX-License-Identifier: MIT */
/*
 * Format chrome: trace events (JSON) for chrome://tracing and ui.perfetto.dev.
 * Samples are joined: a frame that stays on a thread's stack from one sample to the next is one
 * complete event ("X"). After a gap of more than four sampling periods, all frames end. Pauses of
 * runtimes, and events recorded by the tools "exceptions" and "events", are events of their own.
 * Traced calls are pairs of events, begin ("B") and end ("E").
 */
#include "cmd/report/format.h"

#include "cmd/output/must.h"
#include "cmd/output/names_of_values.h"

#include <string.h>

#define TRACED_LANE (UINT32_C(1) << 30) /* a bit that no thread id has */

struct open_frame {
    uint32_t frame;
    uint64_t since_ns;
};

struct chrome_lane { /* the stack of a thread at its previous sample */
    struct open_frame *open;
    size_t             n;
    uint64_t           until_ns;
};

struct trace {
    const struct sxs_model *m;
    FILE                   *to;
    bool                    began;
    uint64_t                first_ns; /* the time that is written as 0 */
    struct chrome_lane     *lanes;
};

static void begin_event(struct trace *t, uint32_t pid, uint32_t tid, const char *phase)
{
    fprintf(t->to, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u", t->began ? ",\n" : "\n", phase, pid,
            tid);
    t->began = true;
}

static void put_span(struct trace *t, uint32_t pid, uint32_t tid, uint64_t from_ns, uint64_t to_ns)
{
    begin_event(t, pid, tid, "X");
    fprintf(t->to, ",\"ts\":%.3f,\"dur\":%.3f", (double)(from_ns - t->first_ns) / 1e3,
            (double)(to_ns - from_ns) / 1e3);
}

/* Ends the frames above index @keep at time @now. */
static void close_frames(struct trace *t, uint32_t thread, size_t keep, uint64_t now)
{
    static char                    text[70000];
    struct chrome_lane            *l = &t->lanes[thread];
    const struct sxs_model_thread *v = &t->m->threads[thread];
    while (l->n > keep) {
        const struct open_frame *f = &l->open[--l->n];
        put_span(t, t->m->processes[v->process].pid, v->tid, f->since_ns, now);
        fprintf(t->to, ",\"cat\":\"%s\",\"name\":",
                t->m->frames[f->frame].runtime ? "managed" : "native");
        sxs_json_string(t->to, sxs_frame_text(t->m, f->frame, SXS_STYLE_FULL, text, sizeof(text)));
        fputs("}", t->to);
    }
}

static void take_sample(struct trace *t, const struct sxs_model_sample *s)
{
    uint32_t            frames[SXS_MAX_STACK], thread = t->m->nodes[s->node].thread;
    struct chrome_lane *l = &t->lanes[thread];
    size_t              n = sxs_model_stack(t->m, s->node, frames), same = 0;
    uint64_t            weight = s->weight ? s->weight : 1000;
    if (!l->open)
        l->open = sxs_must_zeroed(SXS_MAX_STACK, sizeof(*l->open));
    if (l->n && s->time_ns > l->until_ns + 3 * weight)
        close_frames(t, thread, 0, l->until_ns);
    while (same < n && same < l->n && l->open[same].frame == frames[same])
        same++;
    close_frames(t, thread, same, s->time_ns);
    for (; l->n < n; l->n++)
        l->open[l->n] = (struct open_frame){frames[l->n], s->time_ns};
    l->until_ns = s->time_ns + weight;
}

/* Traced calls of a thread that also has samples get a lane of their own, because the two would not
 * nest. */
static uint32_t track_of(const struct trace *t, const struct sxs_model_thread *v)
{
    return t->m->n_samples ? v->tid | TRACED_LANE : v->tid;
}

static void write_lanes(struct trace *t)
{
    char    name[512], text[560];
    uint8_t *named = sxs_must_zeroed(t->m->n_threads, sizeof(*named));
    for (size_t i = 0; t->m->n_samples && i < t->m->n_events; i++) {
        uint32_t                       thread = t->m->nodes[t->m->events[i].node].thread;
        const struct sxs_model_thread *v = &t->m->threads[thread];
        if (named[thread])
            continue;
        named[thread] = 1;
        begin_event(t, t->m->processes[v->process].pid, track_of(t, v), "M");
        fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", t->to);
        snprintf(text, sizeof(text), "%s, traced", sxs_thread_text(t->m, thread, name, sizeof(name)));
        sxs_json_string(t->to, text);
        fputs("}}", t->to);
    }
    free(named);
}

static void write_names(struct trace *t)
{
    char text[512];
    for (size_t i = 0; i < t->m->n_processes; i++) {
        begin_event(t, t->m->processes[i].pid, 0, "M");
        fputs(",\"name\":\"process_name\",\"args\":{\"name\":", t->to);
        sxs_json_string(t->to, t->m->processes[i].head.command);
        fputs("}}", t->to);
    }
    for (size_t i = 0; i < t->m->n_threads; i++) {
        const struct sxs_model_thread *v = &t->m->threads[i];
        begin_event(t, t->m->processes[v->process].pid, v->tid, "M");
        fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", t->to);
        sxs_json_string(t->to, sxs_thread_text(t->m, (uint32_t)i, text, sizeof(text)));
        fputs("}}", t->to);
    }
}

static void write_pauses(struct trace *t)
{
    for (size_t i = 0; i < t->m->n_pauses; i++) {
        const struct sxs_model_pause *p = &t->m->pauses[i];
        if (p->time_ns < t->first_ns || p->duration_ns > UINT64_MAX - p->time_ns)
            continue;
        put_span(t, t->m->processes[p->process].pid, 0, p->time_ns, p->time_ns + p->duration_ns);
        fputs(",\"cat\":\"pause\",\"name\":", t->to);
        char text[128];
        snprintf(text, sizeof(text), "%.64s stopped: %s",
                 p->runtime ? sxs_model_text(t->m, t->m->runtimes[p->runtime - 1].version) : "?",
                 sxs_suspension_text(p->reason));
        sxs_json_string(t->to, text);
        fputs("}", t->to);
    }
}

static void write_call(struct trace *t, const struct sxs_model_event *e)
{
    static char                    text[70000];
    const struct sxs_model        *m = t->m;
    const struct sxs_model_node   *n = &m->nodes[e->node];
    const struct sxs_model_thread *v = &m->threads[n->thread];
    uint64_t                       ns = e->time_ns - t->first_ns;
    begin_event(t, m->processes[v->process].pid, track_of(t, v), e->begins ? "B" : "E");
    fprintf(t->to, ",\"ts\":%llu.%03u", (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
    fputs(",\"cat\":", t->to);
    snprintf(text, sizeof(text), ".NET %.64s",
             sxs_model_text(m, m->runtimes[m->frames[n->frame].runtime - 1].version));
    sxs_json_string(t->to, text);
    fputs(",\"name\":", t->to);
    sxs_json_string(t->to, sxs_frame_text(m, n->frame, SXS_STYLE_FULL, text, sizeof(text)));
    if (e->values) {
        fprintf(t->to, ",\"args\":{\"%s\":", e->begins ? "arguments" : e->unwound ? "exception" : "result");
        sxs_json_string(t->to, sxs_strings_text(&m->values, e->values));
        fputs("}", t->to);
    }
    fputs("}", t->to);
}

/* ---- the tools "events" and "exceptions" ------------------------------------------------------- */

static void write_string(struct trace *t, const char *text)
{
    char clean[1100];
    snprintf(clean, sizeof(clean), "%s", text);
    sxs_strings_clean(clean, strlen(clean));
    sxs_json_string(t->to, clean);
}

static void write_span(struct trace *t, uint32_t pid, const struct sxs_events_span *s)
{
    uint64_t end = s->time_ns + s->duration_ns;
    if (s->kind == SXS_KIND_THREAD_NAME) {
        begin_event(t, pid, s->tid, "M");
        fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", t->to);
        write_string(t, s->text);
        fputs("}}", t->to);
        return;
    }
    /* With samples, suspensions are among the pauses already. */
    if ((s->kind == SXS_KIND_SUSPENSION && t->m->n_pauses) || s->time_ns < t->first_ns ||
        end < s->time_ns || s->kind == SXS_KIND_THREAD)
        return;
    put_span(t, pid, s->tid, s->time_ns, end);
    fprintf(t->to, ",\"cat\":\"%s\",\"name\":", sxs_event_kind_text(s->kind));
    write_string(t, s->text[0] ? s->text : sxs_event_kind_text(s->kind));
    fprintf(t->to, ",\"args\":{\"runtime\":%u,\"kind\":\"%s\"", s->runtime,
            sxs_event_kind_text(s->kind));
    if (s->kind == SXS_KIND_GC)
        fprintf(t->to, ",\"generation\":%u", s->a);
    if (s->kind == SXS_KIND_GC && s->pause_ns)
        fprintf(t->to, ",\"pause_us\":%.3f", (double)s->pause_ns / 1e3);
    if (s->kind == SXS_KIND_SUSPENSION)
        fprintf(t->to, ",\"reason\":\"%s\"", sxs_suspension_text(s->a));
    else if (s->kind == SXS_KIND_JIT)
        fprintf(t->to, ",\"bytes\":%u", s->a);
    fputs("}}", t->to);
}

static void write_exception(struct trace *t, uint32_t pid, const struct sxs_events_data *e,
                            const struct sxs_events_exception *v)
{
    if (v->time_ns < t->first_ns)
        return;
    begin_event(t, pid, v->tid, "i");
    fprintf(t->to, ",\"s\":\"t\",\"ts\":%.3f,\"cat\":\"exception\",\"name\":",
            (double)(v->time_ns - t->first_ns) / 1e3);
    write_string(t, v->type);
    fprintf(t->to, ",\"args\":{\"runtime\":%u,\"fate\":\"%s\",\"message\":", v->runtime,
            sxs_fate_text(e, v->fate));
    write_string(t, v->message);
    fputs(",\"thrown\":", t->to);
    write_string(t, v->thrown);
    fputs(",\"caught\":", t->to);
    write_string(t, v->caught);
    fputs("}}", t->to);
}

static void write_events(struct trace *t)
{
    for (size_t i = 0; i < t->m->n_processes; i++) {
        const struct sxs_model_process *p = &t->m->processes[i];
        for (size_t k = 0; p->events && k < p->events->n_spans; k++)
            write_span(t, p->pid, &p->events->spans[k]);
        for (size_t k = 0; p->events && k < p->events->n_exceptions; k++)
            write_exception(t, p->pid, p->events, &p->events->exceptions[k]);
    }
}

/* Returns the time of the first sample, or of the start of the events file if that is earlier. */
static uint64_t time_zero(const struct sxs_model *m)
{
    uint64_t first = m->n_samples || m->n_events ? m->first_ns : UINT64_MAX;
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct sxs_events_data *e = m->processes[i].events;
        if (e && e->head.started_ns && e->head.started_ns < first)
            first = e->head.started_ns;
    }
    return first == UINT64_MAX ? 0 : first;
}

static int write_chrome(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to)
{
    struct trace t = {.m = m, .to = to, .first_ns = time_zero(m)};
    (void)o;
    t.lanes = sxs_must_zeroed(m->n_threads, sizeof(*t.lanes));
    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"exporter\":\"sxsprof\"},"
          "\"traceEvents\":[", to);
    write_names(&t);
    write_lanes(&t);
    for (size_t i = 0; i < m->n_events; i++)
        write_call(&t, &m->events[i]);
    for (size_t i = 0; i < m->n_samples; i++)
        take_sample(&t, &m->samples[i]);
    for (size_t i = 0; i < m->n_threads; i++) {
        close_frames(&t, (uint32_t)i, 0, t.lanes[i].until_ns);
        free(t.lanes[i].open);
    }
    write_pauses(&t);
    write_events(&t);
    fputs("\n]}\n", to);
    free(t.lanes);
    return 0;
}

const struct sxs_profile_format sxs_format_chrome = {
    "chrome", SXS_DETAIL_TIMELINE | SXS_DETAIL_EVENTS | SXS_DETAIL_CALLS, write_chrome};
