/* SPDX-License-Identifier: MIT */
/* Adds the traced calls of instrumented methods to a model, in the same form as the traced calls of
 * the tool "calls": begins and ends of nodes below a thread's root. In a thread with calls of both
 * kinds, each call is nested in the call during which it began. */
#include "cmd/instrument/instrument.h"
#include "cmd/output/processes.h"
#include "cmd/output/segments.h"
#include "cmd/report/model.h"
#include "cmd/output/must.h"

#include <string.h>

/* A call, with its begin and end. */
struct whole {
    uint64_t from_ns, to_ns;
    uint32_t thread, node, arguments, result;
    bool     unwound;
    size_t   order; /* index in the order in which they were found */
};

struct traced_loader {
    struct sxs_model                    *m;
    const struct sxs_report_options     *o;
    const struct sxs_instrument_process *p;
    uint32_t                             process;
    uint32_t *frames; /* by index in instrumented methods: frame + 1; 0: none yet */
    struct whole                        *calls;
    size_t                               n, cap;
};

static uint32_t add_text(struct sxs_model *m, const char *text)
{
    return sxs_strings_add(&m->strings, text, strlen(text));
}

/* ---- calls that are already in the model ----------------------------------------------------- */

static struct whole *add_whole(struct traced_loader *l)
{
    SXS_GROW(l->calls, l->n, l->cap);
    l->calls[l->n] = (struct whole){.order = l->n};
    return &l->calls[l->n++];
}

static void take_events(struct traced_loader *l)
{
    struct sxs_model *m = l->m;
    size_t           *open = NULL, depth = 0, cap = 0;
    for (size_t i = 0; i < m->n_events; i++) {
        const struct sxs_model_event *e = &m->events[i];
        if (e->begins) {
            struct whole *w = add_whole(l);
            w->from_ns = w->to_ns = e->time_ns;
            w->node = e->node;
            w->thread = m->nodes[e->node].thread;
            w->arguments = e->values;
            SXS_GROW(open, depth, cap);
            open[depth++] = l->n - 1;
        } else if (depth) {
            struct whole *w = &l->calls[open[--depth]];
            w->to_ns = e->time_ns;
            w->result = e->values;
            w->unwound = e->unwound;
        }
    }
    free(open);
}

/* ---- traced calls ----------------------------------------------------------------------------- */

static uint16_t runtime_of(struct traced_loader *l, uint32_t number)
{
    const struct sxs_session_process *p = l->p->process;
    const char                       *path = "";
    for (size_t i = 0; i < p->n_runtimes; i++)
        if (p->runtimes[i].number == number)
            path = p->runtimes[i].path;
    uint32_t version = add_text(l->m, sxs_process_version(p, number));
    return (uint16_t)(sxs_model_runtime(l->m, number, version, add_text(l->m, path)) + 1);
}

/* Returns the frame of an instrumented method; its label, if any, replaces its name. */
static uint32_t frame_of(struct traced_loader *l, const struct sxs_instrumented *s)
{
    uint32_t *frame = &l->frames[s ? (size_t)(s - l->p->data->methods) : l->p->data->n_methods];
    if (!*frame) {
        struct sxs_model_frame f = {
            .name = add_text(l->m, !s ? "?" : s->label[0] ? s->label : s->name),
            .file = add_text(l->m, s ? s->assembly : ""),
            .runtime = runtime_of(l, s ? s->runtime : 0)};
        *frame = sxs_model_frame(l->m, &f) + 1;
    }
    return *frame - 1;
}

static uint32_t keep_text(struct sxs_model *m, const char *text)
{
    return text && *text ? sxs_strings_add(&m->values, text, strlen(text)) & INT32_MAX : 0;
}

/* Returns the value to show at the end of a call: result or exception, then the arguments after the
 * call. */
static uint32_t keep_end(struct sxs_model *m, const struct sxs_traced_call *c)
{
    char        text[2 * SXS_TRACED_TEXT + 32];
    const char *end = c->threw ? c->thrown : c->result;
    if (!c->after)
        return keep_text(m, end);
    snprintf(text, sizeof(text), "%.*s%sthen %.*s", (int)SXS_TRACED_TEXT, end ? end : "",
             end ? ", " : "", (int)SXS_TRACED_TEXT, c->after);
    return keep_text(m, text);
}

static uint64_t last_ns(const struct sxs_instrument_data *d)
{
    return sxs_instrument_ns(d, d->head.seen_tick);
}

static void take_call(struct traced_loader *l, uint64_t zero_ns, const struct sxs_traced_call *c)
{
    const struct sxs_instrument_data *d = l->p->data;
    const struct sxs_instrumented    *s = sxs_instrument_find(d, c->method);
    struct sxs_model                 *m = l->m;
    uint64_t                          from = sxs_instrument_ns(d, c->started_tick), to;
    uint32_t                          thread;
    if ((l->o->runtime && (!s || s->runtime != l->o->runtime)) || from > INT64_MAX / 2)
        return;
    thread = sxs_model_thread(m, l->process, c->tid);
    if (!m->threads[thread].kernel[0]) {
        const char *name = sxs_instrument_thread(d, c);
        m->threads[thread].name = sxs_strings_add(&m->strings, name, strlen(name));
    }
    if (!sxs_model_thread_wanted(l->o, m, thread))
        return;
    to = c->ended ? sxs_instrument_ns(d, c->ended_tick) : last_ns(d);
    to = to < from ? from : to > INT64_MAX / 2 ? INT64_MAX / 2 : to;
    uint32_t node = sxs_model_child(m, m->threads[thread].root, frame_of(l, s), 0, 0);
    if (node == m->threads[thread].root) { /* the tree is full */
        m->events_lost++;
        return;
    }
    struct whole *w = add_whole(l);
    w->thread = thread;
    w->node = node;
    w->from_ns = zero_ns + from;
    w->to_ns = zero_ns + to;
    w->arguments = keep_text(m, c->arguments);
    w->result = keep_end(m, c);
    w->unwound = c->threw;
    if (s && s->runtime < 64)
        m->threads[thread].runtimes |= UINT64_C(1) << s->runtime;
    m->first_ns = !m->first_ns || w->from_ns < m->first_ns ? w->from_ns : m->first_ns;
    m->last_ns = w->to_ns > m->last_ns ? w->to_ns : m->last_ns;
}

static void take_head(struct traced_loader *l)
{
    const struct sxs_instrument_header *h = &l->p->data->head;
    struct sxs_model_process           *p = sxs_model_process(l->m, l->p->process);
    l->process = (uint32_t)(p - l->m->processes);
    if (p->head.command[0])
        return;
    p->head.pid = p->pid;
    snprintf(p->head.command, sizeof(p->head.command), "%.*s", (int)sizeof(h->command) - 1,
             h->command);
    sxs_strings_clean(p->head.command, strlen(p->head.command));
}

static void take_process(struct traced_loader *l)
{
    const struct sxs_instrument_data *d = l->p->data;
    uint64_t zero = d->head.started_ns < INT64_MAX / 2 ? d->head.started_ns : 1;
    take_head(l);
    l->frames = sxs_must_zeroed(d->n_methods + 1, sizeof(*l->frames));
    for (size_t i = 0; i < d->traced.n_calls; i++)
        take_call(l, zero, &d->traced.calls[i]);
    l->m->events_lost += atomic_load(&d->traced.head.lost);
    if (d->traced.head.left_out)
        sxs_model_problem(l->m,
                          "%s/" SXS_TRACED_FILE ": %s%llu traced calls left out, because more than "
                          "%u a second were made (--trace-rate)",
                          l->p->process->folder, d->traced.head.complete ? "" : "at least ",
                          (unsigned long long)d->traced.head.left_out, d->traced.head.rate);
    free(l->frames);
}

/* ---- nesting --------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct whole *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    if (x->to_ns != y->to_ns)
        return x->to_ns > y->to_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void put_call(struct sxs_model *m, const struct whole *w, bool begins)
{
    SXS_GROW(m->events, m->n_events, m->cap_events);
    m->events[m->n_events++] = (struct sxs_model_event){
        .time_ns = begins ? w->from_ns : w->to_ns,
        .node = w->node & INT32_MAX,
        .begins = begins,
        .values = (begins ? w->arguments : w->result) & INT32_MAX,
        .unwound = !begins && w->unwound};
}

/* Writes all calls as nested begins and ends. No call ends after the call during which it began. */
static void put_all(struct traced_loader *l)
{
    size_t *open = NULL, depth = 0, cap = 0;
    l->m->n_events = 0;
    if (l->n)
        qsort(l->calls, l->n, sizeof(*l->calls), by_place);
    for (size_t i = 0; i < l->n; i++) {
        struct whole *w = &l->calls[i];
        while (depth && (l->calls[open[depth - 1]].thread != w->thread ||
                         l->calls[open[depth - 1]].to_ns <= w->from_ns))
            put_call(l->m, &l->calls[open[--depth]], false);
        if (depth && w->to_ns > l->calls[open[depth - 1]].to_ns)
            w->to_ns = l->calls[open[depth - 1]].to_ns;
        put_call(l->m, w, true);
        SXS_GROW(open, depth, cap);
        open[depth++] = i;
    }
    while (depth)
        put_call(l->m, &l->calls[open[--depth]], false);
    free(open);
}

static void load_all(struct traced_loader *l, const struct sxs_instrument_report *r, bool calls)
{
    for (size_t i = 0; i < r->n_problems && calls; i++)
        sxs_model_problem(l->m, "%s", r->problems[i]);
    if (calls)
        take_events(l);
    for (size_t i = 0; i < r->n; i++) {
        l->p = &r->processes[i];
        if (!l->p->data->traced.n_calls)
            continue;
        if (calls)
            take_process(l);
        else
            take_head(l);
    }
    if (calls)
        put_all(l);
    free(l->calls);
}

void sxs_model_add_traced(const struct sxs_instrument_report *instrument,
                          const struct sxs_report_options *o, bool calls, struct sxs_model *m)
{
    struct traced_loader l = {.m = m, .o = o};
    if (!m->strings.n)
        sxs_strings_add(&m->strings, "", 0);
    if (!m->values.n)
        sxs_strings_add(&m->values, "", 0);
    if (o->only != SXS_ONLY_NATIVE)
        load_all(&l, instrument, calls);
}
