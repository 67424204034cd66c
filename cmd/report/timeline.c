/* SPDX-License-Identifier: MIT */
#include "cmd/report/timeline.h"

#include "cmd/output/must.h"

#include <string.h>

#define NO_CALL SIZE_MAX

struct build {
    struct sxs_timeline             *t;
    struct sxs_model                *m;
    const struct sxs_report_options *o;
    uint32_t                         process; /* index of the process being added */
};

static uint32_t add_text(struct sxs_model *m, const char *text)
{
    return sxs_strings_add(&m->strings, text, strlen(text));
}

/* Times of damaged files are limited to the span of the timeline, so that they can be added up. */
static uint64_t since_zero(const struct sxs_timeline *t, uint64_t ns)
{
    return ns < t->zero_ns ? 0 : ns - t->zero_ns > t->span_ns ? t->span_ns : ns - t->zero_ns;
}

static uint64_t duration_within(const struct sxs_timeline *t, uint64_t start_ns, uint64_t ns)
{
    return ns > t->span_ns - start_ns ? t->span_ns - start_ns : ns;
}

/* ---- time span ------------------------------------------------------------------------------- */

#define DAY_NS UINT64_C(86400000000000)

static void extend_timeline(struct sxs_timeline *t, uint64_t from, uint64_t lasts)
{
    uint64_t to = from + (lasts < 30 * DAY_NS ? lasts : 0);
    if (!from || from > INT64_MAX / 2)
        return;
    if (!t->zero_ns || from < t->zero_ns)
        t->zero_ns = from;
    if (to > t->span_ns)
        t->span_ns = to; /* the end time, until all are known */
}

/* @is_all_time: nothing was left out, so that the time without events is part of the recording. */
static void stretch_events(struct sxs_timeline *t, const struct sxs_events_data *e,
                           bool is_all_time)
{
    if (is_all_time) {
        extend_timeline(t, e->head.started_ns, 0);
        extend_timeline(t, atomic_load(&e->head.ended_ns), 0);
    }
    for (size_t i = 0; i < e->n_spans; i++)
        extend_timeline(t, e->spans[i].time_ns, e->spans[i].duration_ns);
    for (size_t i = 0; i < e->n_exceptions; i++)
        extend_timeline(t, e->exceptions[i].time_ns, e->exceptions[i].duration_ns);
}

static void find_span(struct sxs_timeline *t, const struct sxs_model *m,
                      const struct sxs_model *calls, bool is_all_time)
{
    extend_timeline(t, m->first_ns, m->last_ns - m->first_ns);
    if (calls)
        extend_timeline(t, calls->first_ns, calls->last_ns - calls->first_ns);
    for (size_t i = 0; i < m->n_pauses; i++)
        extend_timeline(t, m->pauses[i].time_ns, m->pauses[i].duration_ns);
    for (size_t i = 0; i < m->n_pools; i++)
        extend_timeline(t, m->pools[i].time_ns, 0);
    for (size_t i = 0; i < m->n_processes; i++)
        if (m->processes[i].events)
            stretch_events(t, m->processes[i].events, is_all_time);
    t->span_ns = t->span_ns > t->zero_ns ? t->span_ns - t->zero_ns : 1;
}

/* ---- threads and runtimes -------------------------------------------------------------------- */

/* Returns index + 1 of the thread with id @tid; 0 when @tid is 0. */
static uint32_t thread_of(const struct build *b, uint32_t tid)
{
    uint32_t thread;
    if (!tid)
        return 0;
    thread = sxs_model_thread(b->m, b->process, tid);
    return thread + 1;
}

static bool thread_shown(const struct build *b, uint32_t thread)
{
    return !thread || sxs_model_thread_wanted(b->o, b->m, thread - 1);
}

static uint16_t runtime_of(const struct build *b, uint32_t number)
{
    const struct sxs_model_process *p = &b->m->processes[b->process];
    for (size_t i = 0; i < p->n_runtimes; i++)
        if (p->runtimes[i].number == number)
            return (uint16_t)(sxs_model_runtime(b->m, number, p->runtimes[i].version,
                                                p->runtimes[i].path) + 1);
    return 0;
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* A histogram of durations, with eight steps per octave, to find the limit above which all items
 * fit into the page. */
struct cut {
    uint64_t n[64 * 8];
    uint64_t all;
    unsigned step; /* the longest step of which not all items are kept */
    uint64_t room; /* how many items of that step are kept */
};

static unsigned step_of(uint64_t ns)
{
    unsigned octave = 63 - (unsigned)__builtin_clzll(ns | 8);
    return octave * 8 + (unsigned)((ns >> (octave - 3)) & 7);
}

static void cut_find(struct cut *c, uint64_t max_items)
{
    unsigned step = 64 * 8;
    while (step && c->n[step - 1] <= max_items)
        max_items -= c->n[--step];
    c->step = step ? step - 1 : 0;
    c->room = step ? max_items : UINT64_MAX;
}

/* Returns true when an item of duration @ns is kept; otherwise counts it in @left. Items are
 * offered in order of time: a call before the calls within it, which are not longer. */
static bool cut_keeps(struct cut *c, uint64_t ns, struct sxs_line_left *left)
{
    unsigned step = step_of(ns);
    if (step > c->step || (step == c->step && c->room)) {
        c->room -= step == c->step && c->room != UINT64_MAX;
        return true;
    }
    left->n++;
    left->longest_ns = ns > left->longest_ns ? ns : left->longest_ns;
    return false;
}

/* ---- calls ------------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const struct sxs_line_call *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

/* Converts a frame of another model to the same frame in the main model. */
static uint32_t frame_of(const struct build *b, const struct sxs_model *from, uint32_t *known,
                         uint32_t frame)
{
    if (from == b->m)
        return frame;
    if (!known[frame]) {
        struct sxs_model_frame f = from->frames[frame];
        f = (struct sxs_model_frame){.name = add_text(b->m, sxs_model_text(from, f.name)),
                                     .file = add_text(b->m, sxs_model_text(from, f.file)),
                                     .runtime = f.runtime};
        if (f.runtime) {
            const struct sxs_model_runtime *r = &from->runtimes[f.runtime - 1];
            uint32_t version = add_text(b->m, sxs_model_text(from, r->version));
            uint32_t path = add_text(b->m, sxs_model_text(from, r->path));
            f.runtime = (uint16_t)(sxs_model_runtime(b->m, r->number, version, path) + 1);
        }
        known[frame] = sxs_model_frame(b->m, &f) + 1;
    }
    return known[frame] - 1;
}

static uint32_t main_process(struct sxs_model *m, const struct sxs_model_process *p)
{
    for (size_t i = 0; i < m->n_processes; i++)
        if (strcmp(m->processes[i].folder, p->folder) == 0)
            return (uint32_t)i;
    struct sxs_session_process census = {.pid = p->pid};
    snprintf(census.folder, sizeof(census.folder), "%s", p->folder);
    return (uint32_t)(sxs_model_process(m, &census) - m->processes);
}

static uint32_t *threads_of(const struct build *b, const struct sxs_model *from)
{
    uint32_t *thread = sxs_must_zeroed(from->n_threads, sizeof(*thread));
    for (size_t i = 0; i < from->n_threads; i++) {
        const struct sxs_model_thread *v = &from->threads[i];
        thread[i] = (uint32_t)i;
        if (from == b->m)
            continue;
        uint32_t process = main_process(b->m, &from->processes[v->process]);
        thread[i] = sxs_model_thread(b->m, process, v->tid);
        struct sxs_model_thread *to = &b->m->threads[thread[i]];
        to->name = add_text(b->m, sxs_model_text(from, v->name));
        to->runtimes |= v->runtimes;
        if (!to->started_ns || (v->started_ns && v->started_ns < to->started_ns))
            to->started_ns = v->started_ns;
        if (v->ended_ns > to->ended_ns)
            to->ended_ns = v->ended_ns;
    }
    return thread;
}

static void end_call(struct sxs_line_call *c, const struct sxs_model_event *e, uint64_t now)
{
    c->duration_ns = now > c->start_ns ? now - c->start_ns : 0;
    c->result = e->values;
    c->unwound = e->unwound;
}

static void pair_calls(const struct build *b, const struct sxs_model *from, const uint32_t *threads)
{
    struct sxs_timeline *t = b->t;
    uint32_t            *known = sxs_must_zeroed(from->n_frames, sizeof(*known));
    size_t              *open = NULL, depth = 0, cap = 0;
    for (size_t i = 0; i < from->n_events; i++) {
        const struct sxs_model_event *e = &from->events[i];
        uint64_t                      now = since_zero(t, e->time_ns);
        if (!e->begins) {
            if (depth)
                end_call(&t->calls[open[--depth]], e, now);
            continue;
        }
        SXS_GROW(open, depth, cap);
        SXS_GROW(t->calls, t->n_calls, t->cap_calls);
        open[depth] = t->n_calls;
        t->calls[t->n_calls++] = (struct sxs_line_call){
            .start_ns = now, .thread = threads[from->nodes[e->node].thread],
            .frame = frame_of(b, from, known, from->nodes[e->node].frame),
            .depth = (uint32_t)depth, .arguments = e->values};
        depth++;
    }
    free(open);
    free(known);
}

static void take_calls(const struct build *b, const struct sxs_model *from)
{
    struct sxs_timeline *t = b->t;
    uint32_t            *threads = threads_of(b, from);
    struct cut           cut = {0};
    size_t               n = 0;
    pair_calls(b, from, threads);
    free(threads);
    for (size_t i = 0; i < t->n_calls; i++)
        cut.n[step_of(t->calls[i].duration_ns)]++;
    cut_find(&cut, b->o->max_items ? b->o->max_items : SXS_LINE_CALLS_MAX);
    for (size_t i = 0; i < t->n_calls; i++)
        if (cut_keeps(&cut, t->calls[i].duration_ns, &t->calls_left))
            t->calls[n++] = t->calls[i];
    t->n_calls = n;
    for (size_t i = 1; i < n; i++)
        if (by_place(&t->calls[i - 1], &t->calls[i]) > 0) { /* a thread's id was used again */
            qsort(t->calls, n, sizeof(*t->calls), by_place);
            break;
        }
    t->calls_lost = from->events_lost;
    if (from->values.n > 1)
        sxs_timeline_keep_values(t, &from->values,
                                 b->o->max_items ? b->o->max_items : SXS_LINE_CALLS_MAX);
}

/* ---- events and exceptions -------------------------------------------------------------------- */

static bool is_short(const struct sxs_events_span *s)
{
    return s->kind == SXS_KIND_JIT || s->kind == SXS_KIND_MODULE_LOAD ||
           s->kind == SXS_KIND_CLASS_LOAD;
}

static void take_span(const struct build *b, const struct sxs_events_span *s, struct cut *cut)
{
    struct sxs_timeline *t = b->t;
    uint32_t             thread = thread_of(b, s->tid);
    if (b->o->runtime && s->runtime != b->o->runtime)
        return;
    if (thread && s->kind == SXS_KIND_THREAD_NAME && s->text[0]) {
        struct sxs_model_thread *v = &b->m->threads[thread - 1];
        if (!v->kernel[0] && strcmp(sxs_model_text(b->m, v->name), "thread") == 0)
            v->name = add_text(b->m, s->text);
    }
    if (!thread_shown(b, thread) ||
        (is_short(s) && !cut_keeps(cut, s->duration_ns, &t->spans_left)))
        return;
    if (thread && s->runtime < 64)
        b->m->threads[thread - 1].runtimes |= UINT64_C(1) << s->runtime;
    SXS_GROW(t->spans, t->n_spans, t->cap_spans);
    struct sxs_line_span *v = &t->spans[t->n_spans++];
    *v = (struct sxs_line_span){.start_ns = since_zero(t, s->time_ns), .thread = thread,
                                .text = add_text(b->m, s->text), .a = s->a, .b = s->b,
                                .process = b->process, .runtime = runtime_of(b, s->runtime),
                                .kind = s->kind, .tier = s->tier, .failed = s->failed,
                                .pause_ns = s->pause_ns};
    v->duration_ns = duration_within(t, v->start_ns, s->duration_ns);
}

static void take_exception(const struct build *b, const struct sxs_events_data *e,
                           const struct sxs_events_exception *x)
{
    struct sxs_timeline *t = b->t;
    uint32_t             thread = thread_of(b, x->tid);
    if ((b->o->runtime && x->runtime != b->o->runtime) || !thread_shown(b, thread))
        return;
    if (thread && x->runtime < 64)
        b->m->threads[thread - 1].runtimes |= UINT64_C(1) << x->runtime;
    SXS_GROW(t->exceptions, t->n_exceptions, t->cap_exceptions);
    struct sxs_line_exception *v = &t->exceptions[t->n_exceptions++];
    *v = (struct sxs_line_exception){
        .start_ns = since_zero(t, x->time_ns), .thread = thread, .type = add_text(b->m, x->type),
        .message = add_text(b->m, x->message), .thrown = add_text(b->m, x->thrown),
        .caught = add_text(b->m, x->caught), .fate = add_text(b->m, sxs_fate_text(e, x->fate)),
        .runtime = runtime_of(b, x->runtime), .rethrown = x->rethrown, .cut = x->cut};
    v->duration_ns = duration_within(t, v->start_ns, x->duration_ns);
}

static void add_throw_site(const struct build *b, const struct sxs_events_data *e,
                           const struct sxs_events_throw_site *s)
{
    struct sxs_timeline *t = b->t;
    if (b->o->runtime && s->runtime != b->o->runtime)
        return;
    SXS_GROW(t->throw_sites, t->n_throw_sites, t->cap_throw_sites);
    t->throw_sites[t->n_throw_sites++] =
        (struct sxs_line_throw_site){.type = add_text(b->m, s->type),
                                     .message = add_text(b->m, s->message),
                                     .thrown = add_text(b->m, s->thrown),
                                     .caught = add_text(b->m, s->caught),
                                     .fate = add_text(b->m, sxs_fate_text(e, s->fate)),
                                     .process = b->process,
                                     .runtime = runtime_of(b, s->runtime),
                                     .rethrown = s->rethrown,
                                     .n = s->n,
                                     .total_ns = s->total_ns};
}

static void take_exceptions(const struct build *b, const struct sxs_events_data *e)
{
    for (size_t i = 0; i < e->n_exceptions; i++) {
        const struct sxs_events_exception *x = &e->exceptions[i];
        struct sxs_events_throw_site       alone = {.type = x->type,
                                                    .thrown = x->thrown,
                                                    .caught = x->caught,
                                                    .runtime = x->runtime,
                                                    .fate = x->fate,
                                                    .rethrown = x->rethrown,
                                                    .n = 1,
                                                    .message = x->message};
        take_exception(b, e, x);
        if (!x->landed)
            add_throw_site(b, e, &alone);
    }
    for (size_t i = 0; i < e->n_throw_sites; i++)
        add_throw_site(b, e, &e->throw_sites[i]);
}

/* Adds pauses from the samples, for processes whose events were not recorded. */
static void take_pauses(struct build *b)
{
    struct cut none = {.step = 0};
    for (size_t i = 0; i < b->m->n_pauses; i++) {
        const struct sxs_model_pause   *p = &b->m->pauses[i];
        const struct sxs_events_data   *e = b->m->processes[p->process].events;
        const struct sxs_model_runtime *r = p->runtime ? &b->m->runtimes[p->runtime - 1] : NULL;
        const struct sxs_events_span    s = {.time_ns = p->time_ns, .duration_ns = p->duration_ns,
                                             .tid = p->tid, .runtime = r ? r->number : 0,
                                             .a = p->reason, .kind = SXS_KIND_SUSPENSION,
                                             .text = ""};
        b->process = p->process;
        if (!e || !(e->head.tools & SXS_EVENTS_OF_RUNTIMES))
            take_span(b, &s, &none);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct sxs_line_span *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

static void take_events(struct build *b)
{
    struct sxs_timeline *t = b->t;
    struct cut           cut = {0};
    uint64_t             max_items = b->o->max_items ? b->o->max_items : SXS_LINE_SPANS_MAX;
    for (size_t i = 0; i < b->m->n_processes; i++) {
        const struct sxs_events_data *e = b->m->processes[i].events;
        for (size_t k = 0; e && k < e->n_spans; k++)
            if (is_short(&e->spans[k]))
                cut.n[step_of(e->spans[k].duration_ns)]++;
    }
    cut_find(&cut, max_items);
    for (size_t i = 0; i < b->m->n_processes; i++) {
        const struct sxs_events_data *e = b->m->processes[i].events;
        if (!e)
            continue;
        b->process = (uint32_t)i;
        t->tools |= e->head.tools;
        t->spans_lost += atomic_load(&e->head.lost);
        t->exceptions_lost += atomic_load(&e->head.exceptions_lost);
        for (size_t k = 0; k < e->n_spans; k++)
            take_span(b, &e->spans[k], &cut);
        take_exceptions(b, e);
    }
    take_pauses(b);
    if (t->n_spans)
        qsort(t->spans, t->n_spans, sizeof(*t->spans), by_time);
}

void sxs_timeline_build(struct sxs_model *m, const struct sxs_model *calls,
                        const struct sxs_report_options *o, struct sxs_timeline *out)
{
    struct build b = {.t = out, .m = m, .o = o};
    size_t       max_items = o->max_items ? o->max_items : SXS_LINE_SAMPLES_MAX;
    memset(out, 0, sizeof(*out));
    find_span(out, m, calls, sxs_period_is_all(&o->period));
    if (m->data == SXS_DATA_SAMPLES && m->n_samples)
        out->sample_step = (uint32_t)((m->n_samples + max_items - 1) / max_items);
    if (calls)
        take_calls(&b, calls);
    take_events(&b);
    sxs_timeline_take_pools(out, m, o);
}

void sxs_timeline_free(struct sxs_timeline *t)
{
    free(t->calls);
    free(t->spans);
    free(t->exceptions);
    free(t->throw_sites);
    sxs_timeline_free_pools(t);
    sxs_strings_free(&t->values);
    memset(t, 0, sizeof(*t));
}
