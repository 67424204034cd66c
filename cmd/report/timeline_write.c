/* SPDX-License-Identifier: MIT */
/*
 * Writes the page's key "line". Numbers are in the digits described in cmd/report/format_html.c.
 *   threads  [name, id, process, began, ended or 0, [numbers of runtimes], calls, samples, values]
 *            calls: per call, ns since the previous call began, duration, frame, depth
 *            samples: per sample, us since the previous sample, node * 2 + waiting
 *            values: per call with values, number of calls since the previous such call, arguments,
 *            result * 2 + left by an exception; arguments and result are indexes of "texts",
 *            0: none
 *   spans    per span, ns since the previous span, duration, kind, thread + 1, runtime + 1, text,
 *            a, b, tier * 2 + failed, process; of collections b is induced + pause in us * 2
 *   pools    per runtime: [process, runtime + 1, changes], changes: per change, us since the previous
 *            one, change, value, reason
 */
#include "cmd/report/timeline.h"

#include "cmd/output/must.h"
#include "cmd/output/names_of_values.h"
#include "cmd/report/format.h"

typedef unsigned long long ull;

static void write_texts(FILE *to, const char *key, const char *(*text)(unsigned), unsigned n)
{
    fprintf(to, ",\n\"%s\":[", key);
    for (unsigned i = 0; i < n; i++) {
        fputs(i ? "," : "", to);
        sxs_json_string(to, text(i));
    }
    putc(']', to);
}

static const char *kind_text(unsigned kind)
{
    return sxs_event_kind_text((uint8_t)kind);
}

/* Sorts samples by thread. Returns where the samples of each thread begin in @order (owned), which
 * receives the samples' numbers. */
static size_t *by_thread(const struct sxs_model *m, uint32_t **order)
{
    size_t *first = sxs_must_zeroed(m->n_threads + 2, sizeof(*first));
    *order = sxs_must_zeroed(m->n_samples, sizeof(**order));
    for (size_t i = 0; i < m->n_samples; i++)
        first[m->nodes[m->samples[i].node].thread + 2]++;
    for (size_t i = 1; i < m->n_threads + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < m->n_samples; i++)
        (*order)[first[m->nodes[m->samples[i].node].thread + 1]++] = (uint32_t)i;
    return first;
}

static void write_samples(const struct sxs_timeline *t, const struct sxs_model *m,
                          const uint32_t *place, const uint32_t *order, size_t n, FILE *to)
{
    uint64_t last = 0;
    for (size_t i = 0; t->sample_step && i < n; i += t->sample_step) {
        const struct sxs_model_sample *s = &m->samples[order[i]];
        uint64_t                       us = (s->time_ns - t->zero_ns) / 1000;
        sxs_html_number(to, us - last);
        sxs_html_number(to, place[s->node] * 2ull + s->waiting);
        last = us;
    }
}

static size_t write_calls(const struct sxs_timeline *t, size_t thread, size_t at, FILE *to)
{
    uint64_t last = 0;
    for (; at < t->n_calls && t->calls[at].thread == thread; at++) {
        const struct sxs_line_call *c = &t->calls[at];
        sxs_html_number(to, c->start_ns - last);
        sxs_html_number(to, c->duration_ns);
        sxs_html_number(to, c->frame);
        sxs_html_number(to, c->depth);
        last = c->start_ns;
    }
    return at;
}

static void write_values(const struct sxs_timeline *t, size_t from, size_t to_call, FILE *to)
{
    size_t last = from;
    for (size_t i = from; i < to_call; i++) {
        const struct sxs_line_call *c = &t->calls[i];
        if (!c->arguments && !c->result)
            continue;
        sxs_html_number(to, i - last);
        sxs_html_number(to, c->arguments);
        sxs_html_number(to, c->result * 2ull + c->unwound);
        last = i;
    }
}

static void write_value_texts(const struct sxs_timeline *t, FILE *to)
{
    fputs(",\n\"texts\":[", to);
    for (size_t i = 0; i < t->values.n; i++) {
        fputs(i ? ",\n" : "", to);
        sxs_json_string(to, sxs_strings_text(&t->values, (uint32_t)i));
    }
    putc(']', to);
}

static uint64_t since_zero(const struct sxs_timeline *t, uint64_t ns)
{
    return ns < t->zero_ns ? 0 : ns - t->zero_ns > t->span_ns ? t->span_ns : ns - t->zero_ns;
}

static void write_thread(const struct sxs_timeline *t, const struct sxs_model_thread *v,
                         const struct sxs_model *m, FILE *to)
{
    sxs_json_string(to, sxs_model_text(m, v->name));
    fprintf(to, ",%u,%u,%llu,%llu,[", v->tid, v->process, (ull)since_zero(t, v->started_ns),
            (ull)since_zero(t, v->ended_ns));
    for (unsigned bit = 0, n = 0; bit < 64; bit++)
        if (v->runtimes >> bit & 1)
            fprintf(to, "%s%u", n++ ? "," : "", bit);
    fputs("],\"", to);
}

static void write_threads(const struct sxs_timeline *t, const struct sxs_model *m,
                          const uint32_t *place, FILE *to)
{
    uint32_t *order;
    size_t   *first = by_thread(m, &order), call = 0;
    fputs(",\n\"threads\":[", to);
    for (size_t i = 0; i < m->n_threads; i++) {
        fputs(i ? ",\n[" : "[", to);
        write_thread(t, &m->threads[i], m, to);
        size_t begin = call;
        call = write_calls(t, i, call, to);
        fputs("\",\"", to);
        write_samples(t, m, place, order + first[i], first[i + 1] - first[i], to);
        fputs("\",\"", to);
        write_values(t, begin, call, to);
        fputs("\"]", to);
    }
    fputs("],\n\"processes\":[", to);
    for (size_t i = 0; i < m->n_processes; i++) {
        fprintf(to, "%s[%u,", i ? ",\n" : "", m->processes[i].pid);
        sxs_json_string(to, m->processes[i].head.command);
        putc(']', to);
    }
    putc(']', to);
    free(first);
    free(order);
}

static void write_spans(const struct sxs_timeline *t, FILE *to)
{
    uint64_t last = 0;
    fprintf(to, ",\n\"nSpans\":%zu,\"spans\":\"", t->n_spans);
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct sxs_line_span *s = &t->spans[i];
        uint64_t b = s->kind == SXS_KIND_GC ? (s->b & 1) + s->pause_ns / 1000 * 2 : s->b;
        const uint64_t fields[] = {s->start_ns - last, s->duration_ns, s->kind, s->thread,
                                   s->runtime, s->text, s->a, b, s->tier * 2u + s->failed,
                                   s->process};
        for (size_t k = 0; k < sizeof(fields) / sizeof(*fields); k++)
            sxs_html_number(to, fields[k]);
        last = s->start_ns;
    }
    putc('"', to);
}

static void write_exceptions(const struct sxs_timeline *t, FILE *to)
{
    fputs(",\n\"exceptions\":[", to);
    for (size_t i = 0; i < t->n_exceptions; i++) {
        const struct sxs_line_exception *x = &t->exceptions[i];
        fprintf(to, "%s[%llu,%llu,%u,%u,%u,%u,%u,%u,%u,%d,%d]", i ? ",\n" : "", (ull)x->start_ns,
                (ull)x->duration_ns, x->thread, x->runtime, x->type, x->message, x->thrown,
                x->caught, x->fate, x->rethrown, x->cut);
    }
    fputs("],\n\"sites\":[", to);
    for (size_t i = 0; i < t->n_throw_sites; i++) {
        const struct sxs_line_throw_site *s = &t->throw_sites[i];
        fprintf(to, "%s[%u,%u,%u,%u,%u,%u,%u,%d,%llu,%llu]", i ? ",\n" : "", s->process, s->runtime,
                s->type, s->message, s->thrown, s->caught, s->fate, s->rethrown, (ull)s->n,
                (ull)s->total_ns);
    }
    putc(']', to);
}

void sxs_timeline_write(const struct sxs_timeline *t, const struct sxs_model *m,
                        const uint32_t *place, FILE *to)
{
    fprintf(to, ",\n\"line\":{\"spanNs\":%llu,\"firstNs\":%llu,\"nCalls\":%zu", (ull)t->span_ns,
            (ull)(m->first_ns > t->zero_ns ? m->first_ns - t->zero_ns : 0), t->n_calls);
    fprintf(to, ",\"exceptionsOn\":%s,\"eventsOn\":%s,\"sampleStep\":%u",
            t->tools & SXS_EVENTS_OF_EXCEPTIONS ? "true" : "false",
            t->tools & SXS_EVENTS_OF_RUNTIMES ? "true" : "false", t->sample_step);
    fprintf(to, ",\"lost\":{\"calls\":%llu,\"events\":%llu,\"exceptions\":%llu}",
            (ull)t->calls_lost, (ull)t->spans_lost, (ull)t->exceptions_lost);
    fprintf(to, ",\"left\":{\"calls\":[%llu,%llu],\"events\":[%llu,%llu],\"values\":[%llu,%llu]}",
            (ull)t->calls_left.n, (ull)t->calls_left.longest_ns, (ull)t->spans_left.n,
            (ull)t->spans_left.longest_ns, (ull)t->values_left.n, (ull)t->values_left.longest_ns);
    write_texts(to, "kinds", kind_text, SXS_N_EVENT_KINDS);
    write_texts(to, "reasons", sxs_suspension_text, 10);
    write_value_texts(t, to);
    write_threads(t, m, place, to);
    write_spans(t, to);
    write_exceptions(t, to);
    sxs_timeline_write_pools(t, to);
    putc('}', to);
}
