/* SPDX-License-Identifier: MIT */
#include "cmd/report/measure.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/costs/costs.h"
#include "cmd/output/missing.h"
#include "cmd/output/must.h"
#include "cmd/output/processes.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"
#include "session/format/calls.h"

/* What is measured, and where the result goes. */
struct measure {
    const struct sxs_condition      *c;
    const struct sxs_model          *m;
    const struct sxs_report_options *o;
    bool                            *fits; /* owned; by frame */
    bool                            *part; /* owned; by node: it counts */
    size_t                           n_fit;
    uint32_t                         frame; /* the last one that fits */
    struct sxs_measured             *out;
    char                            *why;
    size_t                           size;
};

__attribute__((format(printf, 2, 3))) static int no_value(const struct measure *k, const char *fmt,
                                                          ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(k->why, k->size, fmt, ap);
    va_end(ap);
    return -ENODATA;
}

/* ---- units, and what is missing -------------------------------------------------------------- */

bool sxs_condition_units(const struct sxs_condition *c, enum sxs_data data, bool by_count)
{
    enum sxs_unit unit = data == SXS_DATA_ANY ? SXS_UNIT_COUNT : sxs_data_kind(data)->unit;
    if (by_count && sxs_data_is_cost(data))
        unit = SXS_UNIT_COUNT;
    return c->unit == SXS_CONDITION_PERCENT || c->unit == SXS_CONDITION_COUNT ||
           c->unit == (unit == SXS_UNIT_BYTES ? SXS_CONDITION_BYTES
                       : unit == SXS_UNIT_NS  ? SXS_CONDITION_NS
                                              : SXS_CONDITION_COUNT);
}

#define DATA(name) (1u << SXS_DATA_##name)
#define SAMPLED    (DATA(SAMPLES) | DATA(WAIT))

/* What may be missing of which data, so that a value can be anything. What widens an interval is not among them. */
static const struct {
    const char *key;
    unsigned    data; /* of SXS_DATA_ANY: exceptions */
} vague[] = {
    {"processes_left_out", ~0u},
    {"runtimes_unlisted", ~0u},
    {"threads_not_sampled", SAMPLED},
    {"signals_refused", SAMPLED},
    {"functions_not_hooked", DATA(CALLS)},
    {"calls_without_thread", DATA(CALLS)},
    {"calls_at_callers", DATA(CALLS)},
    {"calls_too_deep", DATA(CALLS)},
    {"notes_dropped", DATA(LIVE) | DATA(NATIVE_LIVE)},
};

/* Returns the line about something that is missing and may be anything; NULL: there is none. */
static const char *find_vague(const struct sxs_missing *missing, enum sxs_data data)
{
    for (size_t i = 0; missing && i < missing->n; i++)
        for (size_t k = 0; k < sizeof(vague) / sizeof(vague[0]); k++)
            if (vague[k].data >> data & 1 && strcmp(vague[k].key, missing->all[i].key) == 0)
                return missing->all[i].text;
    return NULL;
}

/* ---- which functions, and which stacks ------------------------------------------------------- */

static bool frame_fits(const struct sxs_condition *c, const struct sxs_model *m,
                       const struct sxs_model_frame *f)
{
    const char *version =
        f->runtime ? sxs_model_text(m, m->runtimes[f->runtime - 1].version) : "native";
    char assembly[256];
    if (f->flags & SXS_FRAME_TYPE)
        return false;
    snprintf(assembly, sizeof(assembly), "%s", sxs_base_name(sxs_model_text(m, f->file)));
    char *dot = f->runtime ? strrchr(assembly, '.') : NULL;
    if (dot && (strcmp(dot, ".dll") == 0 || strcmp(dot, ".exe") == 0))
        *dot = '\0';
    return sxs_condition_pattern_fits(c, version, assembly, sxs_model_text(m, f->name));
}

static void find_functions(struct measure *k)
{
    k->fits = sxs_must_zeroed(k->m->n_frames, sizeof(*k->fits));
    for (uint32_t i = 0; i < k->m->n_frames; i++) {
        k->fits[i] = frame_fits(k->c, k->m, &k->m->frames[i]);
        k->n_fit += k->fits[i];
        k->frame = k->fits[i] ? i : k->frame;
    }
}

/* Marks the nodes whose weight counts. What was allocated or waited for counts for the function that did it. */
static void find_nodes(struct measure *k)
{
    const struct sxs_model *m = k->m;
    k->part = sxs_must_zeroed(m->n_nodes, sizeof(*k->part));
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct sxs_model_node *n = &m->nodes[i];
        if (n->parent == SXS_NO_NODE)
            continue;
        k->part[i] = k->fits[n->frame];
        if (k->c->total || (m->frames[n->frame].flags & SXS_FRAME_TYPE))
            k->part[i] |= k->part[n->parent];
    }
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Sums of samples: of all, and of those that count. */
struct samples {
    double all_n, all_ns, n, ns;
    double squares;       /* of the times that single samples stand for */
    double without_stack; /* ns */
};

static struct samples sum_samples(const struct measure *k)
{
    const struct sxs_model *m = k->m;
    struct samples          s = {.all_n = (double)m->total, .all_ns = (double)m->total_ns};
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct sxs_model_node *n = &m->nodes[i];
        double                       ns = (double)n->self_ns;
        s.squares += n->self ? ns * ns / (double)n->self : 0;
        s.without_stack += n->parent == SXS_NO_NODE ? ns : 0;
        s.n += k->part[i] ? (double)n->self : 0;
        s.ns += k->part[i] ? ns : 0;
    }
    return s;
}

/* Returns the time, in ns, that belongs to functions that nobody knows, besides that of the samples. @n: receives the
 * number of samples that were dropped. */
static double lost_ns(const struct sxs_model *m, const struct samples *s, double *n)
{
    double ns = 0;
    *n = 0;
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct sxs_samples_header *h = &m->processes[i].head;
        *n += (double)atomic_load_explicit(&h->n_dropped, memory_order_relaxed);
        ns += (double)atomic_load_explicit(&h->unsampled_ns, memory_order_relaxed);
        ns += (double)atomic_load_explicit(&h->short_cpu_ns, memory_order_relaxed);
    }
    return ns + *n * s->all_ns / s->all_n;
}

/* Returns how many stacks ended before the bottom: their oldest functions are not known. */
static double cut_samples(const struct sxs_model *m)
{
    double n = 0;
    for (unsigned i = 0; i < SXS_N_SAMPLE_ENDS; i++)
        if (i != SXS_SAMPLE_END_BOTTOM && i != SXS_SAMPLE_END_NOT_INTERRUPTED)
            n += (double)m->ends[i];
    return n;
}

static double at_most(double v, double most)
{
    return v < most ? v : most;
}

static int measure_samples(const struct measure *k)
{
    const struct sxs_model *m = k->m;
    struct samples          s = sum_samples(k);
    double                  dropped, cut = k->c->total ? cut_samples(m) : 0;
    if (!m->total || !m->total_ns || s.squares <= 0)
        return no_value(k, "nothing was sampled");
    double              lost = lost_ns(m, &s, &dropped), all = s.all_ns;
    double              unknown = s.without_stack + cut * s.all_ns / s.all_n;
    struct sxs_measured v = sxs_condition_share(at_most(s.ns / all, 1), all * all / s.squares);
    v.low *= all;
    v.high = at_most(v.high * all + unknown, all) + lost;
    switch (k->c->unit) {
    case SXS_CONDITION_COUNT:
        *k->out = (struct sxs_measured){s.n, s.n, at_most(s.n + cut, s.all_n) + dropped};
        break;
    case SXS_CONDITION_NS: *k->out = (struct sxs_measured){s.ns, v.low, v.high}; break;
    default:
        *k->out = (struct sxs_measured){100 * (s.ns / all), 100 * (v.low / (all + lost)),
                                        100 * (v.high / (all + lost))};
    }
    return 0;
}

/* ---- costs ----------------------------------------------------------------------------------- */

static bool is_biased(const struct sxs_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++)
        for (size_t r = 0; r < m->processes[i].n_runtimes; r++)
            if (sxs_costs_biased(&m->processes[i].head, m->costs->kind,
                                 m->processes[i].runtimes[r].number))
                return true;
    return false;
}

/* A mean of so many is found with a chance of 2.5 % to be none. */
#define NONE_OF_POISSON 3.689

/* Returns the costs, or their bytes or ns, for which the record of the largest weight stands. */
static double largest_record(const struct sxs_cost_sum *s, bool counted)
{
    double half = s->top_value / 2; /* top_var is n * (n - 1) * top_value^2 */
    return counted ? s->top_n : half + sqrt(half * half + s->top_var);
}

static int measure_costs(const struct measure *k)
{
    const struct sxs_model_costs *costs = k->m->costs;
    struct sxs_cost_sum           part = {0}, rest = {0};
    bool                          counted = k->c->unit == SXS_CONDITION_COUNT || costs->by_count;
    if (costs->live && costs->parted)
        return no_value(k,
                        "what is gone is known within one segment; expected one of the segments");
    if (costs->live && !costs->live_known)
        return no_value(k, "what is gone was not recorded");
    if (costs->unfollowed.records && costs->live)
        return no_value(k, "of %.0f %s it is not known whether they are gone", costs->unfollowed.n,
                        sxs_data_kind(k->m->data)->many);
    if (is_biased(k->m))
        return no_value(k, "what was recorded was not chosen at random (--choose ticks), so its "
                           "error is not known");
    for (size_t i = 0; i < k->m->n_nodes && costs->sums; i++)
        sxs_cost_sum_join(k->part[i] ? &part : &rest, &costs->sums[i]);
    if (!part.records && !rest.records)
        return no_value(k, "nothing was recorded");
    struct sxs_cost_interval a =
        counted ? sxs_cost_interval_n(&part) : sxs_cost_interval_value(&part);
    struct sxs_cost_interval b =
        counted ? sxs_cost_interval_n(&rest) : sxs_cost_interval_value(&rest);
    double of = counted ? part.n : part.value, others = counted ? rest.n : rest.value;
    if (!part.records && rest.var_n > 0)
        a.high = NONE_OF_POISSON * largest_record(&rest, counted);
    if (costs->dropped)
        a.high = b.high = INFINITY;
    if (k->c->unit != SXS_CONDITION_PERCENT) {
        *k->out = (struct sxs_measured){of, a.low, a.high};
        return 0;
    }
    if (!(of + others > 0))
        return no_value(k, "nothing was recorded");
    *k->out = (struct sxs_measured){100 * (of / (of + others)),
                                    isinf(b.high) ? 0 : 100 * (a.low / (a.low + b.high)),
                                    isinf(a.high) ? 100 : 100 * (a.high / (a.high + b.low))};
    return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Returns the mode of all processes, or -1 when they differ. */
static int mode_of(const struct sxs_calls_report *calls)
{
    int mode = calls && calls->n ? (int)calls->processes[0].calls->head.mode : -1;
    for (size_t i = 1; mode >= 0 && i < calls->n; i++)
        if ((int)calls->processes[i].calls->head.mode != mode)
            mode = -1;
    return mode;
}

static int measure_calls(const struct measure *k, const struct sxs_calls_report *calls)
{
    const struct sxs_model *m = k->m;
    int                     mode = mode_of(calls);
    bool                    counted = k->c->unit == SXS_CONDITION_COUNT;
    double                  part = 0, all = (double)(counted ? m->total : m->total_ns);
    if (!m->total)
        return no_value(k, "no call was counted");
    if (!k->n_fit)
        return no_value(k, "no function that was counted fits: whether it was called is not known");
    if (k->c->unit == SXS_CONDITION_NS && m->unit != SXS_UNIT_NS)
        return no_value(k, "calls were counted without time");
    for (size_t i = 0; !counted && i < m->n_latencies; i++)
        if (m->latencies[i].backed_off)
            return no_value(
                k, "functions that are called very often were not timed to the end (--backoff)");
    for (size_t i = 0; i < m->n_nodes; i++)
        part += !k->part[i] ? 0 : (double)(counted ? m->nodes[i].self : m->nodes[i].self_ns);
    if (k->c->total && mode != SXS_CALLS_TREE) {
        if (mode != SXS_CALLS_TIME || counted || k->n_fit != 1 || k->o->thread ||
            k->frame >= m->n_latencies)
            return no_value(k,
                            "which functions they call was not recorded; it is with --mode tree");
        part = (double)m->latencies[k->frame].total_ns;
    }
    if (k->c->unit == SXS_CONDITION_PERCENT && !(all > 0))
        return no_value(k, "no time was recorded");
    double v = k->c->unit == SXS_CONDITION_PERCENT ? 100 * (part / all) : part;
    *k->out = (struct sxs_measured){v, v, v};
    return 0;
}

/* ---- all data -------------------------------------------------------------------------------- */

static int measure(struct measure *k, const struct sxs_calls_report *calls)
{
    const struct sxs_model *m = k->m;
    const char             *missing = find_vague(k->o->missing, m->data);
    if (!sxs_condition_units(k->c, m->data, k->o->by_count))
        return no_value(k, "%s are not measured in %s", sxs_data_kind(m->data)->many,
                        k->c->unit_text);
    if (m->n_damage)
        return no_value(k, "the session is damaged");
    if (missing)
        return no_value(k, "%s", missing);
    if (m->merged || m->rest)
        return no_value(k, "there are more functions or stacks than a report can hold");
    find_functions(k);
    find_nodes(k);
    return m->data == SXS_DATA_CALLS ? measure_calls(k, calls)
           : m->costs                ? measure_costs(k)
                                     : measure_samples(k);
}

int sxs_measure_model(const struct sxs_condition *c, const struct sxs_model *m,
                      const struct sxs_calls_report *calls, const struct sxs_report_options *o,
                      struct sxs_measured *out, size_t *n_functions, char *why, size_t size)
{
    struct measure k = {.c = c, .m = m, .o = o, .out = out, .why = why, .size = size};
    int            err = measure(&k, calls);
    *n_functions = k.n_fit;
    free(k.fits);
    free(k.part);
    return err;
}

/* Adds @n exceptions of the function @thrown. */
static void add_thrown(const struct measure *k, const struct sxs_events_process *p,
                       uint32_t runtime, const char *thrown, uint64_t n, double *part, double *all,
                       size_t *n_functions)
{
    if (k->o->runtime && runtime != k->o->runtime)
        return;
    *all += (double)n;
    if (!sxs_condition_pattern_fits(k->c, sxs_process_version(p->process, runtime), "", thrown))
        return;
    *part += (double)n;
    ++*n_functions;
}

static bool has_exceptions(const struct sxs_events_report *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->processes[i].data->head.tools & SXS_EVENTS_OF_EXCEPTIONS)
            return true;
    return false;
}

/* Returns 0 when exceptions can be measured. */
static int check_exceptions(const struct measure *k, const struct sxs_events_report *r)
{
    const char *missing = find_vague(k->o->missing, SXS_DATA_ANY);
    if (missing || r->n_problems)
        return no_value(k, "%s", missing ? missing : "the session is damaged");
    if (!has_exceptions(r))
        return no_value(k, "nothing was recorded that has functions");
    if (!sxs_condition_units(k->c, SXS_DATA_ANY, false))
        return no_value(k, "exceptions are not measured in %s", k->c->unit_text);
    if (k->c->total)
        return no_value(k, "who called the functions that throw was not recorded; expected self()");
    if (!k->c->any_assembly)
        return no_value(
            k, "the assemblies of functions that throw were not recorded; expected a name alone");
    if (k->o->thread || k->o->only || !sxs_trace_choice_is_all(&k->o->trace))
        return no_value(k, "exceptions cannot be chosen by thread, trace or kind of frame");
    return 0;
}

int sxs_measure_exceptions(const struct sxs_condition *c, const struct sxs_events_report *r,
                           const struct sxs_report_options *o, struct sxs_measured *out,
                           size_t *n_functions, char *why, size_t size)
{
    const struct measure k = {.c = c, .o = o, .why = why, .size = size};
    double               part = 0, all = 0, lost = 0;
    *n_functions = 0;
    int err = check_exceptions(&k, r);
    for (size_t i = 0; i < r->n && !err; i++) {
        const struct sxs_events_process *p = &r->processes[i];
        lost += (double)atomic_load(&p->data->head.exceptions_lost);
        for (size_t n = 0; n < p->data->n_throw_sites; n++)
            add_thrown(&k, p, p->data->throw_sites[n].runtime, p->data->throw_sites[n].thrown,
                       p->data->throw_sites[n].n, &part, &all, n_functions);
        for (size_t n = 0; n < p->data->n_exceptions; n++)
            if (!p->data->exceptions[n].landed)
                add_thrown(&k, p, p->data->exceptions[n].runtime, p->data->exceptions[n].thrown, 1,
                           &part, &all, n_functions);
    }
    if (err)
        return err;
    if (c->unit == SXS_CONDITION_COUNT) {
        *out = (struct sxs_measured){part, part, part + lost};
        return 0;
    }
    if (!(all > 0))
        return no_value(&k, "no exception was thrown");
    *out = (struct sxs_measured){100 * (part / all), 100 * (part / (all + lost)),
                                 100 * ((part + lost) / (all + lost))};
    return 0;
}
