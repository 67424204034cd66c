/* SPDX-License-Identifier: MIT */
/*
 * Dominators by the algorithm of Lengauer and Tarjan (1979), with simple path compression. Nothing
 * is recursive, because lists of millions of objects are common.
 *
 * All arrays but `number` are indexed by the preorder number of an object in a depth-first search
 * from the roots; number 0 stands for all roots together. Objects that are not reached have no
 * number.
 */
#include "cmd/heap/dominators.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"

#define NONE UINT32_MAX

struct dominator_search {
    const struct sxs_heap_graph *g;
    uint32_t                     n;      /* numbers in use */
    uint32_t                    *number; /* by object; 0: not reached */
    uint32_t                    *object; /* object of this number */
    uint32_t                    *parent; /* in the tree of the search */
    uint32_t *ancestor; /* in the forest that grows from the end to the beginning; NONE: its root */
    uint32_t *label;    /* the number with the least `semi` on the way to the forest's root */
    uint32_t *semi;     /* semidominator */
    uint32_t *bucket;   /* first of the numbers whose semidominator this is; NONE: none */
    uint32_t *dominator;    /* before it is known: the next number of the same bucket */
    uint32_t *first, *from; /* the numbers that refer to number i: from[first[i]]... */
};

static void reach(struct dominator_search *s, uint32_t object, uint32_t parent)
{
    s->number[object] = s->n;
    s->object[s->n] = object;
    s->parent[s->n++] = parent;
}

/* Numbers all objects that a root leads to. @at: by number: the next reference to follow. */
static void search_from(struct dominator_search *s, uint32_t object, uint32_t *at)
{
    const struct sxs_heap_graph *g = s->g;
    uint32_t                     i = s->n;
    reach(s, object, 0);
    at[i] = g->first[object];
    while (i) {
        if (at[i] == g->first[s->object[i] + 1]) {
            i = s->parent[i];
            continue;
        }
        uint32_t to = g->to[at[i]++];
        if (s->number[to])
            continue;
        reach(s, to, i);
        i = s->n - 1;
        at[i] = g->first[to];
    }
}

static void search(struct dominator_search *s)
{
    const struct sxs_heap_graph *g = s->g;
    s->n = 1;
    for (uint32_t i = 0; i < g->n_roots; i++)
        if (sxs_heap_strong(&g->roots[i]) && !s->number[g->roots[i].object])
            search_from(s, g->roots[i].object, s->ancestor);
}

/* Lists the referrers of each number. The roots of an object count as one reference from number 0. */
static void turn_references(struct dominator_search *s)
{
    const struct sxs_heap_graph *g = s->g;
    uint32_t                     sum = 0, last = SXS_NO_OBJECT;
    s->first = sxs_must_zeroed((size_t)s->n + 2, sizeof(*s->first));
    uint32_t *count = s->first + 1; /* afterwards count[i] is the end of number i's list */
    for (uint32_t i = 1; i < s->n; i++)
        for (uint32_t k = g->first[s->object[i]]; k < g->first[s->object[i] + 1]; k++)
            count[s->number[g->to[k]]]++;
    for (uint32_t i = 0; i < g->n_roots; i++) {
        if (sxs_heap_strong(&g->roots[i]) && g->roots[i].object != last)
            count[s->number[g->roots[i].object]]++;
        last = sxs_heap_strong(&g->roots[i]) ? g->roots[i].object : last;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t here = count[i];
        count[i] = sum;
        sum += here;
    }
    s->from = sxs_must_zeroed(sum, sizeof(*s->from));
    last = SXS_NO_OBJECT;
    for (uint32_t i = 0; i < g->n_roots; i++) {
        if (sxs_heap_strong(&g->roots[i]) && g->roots[i].object != last)
            s->from[count[s->number[g->roots[i].object]]++] = 0;
        last = sxs_heap_strong(&g->roots[i]) ? g->roots[i].object : last;
    }
    for (uint32_t i = 1; i < s->n; i++)
        for (uint32_t k = g->first[s->object[i]]; k < g->first[s->object[i] + 1]; k++)
            s->from[count[s->number[g->to[k]]]++] = i;
}

/* Returns the number with the least semidominator on the way from @v to the root of its tree in the
 * forest, and shortens the way. The links are turned around on the way up, which needs no stack. */
static uint32_t evaluate(struct dominator_search *s, uint32_t v)
{
    uint32_t *ancestor = s->ancestor, *label = s->label;
    uint32_t  x = v, below = NONE;
    if (ancestor[v] == NONE)
        return v;
    while (ancestor[ancestor[x]] != NONE) {
        uint32_t up = ancestor[x];
        ancestor[x] = below;
        below = x;
        x = up;
    }
    uint32_t root = ancestor[x];
    while (below != NONE) {
        uint32_t y = below;
        below = ancestor[y];
        if (s->semi[label[x]] < s->semi[label[y]])
            label[y] = label[x];
        ancestor[y] = root;
        x = y;
    }
    return label[v];
}

static void find_dominators(struct dominator_search *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        s->ancestor[i] = s->bucket[i] = NONE;
        s->label[i] = s->semi[i] = i;
    }
    for (uint32_t w = s->n; w-- > 1;) {
        for (uint32_t k = s->first[w]; k < s->first[w + 1]; k++) {
            uint32_t semi = s->semi[evaluate(s, s->from[k])];
            if (semi < s->semi[w])
                s->semi[w] = semi;
        }
        s->dominator[w] = s->bucket[s->semi[w]];
        s->bucket[s->semi[w]] = w;
        uint32_t parent = s->parent[w];
        s->ancestor[w] = parent;
        for (uint32_t v = s->bucket[parent], next; v != NONE; v = next) {
            uint32_t u = evaluate(s, v);
            next = s->dominator[v];
            s->dominator[v] = s->semi[u] < s->semi[v] ? u : parent;
        }
        s->bucket[parent] = NONE;
    }
    for (uint32_t w = 1; w < s->n; w++)
        if (s->dominator[w] != s->semi[w])
            s->dominator[w] = s->dominator[s->dominator[w]];
}

/* Turns the numbers of the search into those of the objects, and adds up the sizes. */
static void give(const struct dominator_search *s, struct sxs_heap_dominators *out)
{
    const struct sxs_heap_graph *g = s->g;
    for (uint32_t i = 0; i < g->n; i++)
        out->of[i] = SXS_NOT_REACHED;
    if (g->n)
        memcpy(out->retained, g->size, (size_t)g->n * sizeof(*g->size));
    for (uint32_t w = s->n; w-- > 1;) {
        uint32_t object = s->object[w];
        uint32_t dominator = s->dominator[w] ? s->object[s->dominator[w]] : SXS_NO_OBJECT;
        out->of[object] = dominator;
        if (dominator != SXS_NO_OBJECT)
            out->retained[dominator] += out->retained[object];
    }
    out->n = s->n - 1;
}

uint32_t *sxs_heap_preorder(const uint32_t *order, uint32_t n, const uint32_t *above,
                            uint32_t n_objects)
{
    uint32_t *sorted = sxs_must_zeroed(n, sizeof(*sorted)), top = 0;
    uint32_t *below = sxs_must_zeroed(n_objects, sizeof(*below)); /* objects, itself included */
    uint32_t *next = sxs_must_zeroed(n_objects, sizeof(*next));   /* free place in its subtree */
    for (uint32_t i = n; i-- > 0;) {
        uint32_t object = order[i];
        below[object]++;
        if (above[object] != SXS_NO_OBJECT)
            below[above[object]] += below[object];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t  object = order[i];
        uint32_t *place = above[object] == SXS_NO_OBJECT ? &top : &next[above[object]];
        sorted[*place] = object;
        next[object] = *place + 1;
        *place += below[object];
    }
    free(below);
    free(next);
    return sorted;
}

void sxs_heap_dominators(const struct sxs_heap_graph *g, struct sxs_heap_dominators *out)
{
    size_t                  n = (size_t)g->n + 1;
    struct dominator_search s = {.g = g};
    uint32_t              **small[] = {&s.object, &s.parent, &s.ancestor};
    uint32_t              **more[] = {&s.label, &s.semi, &s.bucket, &s.dominator};
    out->of = sxs_must_zeroed(g->n, sizeof(*out->of));
    out->retained = sxs_must_zeroed(g->n, sizeof(*out->retained));
    s.number = sxs_must_zeroed(n, sizeof(*s.number));
    for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
        *small[i] = sxs_must_zeroed(n, sizeof(**small[i]));
    search(&s);
    turn_references(&s);
    free(s.number);
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        *more[i] = sxs_must_zeroed(s.n, sizeof(**more[i]));
    find_dominators(&s);
    give(&s, out);
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        free(*more[i]);
    free(s.first);
    free(s.from);
    out->order = sxs_heap_preorder(s.object + 1, out->n, out->of, g->n);
    for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
        free(*small[i]);
}

void sxs_heap_dominators_free(struct sxs_heap_dominators *d)
{
    free(d->of);
    free(d->retained);
    free(d->order);
    *d = (struct sxs_heap_dominators){0};
}
