/* SPDX-License-Identifier: MIT */
/* Text report of collections: pauses by generation, the longest of them, and the heap. */
#include "cmd/output/text.h"
#include "base/sum.h"
#include "cmd/gc/gc.h"
#include "cmd/gc/sums.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

/* The collections of one runtime. */
struct runtime_collections {
    const struct sxs_events_process    *process;
    const struct sxs_events_collection *all;
    size_t                              n;
    uint64_t                            zero_ns; /* sxs_gc_zero_ns() */
};

static int by_pause(const void *a, const void *b)
{
    const struct sxs_events_collection *x = *(const struct sxs_events_collection *const *)a;
    const struct sxs_events_collection *y = *(const struct sxs_events_collection *const *)b;
    if (x->pause_ns != y->pause_ns)
        return x->pause_ns < y->pause_ns ? 1 : -1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static const char *kind_text(const struct sxs_events_collection *c, char *buf, size_t size)
{
    if (c->generation == SXS_GC_UNKNOWN)
        snprintf(buf, size, "generation unknown");
    else
        snprintf(buf, size, "generation %u%s", c->generation,
                 c->type == SXS_GC_BACKGROUND ? ", background" : "");
    return buf;
}

/* The value below which @percent of the @n sorted values are, longest first. */
static uint64_t percentile(const struct sxs_events_collection *const *sorted, size_t n,
                           unsigned percent)
{
    size_t rank = (n * percent + 99) / 100; /* from the shortest, from 1 */
    return sorted[n - (rank ? rank : 1)]->pause_ns;
}

static void write_line(FILE *to, const struct sxs_events_collection *const *sorted, size_t n,
                       const char *what)
{
    char     sum[32], half[32], most[32], max[32], stop[32];
    uint64_t pause = 0, suspension = 0;
    for (size_t i = 0; i < n; i++) {
        sxs_sum_add(&pause, sorted[i]->pause_ns);
        sxs_sum_add(&suspension, sorted[i]->suspension_ns);
    }
    sxs_print_to(to, "  %10zu  %-24s %11s %11s %11s %11s %11s\n", n, what,
                 sxs_text_duration(pause, sum, sizeof(sum)),
                 sxs_text_duration(suspension, stop, sizeof(stop)),
                 sxs_text_duration(percentile(sorted, n, 50), half, sizeof(half)),
                 sxs_text_duration(percentile(sorted, n, 95), most, sizeof(most)),
                 sxs_text_duration(sorted[0]->pause_ns, max, sizeof(max)));
}

static void write_pauses(FILE *to, const struct runtime_collections *p,
                         const struct sxs_events_collection *const *sorted)
{
    const struct sxs_events_collection **some = sxs_must_zeroed(p->n, sizeof(const void *));
    sxs_print_to(to, "  %10s  %-24s %11s %11s %11s %11s %11s\n", "count", "", "paused",
                 "to suspend", "median", "95 %", "longest");
    for (unsigned line = 0; line < SXS_GC_LINES; line++) {
        size_t n = 0;
        for (size_t i = 0; i < p->n; i++)
            if (sxs_gc_line(sorted[i]) == line)
                some[n++] = sorted[i];
        if (n)
            write_line(to, some, n, sxs_gc_line_text(line));
    }
    if (p->n > 1)
        write_line(to, sorted, p->n, "all");
    free(some);
}

static void write_reasons(FILE *to, const struct runtime_collections *p)
{
    size_t      counts[SXS_N_GC_REASONS + 1] = {0};
    const char *comma = "  reasons: ";
    for (size_t i = 0; i < p->n; i++)
        counts[p->all[i].reason < SXS_N_GC_REASONS ? p->all[i].reason : SXS_N_GC_REASONS]++;
    for (unsigned i = 0; i <= SXS_N_GC_REASONS; i++) {
        if (!counts[i])
            continue;
        sxs_print_to(to, "%s%zu %s", comma, counts[i], sxs_gc_reason_text((uint8_t)i));
        comma = "; ";
    }
    fputc('\n', to);
}

static void write_longest(FILE *to, const struct runtime_collections *p, size_t top,
                          const struct sxs_events_collection *const *sorted)
{
    fputs("  longest pauses:\n", to);
    for (size_t i = 0; i < p->n && i < top && sorted[i]->pause_ns; i++) {
        const struct sxs_events_collection *c = sorted[i];
        char                                pause[32], stop[32], kind[64], freed[32], at[32] = "";
        uint64_t                            bytes = 0;
        for (unsigned g = 0; g < SXS_GC_GENERATIONS; g++)
            sxs_sum_add(&bytes, c->generations[g].freed);
        if (c->time_ns >= p->zero_ns)
            snprintf(at, sizeof(at), "at %.3f s, ", (double)(c->time_ns - p->zero_ns) / 1e9);
        sxs_print_to(to, "  %10s  %sof it %s to suspend: collection %u, %s, %s",
                     sxs_text_duration(c->pause_ns, pause, sizeof(pause)), at,
                     sxs_text_duration(c->suspension_ns, stop, sizeof(stop)), c->number,
                     kind_text(c, kind, sizeof(kind)), sxs_gc_reason_text(c->reason));
        if (c->known & SXS_GC_KNOWS_DETAIL)
            sxs_print_to(to, "; freed %s", sxs_text_bytes((double)bytes, freed, sizeof(freed)));
        fputc('\n', to);
    }
}

struct collection_sums {
    uint64_t promoted, freed, largest;
};

/* Bytes of each generation: sums over all collections, and the heap after the last. */
static void write_heap(FILE *to, const struct runtime_collections *p)
{
    static const char *const            names[] = {"generation 0", "generation 1", "generation 2",
                                                   "large objects", "pinned objects"};
    const struct sxs_events_collection *last = NULL;
    struct collection_sums              sums[SXS_GC_GENERATIONS] = {0};
    for (size_t i = 0; i < p->n; i++) {
        const struct sxs_events_collection *c = &p->all[i];
        if (c->known & SXS_GC_KNOWS_HEAP)
            last = c;
        for (unsigned g = 0; g < SXS_GC_GENERATIONS; g++) {
            sxs_sum_add(&sums[g].promoted, c->generations[g].promoted);
            sxs_sum_add(&sums[g].freed, c->generations[g].freed);
            if (sums[g].largest < c->generations[g].size)
                sums[g].largest = c->generations[g].size;
        }
    }
    if (!last)
        return;
    sxs_print_to(to, "  %14s %12s %12s %12s %12s %14s\n", "", "freed", "promoted", "largest",
                 "at last", "fragmentation");
    for (unsigned g = 0; g < SXS_GC_GENERATIONS; g++) {
        char freed[32], promoted[32], largest[32], now[32], holes[32];
        sxs_print_to(
            to, "  %-14s %12s %12s %12s %12s %14s\n", names[g],
            sxs_text_bytes((double)sums[g].freed, freed, sizeof(freed)),
            sxs_text_bytes((double)sums[g].promoted, promoted, sizeof(promoted)),
            sxs_text_bytes((double)sums[g].largest, largest, sizeof(largest)),
            sxs_text_bytes((double)last->generations[g].size, now, sizeof(now)),
            sxs_text_bytes((double)last->generations[g].fragmentation, holes, sizeof(holes)));
    }
    sxs_print_to(to, "  at last: %s, %s, %s to finalize\n",
                 SXS_COUNT(last->n_pinned, "pinned object"), SXS_COUNT(last->n_handles, "handle"),
                 SXS_COUNT(last->n_finalizable, "object"));
}

static void write_finalizers(FILE *to, const struct runtime_collections *p)
{
    uint64_t n = 0, ns = 0;
    char     time[32];
    for (size_t i = 0; i < p->n; i++) {
        sxs_sum_add(&n, p->all[i].n_finalized);
        sxs_sum_add(&ns, p->all[i].finalizers_ns);
    }
    if (n)
        sxs_print_to(to, "  finalizers: %llu ran, in %s\n", (ull)n,
                     sxs_text_duration(ns, time, sizeof(time)));
}

static void write_part(FILE *to, const struct runtime_collections *p, size_t top)
{
    const struct sxs_events_collection **sorted = sxs_must_zeroed(p->n, sizeof(const void *));
    for (size_t i = 0; i < p->n; i++)
        sorted[i] = &p->all[i];
    qsort(sorted, p->n, sizeof(const void *), by_pause);
    sxs_print_to(to, "collections: %zu [%s]\n", p->n,
                 sxs_process_version(p->process->process, p->all[0].runtime));
    write_pauses(to, p, sorted);
    write_reasons(to, p);
    write_longest(to, p, top, sorted);
    write_heap(to, p);
    write_finalizers(to, p);
    free(sorted);
}

/* A runtime counts all its collections; this tool does not record those that the profiler forces at the end. */
static void write_unrecorded(FILE *to, const struct sxs_events_process *p, uint32_t runtime)
{
    const struct sxs_session_process *process = p->process;
    for (size_t i = 0; i < process->n_runtimes; i++) {
        const struct sxs_session_runtime *rt = &process->runtimes[i];
        uint64_t                          n = 0;
        for (size_t k = 0; k < p->data->n_collections; k++)
            n += p->data->collections[k].runtime == rt->number;
        if (rt->gcs > n && (!runtime || rt->number == runtime))
            sxs_print_to(
                to,
                "  not listed: %llu more that [%s] began, such as for a heap snapshot at the end\n",
                (ull)(rt->gcs - n), rt->version);
    }
}

static void write_process(FILE *to, const struct sxs_events_process *p, size_t top,
                          uint32_t runtime, uint64_t zero_ns)
{
    const struct sxs_events_data *e = p->data;
    if (!e->n_collections)
        fputs("collections: 0\n", to);
    for (size_t from = 0, until; from < e->n_collections; from = until) {
        const struct sxs_events_collection *first = &e->collections[from];
        for (until = from; until < e->n_collections; until++)
            if (e->collections[until].runtime != first->runtime)
                break;
        const struct runtime_collections part = {p, first, until - from, zero_ns};
        if (!runtime || first->runtime == runtime)
            write_part(to, &part, top);
    }
    write_unrecorded(to, p, runtime);
}

void sxs_gc_text(FILE *to, const struct sxs_events_report *r, size_t top, uint32_t runtime)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct sxs_events_process *p = &r->processes[i];
        if (!(p->data->head.tools & SXS_EVENTS_OF_COLLECTIONS))
            continue;
        if (r->n > 1)
            sxs_print_to(to, "process %s\n", p->process->folder);
        write_process(to, p, top ? top : 10, runtime, sxs_gc_zero_ns(r));
    }
}
