/* SPDX-License-Identifier: MIT */
/* Text report: exceptions by count, then the events of the runtimes. */
#include "cmd/output/text.h"
#include "cmd/events/events.h"
#include "cmd/output/names_of_values.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "base/sum.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

static const char *clean(const char *in, char *buf, size_t size)
{
    sxs_text_clean(in[0] ? in : "?", buf, size);
    return buf;
}

/* ---- exceptions ------------------------------------------------------------------------------- */

static void write_where(FILE *to, const char *word, const char *name)
{
    char buf[2048];
    if (name[0])
        sxs_print_to(to, "              %s %s\n", word, clean(name, buf, sizeof(buf)));
}

static void write_throw_site(FILE *to, const struct sxs_events_process *p, uint64_t n, uint8_t fate,
                             int rethrown, uint32_t runtime, uint64_t each_ns, const char *type,
                             const char *message, const char *thrown, const char *caught)
{
    char buf[2048], time[32];
    sxs_print_to(to, "  %10llu  [%s] %s: %s%s", (ull)n, sxs_process_version(p->process, runtime),
                 clean(type, buf, sizeof(buf)), sxs_fate_text(p->data, fate),
                 rethrown ? ", thrown again" : "");
    if (each_ns)
        sxs_print_to(to, ", %s each", sxs_text_duration(each_ns, time, sizeof(time)));
    fputc('\n', to);
    if (message[0])
        sxs_print_to(to, "              \"%s\"\n", clean(message, buf, sizeof(buf)));
    write_where(to, "thrown in", thrown);
    write_where(to, "caught in", caught);
}

static void write_exceptions(FILE *to, const struct sxs_events_process *p, size_t top)
{
    const struct sxs_events_data *e = p->data;
    uint64_t                      n = 0, flying = 0;
    for (size_t i = 0; i < e->n_throw_sites; i++)
        sxs_sum_add(&n, e->throw_sites[i].n);
    for (size_t i = 0; i < e->n_exceptions; i++)
        flying += !e->exceptions[i].landed;
    n += flying;
    sxs_print_to(to, "exceptions: %llu at %zu throw sites\n", (ull)n, e->n_throw_sites);
    if (atomic_load(&e->head.exceptions_lost))
        sxs_print_to(to, "  %llu found no room to be recorded\n",
                     (ull)atomic_load(&e->head.exceptions_lost));
    for (size_t i = 0; i < e->n_exceptions; i++) {
        const struct sxs_events_exception *v = &e->exceptions[i];
        if (!v->landed)
            write_throw_site(to, p, 1, v->fate, v->rethrown, v->runtime, 0, v->type, v->message,
                             v->thrown, v->caught);
    }
    for (size_t i = 0; i < e->n_throw_sites && i < top; i++) {
        const struct sxs_events_throw_site *s = &e->throw_sites[i];
        write_throw_site(to, p, s->n, s->fate, s->rethrown, s->runtime,
                         s->n ? s->total_ns / s->n : 0, s->type, s->message, s->thrown, s->caught);
    }
    if (e->n_throw_sites > top)
        sxs_print_to(to, "  and %s\n", SXS_COUNT(e->n_throw_sites - top, "more throw site"));
}

/* ---- events of the runtimes ------------------------------------------------------------------ */

struct event_sum {
    const char *text;
    uint32_t    runtime, detail;
    uint8_t     kind;
    uint64_t    n, ns, max_ns;
};

/* Returns the part of the key by which events of one kind are summed up in the first table: the
 * tier of a compilation, the generation of a collection, the reason of a suspension. */
static uint32_t detail_of(const struct sxs_events_span *s)
{
    switch (s->kind) {
    case SXS_KIND_JIT: return s->tier;
    case SXS_KIND_GC:
    case SXS_KIND_SUSPENSION: return s->a;
    default: return 0;
    }
}

static int by_key(const void *a, const void *b)
{
    const struct event_sum *x = a, *y = b;
    if (x->runtime != y->runtime)
        return x->runtime < y->runtime ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->detail != y->detail)
        return x->detail < y->detail ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int by_time(const void *a, const void *b)
{
    const struct event_sum *x = a, *y = b;
    return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : by_key(a, b);
}

/* Merges sums with equal keys. Returns how many are left. */
static size_t join_sums(struct event_sum *sums, size_t n)
{
    size_t to = 0;
    if (!n)
        return 0;
    qsort(sums, n, sizeof(*sums), by_key);
    for (size_t i = 1; i < n; i++) {
        if (by_key(&sums[to], &sums[i]) != 0) {
            sums[++to] = sums[i];
            continue;
        }
        sxs_sum_add(&sums[to].n, sums[i].n);
        sxs_sum_add(&sums[to].ns, sums[i].ns);
        if (sums[to].max_ns < sums[i].max_ns)
            sums[to].max_ns = sums[i].max_ns;
    }
    return to + 1;
}

static void print_detail(char *buf, size_t size, const struct event_sum *s)
{
    const char *tier = s->detail ? sxs_tier_text(s->detail) : "";
    buf[0] = '\0';
    if (s->kind == SXS_KIND_GC)
        snprintf(buf, size, ", generation %u", s->detail);
    else if (s->kind == SXS_KIND_SUSPENSION)
        snprintf(buf, size, ", %s", sxs_suspension_text(s->detail));
    else if (s->kind == SXS_KIND_JIT && tier[0])
        snprintf(buf, size, ", %s", tier);
}

static void write_kinds(FILE *to, const struct sxs_events_process *p, struct event_sum *sums)
{
    size_t n = 0;
    for (size_t i = 0; i < p->data->n_spans; i++) {
        const struct sxs_events_span *s = &p->data->spans[i];
        /* The lifetime of a thread is not a cost. */
        uint64_t ns = s->kind == SXS_KIND_THREAD ? 0 : s->duration_ns;
        sums[n++] = (struct event_sum){"", s->runtime, detail_of(s), s->kind, 1, ns, ns};
    }
    n = join_sums(sums, n);
    for (size_t i = 0; i < n; i++) {
        char detail[64], sum[32], max[32];
        print_detail(detail, sizeof(detail), &sums[i]);
        sxs_print_to(to, "  %10llu  [%s] %s%s", (ull)sums[i].n,
                     sxs_process_version(p->process, sums[i].runtime),
                     sxs_event_kind_text(sums[i].kind), detail);
        if (sums[i].ns)
            sxs_print_to(to, ": %s, longest %s", sxs_text_duration(sums[i].ns, sum, sizeof(sum)),
                         sxs_text_duration(sums[i].max_ns, max, sizeof(max)));
        fputc('\n', to);
    }
}

static void write_methods(FILE *to, const struct sxs_events_process *p, struct event_sum *sums,
                          size_t top)
{
    size_t n = 0;
    for (size_t i = 0; i < p->data->n_spans; i++) {
        const struct sxs_events_span *s = &p->data->spans[i];
        if (s->kind == SXS_KIND_JIT)
            sums[n++] = (struct event_sum){s->text,        s->runtime,    0, s->kind, 1,
                                           s->duration_ns, s->duration_ns};
    }
    n = join_sums(sums, n);
    if (!n)
        return;
    qsort(sums, n, sizeof(*sums), by_time);
    fputs("  methods by time to compile:\n", to);
    for (size_t i = 0; i < n && i < top; i++) {
        char name[2048], time[32];
        sxs_print_to(to, "  %10s  %3llu times  [%s] %s\n",
                     sxs_text_duration(sums[i].ns, time, sizeof(time)), (ull)sums[i].n,
                     sxs_process_version(p->process, sums[i].runtime),
                     clean(sums[i].text, name, sizeof(name)));
    }
}

static void write_events(FILE *to, const struct sxs_events_process *p, size_t top)
{
    const struct sxs_events_data *e = p->data;
    struct event_sum             *sums = calloc(e->n_spans + 1, sizeof(*sums));
    sxs_print_to(to, "events: %zu\n", e->n_spans);
    if (atomic_load(&e->head.lost))
        sxs_print_to(to, "  %llu found no room to be recorded\n", (ull)atomic_load(&e->head.lost));
    if (sums) {
        write_kinds(to, p, sums);
        write_methods(to, p, sums, top);
    }
    free(sums);
}

void sxs_events_text(FILE *to, const struct sxs_events_report *r, size_t top)
{
    if (!top)
        top = 30;
    for (size_t i = 0; i < r->n; i++) {
        const struct sxs_events_process *p = &r->processes[i];
        if (r->n > 1)
            sxs_print_to(to, "process %s\n", p->process->folder);
        if (p->data->head.tools & SXS_EVENTS_OF_EXCEPTIONS)
            write_exceptions(to, p, top);
        if (p->data->head.tools & SXS_EVENTS_OF_RUNTIMES)
            write_events(to, p, top);
    }
}
