/* SPDX-License-Identifier: MIT */
/* Format json of a heap snapshot: everything, one object per row of a table. */
#include "cmd/heap/heap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text/wildcard.h"
#include "cmd/output/json_document.h"
#include "cmd/report/format.h"

struct json_writer {
    FILE                         *to;
    const struct sxs_heap_report *r;
    const char                   *comma; /* before the next row */
};

static void begin_list(struct json_writer *w, const char *name)
{
    fprintf(w->to, ",\n\"%s\": [", name);
    w->comma = "\n";
}

/* Begins a row: with its runtime, and a text that is named @key. */
static void begin_row(struct json_writer *w, const struct sxs_heap_analysis *a, const char *key,
                      const char *text)
{
    fprintf(w->to, "%s{\"runtime\": %u, \"%s\": ", w->comma, a->g->runtime, key);
    sxs_json_string(w->to, text);
    w->comma = ",\n";
}

static void write_runtime(struct json_writer *w, const struct sxs_heap_analysis *a)
{
    const struct sxs_heap_graph *g = a->g;
    const char                  *comma = "";
    begin_row(w, a, "version", sxs_strings_text(&w->r->s->strings, g->version));
    fprintf(w->to,
            ", \"objects\": %u, \"bytes\": %" PRIu64 ", \"reached_objects\": %u, "
            "\"reached_bytes\": %" PRIu64 ", \"references\": %u, \"collected\": %s, "
            "\"complete\": %s, \"pause_ns\": %" PRIu64 ", \"suspension_ns\": %" PRIu64
            ", \"lacking\": [",
            g->n, a->bytes, a->paths.n, a->reached_bytes, g->first[g->n],
            g->how == SXS_HEAP_COLLECTED ? "true" : "false", g->ended ? "true" : "false",
            g->end.pause_ns, g->end.suspend_ns);
    for (uint64_t bit = 1; bit && bit <= g->end.lacking; bit <<= 1) {
        const char *text = g->end.lacking & bit ? sxs_heap_lacking_text(bit) : NULL;
        if (text)
            fprintf(w->to, "%s\"%s\"", comma, text);
        comma = text ? ", " : comma;
    }
    fputs("]}", w->to);
}

static void write_type(struct json_writer *w, const struct sxs_heap_analysis *a, uint32_t type)
{
    const struct sxs_heap_sum *s = &a->sums[type];
    begin_row(w, a, "type", sxs_heap_type_name(w->r->s, a->g, type));
    fprintf(w->to,
            ", \"objects\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"retained_bytes\": %" PRIu64,
            s->objects, s->bytes, s->retained);
    fprintf(w->to,
            ", \"pinned_objects\": %" PRIu64 ", \"not_reached_objects\": %" PRIu64
            ", \"finalizable\": %s",
            s->pinned, s->not_reached,
            a->g->types[type].flags & SXS_HEAP_TYPE_FINALIZABLE ? "true" : "false");
    fputs(", \"generations\": [", w->to);
    for (unsigned i = 0; i < SXS_N_GENERATIONS; i++)
        fprintf(w->to, "%s%" PRIu64, i ? ", " : "", s->by_generation[i]);
    fputs("], \"module\": ", w->to);
    sxs_json_string(w->to, sxs_strings_text(&w->r->s->strings, a->g->types[type].module));
    fputs("}", w->to);
}

static void write_types(struct json_writer *w, const struct sxs_heap_analysis *a)
{
    for (uint32_t i = 0; i < a->g->n_types; i++)
        if (a->sums[a->by_bytes[i]].objects)
            write_type(w, a, a->by_bytes[i]);
}

static void write_roots(struct json_writer *w, const struct sxs_heap_analysis *a)
{
    for (size_t i = 0; i < a->n_roots; i++) {
        const struct sxs_heap_root_sum *s = &a->roots[i];
        begin_row(w, a, "kind", sxs_heap_root_text(s->kind, s->flags));
        fprintf(w->to,
                ", \"root_count\": %" PRIu64 ", \"objects\": %" PRIu64 ", \"bytes\": %" PRIu64
                ", \"retained_bytes\": %" PRIu64 "}",
                s->roots, s->objects, s->bytes, s->kept);
    }
}

static const char *what_text(const struct sxs_heap_node *n)
{
    static const char *const text[] = {"all", "roots", "root", "several roots", "no root", "type"};
    return text[n->what];
}

/* The nodes of the tree of dominators. "parent" is the index of another row of this runtime. */
static void write_kept(struct json_writer *w, const struct sxs_heap_analysis *a)
{
    const struct sxs_heap_tree *t = &a->kept;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct sxs_heap_node *n = &t->nodes[i];
        begin_row(w, a, "text", sxs_heap_node_text(w->r->s, a->g, n));
        fprintf(w->to,
                ", \"what\": \"%s\", \"node\": %u, \"parent\": %u, \"objects\": %" PRIu64
                ", \"bytes\": %" PRIu64 ", \"kept_objects\": %" PRIu64 ", \"kept_bytes\": %" PRIu64
                "}",
                what_text(n), i, n->parent, n->n, n->bytes, n->all_n, n->all_bytes);
    }
}

/* Writes for each step of a path the field that has the object of the step before, or null. */
static void write_fields(struct json_writer *w, const struct sxs_heap_analysis *a,
                         const struct sxs_heap_way *way)
{
    const char *before = "";
    char        text[512] = "";
    for (uint32_t i = way->node; i; i = a->reached.nodes[i].parent) {
        fputs(before, w->to);
        if (text[0])
            sxs_json_string(w->to, text + 1); /* after the "." or the space */
        else
            fputs("null", w->to);
        sxs_heap_field_text(&w->r->s->strings, a->reached.nodes[i].field, text, sizeof(text));
        before = ", ";
    }
}

static void write_way(struct json_writer *w, const struct sxs_heap_analysis *a, uint32_t type,
                      const struct sxs_heap_way *way)
{
    begin_row(w, a, "type", sxs_heap_type_name(w->r->s, a->g, type));
    fprintf(w->to, ", \"objects\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"steps\": [", way->n,
            way->bytes);
    for (uint32_t i = way->node; i; i = a->reached.nodes[i].parent) {
        fputs(i == way->node ? "" : ", ", w->to);
        sxs_json_string(w->to, sxs_heap_node_text(w->r->s, a->g, &a->reached.nodes[i]));
    }
    fputs("], \"fields\": [", w->to);
    write_fields(w, a, way);
    fputs("]}", w->to);
}

/* How the types that match --type are reached: from the object to the root. */
static void write_ways(struct json_writer *w, const struct sxs_heap_analysis *a)
{
    for (uint32_t i = 0; i < a->g->n_types; i++) {
        uint32_t type = a->by_bytes[i];
        size_t   n;
        if (!sxs_wildcard_matches(w->r->type, sxs_heap_type_name(w->r->s, a->g, type)))
            continue;
        struct sxs_heap_way *ways = sxs_heap_ways(a, type, &n);
        for (size_t k = 0; k < n; k++)
            write_way(w, a, type, &ways[k]);
        free(ways);
    }
}

static void write_list(struct json_writer *w, const char *name,
                       void (*write)(struct json_writer *, const struct sxs_heap_analysis *))
{
    begin_list(w, name);
    for (size_t i = 0; i < w->r->s->n; i++)
        write(w, &w->r->all[i]);
    fputs("]", w->to);
}

void sxs_heap_write_missing_json(FILE *to, const char *before, const struct sxs_missing *m,
                                 const char *after)
{
    json_t *list = m->n ? sxs_missing_json(m) : NULL;
    if (!list)
        return;
    fputs(before, to);
    json_dumpf(list, to, JSON_ENSURE_ASCII);
    fputs(after, to);
    json_decref(list);
}

void sxs_heap_write_json(FILE *to, const struct sxs_heap_report *r)
{
    const struct sxs_heap_head *h = &r->s->head;
    struct json_writer               w = {to, r, ""};
    sxs_json_document_begin(to, SXS_JSON_HEAP);
    fprintf(to,
            ",\n\"snapshot\": {\"pid\": %u, \"number\": %u, \"started_realtime_ns\": %" PRIu64
            ", \"complete\": %s, \"asked_for_by\": \"%s\"}",
            h->pid, h->number, h->started_realtime_ns, h->ended_ns && !h->error ? "true" : "false",
            sxs_heap_trigger_text(h->trigger));
    if (r->missing)
        sxs_heap_write_missing_json(to, ",\n\"missing\": ", r->missing, "");
    write_list(&w, "runtimes", write_runtime);
    write_list(&w, "heap", write_types);
    write_list(&w, "roots", write_roots);
    if (r->type)
        write_list(&w, "paths", write_ways);
    else
        write_list(&w, "dominators", write_kept);
    fputs("\n}\n", to);
}
