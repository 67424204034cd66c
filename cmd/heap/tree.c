/* SPDX-License-Identifier: MIT */
#include "cmd/heap/tree.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"

enum {
    MAX_DEPTH = 64,       /* what is deeper is counted in the last level */
    MAX_NODES = 1 << 20,  /* then objects are counted in the nodes of their parents */
    LEVELS_OF_A_LIST = 4, /* how far up a node of the same type is searched for */
};

static const struct sxs_heap_field none = {.index = SXS_HEAP_NO_INDEX};

static bool is_same_field(struct sxs_heap_field a, struct sxs_heap_field b)
{
    return a.kind == b.kind && a.name == b.name;
}

static uint32_t child_in(struct sxs_heap_tree *t, uint32_t parent, uint8_t what, uint32_t number,
                         struct sxs_heap_field field)
{
    uint64_t hash =
        sxs_table_hash_number(((uint64_t)parent << 32 | number) + what * UINT64_C(0x51ed27) +
                              ((uint64_t)field.kind << 32 | field.name) * UINT64_C(0x9e3779b1));
    uint32_t high = (uint32_t)(hash >> 32), found;
    size_t   at = high;
    if (sxs_index_reserve(&t->index) != 0)
        sxs_must(NULL);
    for (; (found = sxs_index_next(&t->index, high, &at)) != 0; at++) {
        const struct sxs_heap_node *n = &t->nodes[found - 1];
        if (n->parent == parent && n->number == number && n->what == what && found != 1 &&
            is_same_field(n->field, field)) {
            if (n->field.index != field.index)
                t->nodes[found - 1].field.index = SXS_HEAP_NO_INDEX;
            return found - 1;
        }
    }
    if (t->n >= MAX_NODES || t->nodes[parent].depth >= MAX_DEPTH)
        return parent;
    SXS_GROW(t->nodes, t->n, t->cap);
    t->nodes[t->n] = (struct sxs_heap_node){.what = what,
                                            .number = number,
                                            .parent = parent,
                                            .field = field,
                                            .next = none,
                                            .depth = (uint16_t)(t->nodes[parent].depth + 1)};
    sxs_index_put(&t->index, at, high, t->n);
    return t->n++;
}

static uint32_t child(struct sxs_heap_tree *t, uint32_t parent, uint8_t what, uint32_t number)
{
    return child_in(t, parent, what, number, none);
}

/* Notes that objects of the node @n have others of it in @field, of the type @in. */
static void join_list(struct sxs_heap_node *n, struct sxs_heap_field field, uint32_t in)
{
    field.index = SXS_HEAP_NO_INDEX;
    if (!n->list) {
        n->next = field;
        n->next_in = in;
    } else if (!is_same_field(n->next, field) || n->next_in != in) {
        n->next = none;
    }
    n->list = true;
}

/* Returns the node for objects of @type below @parent: a node above of the same type if one is
 * near. */
static uint32_t type_child(struct sxs_heap_tree *t, uint32_t parent, uint32_t type,
                           struct sxs_heap_field field)
{
    uint32_t up = parent;
    for (int i = 0; i < LEVELS_OF_A_LIST && t->nodes[up].what == SXS_HEAP_TYPE; i++) {
        if (t->nodes[up].number == type) {
            join_list(&t->nodes[up], field, t->nodes[parent].number);
            return up;
        }
        up = t->nodes[up].parent;
    }
    return child_in(t, parent, SXS_HEAP_TYPE, type, field);
}

/* Returns the node of the best root of an object. */
static uint32_t root_node(struct sxs_heap_tree *t, const struct sxs_heap_graph *g, uint32_t object)
{
    uint32_t index = sxs_heap_root_of(g, object);
    if (index == UINT32_MAX)
        return child(t, 0, SXS_HEAP_SEVERAL, 0);
    const struct sxs_heap_root *r = &g->roots[index];
    unsigned                    flags = r->flags & ~(unsigned)SXS_HEAP_ROOT_INTERIOR;
    uint32_t                    kind = child(t, 0, SXS_HEAP_KIND, r->kind * 16u + flags % 16);
    return r->name ? child(t, kind, SXS_HEAP_ROOT_NAME, r->name) : kind;
}

static void begin(struct sxs_heap_tree *t)
{
    *t = (struct sxs_heap_tree){0};
    SXS_GROW(t->nodes, t->n, t->cap);
    t->nodes[0] = (struct sxs_heap_node){.what = SXS_HEAP_TOP, .field = none, .next = none};
    t->n = 1;
}

static void count(struct sxs_heap_tree *t, const struct sxs_heap_graph *g, uint32_t node,
                  uint32_t object)
{
    t->nodes[node].n++;
    t->nodes[node].bytes += g->size[object];
}

static void sum_up(struct sxs_heap_tree *t)
{
    for (uint32_t i = t->n; i-- > 0;) {
        struct sxs_heap_node *n = &t->nodes[i];
        n->all_n += n->n;
        n->all_bytes += n->bytes;
        if (i) {
            t->nodes[n->parent].all_n += n->all_n;
            t->nodes[n->parent].all_bytes += n->all_bytes;
        }
    }
}

/* Adds @n objects in the @order in which those that keep others come first. @kept_by: by object.
 * @by: the reference, by object; NULL: those that keep others need not refer to them. */
static void add_all(struct sxs_heap_tree *t, const struct sxs_heap_graph *g, const uint32_t *order,
                    uint32_t n, const uint32_t *kept_by, const uint32_t *by)
{
    uint32_t *node = sxs_must_zeroed(g->n, sizeof(*node));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t object = order[i], keeper = kept_by[object];
        uint32_t parent = keeper == SXS_NO_OBJECT ? root_node(t, g, object) : node[keeper];
        struct sxs_heap_field field =
            by && keeper != SXS_NO_OBJECT ? sxs_heap_field_of(g, keeper, by[object]) : none;
        node[object] = type_child(t, parent, g->type[object], field);
        count(t, g, node[object], object);
        if (g->n_dependent && keeper != SXS_NO_OBJECT && node[object] != parent &&
            sxs_heap_is_dependent(g, keeper, object))
            t->nodes[node[object]].dependent = true;
    }
    free(node);
}

void sxs_heap_tree_of_dominators(const struct sxs_heap_graph      *g,
                                 const struct sxs_heap_dominators *d, struct sxs_heap_tree *out)
{
    begin(out);
    add_all(out, g, d->order, d->n, d->of, NULL);
    if (d->n < g->n) {
        uint32_t top = child(out, 0, SXS_HEAP_NO_ROOT, 0);
        for (uint32_t i = 0; i < g->n; i++)
            if (d->of[i] == SXS_NOT_REACHED)
                count(out, g, type_child(out, top, g->type[i], none), i);
    }
    sum_up(out);
}

void sxs_heap_tree_of_paths(const struct sxs_heap_graph *g, const struct sxs_heap_paths *p,
                            struct sxs_heap_tree *out)
{
    begin(out);
    add_all(out, g, p->order, p->n, p->from, p->by);
    sum_up(out);
}

void sxs_heap_tree_free(struct sxs_heap_tree *t)
{
    free(t->nodes);
    sxs_index_free(&t->index);
    *t = (struct sxs_heap_tree){0};
}

const char *sxs_heap_node_text(const struct sxs_heap_snapshot *s, const struct sxs_heap_graph *g,
                               const struct sxs_heap_node *node)
{
    switch (node->what) {
    case SXS_HEAP_TOP: return "all objects";
    case SXS_HEAP_KIND:
        return sxs_heap_root_text((uint8_t)(node->number / 16), (uint8_t)(node->number % 16));
    case SXS_HEAP_ROOT_NAME: return sxs_strings_text(&s->strings, node->number);
    case SXS_HEAP_SEVERAL: return "several roots";
    case SXS_HEAP_NO_ROOT: return "no root";
    default: return sxs_heap_type_name(s, g, node->number);
    }
}

const char *sxs_heap_list_text(const struct sxs_heap_snapshot *s, const struct sxs_heap_graph *g,
                               const struct sxs_heap_node *node, char *buf, size_t size)
{
    char field[512];
    sxs_heap_field_text(&s->strings, node->next, field, sizeof(field));
    if (node->next_in == node->number || !field[0])
        snprintf(buf, size, "%s", field[0] ? field + 1 : "");
    else
        snprintf(buf, size, "%s%s", sxs_heap_type_name(s, g, node->next_in), field);
    return buf;
}

/* ---- order ---- */

struct ranked_node {
    const struct sxs_heap_node *node;
    uint32_t                    index;
};

static int by_parent_and_bytes(const void *a, const void *b)
{
    const struct ranked_node *x = a, *y = b;
    if (x->node->parent != y->node->parent)
        return x->node->parent < y->node->parent ? -1 : 1;
    if (x->node->all_bytes != y->node->all_bytes)
        return x->node->all_bytes < y->node->all_bytes ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

uint32_t *sxs_heap_tree_sorted(const struct sxs_heap_tree *t)
{
    struct ranked_node *all = sxs_must_zeroed(t->n, sizeof(*all));
    uint32_t           *below = sxs_must_zeroed(t->n, sizeof(*below)); /* nodes, itself included */
    uint32_t *place = sxs_must_zeroed(t->n, sizeof(*place)); /* next free one in its subtree */
    uint32_t *order = sxs_must_zeroed(t->n, sizeof(*order));
    for (uint32_t i = 0; i < t->n; i++)
        all[i] = (struct ranked_node){&t->nodes[i], i};
    for (uint32_t i = t->n; i-- > 0;) {
        below[i]++;
        if (i)
            below[t->nodes[i].parent] += below[i];
    }
    qsort(all + 1, t->n - 1, sizeof(*all), by_parent_and_bytes);
    place[0] = 1; /* node 0 itself is at 0 */
    for (uint32_t k = 1; k < t->n; k++) {
        uint32_t i = all[k].index, *next = &place[all[k].node->parent];
        order[*next] = i;
        place[i] = *next + 1;
        *next += below[i];
    }
    free(all);
    free(below);
    free(place);
    return order;
}
