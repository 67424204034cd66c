/* SPDX-License-Identifier: MIT */
/*
 * Format heapsnapshot: what the memory panel of Chrome's DevTools loads.
 *
 * A node has 7 numbers, a reference 3; all references are in the order of the nodes that they are
 * of. Node 0 is the root. Below it is a node for each runtime, below these one for each kind of
 * roots, and below these the names of roots or the objects. DevTools computes the sizes that are
 * kept alive itself, from these references.
 */
#include "cmd/heap/heap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/heap/tree.h"
#include "cmd/output/must.h"
#include "cmd/report/format.h"

/* The types of nodes and references in the file, by their places in its "meta". DevTools would put
 * all nodes of its types "array" and "string" into one class each, so these are not used. */
enum { NODE_OBJECT, NODE_SYNTHETIC };
enum { EDGE_ELEMENT };
enum { NODE_FIELDS = 7 };

static const char meta[] =
    "\"meta\":{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\","
    "\"trace_node_id\",\"detachedness\"],\"node_types\":[[\"object\","
    "\"synthetic\"],\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],"
    "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\"edge_types\":[[\"element\"],"
    "\"string_or_number\",\"node\"],\"trace_function_info_fields\":[],\"trace_node_fields\":[],"
    "\"sample_fields\":[],\"location_fields\":[]}";

/* A node above the objects of a runtime: a kind of roots, or the name of roots. */
struct root_group {
    uint32_t text;     /* of names: number of the string; of kinds: kind * 16 + flags */
    uint32_t node;     /* its place among all nodes */
    uint32_t first, n; /* its roots in `sorted`, or, of a kind with names, its groups */
    bool     of_names; /* its children are groups */
};

/* The roots of one runtime. Kinds come first, names after them. */
struct groups {
    struct sxs_heap_root *sorted; /* strong ones by kind, then name, then object; no doubles */
    uint32_t              n_sorted;
    struct root_group    *all;
    size_t                n, cap, n_kinds;
    uint32_t              first_object; /* place of object 0 among all nodes */
    struct sxs_heap_paths paths;        /* which objects are reached */
};

struct heapsnapshot_writer {
    FILE                           *to;
    const struct sxs_heap_snapshot *s;
    struct groups                  *of; /* by graph */
    const char                     *comma;
};

static uint32_t kind_of(const struct sxs_heap_root *r)
{
    return r->kind * 16u + (r->flags & (unsigned)(SXS_HEAP_ROOT_PINNED | SXS_HEAP_ROOT_REFCOUNTED));
}

static int by_kind(const void *a, const void *b)
{
    const struct sxs_heap_root *x = a, *y = b;
    if (kind_of(x) != kind_of(y))
        return kind_of(x) < kind_of(y) ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

static void add_group(struct groups *g, const struct root_group *group)
{
    SXS_GROW(g->all, g->n, g->cap);
    g->all[g->n++] = *group;
}

/* Groups the roots from @from to @to, which are of one kind. */
static void group_kind(struct groups *g, uint32_t from, uint32_t to, struct root_group **names,
                       size_t *n_names, size_t *cap_names)
{
    const struct sxs_heap_root *r = g->sorted;
    struct root_group           kind = {.text = kind_of(&r[from]), .first = from, .n = to - from};
    if (r[to - 1].name) { /* roots without a name have number 0, and come first */
        kind.of_names = true;
        kind.first = (uint32_t)*n_names;
        for (uint32_t i = from; i < to; i++) {
            if (i == from || r[i].name != r[i - 1].name) {
                SXS_GROW(*names, *n_names, *cap_names);
                (*names)[(*n_names)++] = (struct root_group){.text = r[i].name, .first = i};
            }
            (*names)[*n_names - 1].n++;
        }
        kind.n = (uint32_t)*n_names - kind.first;
    }
    add_group(g, &kind);
}

static void group_roots(const struct sxs_heap_graph *graph, struct groups *g)
{
    struct root_group *names = NULL;
    size_t             n_names = 0, cap_names = 0;
    uint32_t           kept = 0;
    g->sorted = sxs_must_zeroed(graph->n_roots, sizeof(*g->sorted));
    for (uint32_t i = 0; i < graph->n_roots; i++)
        if (sxs_heap_strong(&graph->roots[i]))
            g->sorted[g->n_sorted++] = graph->roots[i];
    if (g->n_sorted)
        qsort(g->sorted, g->n_sorted, sizeof(*g->sorted), by_kind);
    for (uint32_t i = 0; i < g->n_sorted; i++)
        if (i == 0 || by_kind(&g->sorted[i], &g->sorted[kept - 1]) != 0)
            g->sorted[kept++] = g->sorted[i];
    g->n_sorted = kept;
    for (uint32_t from = 0, to; from < kept; from = to) {
        for (to = from; to < kept && kind_of(&g->sorted[to]) == kind_of(&g->sorted[from]); to++)
            ;
        group_kind(g, from, to, &names, &n_names, &cap_names);
    }
    g->n_kinds = g->n;
    for (size_t i = 0; i < n_names; i++)
        add_group(g, &names[i]);
    free(names);
}

/* Returns whether a reference is written. DevTools takes garbage for roots, so references of
 * garbage to what is alive would make the sizes wrong that objects keep alive. */
static bool is_written(const struct groups *g, uint32_t from, uint32_t to)
{
    return g->paths.from[from] != SXS_NOT_REACHED || g->paths.from[to] == SXS_NOT_REACHED;
}

static uint32_t references_of_object(const struct sxs_heap_graph *graph, const struct groups *g,
                                     uint32_t object)
{
    uint32_t n = 0;
    for (uint32_t k = graph->first[object]; k < graph->first[object + 1]; k++)
        n += is_written(g, object, graph->to[k]);
    return n;
}

/* Returns the number of references of all nodes of a runtime. */
static uint64_t references_of(const struct sxs_heap_graph *graph, const struct groups *g)
{
    uint64_t sum = g->n_kinds;
    for (uint32_t i = 0; i < graph->n; i++)
        sum += references_of_object(graph, g, i);
    for (size_t i = 0; i < g->n; i++)
        sum += g->all[i].n;
    return sum;
}

static void write_node(struct heapsnapshot_writer *w, unsigned type, uint64_t name, uint64_t id,
                       uint64_t size, uint64_t references)
{
    fprintf(w->to, "%s%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",0,0\n", w->comma, type,
            name, id, size, references);
    w->comma = ",";
}

static void write_edge(struct heapsnapshot_writer *w, unsigned type, uint64_t name, uint64_t node)
{
    fprintf(w->to, "%s%u,%" PRIu64 ",%" PRIu64 "\n", w->comma, type, name, node * NODE_FIELDS);
    w->comma = ",";
}

/* Texts of the file: those of the snapshot, then those of kinds of roots, then others. */
enum { KIND_TEXTS = 256, TEXT_ROOT = KIND_TEXTS, TEXT_FIRST_RUNTIME };

/* DevTools shows the IDs, which must be odd for objects; it needs no more than that they differ. */
static void write_nodes(struct heapsnapshot_writer *w)
{
    uint64_t id = 1, texts = w->s->strings.n;
    w->comma = "";
    write_node(w, NODE_SYNTHETIC, texts + TEXT_ROOT, id, 0, w->s->n);
    for (size_t r = 0; r < w->s->n; r++)
        write_node(w, NODE_SYNTHETIC, texts + TEXT_FIRST_RUNTIME + r, id += 2, 0, w->of[r].n_kinds);
    for (size_t r = 0; r < w->s->n; r++) {
        const struct sxs_heap_graph *g = &w->s->graphs[r];
        for (size_t i = 0; i < w->of[r].n; i++) {
            const struct root_group *group = &w->of[r].all[i];
            write_node(w, NODE_SYNTHETIC, i < w->of[r].n_kinds ? texts + group->text : group->text,
                       id += 2, 0, group->n);
        }
        for (uint32_t i = 0; i < g->n; i++)
            write_node(w, NODE_OBJECT, g->types[g->type[i]].name, id += 2, g->size[i],
                       references_of_object(g, &w->of[r], i));
    }
}

static void write_edges(struct heapsnapshot_writer *w)
{
    w->comma = "";
    for (size_t r = 0; r < w->s->n; r++)
        write_edge(w, EDGE_ELEMENT, r + 1, 1 + r);
    for (size_t r = 0; r < w->s->n; r++)
        for (size_t i = 0; i < w->of[r].n_kinds; i++)
            write_edge(w, EDGE_ELEMENT, i + 1, w->of[r].all[i].node);
    for (size_t r = 0; r < w->s->n; r++) {
        const struct sxs_heap_graph *g = &w->s->graphs[r];
        const struct groups         *of = &w->of[r];
        for (size_t i = 0; i < of->n; i++) {
            const struct root_group *group = &of->all[i];
            for (uint32_t k = 0; k < group->n; k++)
                write_edge(w, EDGE_ELEMENT, k + 1,
                           group->of_names
                               ? of->all[of->n_kinds + group->first + k].node
                               : of->first_object + of->sorted[group->first + k].object);
        }
        for (uint32_t i = 0; i < g->n; i++)
            for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++)
                if (is_written(of, i, g->to[k]))
                    write_edge(w, EDGE_ELEMENT, k - g->first[i], of->first_object + g->to[k]);
    }
}

static void write_strings(struct heapsnapshot_writer *w)
{
    const struct sxs_strings *strings = &w->s->strings;
    char                      text[256];
    for (size_t i = 0; i < strings->n; i++) {
        fputs(i ? ",\n" : "", w->to);
        sxs_json_string(w->to, sxs_strings_text(strings, (uint32_t)i));
    }
    for (unsigned i = 0; i < KIND_TEXTS; i++) {
        snprintf(text, sizeof(text), "(%s)", sxs_heap_root_text((uint8_t)(i / 16), i % 16));
        fputs(",\n", w->to);
        sxs_json_string(w->to, text);
    }
    fputs(",\n\"(roots)\"", w->to);
    for (size_t r = 0; r < w->s->n; r++) {
        snprintf(text, sizeof(text), "(runtime %u: .NET %.200s)", w->s->graphs[r].runtime,
                 sxs_strings_text(strings, w->s->graphs[r].version));
        fputs(",\n", w->to);
        sxs_json_string(w->to, text);
    }
}

void sxs_heap_write_heapsnapshot(FILE *to, const struct sxs_heap_snapshot *s)
{
    struct heapsnapshot_writer w = {to, s, sxs_must_zeroed(s->n, sizeof(*w.of)), ""};
    uint64_t                   nodes = 1 + s->n, references = s->n;
    for (size_t r = 0; r < s->n; r++) {
        struct groups *of = &w.of[r];
        group_roots(&s->graphs[r], of);
        sxs_heap_paths(&s->graphs[r], &of->paths);
        for (size_t i = 0; i < of->n; i++)
            of->all[i].node = (uint32_t)nodes++;
        of->first_object = (uint32_t)nodes;
        nodes += s->graphs[r].n;
        references += references_of(&s->graphs[r], of);
    }
    fprintf(to,
            "{\"snapshot\":{%s,\"node_count\":%" PRIu64 ",\"edge_count\":%" PRIu64
            ",\"trace_function_count\":0,\"extra_native_bytes\":0},\n\"nodes\":[",
            meta, nodes, references);
    write_nodes(&w);
    fputs("],\n\"edges\":[", to);
    write_edges(&w);
    fputs(
        "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n"
        "\"strings\":[",
        to);
    write_strings(&w);
    fputs("]}\n", to);
    for (size_t r = 0; r < s->n; r++) {
        sxs_heap_paths_free(&w.of[r].paths);
        free(w.of[r].sorted);
        free(w.of[r].all);
    }
    free(w.of);
}
