/* SPDX-License-Identifier: MIT */
/* Loads the samples or costs of a session folder into a model: first the names, then every sample
 * into the tree. */
#include "base/base.h"
#include "cmd/costs/costs.h"
#include "cmd/output/must.h"
#include "cmd/output/shown.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/loader.h"
#include "cmd/report/slices.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void sxs_loader_keep(struct sxs_loader *l, uint64_t time_ns, uint32_t node, uint64_t weight,
                     bool waiting)
{
    struct sxs_model *m = l->m;
    if (m->n_samples >= SXS_MODEL_MAX_SAMPLES) {
        m->off_timeline++;
        return;
    }
    SXS_GROW(m->samples, m->n_samples, m->cap_samples);
    m->samples[m->n_samples++] = (struct sxs_model_sample){
        .time_ns = time_ns, .node = node, .weight = weight, .waiting = waiting};
}

void sxs_loader_period(uint64_t *first, uint64_t *last, uint64_t time_ns)
{
    if (!*first || time_ns < *first)
        *first = time_ns;
    if (time_ns > *last)
        *last = time_ns;
}

bool sxs_loader_in_period(const struct sxs_loader *l, uint64_t time_ns)
{
    return sxs_period_is_all(&l->o->period) ||
           sxs_period_has(&l->o->period,
                          l->head->started_realtime_ns + (time_ns - l->head->started_ns));
}

/* Returns the time that a sample stands for. */
static uint64_t weight_of(const struct sxs_loader *l, const struct sxs_record_sample *v)
{
    const struct sxs_model_process *p = &l->m->processes[l->process];
    uint64_t                        hz = p->head.asked_hz ? p->head.asked_hz : 1000;
    /* The limit of one day bounds the effect of a damaged weight on the sums. */
    return v->weight_ns && v->weight_ns < 86400000000000u ? v->weight_ns : 1000000000u / hz;
}

struct sxs_loaded_sample sxs_loader_sample(struct sxs_loader *l, const struct sxs_record_sample *v,
                                           uint16_t collecting, bool suspended)
{
    struct sxs_model         *m = l->m;
    struct sxs_model_process *p = &m->processes[l->process];
    uint32_t                  thread = sxs_model_thread(m, l->process, v->tid);
    uint64_t                  weight = weight_of(l, v);
    struct sxs_loaded_sample  none = {weight, SXS_NO_NODE, thread};
    struct sxs_loaded_stack   spare;
    if (!sxs_loader_thread(l, thread) || (m->data == SXS_DATA_WAIT && !v->waiting)) {
        m->filtered_out++;
        return none;
    }
    struct sxs_recorded_stack stack = {.ips = v->ips, .n = v->n, .thread = thread,
                                       .time_ns = v->time_ns, .type = UINT32_MAX,
                                       .waiting = m->data == SXS_DATA_WAIT ? v->waiting : 0};
    if (!(m->nodes[m->threads[thread].root].flags & SXS_FRAME_GC))
        /* in a collector's own thread, everything is collection */
        stack.collecting = collecting;
    stack.suspended = stack.waiting && suspended;
    const struct sxs_loaded_stack *k = sxs_loader_stack(l, &stack, &spare);
    if (k->node == SXS_NO_NODE) {
        m->filtered_out++;
        return none;
    }
    struct sxs_model_thread *t = &m->threads[thread];
    m->nodes[k->node].self++;
    m->nodes[k->node].self_ns += weight;
    if (k->leaf != UINT32_MAX && !(m->nodes[k->node].flags & SXS_FRAME_OWN))
        m->frames[k->leaf].tier_self[k->tier & 7]++;
    if (k->line) {
        m->lines[k->line - 1].self++;
        m->lines[k->line - 1].self_ns += weight;
    }
    t->samples++;
    t->weight_ns += weight;
    m->total++;
    m->total_ns += weight;
    if (l->o->slices)
        sxs_slices_sample(l->o->slices, &p->head, v->time_ns, k->node, weight, l->trace);
    m->has_reasons |= v->waiting > SXS_WAITS;
    if (v->waiting) {
        t->waiting++;
        t->waiting_ns += weight;
        m->waiting++;
        m->waiting_ns += weight;
    }
    m->ends[v->end]++;
    sxs_loader_period(&m->first_ns, &m->last_ns, v->time_ns);
    sxs_loader_period(&p->first_ns, &p->last_ns, v->time_ns);
    if (l->detail & SXS_DETAIL_TIMELINE)
        sxs_loader_keep(l, v->time_ns, k->node, weight, v->waiting != 0);
    return (struct sxs_loaded_sample){weight, k->node, thread};
}

static bool in_trace(const struct sxs_loader *l, const struct sxs_record_sample *v)
{
    const struct sxs_trace *trace =
        l->traces ? sxs_traces_of(l->traces, l->census, l->code, v) : NULL;
    return !l->traces || (trace && trace->wanted);
}

/* Slices keep the samples of each trace apart. */
static bool is_by_trace(const struct sxs_loader *l)
{
    return l->o->slices && l->head->has_contexts;
}

static void take_sample(struct sxs_loader *l, const struct sxs_record_sample *v)
{
    if (!sxs_loader_in_period(l, v->time_ns) || !in_trace(l, v)) {
        l->m->filtered_out++;
        return;
    }
    uint64_t weight = weight_of(l, v); /* the middle of the time that the sample stands for */
    uint64_t middle = v->time_ns - (weight < v->time_ns ? weight / 2 : 0);
    const struct sxs_sample_context *context =
        is_by_trace(l) ? sxs_trace_context(l->code, v) : NULL;
    l->trace = context ? context->trace : NULL;
    sxs_loader_sample(l, v, sxs_collections_at(l->collections, v->tid, v->time_ns),
                      l->m->data == SXS_DATA_WAIT && sxs_suspended_at(l->collections, middle));
    l->trace = NULL;
}

static void take_difference(struct sxs_loader *l, const struct sxs_record_difference *v)
{
    struct sxs_model *m = l->m;
    if (m->n_differences >= SXS_MODEL_MAX_DIFFERENCES)
        return;
    SXS_GROW(m->differences, m->n_differences, m->cap_differences);
    struct sxs_model_difference *d = &m->differences[m->n_differences++];
    *d = (struct sxs_model_difference){.time_ns = v->time_ns,
                                       .process = l->process,
                                       .tid = v->tid,
                                       .n = v->n,
                                       .kind = v->kind,
                                       .end = v->end,
                                       .frames = sxs_must_zeroed(v->n + 1u, sizeof(*d->frames))};
    for (unsigned i = 0; i < v->n; i++) {
        const struct sxs_compared_frame *f = &v->frames[i];
        struct sxs_named named = sxs_addresses_name(l->names, f->ip - (i > 0), v->time_ns);
        d->frames[i] = (struct sxs_model_compared){f->sp, f->ip, named.frame, f->verdict};
    }
}

static void add(_Atomic uint64_t *to, const _Atomic uint64_t *from)
{
    atomic_fetch_add_explicit(to, atomic_load_explicit(from, memory_order_relaxed),
                              memory_order_relaxed);
}

static void keep_first(_Atomic uint64_t *to, const _Atomic uint64_t *first)
{
    if (atomic_load_explicit(first, memory_order_relaxed))
        atomic_store_explicit(to, atomic_load_explicit(first, memory_order_relaxed),
                              memory_order_relaxed);
}

static void add_list(_Atomic uint64_t *to, const _Atomic uint64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(&to[i], &from[i]);
}

/* Adds the header of a file to the process. Of several files, counts are added up, the time of the beginning is that
 * of the first file, and all other values are those of the last one. */
static void take_head(struct sxs_model_process *p, const struct sxs_samples_header *h)
{
    struct sxs_samples_header sums;
    memcpy(&sums, h, sizeof(sums));
    sxs_strings_clean(sums.command, strnlen(sums.command, sizeof(sums.command)));
    if (p->n_files++) {
        const struct sxs_samples_header *before = &p->head;
        sums.started_ns = before->started_ns;
        sums.started_realtime_ns = before->started_realtime_ns;
        add(&sums.n_samples, &before->n_samples);
        add(&sums.n_dropped, &before->n_dropped);
        add_list(sums.n_ends, before->n_ends, sizeof(sums.n_ends) / sizeof(sums.n_ends[0]));
        add(&sums.handler_ns, &before->handler_ns);
        add(&sums.n_unlisted, &before->n_unlisted);
        add(&sums.n_short_threads, &before->n_short_threads);
        add(&sums.short_cpu_ns, &before->short_cpu_ns);
        add(&sums.n_unsampled, &before->n_unsampled);
        add(&sums.unsampled_ns, &before->unsampled_ns);
        add(&sums.n_without_clock, &before->n_without_clock);
        add(&sums.n_signals_refused, &before->n_signals_refused);
        keep_first(&sums.without_clock_errno, &before->without_clock_errno);
        keep_first(&sums.signals_refused_errno, &before->signals_refused_errno);
        add_list(sums.n_compared, before->n_compared, SXS_N_COMPARED);
        add_list(sums.n_costs, before->n_costs, sizeof(sums.n_costs) / sizeof(sums.n_costs[0]));
        add_list(sums.n_costs_dropped, before->n_costs_dropped,
                 ARRAY_LEN(sums.n_costs_dropped));
        add_list(sums.costs_dropped_n, before->costs_dropped_n, ARRAY_LEN(sums.costs_dropped_n));
        add_list(sums.costs_dropped_value, before->costs_dropped_value,
                 ARRAY_LEN(sums.costs_dropped_value));
        add(&sums.n_notes_dropped, &before->n_notes_dropped);
    }
    memcpy(&p->head, &sums, sizeof(p->head));
}

static void take_process(struct sxs_loader *l, struct sxs_samples *reader,
                         const struct sxs_process_part *part, struct sxs_natives *natives,
                         struct sxs_sources *sources)
{
    const struct sxs_session_process *census = part->process;
    struct sxs_model                 *m = l->m;
    struct sxs_samples_record r;
    struct sxs_model_process *p = sxs_model_process(m, census);
    l->head = sxs_samples_head(reader);
    take_head(p, l->head);
    l->process = (uint32_t)(p - m->processes);
    sxs_model_read_names(m, l->process, part);
    size_t first_pause =
        m->n_pauses; /* of this file; those of earlier ones were over before it began */
    l->names = sxs_addresses_read(m, l->process, reader, census, natives, sources);
    l->collections = sxs_collections_new(m, l->process, first_pause);
    l->census = census;
    l->code = l->traces || is_by_trace(l) ? sxs_trace_code_read(reader) : NULL;
    sxs_loader_begin(l);
    if (m->costs) {
        m->costs->parted |= p->n_files > 1;
        sxs_load_costs(l, reader);
    }
    while (!m->costs && sxs_samples_next(reader, &r))
        if (r.type == SXS_RECORD_SAMPLE)
            take_sample(l, r.sample);
        else if (r.type == SXS_RECORD_DIFFERENCE)
            take_difference(l, r.difference);
    const char *line;
    for (size_t i = 0; (line = sxs_samples_problem(reader, i)) != NULL; i++)
        sxs_model_problem(m, "%s/%s/" SXS_SAMPLES_FILE ": %s", sxs_shown(l->dir), part->folder,
                          line);
    sxs_addresses_free(l->names);
    sxs_collections_free(l->collections);
    sxs_trace_code_free(l->code);
    sxs_loader_end(l);
    l->names = NULL;
}

/* Returns true when a tool let the runtimes start sessions of events: the tool "events", or one that
 * records allocations or waits. */
static bool starts_sessions(int fd, const struct sxs_samples_header *head)
{
    struct stat st;
    return fstatat(fd, SXS_EVENTS_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
           sxs_costs_on(head, SXS_COST_ALLOCATION) || sxs_costs_on(head, SXS_COST_LOCK);
}

/* Returns true when the process recorded data of the model's kind. */
static bool has_data(const struct sxs_loader *l, const struct sxs_samples_header *head)
{
    const struct sxs_model *m = l->m;
    if (l->traces && (m->costs || !head->has_contexts))
        return false; /* nothing of it is known to belong to a trace */
    return m->costs ? sxs_costs_on(head, m->costs->kind)
                    : head->mode || atomic_load_explicit(&head->n_samples, memory_order_relaxed);
}

struct sxs_model_loading {
    struct sxs_loader        l;
    const struct sxs_opened *v;
    struct sxs_names        *table; /* owned; NULL: none */
    struct sxs_lookup        lookup;
    struct sxs_natives      *natives; /* owned */
    struct sxs_sources      *sources; /* owned */
    struct sxs_traces        traces;  /* of a choice */
    int                      err;
};

/* Reads one folder of a process. */
static int take_part(void *arg, const struct sxs_process_part *part)
{
    struct sxs_model_loading *loading = arg;
    struct sxs_loader        *l = &loading->l;
    char                      why[256];
    struct sxs_samples       *reader = NULL;
    if (part->err == ENOENT) { /* that is what rings of segments do */
        sxs_model_note(l->m, "%s/%s: deleted while it was read: left out", sxs_shown(l->dir),
                       part->folder);
        return 0;
    }
    if (part->err) {
        sxs_model_problem(l->m, "%s/%s: %s", sxs_shown(l->dir), part->folder, strerror(part->err));
        return 0;
    }
    int err = sxs_samples_open(part->files, &reader, why, sizeof(why));
    if (err && err != ENOENT) /* ENOENT is no problem: the process was not sampled */
        sxs_model_problem(l->m, "%s/%s/" SXS_SAMPLES_FILE ": %s", sxs_shown(l->dir), part->folder,
                          why);
    if (!err && has_data(l, sxs_samples_head(reader))) {
        struct sxs_file_owner owner;
        l->starts_sessions = starts_sessions(part->fd, sxs_samples_head(reader));
        sxs_session_owner(loading->v->fd, part->fd, &owner);
        sxs_natives_owner(loading->natives, &owner);
        sxs_sources_owner(loading->sources, &owner);
        take_process(l, reader, part, loading->natives, loading->sources);
    }
    sxs_samples_close(reader);
    if (l->detail & SXS_DETAIL_EVENTS)
        sxs_model_events(l->m, l->dir, part);
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct sxs_model_sample *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Notes ELF files that gave no names, if a sample needed them. */
static void note_natives(struct sxs_model *m, const struct sxs_natives *natives)
{
    bool end = false;
    for (uint32_t i = 0; !end; i++) {
        const char *why = sxs_natives_problem(natives, i, &end);
        if (why)
            sxs_model_note(m, "%s: %s: its functions have no names", sxs_natives_path(natives, i),
                           why);
    }
}

static void note_sources(struct sxs_model *m, const struct sxs_sources *sources)
{
    bool end = false;
    for (uint32_t i = 0; !end; i++) {
        const char *why = sxs_sources_problem(sources, i, &end);
        if (why)
            sxs_model_note(m, "%s: its methods have no lines", why);
    }
}

/* Returns where names are looked up: in the session's own table of names, if it has one, which the
 * caller owns. */
static struct sxs_names *read_table(struct sxs_model *m, const char *dir, int dir_fd)
{
    const char       *why;
    struct sxs_names *table = sxs_names_read(dir_fd, &why);
    if (why)
        sxs_model_problem(m, "%s/" SXS_NAMES_FILE ": %s", sxs_shown(dir), why);
    return table;
}

/* Sets the kind of data and its units. */
static void begin_model(struct sxs_model *m, const struct sxs_report_options *o, enum sxs_data data)
{
    const struct sxs_data_kind *kind = sxs_data_kind(data);
    memset(m, 0, sizeof(*m));
    m->data = data;
    m->unit = kind->unit;
    sxs_strings_add(&m->strings, "", 0);
    if (!kind->cost)
        return;
    m->costs = sxs_must_zeroed(1, sizeof(*m->costs));
    m->costs->kind = kind->cost;
    m->costs->live = kind->live;
    m->costs->by_count = o->by_count;
    m->costs->keep_sums = o->errors;
    if (o->by_count)
        m->unit = SXS_UNIT_COUNT;
}

struct sxs_model_loading *sxs_model_loading_new(const struct sxs_opened         *v,
                                                const struct sxs_report_options *options,
                                                enum sxs_data data, unsigned detail,
                                                struct sxs_model *out)
{
    struct sxs_model_loading *loading = sxs_must_zeroed(1, sizeof(*loading));
    begin_model(out, options, data);
    loading->v = v;
    loading->l = (struct sxs_loader){.m = out, .o = options, .dir = v->dir, .detail = detail};
    loading->table = read_table(out, v->dir, v->fd);
    loading->lookup = (struct sxs_lookup){options->symbols, loading->table, options->record};
    loading->natives = sxs_natives_new(&loading->lookup);
    loading->sources = sxs_sources_new(&loading->lookup);
    if (!sxs_trace_choice_is_all(&options->trace)) {
        loading->l.traces = options->traces ? options->traces : &loading->traces;
        if (!options->traces)
            loading->err = sxs_traces_load(v, options->process, &options->trace, &loading->traces);
    }
    for (size_t i = 0; i < v->session.n_problems; i++)
        sxs_model_problem(out, "%s/%s", sxs_shown(v->dir), v->session.problems[i]);
    return loading;
}

struct sxs_opened_reader sxs_model_loading_reader(struct sxs_model_loading *loading)
{
    uint32_t events =
        loading->l.detail & SXS_DETAIL_EVENTS ? sxs_session_file_bit(SXS_EVENTS_FILE) : 0;
    return (struct sxs_opened_reader){.take = take_part,
                                      .arg = loading,
                                      .files = sxs_session_file_bit(SXS_SAMPLES_FILE) | events,
                                      .all = true};
}

void sxs_model_loading_end(struct sxs_model_loading *loading)
{
    struct sxs_model *m = loading->l.m;
    sxs_model_events_end(m);
    note_natives(m, loading->natives);
    note_sources(m, loading->sources);
    if (m->n_samples)
        qsort(m->samples, m->n_samples, sizeof(*m->samples), by_time);
    if (m->costs)
        sxs_load_costs_end(m);
    sxs_model_sum(m);
    sxs_natives_free(loading->natives);
    sxs_sources_free(loading->sources);
    sxs_names_free(loading->table);
    sxs_traces_free(&loading->traces);
    free(loading->l.thread_state);
    free(loading);
}

int sxs_model_load(const struct sxs_opened *v, const struct sxs_report_options *options,
                   enum sxs_data data, unsigned detail, struct sxs_model *out)
{
    struct sxs_model_loading *loading = sxs_model_loading_new(v, options, data, detail, out);
    struct sxs_opened_reader  reader = sxs_model_loading_reader(loading);
    int                       err = loading->err;
    (void)sxs_opened_read(v, options->process, &reader, 1);
    sxs_model_loading_end(loading);
    return err;
}
