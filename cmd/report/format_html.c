/* SPDX-License-Identifier: MIT */
/*
 * Format html: one self-contained page (cmd/page/page.html with its script and style, embedded
 * at build time) with the model as JSON.
 * The tree and the time line are strings of numbers. Each number is written in base-32 digits,
 * lowest digit first, as characters of A-Za-z0-9+/; a character with a value of 32 or more, from
 * 'g' on, means that more digits follow.
 * Tree, in preorder, five numbers per node: how many levels to go up from the previous node, frame,
 * own samples (for calls: calls), own weight in units (unitNs), tiers seen.
 * Time line, four numbers per entry: buckets since the previous entry, node (position in preorder),
 * samples, weight.
 */
#include "cmd/report/format.h"

#include "base/sum.h"
#include "cmd/costs/costs.h"
#include "cmd/output/missing.h"
#include "cmd/output/must.h"
#include "cmd/report/costs.h"
#include "cmd/report/coverage_gaps.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/merged.h"
#include "cmd/report/page_data.h"
#include "cmd/report/timeline.h"
#include "sxs_page.h"

#include <inttypes.h>
#include <string.h>

/* Calls and costs are sums, not samples of equal times. */
static bool is_sum(const struct sxs_model *m)
{
    return m->data == SXS_DATA_CALLS || m->costs;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The unit of weights: for calls and costs 1 ns, one byte, or one of what is counted; for samples the largest time
 * of which all weights are multiples, so that the page has short numbers and the same ones as all other outputs. In
 * CPU time that is the time between two samples. @before: further weights by node, or NULL. */
static uint64_t unit_of(const struct sxs_model *m, const uint64_t *before)
{
    uint64_t unit = 0;
    for (size_t i = 0; i < m->n_nodes && !is_sum(m); i++) {
        unit = common_divisor(unit, m->nodes[i].self_ns);
        unit = common_divisor(unit, before ? before[i] : 0);
    }
    for (size_t i = 0; i < m->n_samples && !is_sum(m); i++)
        unit = common_divisor(unit, m->samples[i].weight);
    return unit ? unit : 1;
}

void sxs_html_number(FILE *to, uint64_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    do {
        unsigned low = n & 31;
        n >>= 5;
        putc_unlocked(digits[low | (n ? 32 : 0)], to);
    } while (n);
}

/* The tree in preorder: `order` lists the nodes, `place` has the position of each node in that
 * list. */
struct node_preorder {
    uint32_t *order, *place, *depth;
    uint64_t  unit; /* of weights */
};

/* @before: as for unit_of(). */
static struct node_preorder preorder_of(const struct sxs_model *m, const uint64_t *before)
{
    size_t               n = m->n_nodes;
    uint32_t            *first = sxs_must_zeroed(n, sizeof(*first)); /* first child + 1 */
    uint32_t            *next = sxs_must_zeroed(n, sizeof(*next));   /* next sibling + 1 */
    struct node_preorder p = {sxs_must_zeroed(n, 4), sxs_must_zeroed(n, 4), sxs_must_zeroed(n, 4),
                              unit_of(m, before)};
    uint32_t             at = 0;
    for (size_t i = n; i-- > 0;) {
        uint32_t parent = m->nodes[i].parent;
        if (parent == SXS_NO_NODE)
            continue;
        next[i] = first[parent];
        first[parent] = (uint32_t)i + 1;
        p.depth[i] = 0;
    }
    for (size_t root = 0; root < n; root++) {
        if (m->nodes[root].parent != SXS_NO_NODE)
            continue;
        uint32_t node = (uint32_t)root;
        for (;;) {
            p.place[node] = at;
            p.order[at++] = node;
            p.depth[node] =
                m->nodes[node].parent == SXS_NO_NODE ? 0 : p.depth[m->nodes[node].parent] + 1;
            if (first[node]) {
                node = first[node] - 1;
                continue;
            }
            while (node != root && !next[node])
                node = m->nodes[node].parent;
            if (node == root)
                break;
            node = next[node] - 1;
        }
    }
    free(first);
    free(next);
    return p;
}

static void preorder_free(struct node_preorder *p)
{
    free(p->order);
    free(p->place);
    free(p->depth);
}

static void write_tree(const struct sxs_model *m, const struct node_preorder *p, FILE *to)
{
    uint32_t depth = 0;
    fputs(",\n\"nodes\":\"", to);
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct sxs_model_node *n = &m->nodes[p->order[i]];
        uint32_t                     d = p->depth[p->order[i]];
        sxs_html_number(to, i ? depth + 1 - d : 0);
        sxs_html_number(to, n->frame);
        sxs_html_number(to, n->self);
        sxs_html_number(to, n->self_ns / p->unit);
        sxs_html_number(to, n->tiers);
        depth = d;
    }
    fprintf(to, "\",\n\"nNodes\":%zu", m->n_nodes);
}

static void write_strings(const struct sxs_model *m, FILE *to)
{
    fputs(",\n\"strings\":[", to);
    for (size_t i = 0; i < m->strings.n; i++) {
        fputs(i ? ",\n" : "", to);
        sxs_json_string(to, sxs_model_text(m, (uint32_t)i));
    }
    putc(']', to);
}

static void write_frames(const struct sxs_model *m, FILE *to)
{
    fputs(",\n\"frames\":[", to);
    for (size_t i = 0; i < m->n_frames; i++) {
        const struct sxs_model_frame *f = &m->frames[i];
        fprintf(to, "%s[%u,%u,%u,%u,%u,%u,%u", i ? ",\n" : "", f->name, f->file, f->runtime,
                f->home, f->flags, f->source, f->line);
        size_t tiers = 8;
        while (tiers && !f->tier_self[tiers - 1])
            tiers--;
        for (size_t t = 0; t < tiers; t++)
            fprintf(to, ",%llu", (unsigned long long)f->tier_self[t]);
        putc(']', to);
    }
    putc(']', to);
}

static void write_threads(const struct sxs_model *m, const struct node_preorder *p, FILE *to)
{
    static char text[1024];
    fputs(",\n\"threads\":[", to);
    for (size_t i = 0; i < m->n_threads; i++) {
        const struct sxs_model_thread *t = &m->threads[i];
        fputs(i ? ",\n[" : "[", to);
        sxs_json_string(to, sxs_thread_text(m, (uint32_t)i, text, sizeof(text)));
        fprintf(to, ",%u,%u,%llu,%llu,%u,%d]", p->place[t->root], t->tid,
                (unsigned long long)t->samples, (unsigned long long)t->waiting,
                m->nodes[t->root].flags, m->data == SXS_DATA_SAMPLES && sxs_thread_idles(m, t));
    }
    fputs("],\n\"runtimes\":[", to);
    for (size_t i = 0; i < m->n_runtimes; i++) {
        fprintf(to, "%s[%u,", i ? ",\n" : "", m->runtimes[i].number);
        sxs_json_string(to, sxs_model_text(m, m->runtimes[i].version));
        putc(',', to);
        sxs_json_string(to, sxs_model_text(m, m->runtimes[i].path));
        putc(']', to);
    }
    putc(']', to);
}

/* For each frame with durations: [frame, timed no longer, total, min, median, p99, max, then pairs
 * of duration and number of calls] */
static void write_latencies(const struct sxs_model *m, FILE *to)
{
    fputs(",\n\"latencies\":[", to);
    for (size_t i = 0, n = 0; i < m->n_latencies; i++) {
        const struct sxs_model_latency *l = &m->latencies[i];
        if (!l->n && !l->backed_off && !l->total_ns)
            continue;
        fprintf(to, "%s[%zu,%d,%llu,%llu,%llu,%llu,%llu", n++ ? ",\n" : "", i, l->backed_off,
                (unsigned long long)l->total_ns, (unsigned long long)l->min_ns,
                (unsigned long long)sxs_model_quantile(l, 0.5),
                (unsigned long long)sxs_model_quantile(l, 0.99), (unsigned long long)l->max_ns);
        for (size_t k = 0; k < l->n; k++)
            fprintf(to, ",%llu,%llu", (unsigned long long)l->all[k].ns,
                    (unsigned long long)l->all[k].n);
        putc(']', to);
    }
    putc(']', to);
}

/* ---- time line ---- */

struct in_bucket {
    uint32_t place, samples;
    uint64_t weight_ns;
};

static int by_place(const void *a, const void *b)
{
    const struct in_bucket *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Fewer buckets for more samples, because a page that loads matters more than a fine axis. */
static size_t bucket_count(size_t samples)
{
    return samples > 6000000 ? 100 : samples > 1500000 ? 400 : 1500;
}

/* How many costs the weight of a node is: about, because they can differ in size. */
static uint64_t costs_of(const struct sxs_model_node *n, uint64_t weight)
{
    return n->self_ns ? (uint64_t)((double)weight / (double)n->self_ns * (double)n->self + 0.5) : 1;
}

static void write_bucket(const struct sxs_model *m, const struct node_preorder *p,
                         struct in_bucket *all, size_t n, uint64_t ahead, FILE *to)
{
    if (n)
        qsort(all, n, sizeof(*all), by_place);
    for (size_t i = 0; i < n;) {
        struct in_bucket sum = all[i];
        for (i++; i < n && all[i].place == sum.place; i++) {
            sum.samples += all[i].samples;
            sum.weight_ns += all[i].weight_ns;
        }
        sxs_html_number(to, ahead);
        sxs_html_number(to, sum.place);
        sxs_html_number(to, m->costs ? costs_of(&m->nodes[p->order[sum.place]], sum.weight_ns)
                                     : sum.samples);
        sxs_html_number(to, sum.weight_ns / p->unit);
        ahead = 0;
    }
}

static void write_timeline(const struct sxs_model *m, const struct node_preorder *p, FILE *to)
{
    size_t            buckets = (is_sum(m) || m->off_timeline) && !m->n_samples
                                    ? 0 : bucket_count(m->n_samples);
    uint64_t          step = (m->last_ns - m->first_ns) / (buckets ? buckets : 1) + 1;
    struct in_bucket *all = sxs_must_zeroed(m->n_samples, sizeof(*all));
    uint64_t          last = 0;
    fprintf(to, ",\n\"buckets\":%zu,\"bucketNs\":%llu,\n\"timeline\":\"", buckets,
            (unsigned long long)step);
    for (size_t i = 0; i < m->n_samples;) {
        uint64_t bucket = (m->samples[i].time_ns - m->first_ns) / step;
        size_t   n = 0;
        for (; i < m->n_samples && (m->samples[i].time_ns - m->first_ns) / step == bucket; i++)
            all[n++] = (struct in_bucket){p->place[m->samples[i].node],
                                          m->data != SXS_DATA_CALLS || m->samples[i].begins,
                                          m->samples[i].weight};
        write_bucket(m, p, all, n, bucket - last, to);
        last = bucket;
    }
    uint64_t pauses_ns = 0;
    for (size_t i = 0; i < m->n_pauses; i++)
        sxs_sum_add(&pauses_ns, m->pauses[i].duration_ns);
    fprintf(to, "\",\n\"pauseSums\":[%zu,%llu],\n\"pauses\":[", m->n_pauses,
            (unsigned long long)pauses_ns);
    for (size_t i = 0, n = 0; i < m->n_pauses; i++) {
        const struct sxs_model_pause *v = &m->pauses[i];
        if (v->time_ns < m->first_ns || v->time_ns > m->last_ns || n >= 20000)
            continue;
        fprintf(to, "%s[%llu,%llu,%u,%u]", n++ ? ",\n" : "",
                (unsigned long long)(v->time_ns - m->first_ns) / 1000,
                (unsigned long long)v->duration_ns / 1000, v->runtime, v->reason);
    }
    putc(']', to);
    free(all);
}

/* ---- the page ---- */

/* What the sums of costs are based on. */
static void write_costs(const struct sxs_model *m, FILE *to)
{
    const struct sxs_model_costs *c = m->costs;
    const struct sxs_cost_sum    *sum = c->live ? &c->alive : &c->all;
    struct sxs_cost_interval value = sxs_cost_interval_value(sum), n = sxs_cost_interval_n(sum);
    bool                     biased = false;
    for (size_t i = 0; i < m->n_processes; i++)
        for (uint32_t k = 0; k < SXS_MAX_RUNTIMES; k++)
            biased |= sxs_costs_biased(&m->processes[i].head, c->kind, k);
    fprintf(to, ",\"units\":\"%s\",\"records\":%llu,\"every\":%llu,\"biased\":%s",
            m->unit == SXS_UNIT_BYTES ? "bytes"
            : m->unit == SXS_UNIT_NS  ? "ns"
                                      : "count",
            (unsigned long long)sum->records, (unsigned long long)c->interval,
            biased ? "true" : "false");
    if (c->live && c->unchecked.records)
        fprintf(to, ",\"unchecked\":[%llu,%llu]",
                (unsigned long long)sxs_cost_round(c->unchecked.value),
                (unsigned long long)sxs_cost_round(c->unchecked.n));
    if (sum->var_n > 0 && !biased && !c->dropped)
        fprintf(to, ",\"within\":[%llu,%llu],\"withinN\":[%llu,%llu]",
                (unsigned long long)sxs_cost_floor(value.low),
                (unsigned long long)sxs_cost_ceil(value.high),
                (unsigned long long)sxs_cost_floor(n.low),
                (unsigned long long)sxs_cost_ceil(n.high));
}

/* @unit: of weights, in ns. */
static void write_head(const struct sxs_model *m, uint64_t unit, FILE *to)
{
    const struct sxs_samples_header *h = m->n_processes ? &m->processes[0].head : NULL;
    uint64_t dropped = 0, n_unsampled = 0, unsampled_ns = 0;
    for (size_t i = 0; i < m->n_processes && !m->costs; i++) {
        n_unsampled +=
            atomic_load_explicit(&m->processes[i].head.n_unsampled, memory_order_relaxed);
        unsampled_ns +=
            atomic_load_explicit(&m->processes[i].head.unsampled_ns, memory_order_relaxed);
    }
    for (size_t i = 0; i < m->n_processes; i++)
        dropped += atomic_load_explicit(
            m->costs ? &m->processes[i].head.n_costs_dropped[m->costs->kind]
                     : &m->processes[i].head.n_dropped, memory_order_relaxed);
    fputs("{\"title\":", to);
    sxs_json_string(to, sxs_model_title(m));
    const struct sxs_data_kind *kind = sxs_data_kind(m->data);
    static const char *const    units[] = {"ns", "bytes", "count"};
    fprintf(to,
            ",\"data\":\"%s\",\"words\":[\"%s\",\"%s\",\"%s\"],\"unit\":\"%s\",\"lost\":%llu",
            kind->name, kind->one, kind->many, kind->title, units[m->unit],
            (unsigned long long)m->events_lost);
    if (m->costs)
        write_costs(m, to);
    fprintf(to, ",\"mode\":\"%s\",\"hz\":%u,\"unitNs\":%llu,\"startedMs\":%llu,\"processes\":%zu",
            h && h->mode == SXS_MODE_WALL ? "wall" : "cpu", h ? h->asked_hz : 0,
            (unsigned long long)unit,
            (unsigned long long)(h ? h->started_realtime_ns / 1000000 : 0), m->n_processes);
    fprintf(to,
            ",\"spanNs\":%llu,\"samples\":%llu,\"waitingShare\":%.6f,\"dropped\":%llu,"
            "\"unsampled\":[%llu,%llu],\"ends\":{",
            (unsigned long long)(m->last_ns - m->first_ns), (unsigned long long)m->total,
            m->total_ns ? (double)m->waiting_ns / (double)m->total_ns : 0.0,
            (unsigned long long)dropped, (unsigned long long)n_unsampled,
            (unsigned long long)unsampled_ns);
    static const char *const ends[] = {
#define X(name, text) text,
        SXS_SAMPLE_ENDS(X)
#undef X
    };
    for (size_t i = 0, n = 0; i < SXS_N_SAMPLE_ENDS; i++)
        if (m->ends[i])
            fprintf(to, "%s\"%s\":%llu", n++ ? "," : "", ends[i],
                    (unsigned long long)m->ends[i]);
    putc('}', to);
}

/* The names of all data on the page that @first begins. */
static void write_parts(const struct sxs_model *first, const struct sxs_report_options *o, FILE *to)
{
    fprintf(to, ",\"by\":\"%s\",\"parts\":[%s", o->by_count ? "count" : "",
            o->parts ? o->parts : "");
    for (const struct sxs_model *m = first; m && !o->parts; m = m->next)
        fprintf(to, "%s\"%s\"", m == first ? "" : ",", sxs_data_kind(m->data)->name);
    putc(']', to);
}

/* What the options select; nothing when they select all. */
static void write_selection(const struct sxs_report_options *o, FILE *to)
{
    char runtime[11];
    snprintf(runtime, sizeof(runtime), "%" PRIu32, o->runtime);
    const struct {
        const char *what, *value;
    } chosen[] = {
        {"trace", o->trace.trace},
        {"endpoint", o->trace.endpoint},
        {"process", o->process},
        {"runtime", o->runtime ? runtime : NULL},
        {"thread", o->thread},
    };
    int n = 0;
    for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++) {
        if (!chosen[i].value)
            continue;
        fprintf(to, "%s[\"%s\",", n++ ? "," : ",\"selection\":[", chosen[i].what);
        sxs_json_string(to, chosen[i].value);
        putc(']', to);
    }
    if (n)
        putc(']', to);
}

void sxs_html_missing(const struct sxs_missing *missing, const char *when, size_t *n, FILE *to)
{
    for (size_t i = 0; missing && i < missing->n; i++) {
        char line[2048];
        snprintf(line, sizeof(line), "%s%s%s", when, *when ? ", " : "", missing->all[i].text);
        fputs((*n)++ ? ",\n" : "", to);
        sxs_json_string(to, line);
    }
}

static void write_all_missing(const struct sxs_model *m, const struct sxs_report_options *o,
                              FILE *to)
{
    size_t n = 0;
    fputs(",\n\"missing\":[", to);
    sxs_html_missing(o->missing, "", &n, to);
    for (size_t i = 0; i < m->n_problems && !o->parts; i++) { /* a server shows problems itself */
        fputs(n++ ? ",\n" : "", to);
        sxs_json_string(to, m->problems[i]);
    }
    putc(']', to);
}

static void write_data(const struct sxs_model *m, const struct sxs_model *first,
                       const struct sxs_report_options *o, FILE *to)
{
    struct node_preorder p = preorder_of(m, NULL);
    write_head(m, p.unit, to);
    write_selection(o, to);
    write_all_missing(m, o, to);
    write_parts(first, o, to);
    write_strings(m, to);
    write_frames(m, to);
    write_threads(m, &p, to);
    write_latencies(m, to);
    write_tree(m, &p, to);
    write_timeline(m, &p, to);
    if (m->timeline)
        sxs_timeline_write(m->timeline, m, p.place, to);
    sxs_model_write_gaps(m, to);
    fputs("}", to);
    preorder_free(&p);
}

void sxs_page_shell(FILE *to)
{
    fprintf(to, "%s{\"served\":true}%s", sxs_page_head, sxs_page_tail);
}

const char *sxs_page_policy(void)
{
    return sxs_page_hashes;
}

static int write_html(const struct sxs_model *first, const struct sxs_report_options *o, FILE *to)
{
    if (o->parts) {
        write_data(first, first, o, to);
        return 0;
    }
    fputs(sxs_page_head, to);
    for (const struct sxs_model *m = first; m; m = m->next) {
        if (m != first)
            fprintf(to, "\n</script>\n<script type=\"application/json\" data-name=\"%s\">\n",
                    sxs_data_kind(m->data)->name);
        write_data(m, first, o, to);
    }
    fputs(sxs_page_tail, to);
    return 0;
}

const struct sxs_profile_format sxs_format_html = {
    "html", SXS_DETAIL_TIMELINE | SXS_DETAIL_CALLS | SXS_DETAIL_BOTH | SXS_DETAIL_EVENTS, write_html};

/* ---- difference ---- */

int sxs_format_html_diff(const struct sxs_model *before, const struct sxs_model *now,
                         const char *const names[2], const struct sxs_missing missing[2], FILE *to)
{
    size_t                  n_missing = 0;
    struct sxs_merged       merged;
    const struct sxs_model *both = &merged.both;
    sxs_merged_make(&merged, before, now);
    struct node_preorder p = preorder_of(both, merged.before);
    fputs(sxs_page_head, to);
    write_head(both, p.unit, to);
    write_strings(both, to);
    write_frames(both, to);
    write_threads(both, &p, to);
    write_tree(both, &p, to);
    fprintf(to, ",\n\"beforeSamples\":%llu,\"beforeName\":", (unsigned long long)before->total);
    sxs_json_string(to, names[0]);
    fputs(",\"nowName\":", to);
    sxs_json_string(to, names[1]);
    fputs(",\n\"missing\":[", to);
    for (int side = 0; missing && side < 2; side++)
        sxs_html_missing(&missing[side], side ? "now" : "before", &n_missing, to);
    fputs("],\n\"before\":\"", to);
    for (size_t i = 0; i < both->n_nodes; i++)
        sxs_html_number(to, merged.before[p.order[i]] / p.unit);
    fputs("\",\"buckets\":0,\"bucketNs\":1,\"timeline\":\"\",\"pauseSums\":[0,0],\"pauses\":[]}",
          to);
    fputs(sxs_page_tail, to);
    preorder_free(&p);
    sxs_merged_free(&merged);
    return 0;
}
