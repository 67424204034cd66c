/* SPDX-License-Identifier: MIT */
/* Text report: the call tree of a process; callers and callees of a function. */
#include "cmd/calls/tree.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/text.h"
#include "base/sum.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define TREE_PERCENT 1.0 /* of all time or calls: smaller branches are left out */

static const char *function_text(const struct sxs_calls_process *p, uint32_t fn, char *buf,
                                 size_t size)
{
    char name[4096];
    if (fn == SXS_CALLS_NONE)
        return "where the thread began";
    sxs_text_clean(p->calls->fns[fn].name, name, sizeof(name));
    snprintf(buf, size, "[%s] %s",
             sxs_process_version(p->process, p->calls->fns[fn].runtime), name);
    return buf;
}

/* ---- the tree --------------------------------------------------------------------------------- */

struct printer {
    FILE                        *to;
    const struct sxs_calls_tree *t;
    uint64_t                     all;
    bool                         timed;
    unsigned                     depth; /* levels to write; 0: all */
};

static uint64_t weight_of(const struct printer *p, const struct sxs_calls_tree_node *n)
{
    return p->timed ? n->total_ns : n->calls;
}

static void write_node(const struct printer *p, const struct sxs_calls_tree_node *n, unsigned depth)
{
    char name[4200], total[32], self[32];
    sxs_print_to(p->to, "%6.2f %% %10s %10s %12llu  %*s%s%s\n",
                 100.0 * (double)weight_of(p, n) / (double)p->all,
                 sxs_text_duration(n->total_ns, total, sizeof(total)),
                 sxs_text_duration(n->self_ns, self, sizeof(self)), (unsigned long long)n->calls,
                 (int)(2 * (depth < 40 ? depth : 40)), "",
                 function_text(p->t->p, n->fn, name, sizeof(name)), n->awaits ? " [awaits]" : "");
}

static bool is_big(const struct printer *p, const struct sxs_calls_tree_node *n)
{
    return n->shown && 100.0 * (double)weight_of(p, n) >= TREE_PERCENT * (double)p->all;
}

/* Writes the branches below @root, depth first. @place: for each level, the next child to visit. */
static void write_branches(const struct printer *p, uint32_t root, uint32_t *place)
{
    const struct sxs_calls_tree_node *nodes = p->t->nodes, *at = &nodes[root];
    unsigned                          depth = 0;
    place[0] = 0;
    for (;;) {
        if (place[depth] < at->n) {
            const struct sxs_calls_tree_node *n = &nodes[p->t->order[at->first + place[depth]++]];
            if (!is_big(p, n))
                continue;
            write_node(p, n, depth);
            if (p->depth && depth + 1 >= p->depth)
                continue;
            at = n;
            place[++depth] = 0;
        } else if (depth) {
            at = &nodes[at->parent];
            depth--;
        } else {
            return;
        }
    }
}

static void write_thread(const struct printer *p, const struct sxs_calls_tree_node *root)
{
    const struct sxs_calls_read_thread *thread = &p->t->p->calls->threads[root->thread];
    char                                name[3 * SXS_THREAD_NAME_MAX + 1];
    sxs_text_clean(thread->name, name, sizeof(name));
    sxs_print_to(p->to, "thread %u %s\n", thread->tid, name);
}

void sxs_calls_tree_text(FILE *to, const struct sxs_calls_process *p,
                         const struct sxs_calls_view *v)
{
    struct sxs_calls_tree t;
    struct printer        out = {.to = to, .t = &t, .depth = v->depth};
    int                   err = sxs_calls_tree_build(p, v, &t);
    uint32_t             *place = calloc(t.n + 2, sizeof(*place));
    for (size_t i = 0; i < t.n_roots; i++)
        sxs_sum_add(&out.all, t.nodes[i].total_ns);
    out.timed = out.all != 0;
    for (size_t i = 0; !out.timed && i < t.n; i++)
        sxs_sum_add(&out.all, t.nodes[i].fn == SXS_CALLS_NONE ? 0 : t.nodes[i].calls);
    if (!err && place && out.all) {
        sxs_print_to(to,
                     "\ncall tree of process %s, branches of %g %% and more\n%8s %10s %10s %12s\n",
                     p->process->folder, TREE_PERCENT, "", "total", "self", "calls");
        for (size_t i = 0; i < t.n_roots; i++) {
            if (t.nodes[i].thread != SXS_CALLS_NONE &&
                (!t.nodes[i].n || !is_big(&out, &t.nodes[t.order[t.nodes[i].first]])))
                continue;
            if (t.nodes[i].thread != SXS_CALLS_NONE)
                write_thread(&out, &t.nodes[i]);
            write_branches(&out, (uint32_t)i, place);
        }
    }
    free(place);
    sxs_calls_tree_free(&t);
}

/* ---- callers and callees ---------------------------------------------------------------------- */

/* A pattern with wildcards must match the whole name, with or without parameters; a pattern without
 * wildcards must be a part of the name. */
static bool name_fits(const char *pattern, const char *name)
{
    char plain[4096];
    sxs_calls_plain_name(name, plain, sizeof(plain));
    if (strpbrk(pattern, "*?"))
        return fnmatch(pattern, plain, 0) == 0 || fnmatch(pattern, name, 0) == 0;
    return strstr(name, pattern) != NULL;
}

struct edge {
    uint32_t fn;
    uint64_t calls, total_ns;
};

/* @edges: one for each function, and a last one for SXS_CALLS_NONE. */
static void add_edge(const struct sxs_calls_tree *t, struct edge *edges, uint32_t fn, uint32_t node)
{
    struct edge *e = &edges[fn == SXS_CALLS_NONE ? t->p->calls->n_fns : fn];
    e->fn = fn;
    sxs_sum_add(&e->calls, t->nodes[node].calls);
    if (!t->nodes[node].edge_repeats)
        sxs_sum_add(&e->total_ns, t->nodes[node].total_ns);
}

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return x->calls < y->calls ? 1 : x->calls > y->calls ? -1 : 0;
}

static void write_edges(FILE *to, const struct sxs_calls_process *p, const char *what, uint32_t self,
                        struct edge *edges, size_t n)
{
    char name[4200], total[32];
    qsort(edges, n, sizeof(*edges), by_time);
    sxs_print_to(to, "%12s %10s  %s\n", "calls", "total", what);
    for (size_t i = 0; i < n && edges[i].calls; i++)
        sxs_print_to(to, "%12llu %10s  %s%s\n", (unsigned long long)edges[i].calls,
                     sxs_text_duration(edges[i].total_ns, total, sizeof(total)),
                     edges[i].fn == self ? "itself: " : "",
                     function_text(p, edges[i].fn, name, sizeof(name)));
    if (!n || !edges[0].calls)
        sxs_print_to(to, "%12s %10s  none\n", "-", "-");
}

static void write_durations(FILE *to, const struct sxs_calls *c,
                            const struct sxs_calls_read_function *fn)
{
    char min[32], median[32], p99[32], max[32];
    if (fn->max_ns)
        sxs_print_to(to, "one call: min %s, median %s, p99 %s, max %s\n",
                     sxs_text_duration(fn->min_ns, min, sizeof(min)),
                     sxs_text_duration(sxs_calls_quantile(c, fn, 0.5), median, sizeof(median)),
                     sxs_text_duration(sxs_calls_quantile(c, fn, 0.99), p99, sizeof(p99)),
                     sxs_text_duration(fn->max_ns, max, sizeof(max)));
}

static void write_function(FILE *to, const struct sxs_calls_tree *t, uint32_t fn)
{
    const struct sxs_calls_process *p = t->p;
    size_t                          n = p->calls->n_fns + 1;
    struct edge                    *callers = calloc(n, sizeof(*callers));
    struct edge                    *callees = calloc(n, sizeof(*callees));
    struct edge                     all = {0};
    uint64_t                        self_ns = 0;
    char                            name[4200], total[32], self[32];
    for (uint32_t i = (uint32_t)t->n_roots; callers && callees && i < t->n; i++) {
        const struct sxs_calls_tree_node *node = &t->nodes[i];
        if (!node->shown)
            continue;
        if (t->nodes[node->parent].fn == fn)
            add_edge(t, callees, node->fn, i);
        if (node->fn != fn)
            continue;
        add_edge(t, callers, t->nodes[node->parent].fn, i);
        sxs_sum_add(&all.calls, node->calls);
        sxs_sum_add(&self_ns, node->self_ns);
        sxs_sum_add(&all.total_ns, node->repeats ? 0 : node->total_ns);
    }
    if (all.calls) {
        sxs_print_to(to, "\n%s\n%s, total %s, self %s\n", function_text(p, fn, name, sizeof(name)),
                     SXS_COUNT(all.calls, "call"),
                     sxs_text_duration(all.total_ns, total, sizeof(total)),
                     sxs_text_duration(self_ns, self, sizeof(self)));
        write_durations(to, p->calls, &p->calls->fns[fn]);
        write_edges(to, p, "caller", fn, callers, n);
        write_edges(to, p, "callee", fn, callees, n);
    }
    free(callers);
    free(callees);
}

static void write_process(FILE *to, const struct sxs_calls_process *p,
                          const struct sxs_calls_view *v, size_t *found)
{
    struct sxs_calls_view all = *v;
    struct sxs_calls_tree t;
    all.by_thread = false;
    if (p->calls->head.mode != SXS_CALLS_TREE)
        sxs_print_to(to, "process %s: callers were not recorded; they are with sxsprof calls\n",
                     p->process->folder);
    else if (sxs_calls_tree_build(p, &all, &t) == 0)
        for (uint32_t i = 0; i < p->calls->n_fns; i++)
            if (name_fits(v->callers, p->calls->fns[i].name) && p->calls->fns[i].calls &&
                (*found)++ < (v->top ? v->top : 30))
                write_function(to, &t, i);
    if (p->calls->head.mode == SXS_CALLS_TREE)
        sxs_calls_tree_free(&t);
}

void sxs_calls_callers(FILE *to, const struct sxs_calls_report *r, const struct sxs_calls_view *v)
{
    size_t found = 0, top = v->top ? v->top : 30;
    bool   recorded = false;
    for (size_t i = 0; i < r->n; i++) {
        recorded |= r->processes[i].calls->head.mode == SXS_CALLS_TREE;
        write_process(to, &r->processes[i], v, &found);
    }
    if (recorded && !found)
        sxs_print_to(to, "no function that was called is named %s\n", v->callers);
    if (found > top)
        sxs_print_to(to, "\nand %s; --top shows them\n", SXS_COUNT(found - top, "more function"));
}
