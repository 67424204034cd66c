/* SPDX-License-Identifier: MIT */
/*
 * Format html: one self-contained page (cmd/page/heap.html with its script and style, embedded
 * at build time) with the snapshot as JSON. Of the two trees, only nodes that can be seen
 * or found are written: the page stays small, whatever the number of objects.
 */
#include "cmd/heap/counts.h"
#include "cmd/heap/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"
#include "cmd/report/format.h"
#include "sxs_heap_page.h"

enum { MAX_TREE = 20000, WAYS_OF_A_TYPE = 20 };

/* Strings of root names get new numbers, so that only these are written. */
struct html_writer {
    FILE                         *to;
    const struct sxs_heap_report *r;
    uint32_t                     *name;  /* by string: its number in the page + 1 */
    uint32_t                     *names; /* strings in the order of these numbers */
    uint32_t                      n_names;
};

static uint32_t name_number(struct html_writer *w, uint32_t string)
{
    if (!w->name[string]) {
        w->names[w->n_names] = string;
        w->name[string] = ++w->n_names;
    }
    return w->name[string] - 1;
}

/* ---- trees ---- */

static void show_with_parents(const struct sxs_heap_tree *t, bool *shown, uint32_t node)
{
    for (; !shown[node]; node = t->nodes[node].parent)
        shown[node] = true;
}

static int falling(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* Shows the largest nodes. A node has at least the bytes of those below it, so parents are, too. */
static void show_largest(const struct sxs_heap_tree *t, bool *shown)
{
    uint64_t *all = sxs_must_zeroed(t->n, sizeof(*all));
    for (uint32_t i = 0; i < t->n; i++)
        all[i] = t->nodes[i].all_bytes;
    qsort(all, t->n, sizeof(*all), falling);
    uint64_t least = t->n > MAX_TREE ? all[MAX_TREE] + 1 : 0;
    for (uint32_t i = 0; i < t->n; i++)
        shown[i] |= i == 0 || t->nodes[i].all_bytes >= least;
    free(all);
}

/* Shows the largest paths of each type. */
static void show_ways(const struct sxs_heap_tree *t, const uint32_t *order, bool *shown,
                      uint32_t n_types)
{
    uint32_t *n = sxs_must_zeroed(n_types, sizeof(*n));
    shown[0] = true;
    for (uint32_t i = 0; i < t->n; i++) { /* in this order large nodes tend to come first */
        const struct sxs_heap_node *node = &t->nodes[order[i]];
        if (node->what == SXS_HEAP_TYPE && node->n && n[node->number]++ < WAYS_OF_A_TYPE)
            show_with_parents(t, shown, order[i]);
    }
    free(n);
}

/* Two texts, if they are not empty: the field in which the parent has the node's objects, and that
 * in which the objects of a list have one another. */
static void write_fields(struct html_writer *w, const struct sxs_heap_graph *g,
                         const struct sxs_heap_node *n)
{
    char field[512], next[600] = "";
    sxs_heap_field_text(&w->r->s->strings, n->field, field, sizeof(field));
    if (n->list)
        sxs_heap_list_text(w->r->s, g, n, next, sizeof(next));
    if (!field[0] && !next[0])
        return;
    putc(',', w->to);
    sxs_json_string(w->to, field);
    if (next[0]) {
        putc(',', w->to);
        sxs_json_string(w->to, next);
    }
}

static void write_tree(struct html_writer *w, const char *name, const struct sxs_heap_graph *g,
                       const struct sxs_heap_tree *t, bool ways)
{
    bool       *shown = sxs_must_zeroed(t->n, sizeof(*shown));
    uint32_t   *order = sxs_heap_tree_sorted(t);
    const char *comma = "";
    if (ways)
        show_ways(t, order, shown, g->n_types);
    else
        show_largest(t, shown);
    fprintf(w->to, ",\n\"%s\":[", name);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct sxs_heap_node *n = &t->nodes[order[i]];
        if (!shown[order[i]])
            continue;
        fprintf(w->to, "%s[%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, comma, n->depth,
                n->what, n->what == SXS_HEAP_ROOT_NAME ? name_number(w, n->number) : n->number,
                n->n, n->bytes, n->all_n, n->all_bytes);
        if (ways)
            write_fields(w, g, n);
        putc(']', w->to);
        comma = ",\n";
    }
    putc(']', w->to);
    free(shown);
    free(order);
}

/* ---- tables ---- */

/* [name, objects, bytes, retained, pinned, finalizable, not reached, module, objects by
 * generation...], by index of the type */
static void write_types(struct html_writer *w, const struct sxs_heap_analysis *a)
{
    fputs(",\n\"types\":[", w->to);
    for (uint32_t i = 0; i < a->g->n_types; i++) {
        const struct sxs_heap_sum *s = &a->sums[i];
        fputs(i ? ",\n[" : "[", w->to);
        sxs_json_string(w->to, sxs_heap_type_name(w->r->s, a->g, i));
        fprintf(w->to, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d,%" PRIu64 ",",
                s->objects, s->bytes, s->retained, s->pinned,
                (a->g->types[i].flags & SXS_HEAP_TYPE_FINALIZABLE) != 0, s->not_reached);
        sxs_json_string(w->to, sxs_strings_text(&w->r->s->strings, a->g->types[i].module));
        for (unsigned k = 0; k < SXS_N_GENERATIONS; k++)
            fprintf(w->to, ",%" PRIu64, s->by_generation[k]);
        putc(']', w->to);
    }
    putc(']', w->to);
}

static void write_roots(struct html_writer *w, const struct sxs_heap_analysis *a)
{
    fputs(",\n\"roots\":[", w->to);
    for (size_t i = 0; i < a->n_roots; i++) {
        const struct sxs_heap_root_sum *s = &a->roots[i];
        fputs(i ? ",\n[" : "[", w->to);
        sxs_json_string(w->to, sxs_heap_root_text(s->kind, s->flags));
        fprintf(w->to, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", s->roots, s->objects,
                s->kept);
    }
    putc(']', w->to);
}

static void write_runtime(struct html_writer *w, const struct sxs_heap_analysis *a)
{
    const struct sxs_heap_graph *g = a->g;
    const char                  *comma = "";
    fprintf(w->to, "{\"number\":%u,\"version\":", g->runtime);
    sxs_json_string(w->to, sxs_strings_text(&w->r->s->strings, g->version));
    fprintf(w->to,
            ",\"objects\":%u,\"bytes\":%" PRIu64 ",\"reachedObjects\":%u,\"reachedBytes\":%" PRIu64
            ",\"how\":%u,\"pauseNs\":%" PRIu64 ",\"noBounds\":%d,\"noRoots\":%d,\"lacking\":[",
            g->n, a->bytes, a->paths.n, a->reached_bytes, (unsigned)(g->how < 3 ? g->how : 0),
            g->end.pause_ns, (g->end.lacking & SXS_HEAP_NO_BOUNDS) != 0,
            (g->end.lacking & SXS_HEAP_NO_ROOTS) != 0);
    for (uint64_t bit = 1; bit && bit <= g->end.lacking; bit <<= 1) {
        const char *text = g->end.lacking & bit ? sxs_heap_lacking_text(bit) : NULL;
        if (text)
            fprintf(w->to, "%s\"%s\"", comma, text);
        comma = text ? "," : comma;
    }
    putc(']', w->to);
    write_types(w, a);
    write_roots(w, a);
    write_tree(w, "kept", g, &a->kept, false);
    write_tree(w, "reached", g, &a->reached, true);
    putc('}', w->to);
}

static void write_title(FILE *to, const struct sxs_heap_head *h)
{
    char title[1200];
    snprintf(title, sizeof(title), "Heap %u of process %u: %s", h->number, h->pid, h->command);
    sxs_strings_clean(title, strlen(title));
    sxs_json_string(to, title);
}

const char *sxs_heap_page_policy(void)
{
    return sxs_heap_page_hashes;
}

void sxs_heap_write_html(FILE *to, const struct sxs_heap_report *r)
{
    struct html_writer w = {.to = to, .r = r};
    size_t             n_missing = 0;
    w.name = sxs_must_zeroed(r->s->strings.n, sizeof(*w.name));
    w.names = sxs_must_zeroed(r->s->strings.n, sizeof(*w.names));
    fputs(sxs_heap_page_head, to);
    fputs("{\"title\":", to);
    write_title(to, &r->s->head);
    fputs(",\n\"missing\":[", to);
    sxs_html_missing(r->missing, "", &n_missing, to);
    fputs("],\n\"runtimes\":[", to);
    for (size_t i = 0; i < r->s->n; i++) {
        fputs(i ? ",\n" : "", to);
        write_runtime(&w, &r->all[i]);
    }
    fputs("],\n\"kinds\":[", to);
    for (unsigned i = 0; i < 256; i++) {
        fputs(i ? "," : "", to);
        sxs_json_string(to, sxs_heap_root_text((uint8_t)(i / 16), (uint8_t)(i % 16)));
    }
    fputs("],\n\"strings\":[", to);
    for (uint32_t i = 0; i < w.n_names; i++) {
        fputs(i ? ",\n" : "", to);
        sxs_json_string(to, sxs_strings_text(&r->s->strings, w.names[i]));
    }
    fputs("]}", to);
    fputs(sxs_heap_page_tail, to);
    free(w.name);
    free(w.names);
}

/* Writes [type, runtime, objects before, objects, bytes before, bytes]. */
static void write_change(FILE *to, const struct sxs_heap_change *c)
{
    fputs("[", to);
    sxs_json_string(to, c->type);
    fprintf(to, ",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", c->runtime, c->objects[0],
            c->objects[1], c->bytes[0], c->bytes[1]);
}

void sxs_heap_write_changes_html(FILE *to, const struct sxs_heap_sides *sides,
                                 const struct sxs_heap_changes *c)
{
    size_t n_missing = 0;
    fputs(sxs_heap_page_head, to);
    fputs("{\"title\":\"Difference of two heap snapshots\",\n\"before\":", to);
    sxs_json_string(to, sides->before);
    fputs(",\"now\":", to);
    sxs_json_string(to, sides->now);
    fputs(",\n\"missing\":[", to);
    for (int side = 0; side < 2; side++)
        sxs_html_missing(&sides->missing[side], side ? "now" : "before", &n_missing, to);
    fputs("],\n\"versions\":[", to);
    for (size_t i = 0, n = 0; i < c->n_versions; i++) {
        char pair[1200];
        if (!sxs_heap_versions_text(&c->versions[i], pair, sizeof(pair)))
            continue;
        fputs(n++ ? "," : "", to);
        sxs_json_string(to, pair);
    }
    fprintf(to, "],\n\"unchanged\":%zu,\"all\":", c->n_unchanged);
    write_change(to, &c->sum);
    fputs(",\n\"changes\":[", to);
    for (size_t i = 0; i < c->n; i++) {
        fputs(i ? ",\n" : "", to);
        write_change(to, &c->all[i]);
    }
    fputs("]}", to);
    fputs(sxs_heap_page_tail, to);
}
