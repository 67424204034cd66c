/* SPDX-License-Identifier: MIT */
/* test_heap_graph.c - dominators, retained sizes and paths of random graphs, against slow algorithms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/heap/addresses.h"
#include "cmd/heap/tree.h"
#include "cmd/heap/types.h"

enum { MAX = 64, MAX_TYPES = 12 };

static uint64_t seed;

static uint32_t roll(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed % below);
}

/* A graph in arrays of fixed size. */
struct graph {
    struct sxs_heap_graph g;
    uint64_t              address[MAX], size[MAX];
    uint32_t              type[MAX], first[MAX + 1], to[MAX * 8];
    uint8_t               generation[MAX];
    struct sxs_heap_type  types[MAX_TYPES];
    struct sxs_heap_root  roots[MAX * 2];
};

static void make_random(struct graph *r)
{
    struct sxs_heap_graph *g = &r->g;
    uint32_t               density = 1 + roll(4), edges = 0;
    memset(r, 0, sizeof(*r));
    g->n = 1 + roll(MAX);
    g->n_types = 1 + roll(MAX_TYPES);
    g->address = r->address;
    g->size = r->size;
    g->type = r->type;
    g->first = r->first;
    g->to = r->to;
    g->generation = r->generation;
    g->types = r->types;
    g->roots = r->roots;
    for (uint32_t i = 0; i < g->n; i++) {
        r->address[i] = 0x1000 + i * 64;
        r->size[i] = 1 + roll(100);
        r->type[i] = roll(g->n_types);
        r->first[i] = edges;
        for (uint32_t k = roll(density * 2); k > 0; k--)
            r->to[edges++] = roll(g->n); /* itself and doubles are allowed */
        if (roll(g->n < 8 ? 2 : g->n / 4))
            continue;
        uint8_t kind = (uint8_t)roll(6), more = !roll(3);
        r->roots[g->n_roots++] = (struct sxs_heap_root){
            i, 0, kind,
            (uint8_t)(more || roll(8) ? roll(2) * SXS_HEAP_ROOT_PINNED : SXS_HEAP_ROOT_WEAK)};
        if (more) /* weak ones come last */
            r->roots[g->n_roots++] = (struct sxs_heap_root){
                i, 0, (uint8_t)roll(6),
                (uint8_t)(roll(3) ? roll(2) * SXS_HEAP_ROOT_INTERIOR : SXS_HEAP_ROOT_WEAK)};
    }
    r->first[g->n] = edges;
}

/* Marks what roots lead to without passing @without. */
static void reach_without(const struct sxs_heap_graph *g, uint32_t without, bool *reached)
{
    uint32_t stack[MAX], n = 0;
    memset(reached, 0, MAX * sizeof(*reached));
    for (uint32_t i = 0; i < g->n_roots; i++) {
        uint32_t object = g->roots[i].object;
        if (sxs_heap_strong(&g->roots[i]) && object != without && !reached[object]) {
            reached[object] = true;
            stack[n++] = object;
        }
    }
    while (n) {
        uint32_t object = stack[--n];
        for (uint32_t k = g->first[object]; k < g->first[object + 1]; k++) {
            uint32_t to = g->to[k];
            if (to != without && !reached[to]) {
                reached[to] = true;
                stack[n++] = to;
            }
        }
    }
}

static void check_dominators(const struct sxs_heap_graph *g, const struct sxs_heap_dominators *d)
{
    static bool alive[MAX], without[MAX][MAX];
    uint32_t    n = 0;
    reach_without(g, SXS_NO_OBJECT, alive);
    for (uint32_t i = 0; i < g->n; i++)
        reach_without(g, i, without[i]);
    for (uint32_t b = 0; b < g->n; b++) {
        uint32_t closest = SXS_NO_OBJECT;
        uint64_t retained = 0;
        n += alive[b];
        for (uint32_t a = 0; a < g->n && alive[b]; a++) {
            if (a == b || without[a][b]) /* a does not dominate b */
                continue;
            /* The closest dominator is dominated by all others. */
            if (closest == SXS_NO_OBJECT || !without[closest][a])
                closest = a;
        }
        assert_int_equal(d->of[b], alive[b] ? closest : SXS_NOT_REACHED);
        for (uint32_t c = 0; c < g->n; c++)
            retained += c == b || (alive[b] && alive[c] && !without[b][c]) ? g->size[c] : 0;
        assert_int_equal(d->retained[b], retained);
    }
    assert_int_equal(d->n, n);
}

/* A dominator comes before what it dominates. */
static void check_order(const struct sxs_heap_dominators *d)
{
    bool seen[MAX] = {false};
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t of = d->of[d->order[i]];
        assert_true(of == SXS_NO_OBJECT || seen[of]);
        assert_false(seen[d->order[i]]);
        seen[d->order[i]] = true;
    }
}

static void check_paths(const struct sxs_heap_graph *g, const struct sxs_heap_paths *p)
{
    uint32_t far[MAX], changes = 1;
    for (uint32_t i = 0; i < g->n; i++)
        far[i] = 2 * MAX;
    for (uint32_t i = 0; i < g->n_roots; i++)
        if (sxs_heap_strong(&g->roots[i]))
            far[g->roots[i].object] = 0;
    while (changes) { /* Bellman-Ford */
        changes = 0;
        for (uint32_t i = 0; i < g->n; i++)
            for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++)
                if (far[i] + 1 < far[g->to[k]]) {
                    far[g->to[k]] = far[i] + 1;
                    changes++;
                }
    }
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t steps = 0, at = i;
        if (far[i] == 2 * MAX) {
            assert_int_equal(p->from[i], SXS_NOT_REACHED);
            continue;
        }
        for (; p->from[at] != SXS_NO_OBJECT; at = p->from[at], steps++) {
            bool refers = false;
            for (uint32_t k = g->first[p->from[at]]; k < g->first[p->from[at] + 1]; k++)
                refers |= g->to[k] == at;
            assert_true(refers);
        }
        assert_int_equal(steps, far[i]);
    }
}

/* Marks what roots lead to without the objects of the type @type and the roots of the kind @kind. */
static void reach_without_group(const struct sxs_heap_graph *g, uint32_t type, unsigned kind,
                                bool *reached)
{
    uint32_t stack[MAX], n = 0;
    memset(reached, 0, MAX * sizeof(*reached));
    for (uint32_t i = 0; i < g->n_roots; i++) {
        uint32_t object = g->roots[i].object;
        if (sxs_heap_strong(&g->roots[i]) && sxs_heap_kind(&g->roots[i]) != kind &&
            g->type[object] != type && !reached[object]) {
            reached[object] = true;
            stack[n++] = object;
        }
    }
    while (n) {
        uint32_t object = stack[--n];
        for (uint32_t k = g->first[object]; k < g->first[object + 1]; k++) {
            uint32_t to = g->to[k];
            if (g->type[to] != type && !reached[to]) {
                reached[to] = true;
                stack[n++] = to;
            }
        }
    }
}

/* Returns the bytes that are reached, but not without the group. */
static uint64_t bytes_of_group(const struct sxs_heap_graph *g, uint32_t type, unsigned kind)
{
    static bool alive[MAX], without[MAX];
    uint64_t    bytes = 0;
    reach_without(g, SXS_NO_OBJECT, alive);
    reach_without_group(g, type, kind, without);
    for (uint32_t i = 0; i < g->n; i++)
        bytes += alive[i] && !without[i] ? g->size[i] : 0;
    return bytes;
}

/* The retained bytes of a type, or of roots of a kind: what would be garbage without all of them. */
static void check_types(const struct sxs_heap_graph *g, const struct sxs_heap_dominators *d,
                        const struct sxs_heap_paths *p)
{
    uint64_t             by_kind[SXS_HEAP_N_KINDS] = {0};
    struct sxs_heap_sum *sums = sxs_heap_sums(g, d, p, by_kind);
    for (uint32_t type = 0; type < g->n_types; type++) {
        uint64_t retained = bytes_of_group(g, type, SXS_HEAP_N_KINDS), objects = 0, bytes = 0;
        for (uint32_t i = 0; i < g->n; i++) {
            bool inside = g->type[i] == type;
            objects += inside;
            bytes += inside ? g->size[i] : 0;
            retained += inside && d->of[i] == SXS_NOT_REACHED ? g->size[i] : 0;
        }
        assert_int_equal(sums[type].objects, objects);
        assert_int_equal(sums[type].bytes, bytes);
        assert_int_equal(sums[type].retained, retained);
    }
    for (unsigned kind = 0; kind < SXS_HEAP_N_KINDS; kind++)
        assert_int_equal(by_kind[kind], bytes_of_group(g, UINT32_MAX, kind));
    free(sums);
}

/* All objects are in the tree of dominators once, those that are reached in that of paths, too. */
static void check_trees(const struct sxs_heap_graph *g, const struct sxs_heap_dominators *d,
                        const struct sxs_heap_paths *p)
{
    struct sxs_heap_tree kept, reached;
    uint64_t             bytes = 0, alive = 0, own = 0;
    sxs_heap_tree_of_dominators(g, d, &kept);
    sxs_heap_tree_of_paths(g, p, &reached);
    for (uint32_t i = 0; i < g->n; i++) {
        bytes += g->size[i];
        alive += p->from[i] != SXS_NOT_REACHED ? g->size[i] : 0;
    }
    for (uint32_t i = 0; i < kept.n; i++) {
        own += kept.nodes[i].bytes;
        assert_true(i == 0 || kept.nodes[i].parent < i);
    }
    assert_int_equal(kept.nodes[0].all_bytes, bytes);
    assert_int_equal(own, bytes);
    assert_int_equal(kept.nodes[0].all_n, g->n);
    assert_int_equal(reached.nodes[0].all_bytes, alive);
    uint32_t *order = sxs_heap_tree_sorted(&kept);
    for (uint32_t i = 1; i < kept.n; i++) { /* a preorder: the parent is the last one less deep */
        uint32_t back = i;
        while (kept.nodes[order[back]].depth >= kept.nodes[order[i]].depth)
            back--;
        assert_int_equal(order[back], kept.nodes[order[i]].parent);
    }
    free(order);
    sxs_heap_tree_free(&kept);
    sxs_heap_tree_free(&reached);
}

static void random_graphs_agree_with_slow_algorithms(void **state)
{
    static struct graph r;
    (void)state;
    for (uint64_t round = 1; round <= 6000; round++) {
        struct sxs_heap_dominators d;
        struct sxs_heap_paths      p;
        seed = round * 0x9e3779b97f4a7c15u;
        make_random(&r);
        sxs_heap_dominators(&r.g, &d);
        sxs_heap_paths(&r.g, &p);
        check_dominators(&r.g, &d);
        check_order(&d);
        check_paths(&r.g, &p);
        check_types(&r.g, &d, &p);
        check_trees(&r.g, &d, &p);
        sxs_heap_dominators_free(&d);
        sxs_heap_paths_free(&p);
    }
}

static void an_empty_graph_has_no_dominators(void **state)
{
    uint32_t                   first[1] = {0};
    struct sxs_heap_graph      g = {.first = first};
    struct sxs_heap_dominators d;
    struct sxs_heap_tree       t;
    (void)state;
    sxs_heap_dominators(&g, &d);
    assert_int_equal(d.n, 0);
    sxs_heap_tree_of_dominators(&g, &d, &t);
    assert_int_equal(t.n, 1);
    sxs_heap_tree_free(&t);
    sxs_heap_dominators_free(&d);
}

static void addresses_are_sorted_joined_and_found(void **state)
{
    enum { N = 5000 };
    static uint64_t  address[N], sorted[N];
    static uint32_t  number[N];
    struct sxs_pages pages;
    (void)state;
    seed = 42;
    for (int i = 0; i < N; i++) {
        address[i] = (i % 2 ? 0x7f0000000000 : 0x1000) + (uint64_t)roll(1u << (i % 20 + 3)) * 8;
        number[i] = 1;
        sorted[i] = address[i];
    }
    size_t n = sxs_addresses_sort(sorted, number, N);
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || sorted[i - 1] < sorted[i]);
        sum += number[i];
    }
    assert_int_equal(sum, N);
    sxs_pages_build(&pages, sorted, (uint32_t)n);
    for (int i = 0; i < N; i++) {
        uint32_t at = sxs_pages_find(&pages, address[i]);
        assert_true(at < n && sorted[at] == address[i]);
        assert_int_equal(sxs_pages_find(&pages, address[i] + 4), UINT32_MAX);
    }
    assert_int_equal(sxs_pages_find(&pages, 0), UINT32_MAX);
    assert_int_equal(sxs_pages_find(&pages, UINT64_MAX), UINT32_MAX);
    sxs_pages_free(&pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_agree_with_slow_algorithms),
        cmocka_unit_test(an_empty_graph_has_no_dominators),
        cmocka_unit_test(addresses_are_sorted_joined_and_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
