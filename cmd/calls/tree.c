/* SPDX-License-Identifier: MIT */
#include "cmd/calls/tree.h"
#include "base/sum.h"
#include "cmd/output/table_hash.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(uint32_t parent, uint32_t fn)
{
    return (uint32_t)(sxs_table_hash_number((uint64_t)parent << 32 | fn) >> 32);
}

/* Returns the index of the new node, or SXS_CALLS_NONE when out of memory. */
static uint32_t add_node(struct sxs_calls_tree *t, uint32_t parent, uint32_t fn, uint32_t thread)
{
    if (t->n == t->cap) {
        size_t                      cap = t->cap ? t->cap * 2 : 256;
        struct sxs_calls_tree_node *more = reallocarray(t->nodes, cap, sizeof(*more));
        if (!more)
            return SXS_CALLS_NONE;
        t->nodes = more;
        t->cap = cap;
    }
    t->nodes[t->n] = (struct sxs_calls_tree_node){.parent = parent, .fn = fn, .thread = thread};
    return (uint32_t)t->n++;
}

static uint32_t child_of(struct sxs_calls_tree *t, uint32_t parent, uint32_t fn, bool awaits)
{
    uint32_t hash = hash_of(parent, fn), number;
    size_t   at = hash;
    if (sxs_index_reserve(&t->index) != 0)
        return SXS_CALLS_NONE;
    for (; (number = sxs_index_next(&t->index, hash, &at)) != 0; at++) {
        const struct sxs_calls_tree_node *n = &t->nodes[number - 1];
        if (n->parent == parent && n->fn == fn && n->awaits == awaits)
            return number - 1;
    }
    uint32_t node = add_node(t, parent, fn, SXS_CALLS_NONE);
    if (node != SXS_CALLS_NONE) {
        t->nodes[node].awaits = awaits;
        sxs_index_put(&t->index, at, hash, node);
    }
    return node;
}

bool sxs_calls_thread_wanted(const struct sxs_calls_read_thread *t, const char *wanted)
{
    char id[16];
    snprintf(id, sizeof(id), "%u", t->tid);
    return !wanted || strcmp(id, wanted) == 0 || fnmatch(wanted, t->name, 0) == 0;
}

/* Adds the root nodes. @root_of: receives the root of each thread; SXS_CALLS_NONE: not selected. */
static int add_roots(struct sxs_calls_tree *t, const struct sxs_calls_view *v, uint32_t *root_of)
{
    const struct sxs_calls *c = t->p->calls;
    uint32_t                all = SXS_CALLS_NONE;
    for (size_t i = 0; i < c->n_threads; i++) {
        root_of[i] = SXS_CALLS_NONE;
        if (!sxs_calls_thread_wanted(&c->threads[i], v->thread))
            continue;
        if (v->by_thread || all == SXS_CALLS_NONE) {
            all = add_node(t, SXS_CALLS_NONE, SXS_CALLS_NONE,
                           v->by_thread ? (uint32_t)i : SXS_CALLS_NONE);
            if (all == SXS_CALLS_NONE)
                return ENOMEM;
        }
        root_of[i] = all;
    }
    t->n_roots = t->n;
    return 0;
}

static int add_paths(struct sxs_calls_tree *t, const uint32_t *root_of, uint32_t *node_of)
{
    const struct sxs_calls *c = t->p->calls;
    for (size_t i = 0; i < c->n_paths; i++) {
        const struct sxs_calls_path *p = &c->paths[i];
        uint32_t up = p->parent == SXS_CALLS_NONE ? SXS_CALLS_NONE : node_of[p->parent];
        node_of[i] = up;
        if (p->parent == SXS_CALLS_NONE && p->thread < c->n_threads)
            node_of[i] = root_of[p->thread];
        if (up == SXS_CALLS_NONE || p->fn == SXS_CALLS_NONE)
            continue;
        node_of[i] = child_of(t, up, p->fn, p->awaits);
        if (node_of[i] == SXS_CALLS_NONE)
            return ENOMEM;
        sxs_sum_add(&t->nodes[node_of[i]].calls, p->calls);
        sxs_sum_add(&t->nodes[node_of[i]].total_ns, p->total_ns);
        sxs_sum_add(&t->nodes[node_of[i]].self_ns, p->self_ns);
    }
    return 0;
}

/* Marks the functions of the selected runtime and everything below them, then the paths that lead
 * to marked nodes. */
static void mark_shown(struct sxs_calls_tree *t, uint32_t runtime)
{
    const struct sxs_calls *c = t->p->calls;
    for (size_t i = t->n_roots; i < t->n; i++) {
        const struct sxs_calls_tree_node *up = &t->nodes[t->nodes[i].parent];
        t->nodes[i].shown = !runtime || c->fns[t->nodes[i].fn].runtime == runtime ||
                            (up->shown && up->fn != SXS_CALLS_NONE);
    }
    for (size_t i = t->n; i-- > t->n_roots;)
        if (t->nodes[i].shown)
            t->nodes[t->nodes[i].parent].shown = true;
}

static int by_weight(const void *a, const void *b, void *arg)
{
    const struct sxs_calls_tree_node *nodes = arg, *x = &nodes[*(const uint32_t *)a],
                                     *y = &nodes[*(const uint32_t *)b];
    if (x->parent != y->parent) /* roots have no parent and come last */
        return x->parent < y->parent ? -1 : 1;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return x->calls < y->calls ? 1 : x->calls > y->calls ? -1 : 0;
}

static int sort_children(struct sxs_calls_tree *t)
{
    t->order = calloc(t->n + 1, sizeof(*t->order));
    if (!t->order)
        return ENOMEM;
    for (size_t i = 0; i < t->n; i++)
        t->order[i] = (uint32_t)i;
    qsort_r(t->order, t->n, sizeof(*t->order), by_weight, t->nodes);
    for (size_t i = 0; i < t->n; i++) {
        uint32_t parent = t->nodes[t->order[i]].parent;
        if (parent != SXS_CALLS_NONE && !t->nodes[parent].n++)
            t->nodes[parent].first = (uint32_t)i;
    }
    return 0;
}

/* ---- recursion -------------------------------------------------------------------------------- */

/* Returns the functions of a node's caller and of the node, packed into one number. */
static uint64_t edge_of(const struct sxs_calls_tree *t, const struct sxs_calls_tree_node *n)
{
    return (uint64_t)t->nodes[n->parent].fn << 32 | n->fn;
}

static int by_edge(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* State of the walk in mark_below(): how often each function and each edge (caller and callee)
 * occurs on the path from the root to the current node. */
struct way {
    struct sxs_calls_tree *t;
    uint32_t              *fns;   /* count by function */
    uint64_t              *edges; /* all distinct edges, sorted */
    size_t                 n_edges;
    uint32_t              *of_edges; /* count by index in edges */
    uint32_t              *next;     /* by node: the next child to visit */
};

static uint32_t *count_of_edge(const struct way *w, const struct sxs_calls_tree_node *n)
{
    uint64_t        edge = edge_of(w->t, n);
    const uint64_t *at = bsearch(&edge, w->edges, w->n_edges, sizeof(edge), by_edge);
    return &w->of_edges[at - w->edges];
}

/* Walks depth first from @root and marks nodes whose function or edge already is on the path to
 * them. */
static void mark_below(struct way *w, uint32_t root)
{
    struct sxs_calls_tree_node *nodes = w->t->nodes;
    for (uint32_t at = root;;) {
        struct sxs_calls_tree_node *n = &nodes[at];
        if (w->next[at] < n->n) {
            at = w->t->order[n->first + w->next[at]++];
            n = &nodes[at];
            n->repeats = w->fns[n->fn]++ > 0;
            n->edge_repeats = (*count_of_edge(w, n))++ > 0;
        } else if (at == root) {
            return;
        } else {
            w->fns[n->fn]--;
            (*count_of_edge(w, n))--;
            at = n->parent;
        }
    }
}

/* Sets `repeats` and `edge_repeats` of all nodes. Called after sort_children(). */
static int mark_repeats(struct sxs_calls_tree *t)
{
    struct way w = {.t = t,
                    .fns = calloc(t->p->calls->n_fns + 1, sizeof(*w.fns)),
                    .edges = calloc(t->n + 1, sizeof(*w.edges)),
                    .of_edges = calloc(t->n + 1, sizeof(*w.of_edges)),
                    .next = calloc(t->n + 1, sizeof(*w.next))};
    size_t     n;
    int        err = w.fns && w.edges && w.of_edges && w.next ? 0 : ENOMEM;
    for (size_t i = t->n_roots; !err && i < t->n; i++)
        w.edges[w.n_edges++] = edge_of(t, &t->nodes[i]);
    if (w.n_edges)
        qsort(w.edges, w.n_edges, sizeof(*w.edges), by_edge);
    n = w.n_edges;
    w.n_edges = 0;
    for (size_t i = 0; i < n; i++)
        if (!w.n_edges || w.edges[i] != w.edges[w.n_edges - 1])
            w.edges[w.n_edges++] = w.edges[i];
    for (size_t i = 0; !err && i < t->n_roots; i++)
        mark_below(&w, (uint32_t)i);
    free(w.fns);
    free(w.edges);
    free(w.of_edges);
    free(w.next);
    return err;
}

int sxs_calls_tree_build(const struct sxs_calls_process *p, const struct sxs_calls_view *v,
                         struct sxs_calls_tree *out)
{
    uint32_t *root_of = calloc(p->calls->n_threads + 1, sizeof(*root_of));
    uint32_t *node_of = calloc(p->calls->n_paths + 1, sizeof(*node_of));
    *out = (struct sxs_calls_tree){.p = p};
    int err = root_of && node_of ? add_roots(out, v, root_of) : ENOMEM;
    if (!err)
        err = add_paths(out, root_of, node_of);
    if (!err) {
        mark_shown(out, v->runtime);
        err = sort_children(out);
    }
    if (!err)
        err = mark_repeats(out);
    for (size_t i = out->n; !err && i-- > out->n_roots;) /* totals of the roots */
        if (out->nodes[i].parent < out->n_roots) {
            sxs_sum_add(&out->nodes[out->nodes[i].parent].calls, out->nodes[i].calls);
            sxs_sum_add(&out->nodes[out->nodes[i].parent].total_ns, out->nodes[i].total_ns);
        }
    free(root_of);
    free(node_of);
    sxs_index_free(&out->index);
    return err;
}

void sxs_calls_tree_free(struct sxs_calls_tree *t)
{
    free(t->nodes);
    free(t->order);
    sxs_index_free(&t->index);
    memset(t, 0, sizeof(*t));
}
