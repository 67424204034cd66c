/* SPDX-License-Identifier: MIT */
/* Text report: functions by time or number of calls, then the call tree. */
#include "cmd/output/text.h"
#include "cmd/calls/call_trace.h"
#include "cmd/calls/coverage_gaps.h"
#include "cmd/calls/tree.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "base/sum.h"

#include <stdlib.h>
#include <string.h>

struct function_row {
    const struct sxs_calls_process *p;
    const struct sxs_calls_read_function *fn;
    uint64_t                        calls, total_ns, self_ns; /* sums over the selected threads */
};

static bool is_timed(const struct sxs_calls *c)
{
    return c->head.mode != SXS_CALLS_COUNT;
}

static int compare_total(const void *a, const void *b)
{
    const struct function_row *x = a, *y = b;
    if (x->self_ns != y->self_ns)
        return x->self_ns < y->self_ns ? 1 : -1;
    return x->calls < y->calls ? 1 : x->calls > y->calls ? -1 : 0;
}

static void write_process(FILE *to, const struct sxs_calls_process *p)
{
    static const char *const modes[] = {"?", "counted", "timed", "call tree"};
    const struct sxs_calls  *c = p->calls;
    char                     buf[32], command[3 * 1024];
    uint64_t                 calls = 0;
    for (size_t i = 0; i < c->n_fns; i++)
        sxs_sum_add(&calls, c->fns[i].calls);
    sxs_text_clean(c->head.command, command, sizeof(command));
    sxs_print_to(to, "process %s: %s\n", p->process->folder, command);
    sxs_print_to(to, "  %s of %s on %s in %s, %s\n", SXS_COUNT(calls, "call"),
                 SXS_COUNT(c->n_fns, "function"), SXS_COUNT(c->n_threads, "thread"),
                 sxs_text_duration(c->duration_ns, buf, sizeof(buf)),
                 modes[c->head.mode < 4 ? c->head.mode : 0]);
    sxs_print_to(to, "  %llu compiled functions were not selected\n",
                 (unsigned long long)atomic_load(&c->head.skipped));
    sxs_gaps_warn(to, p);
}

static void write_one_loss(FILE *to, uint64_t n, const char *text)
{
    if (n)
        sxs_print_to(to, "  %llu %s\n", (unsigned long long)n, text);
}

static void write_losses(FILE *to, const struct sxs_calls *c)
{
    struct sxs_calls_read_thread sum = {0};
    uint64_t             backed_off = 0;
    for (size_t i = 0; i < c->n_threads; i++) {
        sxs_sum_add(&sum.nodes_lost, c->threads[i].nodes_lost);
        sxs_sum_add(&sum.too_deep, c->threads[i].too_deep);
        sxs_sum_add(&sum.unmatched, c->threads[i].unmatched);
        sxs_sum_add(&sum.unwound, c->threads[i].unwound);
        sxs_sum_add(&sum.stale, c->threads[i].stale);
        sxs_sum_add(&sum.n_events, c->threads[i].n_events);
        sxs_sum_add(&sum.events_lost, c->threads[i].events_lost);
        sxs_sum_add(&sum.n_texts, c->threads[i].n_texts);
        sxs_sum_add(&sum.values_lost, c->threads[i].values_lost);
    }
    for (size_t i = 0; i < c->n_fns; i++)
        backed_off += c->fns[i].backed_off;
    write_one_loss(to, sum.n_events, "beginnings and ends of calls recorded, each with its time");
    write_one_loss(to, sum.events_lost, "more that found no room: counted in the tree all the same");
    write_one_loss(to, sum.n_texts, "of them with arguments or a result");
    write_one_loss(to, sum.values_lost, "arguments or results that found no room");
    write_one_loss(to, sum.unwound, "calls left by an exception");
    write_one_loss(to, sum.stale, "calls that ended without a word");
    write_one_loss(to, sum.unmatched, "leaves of calls not seen to begin");
    write_one_loss(to, sum.too_deep, "calls too deep to be followed");
    write_one_loss(to, sum.nodes_lost, "calls counted at their callers: no room for their paths");
    write_one_loss(to, atomic_load(&c->head.threads_lost), "calls on threads without room");
    write_one_loss(to, atomic_load(&c->head.functions_lost), "functions not hooked: no memory");
    write_one_loss(to, backed_off, "functions counted but timed no longer: too many short calls");
}

/* Durations of traced calls are left out when one thread is selected (@one_thread), because they
 * are recorded for all threads together. */
static void write_row(FILE *to, const struct function_row *row, bool one_thread)
{
    static const struct sxs_calls_read_function none;
    const struct sxs_calls_read_function       *fn = one_thread ? &none : row->fn;
    const struct sxs_calls          *c = row->p->calls;
    char name[4096], self[32], total[32], min[32], median[32], p99[32], max[32];
    sxs_text_clean(row->fn->name, name, sizeof(name));
    sxs_print_to(to, "%12llu", (unsigned long long)row->calls);
    if (is_timed(c))
        sxs_print_to(to, " %10s %10s %9s %9s %9s %9s",
                     sxs_text_duration(row->self_ns, self, sizeof(self)),
                     sxs_text_duration(row->total_ns, total, sizeof(total)),
                     sxs_text_duration(fn->min_ns, min, sizeof(min)),
                     sxs_text_duration(sxs_calls_quantile(c, fn, 0.5), median, sizeof(median)),
                     sxs_text_duration(sxs_calls_quantile(c, fn, 0.99), p99, sizeof(p99)),
                     sxs_text_duration(fn->max_ns, max, sizeof(max)));
    sxs_print_to(to, "  [%s] %s%s\n", sxs_process_version(row->p->process, row->fn->runtime), name,
                 row->fn->backed_off  ? " (timed no longer)"
                 : row->fn->tail_late ? " (may be too long: left by tail calls)"
                                      : "");
}

/* Fills @rows, one for each function of @p in the order of p->calls->fns, with sums over the
 * selected threads. */
static void sum_threads(const struct sxs_calls_process *p, const struct sxs_calls_view *v,
                        struct function_row *rows)
{
    struct sxs_calls_view wanted = {.thread = v->thread};
    struct sxs_calls_tree t;
    for (size_t i = 0; i < p->calls->n_fns; i++) {
        const struct sxs_calls_read_function *fn = &p->calls->fns[i];
        rows[i] = (struct function_row){p, fn, fn->calls, fn->total_ns, fn->self_ns};
        if (v->thread)
            rows[i].calls = rows[i].total_ns = rows[i].self_ns = 0;
    }
    if (v->thread && sxs_calls_tree_build(p, &wanted, &t) == 0) {
        for (uint32_t i = (uint32_t)t.n_roots; i < t.n; i++) {
            struct function_row *row = &rows[t.nodes[i].fn];
            sxs_sum_add(&row->calls, t.nodes[i].calls);
            sxs_sum_add(&row->self_ns, t.nodes[i].self_ns);
            sxs_sum_add(&row->total_ns, t.nodes[i].repeats ? 0 : t.nodes[i].total_ns);
        }
    }
    if (v->thread)
        sxs_calls_tree_free(&t);
}

static size_t keep_called(struct function_row *rows, size_t n, uint32_t runtime)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (rows[i].calls && (!runtime || rows[i].fn->runtime == runtime))
            rows[kept++] = rows[i];
    return kept;
}

static void write_functions(FILE *to, const struct sxs_calls_report *r,
                            const struct sxs_calls_view *v)
{
    size_t               n = 0, all = 0, timed = 0, top = v->top ? v->top : 30;
    struct function_row *rows;
    for (size_t i = 0; i < r->n; i++) {
        all += r->processes[i].calls->n_fns;
        timed += (size_t)is_timed(r->processes[i].calls);
    }
    rows = calloc(all + 1, sizeof(*rows));
    if (!rows)
        return;
    for (size_t i = 0; i < r->n; i++) {
        sum_threads(&r->processes[i], v, rows + n);
        n += r->processes[i].calls->n_fns;
    }
    n = keep_called(rows, n, v->runtime);
    qsort(rows, n, sizeof(*rows), compare_total);
    sxs_print_to(to, "\nfunctions, %zu of %zu called%s\n%12s", n < top ? n : top, n,
                 timed ? ", by time in themselves" : "", "calls");
    if (timed)
        sxs_print_to(to, " %10s %10s %9s %9s %9s %9s", "self", "total", "min", "median", "p99",
                     "max");
    fputs("  function\n", to);
    for (size_t i = 0; i < n && i < top; i++)
        write_row(to, &rows[i], v->thread != NULL);
    free(rows);
}

void sxs_calls_text(FILE *to, const struct sxs_calls_report *r, const struct sxs_calls_view *v)
{
    if (v->callers) {
        sxs_calls_callers(to, r, v);
        return;
    }
    for (size_t i = 0; i < r->n; i++) {
        write_process(to, &r->processes[i]);
        write_losses(to, r->processes[i].calls);
    }
    write_functions(to, r, v);
    for (size_t i = 0; i < r->n; i++)
        if (r->processes[i].calls->head.mode == SXS_CALLS_TREE)
            sxs_calls_tree_text(to, &r->processes[i], v);
    for (size_t i = 0; i < r->n; i++)
        sxs_gaps_text(to, &r->processes[i], v);
    for (size_t i = 0; i < r->n; i++)
        sxs_calls_trace_text(to, &r->processes[i], v);
}
