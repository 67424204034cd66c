/* SPDX-License-Identifier: MIT */
/* text: functions by time or calls, then the tree of calls, for a terminal. */
#include "report/calls/calls.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

#define TREE_PERCENT 1.0 /* of all time or calls: smaller branches are summed up */

struct row {
    const struct sxs_calls_process *p;
    const struct sxs_calls_fn      *fn;
};

static const char *duration(uint64_t ns, char *buf, size_t size)
{
    static const struct {
        double      unit;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if ((double)ns >= units[i].unit) {
            snprintf(buf, size, "%.2f %s", (double)ns / units[i].unit, units[i].name);
            return buf;
        }
    }
    snprintf(buf, size, "%llu ns", (unsigned long long)ns);
    return buf;
}

static int is_timed(const struct sxs_calls *c)
{
    return c->head.mode != SXS_CALLS_COUNT;
}

static int heavier(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->fn->self_ns != y->fn->self_ns)
        return x->fn->self_ns < y->fn->self_ns ? 1 : -1;
    return x->fn->calls < y->fn->calls ? 1 : x->fn->calls > y->fn->calls ? -1 : 0;
}

static void write_process(FILE *to, const struct sxs_calls_process *p)
{
    static const char *const modes[] = {"?", "counted", "timed", "call tree"};
    const struct sxs_calls  *c = p->calls;
    char                     buf[32], command[3 * 1024];
    uint64_t                 calls = 0;
    for (size_t i = 0; i < c->n_fns; i++)
        calls += c->fns[i].calls;
    sxs_text_clean(c->head.command, command, sizeof(command));
    fprintf(to, "process %s: %s\n", p->process->folder, command);
    fprintf(to, "  %llu calls of %zu functions on %zu threads in %s, %s\n",
            (unsigned long long)calls, c->n_fns, c->n_threads,
            duration(c->duration_ns, buf, sizeof(buf)), modes[c->head.mode < 4 ? c->head.mode : 0]);
    fprintf(to, "  %llu compiled functions were not selected\n",
            (unsigned long long)atomic_load(&c->head.skipped));
}

static void write_one_loss(FILE *to, uint64_t n, const char *text)
{
    if (n)
        fprintf(to, "  %llu %s\n", (unsigned long long)n, text);
}

static void write_losses(FILE *to, const struct sxs_calls *c)
{
    struct sxs_calls_thr sum = {0};
    uint64_t             backed_off = 0;
    for (size_t i = 0; i < c->n_threads; i++) {
        sum.nodes_lost += c->threads[i].nodes_lost;
        sum.too_deep += c->threads[i].too_deep;
        sum.unmatched += c->threads[i].unmatched;
        sum.unwound += c->threads[i].unwound;
        sum.stale += c->threads[i].stale;
    }
    for (size_t i = 0; i < c->n_fns; i++)
        backed_off += c->fns[i].backed_off;
    write_one_loss(to, sum.unwound, "calls left by an exception");
    write_one_loss(to, sum.stale, "calls that ended without a word");
    write_one_loss(to, sum.unmatched, "leaves of calls not seen to begin");
    write_one_loss(to, sum.too_deep, "calls too deep to be followed");
    write_one_loss(to, sum.nodes_lost, "calls counted at their callers: no room for their paths");
    write_one_loss(to, atomic_load(&c->head.threads_lost), "calls on threads without room");
    write_one_loss(to, atomic_load(&c->head.functions_lost), "functions not hooked: no memory");
    write_one_loss(to, backed_off, "functions counted but timed no longer: too many short calls");
}

static void write_row(FILE *to, const struct row *row)
{
    char name[4096], self[32], total[32], min[32], median[32], p99[32], max[32];
    sxs_text_clean(row->fn->name, name, sizeof(name));
    fprintf(to, "%12llu", (unsigned long long)row->fn->calls);
    if (is_timed(row->p->calls))
        fprintf(to, " %10s %10s %9s %9s %9s %9s",
                duration(row->fn->self_ns, self, sizeof(self)),
                duration(row->fn->total_ns, total, sizeof(total)),
                duration(row->fn->min_ns, min, sizeof(min)),
                duration(sxs_calls_quantile(row->p->calls, row->fn, 0.5), median, sizeof(median)),
                duration(sxs_calls_quantile(row->p->calls, row->fn, 0.99), p99, sizeof(p99)),
                duration(row->fn->max_ns, max, sizeof(max)));
    fprintf(to, "  [%s] %s%s\n", sxs_calls_version(row->p, row->fn->runtime), name,
            row->fn->backed_off ? " (timed no longer)" : "");
}

static void write_functions(FILE *to, const struct sxs_calls_report *r, size_t top)
{
    size_t      n = 0, all = 0, timed = 0;
    struct row *rows;
    for (size_t i = 0; i < r->n; i++) {
        all += r->processes[i].calls->n_fns;
        timed += (size_t)is_timed(r->processes[i].calls);
    }
    rows = calloc(all + 1, sizeof(*rows));
    if (!rows)
        return;
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->processes[i].calls->n_fns; k++)
            if (r->processes[i].calls->fns[k].calls)
                rows[n++] = (struct row){&r->processes[i], &r->processes[i].calls->fns[k]};
    qsort(rows, n, sizeof(*rows), heavier);
    fprintf(to, "\nfunctions, %zu of %zu called%s\n%12s", n < top ? n : top, n,
            timed ? ", by time in themselves" : "", "calls");
    if (timed)
        fprintf(to, " %10s %10s %9s %9s %9s %9s", "self", "total", "min", "median", "p99", "max");
    fputs("  function\n", to);
    for (size_t i = 0; i < n && i < top; i++)
        write_row(to, &rows[i]);
    free(rows);
}

/* ---- the tree --------------------------------------------------------------------------------- */

struct tree {
    FILE                           *to;
    const struct sxs_calls_process *p;
    uint32_t                       *first, *next; /* children of a path, heaviest first */
    uint64_t                        all;
};

static uint64_t weight(const struct sxs_calls_path *path)
{
    return path->total_ns;
}

/* Children come after their parents: inserting them one by one keeps each list in order. */
static void link_children(struct tree *t)
{
    const struct sxs_calls *c = t->p->calls;
    for (size_t i = 0; i < c->n_paths; i++)
        t->first[i] = t->next[i] = SXS_CALLS_NONE;
    for (size_t i = 0; i < c->n_paths; i++) {
        uint32_t *at;
        if (c->paths[i].parent == SXS_CALLS_NONE)
            continue;
        at = &t->first[c->paths[i].parent];
        while (*at != SXS_CALLS_NONE && weight(&c->paths[*at]) >= weight(&c->paths[i]))
            at = &t->next[*at];
        t->next[i] = *at;
        *at = (uint32_t)i;
    }
}

static void write_path(struct tree *t, uint32_t index, unsigned depth)
{
    const struct sxs_calls_path *path = &t->p->calls->paths[index];
    const struct sxs_calls_fn   *fn;
    char                         name[4096], total[32];
    if (path->fn == SXS_CALLS_NONE)
        return;
    fn = &t->p->calls->fns[path->fn];
    sxs_text_clean(fn->name, name, sizeof(name));
    fprintf(t->to, "%6.2f %% %10s %12llu  %*s[%s] %s\n",
            100.0 * (double)path->total_ns / (double)t->all,
            duration(path->total_ns, total, sizeof(total)), (unsigned long long)path->calls,
            (int)(2 * (depth < 40 ? depth : 40)), "", sxs_calls_version(t->p, fn->runtime), name);
}

/* Depth first without recursion: up again by the parents. */
static void write_branch(struct tree *t, uint32_t root)
{
    const struct sxs_calls *c = t->p->calls;
    uint32_t                at = t->first[root];
    unsigned                depth = 0;
    while (at != SXS_CALLS_NONE) {
        int shown = 100.0 * (double)c->paths[at].total_ns >= TREE_PERCENT * (double)t->all;
        if (shown)
            write_path(t, at, depth);
        if (shown && t->first[at] != SXS_CALLS_NONE) {
            at = t->first[at];
            depth++;
            continue;
        }
        while (at != root && (t->next[at] == SXS_CALLS_NONE || !shown)) {
            at = c->paths[at].parent; /* what follows a branch too small is smaller still */
            depth--;
            shown = 1;
            if (at == root)
                return;
        }
        at = t->next[at];
    }
}

static void write_tree(FILE *to, const struct sxs_calls_process *p)
{
    const struct sxs_calls *c = p->calls;
    struct tree             t = {.to = to, .p = p};
    t.first = calloc(c->n_paths + 1, sizeof(*t.first));
    t.next = calloc(c->n_paths + 1, sizeof(*t.next));
    if (t.first && t.next) {
        link_children(&t);
        for (size_t i = 0; i < c->n_threads; i++)
            for (uint32_t k = t.first[c->threads[i].root]; k != SXS_CALLS_NONE; k = t.next[k])
                t.all += c->paths[k].total_ns;
        fprintf(to, "\ncall tree of process %s, branches of %g %% and more\n%8s %10s %12s\n",
                p->process->folder, TREE_PERCENT, "", "total", "calls");
        for (size_t i = 0; i < c->n_threads && t.all; i++) {
            char name[64];
            sxs_text_clean(c->threads[i].name, name, sizeof(name));
            if (t.first[c->threads[i].root] == SXS_CALLS_NONE ||
                100.0 * (double)c->paths[t.first[c->threads[i].root]].total_ns <
                    TREE_PERCENT * (double)t.all)
                continue;
            fprintf(to, "thread %u %s\n", c->threads[i].tid, name);
            write_branch(&t, c->threads[i].root);
        }
    }
    free(t.first);
    free(t.next);
}

void sxs_calls_text(FILE *to, const struct sxs_calls_report *r, size_t top)
{
    for (size_t i = 0; i < r->n; i++) {
        write_process(to, &r->processes[i]);
        write_losses(to, r->processes[i].calls);
    }
    write_functions(to, r, top ? top : 30);
    for (size_t i = 0; i < r->n; i++)
        if (r->processes[i].calls->head.mode == SXS_CALLS_TREE)
            write_tree(to, &r->processes[i]);
}
