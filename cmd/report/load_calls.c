/* SPDX-License-Identifier: MIT */
/* Loads the counted calls of a session into a model: each path of each thread is a node. */
#include "cmd/calls/calls.h"
#include "cmd/calls/replay.h"
#include "cmd/output/must.h"
#include "cmd/output/segments.h"
#include "cmd/output/shown.h"
#include "cmd/report/coverage_gaps.h"
#include "cmd/report/model.h"
#include "base/sum.h"

#include <string.h>

#define NOT_WANTED UINT32_MAX

struct calls_loader {
    struct sxs_model                *m;
    const struct sxs_report_options *o;
    unsigned                         detail;
    const struct sxs_calls_process  *p;
    const struct sxs_calls          *c;
    uint32_t                         process;
    uint64_t                         start_ns, end_ns; /* of the process's recording */
    uint32_t                        *frames; /* by function; then, from n_fns on, by function the
                                              * frame "[awaits]"; 0: none yet */
    uint32_t                        *nodes;  /* by path; NOT_WANTED: the thread is not selected */
    bool                            *found;  /* by path: the selected runtime is on it */
};

static uint32_t add_text(struct sxs_model *m, const char *text)
{
    return sxs_strings_add(&m->strings, text, strlen(text));
}

/* ---- functions -------------------------------------------------------------------------------- */

static uint16_t runtime_of(struct calls_loader *l, uint32_t number)
{
    const char *version = "?", *path = "";
    for (size_t i = 0; i < l->p->process->n_runtimes; i++)
        if (l->p->process->runtimes[i].number == number) {
            version = l->p->process->runtimes[i].version;
            path = l->p->process->runtimes[i].path;
        }
    return (uint16_t)(sxs_model_runtime(l->m, number, add_text(l->m, version),
                                        add_text(l->m, path)) + 1);
}

static void add_latency(struct calls_loader *l, uint32_t frame,
                        const struct sxs_calls_read_function *fn)
{
    struct sxs_model_latency *t = sxs_model_latency(l->m, frame);
    t->backed_off |= fn->backed_off;
    if (l->c->head.mode == SXS_CALLS_TIME)
        sxs_sum_add(&t->total_ns, fn->total_ns);
    if (!fn->buckets || !fn->max_ns)
        return;
    t->min_ns = t->max_ns && t->min_ns < fn->min_ns ? t->min_ns : fn->min_ns;
    t->max_ns = t->max_ns > fn->max_ns ? t->max_ns : fn->max_ns;
    for (unsigned i = 0; i < SXS_CALLS_BUCKETS; i++) {
        if (!fn->buckets[i])
            continue;
        SXS_GROW(t->all, t->n, t->cap);
        t->all[t->n++] = (struct sxs_model_duration){sxs_calls_bucket_ns(l->c, i),
                                                     fn->buckets[i]};
    }
}

static void take_functions(struct calls_loader *l)
{
    l->frames = sxs_must_zeroed(2 * l->c->n_fns, sizeof(*l->frames));
    for (size_t i = 0; i < l->c->n_fns; i++) {
        const struct sxs_calls_read_function *fn = &l->c->fns[i];
        struct sxs_model_frame     f = {.name = add_text(l->m, fn->name),
                                        .file = add_text(l->m, fn->file),
                                        .runtime = runtime_of(l, fn->runtime)};
        l->frames[i] = sxs_model_frame(l->m, &f);
        add_latency(l, l->frames[i], fn);
    }
}

/* Returns the frame of a path. A method that awaits the calls below it gets a frame with a name of
 * its own. */
static uint32_t frame_of(struct calls_loader *l, const struct sxs_calls_path *p)
{
    const struct sxs_calls_read_function *fn = &l->c->fns[p->fn];
    uint32_t                  *frame = &l->frames[l->c->n_fns + p->fn];
    char                       name[4200];
    if (!p->awaits)
        return l->frames[p->fn];
    if (!*frame) {
        snprintf(name, sizeof(name), "%s [awaits]", fn->name);
        *frame = sxs_model_frame(l->m, &(struct sxs_model_frame){
            .name = add_text(l->m, name), .file = add_text(l->m, fn->file),
            .runtime = runtime_of(l, fn->runtime)});
    }
    return *frame;
}

static int by_duration(const void *a, const void *b)
{
    const struct sxs_model_duration *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Sorts and joins durations, because functions of several processes, or several instantiations, can
 * be one frame. */
static void sort_latencies(struct sxs_model *m)
{
    for (size_t i = 0; i < m->n_latencies; i++) {
        struct sxs_model_latency *t = &m->latencies[i];
        size_t                    n = 0;
        if (t->n)
            qsort(t->all, t->n, sizeof(*t->all), by_duration);
        for (size_t k = 0; k < t->n; k++) {
            if (n && t->all[n - 1].ns == t->all[k].ns)
                sxs_sum_add(&t->all[n - 1].n, t->all[k].n);
            else
                t->all[n++] = t->all[k];
        }
        t->n = n;
    }
}

/* ---- paths ------------------------------------------------------------------------------------ */

static uint32_t take_thread(struct calls_loader *l, const struct sxs_calls_read_thread *t)
{
    struct sxs_model *m = l->m;
    uint32_t          name = add_text(m, t->name), thread;
    if (!sxs_thread_wanted(l->o, t->tid, sxs_model_text(m, name)) &&
        !sxs_thread_wanted(l->o, t->tid, t->kernel))
        return NOT_WANTED;
    thread = sxs_model_thread(m, l->process, t->tid);
    m->threads[thread].name = name;
    memcpy(m->threads[thread].kernel, t->kernel, sizeof(t->kernel));
    m->threads[thread].kernel_ns = t->ended ? UINT64_MAX : 0;
    m->threads[thread].runtimes |= t->runtimes;
    m->threads[thread].started_ns = l->start_ns + t->started_ns;
    m->threads[thread].ended_ns = l->start_ns + t->ended_ns;
    return m->threads[thread].root;
}

static void count_path(struct calls_loader *l, uint32_t node, const struct sxs_calls_path *p)
{
    struct sxs_model        *m = l->m;
    uint64_t                 ns = m->unit == SXS_UNIT_NS ? p->self_ns : p->calls;
    struct sxs_model_thread *t = &m->threads[m->nodes[node].thread];
    sxs_sum_add(&m->nodes[node].self, p->calls);
    sxs_sum_add(&m->nodes[node].self_ns, ns);
    sxs_sum_add(&t->samples, p->calls);
    sxs_sum_add(&t->weight_ns, ns);
    sxs_sum_add(&m->total, p->calls);
    m->total_ns += ns;
}

static void take_path(struct calls_loader *l, uint32_t i)
{
    const struct sxs_calls_path *p = &l->c->paths[i];
    struct sxs_model            *m = l->m;
    uint32_t                     parent = p->parent == SXS_CALLS_NONE ? NOT_WANTED
                                                                      : l->nodes[p->parent];
    l->nodes[i] = parent;
    if (parent == NOT_WANTED || p->fn == SXS_CALLS_NONE) {
        sxs_sum_add(&m->filtered_out, p->calls);
        return;
    }
    l->found[i] = l->o->only != SXS_ONLY_NATIVE &&
                  (!l->o->runtime || l->found[p->parent] ||
                   l->c->fns[p->fn].runtime == l->o->runtime);
    if (!l->found[i])
        sxs_sum_add(&m->filtered_out, p->calls);
    if (l->o->only == SXS_ONLY_NATIVE)
        return;
    l->nodes[i] = sxs_model_child(m, parent, frame_of(l, p), 0, 0);
    m->merged += l->nodes[i] == parent ? p->calls : 0;
    if (l->found[i])
        count_path(l, l->nodes[i], p);
}

static void take_paths(struct calls_loader *l)
{
    l->nodes = sxs_must_zeroed(l->c->n_paths, sizeof(*l->nodes));
    l->found = sxs_must_zeroed(l->c->n_paths, sizeof(*l->found));
    for (uint32_t i = 0; i < l->c->n_paths; i++) {
        const struct sxs_calls_path *p = &l->c->paths[i];
        if (p->parent == SXS_CALLS_NONE)
            l->nodes[i] = p->thread < l->c->n_threads
                              ? take_thread(l, &l->c->threads[p->thread]) : NOT_WANTED;
        else
            take_path(l, i);
    }
}

/* ---- traced calls ---------------------------------------------------------------------------- */

struct thread_lane { /* state of one thread */
    struct calls_loader *l;
    uint32_t             path; /* the youngest call; SXS_CALLS_NONE: no call is under way */
    uint64_t             since_ns;
};

static void add_sample(struct sxs_model *m, uint64_t time, uint32_t node, uint64_t ns, bool begins)
{
    if (m->n_samples >= SXS_MODEL_MAX_SAMPLES) {
        m->off_timeline++;
        return;
    }
    SXS_GROW(m->samples, m->n_samples, m->cap_samples);
    m->samples[m->n_samples++] =
        (struct sxs_model_sample){.time_ns = time, .node = node, .weight = ns, .begins = begins};
}

/* Returns the length of the finest steps of a time line, ns. */
static uint64_t step_of(const struct sxs_model *m)
{
    return (m->last_ns - m->first_ns) / 1500 + 1;
}

/* Adds the time in which a call was the youngest, cut at the steps of the time line. */
static void add_span(struct calls_loader *l, uint32_t node, uint64_t from, uint64_t to)
{
    uint64_t step = step_of(l->m);
    while (from < to) {
        uint64_t next = from + step - (from - l->m->first_ns) % step;
        if (next > to)
            next = to;
        add_sample(l->m, from, node, next - from, false);
        from = next;
    }
}

static uint32_t keep_values(struct sxs_model *m, const char *values)
{
    return sxs_strings_add(&m->values, values, strlen(values));
}

static void take_event(void *arg, uint32_t path, uint64_t ns, bool begins,
                       const struct sxs_calls_details *details)
{
    struct thread_lane  *lane = arg;
    struct calls_loader *l = lane->l;
    struct sxs_model    *m = l->m;
    uint64_t             now = l->start_ns + ns;
    if (now > l->end_ns) /* in a damaged file */
        now = l->end_ns;
    if (l->detail & SXS_DETAIL_CALLS) {
        if (l->found[path]) {
            SXS_GROW(m->events, m->n_events, m->cap_events);
            m->events[m->n_events++] = (struct sxs_model_event){
                now, l->nodes[path] & INT32_MAX, begins,
                details && details->values ? keep_values(m, details->values) : 0,
                details && details->unwound};
        }
        if (!(l->detail & SXS_DETAIL_BOTH))
            return;
    }
    if (lane->path != SXS_CALLS_NONE && l->found[lane->path])
        add_span(l, l->nodes[lane->path], lane->since_ns, now);
    if (begins && l->found[path])
        add_sample(m, now, l->nodes[path], 0, true);
    lane->path = begins ? path : l->c->paths[path].parent;
    lane->since_ns = now;
}

static void take_events(struct calls_loader *l)
{
    for (size_t i = 0; i < l->c->n_threads; i++) {
        const struct sxs_calls_read_thread *t = &l->c->threads[i];
        struct thread_lane                  lane = {l, SXS_CALLS_NONE, 0};
        struct sxs_calls_replay     r = {take_event, &lane};
        if (l->nodes[t->root] == NOT_WANTED)
            continue;
        l->m->events_lost += t->events_lost;
        l->m->events_lost += sxs_calls_replay(l->c, i, &r, NULL);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct sxs_model_sample *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* ---- a process -------------------------------------------------------------------------------- */

/* Limits times to values that can be added up, also for a damaged file. */
static void set_span(struct calls_loader *l)
{
    uint64_t started = l->c->head.started_ns, lasted = l->c->duration_ns;
    l->start_ns = started < INT64_MAX / 2 ? started : 1;
    l->end_ns = l->start_ns + (lasted < INT64_MAX / 2 ? lasted : 0);
}

static void take_head(struct calls_loader *l)
{
    const struct sxs_calls_header *h = &l->c->head;
    struct sxs_model              *m = l->m;
    struct sxs_model_process      *p = sxs_model_process(m, l->p->process);
    p->head.pid = p->pid;
    p->head.mode = SXS_MODE_WALL;
    p->head.started_realtime_ns = h->started_realtime_ns;
    set_span(l);
    p->head.started_ns = p->first_ns = l->start_ns;
    p->last_ns = l->end_ns;
    snprintf(p->head.command, sizeof(p->head.command), "%s", h->command);
    sxs_strings_clean(p->head.command, strlen(p->head.command));
    if (h->mode == SXS_CALLS_COUNT)
        m->unit = SXS_UNIT_COUNT;
    if (!m->first_ns || p->first_ns < m->first_ns)
        m->first_ns = p->first_ns;
    m->last_ns = p->last_ns > m->last_ns ? p->last_ns : m->last_ns;
    l->process = (uint32_t)(p - m->processes);
}

static void take_process(struct calls_loader *l)
{
    take_functions(l);
    take_paths(l);
    if (l->detail & (SXS_DETAIL_TIMELINE | SXS_DETAIL_CALLS))
        take_events(l);
    if (l->detail & SXS_DETAIL_CALLS)
        sxs_model_take_gaps(l->m, l->p, l->o);
    free(l->frames);
    free(l->nodes);
    free(l->found);
}

void sxs_model_load_calls(const struct sxs_opened *v, const struct sxs_calls_report *calls,
                          const struct sxs_report_options *options, unsigned detail,
                          struct sxs_model *out)
{
    struct calls_loader l = {.m = out, .o = options, .detail = detail};
    memset(out, 0, sizeof(*out));
    out->data = SXS_DATA_CALLS;
    out->unit = SXS_UNIT_NS;
    sxs_strings_add(&out->strings, "", 0);
    sxs_strings_add(&out->values, "", 0);
    for (size_t i = 0; i < v->session.n_problems; i++)
        sxs_model_problem(out, "%s/%s", sxs_shown(v->dir), v->session.problems[i]);
    for (size_t i = 0; i < calls->n_problems; i++)
        sxs_model_problem(out, "%s/%s", sxs_shown(v->dir), calls->problems[i]);
    for (size_t i = 0; i < calls->n; i++) { /* all heads first, because one process without times
                                             * makes the whole model untimed */
        l.p = &calls->processes[i];
        l.c = l.p->calls;
        take_head(&l);
    }
    for (size_t i = 0; i < calls->n; i++) {
        l.p = &calls->processes[i];
        l.c = l.p->calls;
        l.process = (uint32_t)i;
        set_span(&l);
        take_process(&l);
    }
    sort_latencies(out);
    if (detail & SXS_DETAIL_EVENTS)
        sxs_model_all_events(out, v, options);
    if (out->n_samples)
        qsort(out->samples, out->n_samples, sizeof(*out->samples), by_time);
    sxs_model_sum(out);
}
