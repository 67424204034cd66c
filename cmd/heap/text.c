/* SPDX-License-Identifier: MIT */
/* Text report of a heap snapshot. */
#include "cmd/heap/heap.h"
#include "cmd/output/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/text/wildcard.h"
#include "cmd/output/text.h"

typedef unsigned long long ull;

struct text_writer {
    FILE                           *to;
    const struct sxs_heap_report   *r;
    const struct sxs_heap_analysis *a;
};

static const char *bytes(uint64_t n)
{
    static char buf[4][32]; /* so that one printf() can have several */
    static int  at;
    at = (at + 1) % 4;
    return sxs_text_bytes((double)n, buf[at], sizeof(buf[at]));
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static double share(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0;
}

/* ---- heading ---- */

static void write_head(FILE *to, const struct sxs_heap_snapshot *s)
{
    time_t    seconds = (time_t)(s->head.started_realtime_ns / 1000000000u);
    struct tm when;
    char      text[64] = "?", command[1200];
    if (localtime_r(&seconds, &when))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &when);
    sxs_text_clean(s->head.command, command, sizeof(command));
    sxs_print_to(to, "heap snapshot %u of process %u: %s\ntaken at %s, asked for by %s\n",
                 s->head.number, s->head.pid, command, text,
                 sxs_heap_trigger_text(s->head.trigger));
}

static void write_lacking(const struct text_writer *w)
{
    const char *before = "  not recorded: ";
    for (uint64_t bit = 1; bit && bit <= w->a->g->end.lacking; bit <<= 1) {
        const char *text = w->a->g->end.lacking & bit ? sxs_heap_lacking_text(bit) : NULL;
        if (!text)
            continue;
        sxs_print_to(w->to, "%s%s", before, text);
        before = ", ";
    }
    if (before[0] == ',')
        fputs("\n", w->to);
}

/* Writes how much no root leads to. Frozen objects need no roots. */
static void write_lost(const struct text_writer *w)
{
    const struct sxs_heap_graph *g = w->a->g;
    uint32_t                     n = g->n - w->a->paths.n, frozen = 0;
    for (uint32_t i = 0; i < g->n; i++)
        frozen += w->a->paths.from[i] == SXS_NOT_REACHED && g->generation[i] == 5;
    sxs_print_to(w->to, "  no root leads to %u object%s, %s", n, plural(n),
                 bytes(w->a->bytes - w->a->reached_bytes));
    if (frozen)
        sxs_print_to(w->to, "; %u of them frozen, which need none", frozen);
    fputs("\n", w->to);
}

static void write_runtime(const struct text_writer *w)
{
    const struct sxs_heap_graph *g = w->a->g;
    char                         pause[32], suspend[32];
    sxs_print_to(w->to, "\nruntime %u (%s): %u object%s, %s%s", g->runtime,
                 sxs_strings_text(&w->r->s->strings, g->version), g->n, plural(g->n),
                 bytes(w->a->bytes),
                 g->how == SXS_HEAP_COLLECTED ? ", after a collection"
                 : g->how == SXS_HEAP_WALKED  ? ", without a collection"
                                              : "");
    if (g->end.pause_ns)
        sxs_print_to(w->to, "; stopped for %s, %s of it to stop its threads",
                     sxs_text_duration(g->end.pause_ns, pause, sizeof(pause)),
                     sxs_text_duration(g->end.suspend_ns, suspend, sizeof(suspend)));
    fputs("\n", w->to);
    if (g->n > w->a->paths.n && !(g->end.lacking & SXS_HEAP_NO_ROOTS))
        write_lost(w);
    if (g->unknown_references)
        sxs_print_to(w->to, "  references to addresses without a recorded object: %llu\n",
                     (ull)g->unknown_references);
    write_lacking(w);
}

static void write_generations(const struct text_writer *w)
{
    uint64_t                     n[SXS_N_GENERATIONS] = {0}, size[SXS_N_GENERATIONS] = {0};
    const struct sxs_heap_graph *g = w->a->g;
    if (g->end.lacking & SXS_HEAP_NO_BOUNDS)
        return;
    for (uint32_t i = 0; i < g->n; i++) {
        n[g->generation[i]]++;
        size[g->generation[i]] += g->size[i];
    }
    fputs("\n     objects        bytes   share  generation\n", w->to);
    for (unsigned i = 0; i < SXS_N_GENERATIONS; i++)
        if (n[i])
            sxs_print_to(w->to, "%12llu %12s %5.1f %%  %s\n", (ull)n[i], bytes(size[i]),
                         share(size[i], w->a->bytes), sxs_heap_generation_text(i));
}

/* ---- types ---- */

static void write_types(const struct text_writer *w)
{
    const struct sxs_heap_graph *g = w->a->g;
    uint32_t                     shown = 0;
    fputs("\n     objects        bytes   share     retained  type\n", w->to);
    for (; shown < g->n_types && shown < w->r->top; shown++) {
        uint32_t                   type = w->a->by_bytes[shown];
        const struct sxs_heap_sum *sum = &w->a->sums[type];
        if (!sum->objects)
            break;
        sxs_print_to(w->to, "%12llu %12s %5.1f %% %12s  %s", (ull)sum->objects, bytes(sum->bytes),
                     share(sum->bytes, w->a->bytes), bytes(sum->retained),
                     sxs_heap_type_name(w->r->s, g, type));
        if (sum->pinned)
            sxs_print_to(w->to, " (%llu pinned)", (ull)sum->pinned);
        fputs(g->types[type].flags & SXS_HEAP_TYPE_FINALIZABLE ? " (finalizable)\n" : "\n", w->to);
    }
    uint32_t more = 0;
    for (uint32_t i = shown; i < g->n_types; i++)
        more += w->a->sums[w->a->by_bytes[i]].objects > 0;
    if (more)
        sxs_print_to(w->to, "  and %s\n", SXS_COUNT(more, "more type"));
}

/* ---- roots ---- */

static void write_roots(const struct text_writer *w)
{
    if (!w->a->n_roots)
        return;
    fputs("\n       roots      objects  kept alive  kind\n", w->to);
    for (size_t i = 0; i < w->a->n_roots; i++) {
        const struct sxs_heap_root_sum *sum = &w->a->roots[i];
        sxs_print_to(w->to, "%12llu %12llu %11s  %s\n", (ull)sum->roots, (ull)sum->objects,
                     bytes(sum->kept), sxs_heap_root_text(sum->kind, sum->flags));
    }
}

/* ---- what keeps what ---- */

static void write_node(const struct text_writer *w, const struct sxs_heap_node *n, uint64_t all)
{
    sxs_print_to(w->to, "%12s %5.1f %%  %*s%s", bytes(n->all_bytes), share(n->all_bytes, all),
                 (n->depth - 1) * 2, "", sxs_heap_node_text(w->r->s, w->a->g, n));
    if (n->what == SXS_HEAP_TYPE)
        sxs_print_to(w->to, "  x %llu", (ull)n->n);
    fputs("\n", w->to);
}

/* Writes the part of the tree of dominators that has at least 1 % of the bytes. */
static void write_kept(const struct text_writer *w)
{
    enum { DEEPEST = 16 };
    const struct sxs_heap_tree *t = &w->a->kept;
    uint32_t                   *order = sxs_heap_tree_sorted(t);
    size_t                      lines = 0;
    fputs("\n        kept   share  by (an object to which several roots refer is below one of "
          "them)\n",
          w->to);
    for (uint32_t i = 1; i < t->n && lines < w->r->top * 2; i++) {
        const struct sxs_heap_node *n = &t->nodes[order[i]];
        if (n->depth > DEEPEST || n->all_bytes * 100 < w->a->bytes)
            continue;
        write_node(w, n, w->a->bytes);
        lines++;
    }
    free(order);
}

/* ---- one type ---- */

static void write_step(const struct text_writer *w, const struct sxs_heap_node *n,
                       const char *field)
{
    char next[600] = "";
    sxs_print_to(w->to, "%s%s", sxs_heap_node_text(w->r->s, w->a->g, n), field);
    if (n->list) {
        sxs_heap_list_text(w->r->s, w->a->g, n, next, sizeof(next));
        sxs_print_to(w->to, " (a list%s%s)", next[0] ? " by " : "", next);
    }
    fputs("\n", w->to);
}

/* Writes the path from an object to its root, a line for each step: after a type is its field that
 * has the object of the line above. */
static void write_way(const struct text_writer *w, const struct sxs_heap_way *way)
{
    const struct sxs_heap_node *all = w->a->reached.nodes;
    const char                 *arrow = "";
    char                        field[512] = "";
    sxs_print_to(w->to, "  %llu object%s, %s\n", (ull)way->n, plural(way->n), bytes(way->bytes));
    for (uint32_t i = way->node; i; i = all[i].parent) {
        const struct sxs_heap_node *n = &all[i];
        sxs_print_to(w->to, "    %s", arrow);
        if (n->what == SXS_HEAP_ROOT_NAME) { /* "static field App.Cache.all" on one line */
            i = n->parent;
            sxs_print_to(w->to, "%s ", sxs_heap_node_text(w->r->s, w->a->g, &all[i]));
        }
        write_step(w, n, field);
        sxs_heap_field_text(&w->r->s->strings, n->field, field, sizeof(field));
        arrow = n->dependent ? "<- (dependent handle) " : "<- ";
    }
}

/* Writes the addresses of some objects, for --object. */
static void write_addresses(const struct text_writer *w, uint32_t type)
{
    enum { SOME = 4 };
    const struct sxs_heap_graph *g = w->a->g;
    unsigned                     n = 0;
    for (uint32_t i = 0; i < g->n && n < SOME; i++)
        if (g->type[i] == type)
            sxs_print_to(w->to, "%s0x%llx", n++ ? ", " : "  at ", (ull)g->address[i]);
    fputs(n == SOME && w->a->sums[type].objects > n ? "...\n" : "\n", w->to);
}

static void write_type(const struct text_writer *w, uint32_t type)
{
    const struct sxs_heap_sum *sum = &w->a->sums[type];
    size_t                     n;
    sxs_print_to(w->to, "\n%s: %llu object%s, %s, retained %s\n",
                 sxs_heap_type_name(w->r->s, w->a->g, type), (ull)sum->objects,
                 plural(sum->objects), bytes(sum->bytes), bytes(sum->retained));
    for (unsigned i = 0; i < SXS_N_GENERATIONS; i++)
        if (sum->by_generation[i] && !(w->a->g->end.lacking & SXS_HEAP_NO_BOUNDS))
            sxs_print_to(w->to, "  %s: %llu\n", sxs_heap_generation_text(i),
                         (ull)sum->by_generation[i]);
    write_addresses(w, type);
    if (sum->not_reached)
        sxs_print_to(w->to, "  no root leads to %llu of them\n", (ull)sum->not_reached);
    struct sxs_heap_way *ways = sxs_heap_ways(w->a, type, &n);
    for (size_t i = 0; i < n && i < w->r->top; i++)
        write_way(w, &ways[i]);
    if (n > w->r->top)
        sxs_print_to(w->to, "  and %s\n", SXS_COUNT(n - w->r->top, "more path"));
    free(ways);
}

/* Writes the types that match the pattern. Returns their number. */
static uint32_t write_matching(const struct text_writer *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->a->g->n_types; i++) {
        uint32_t type = w->a->by_bytes[i];
        if (!w->a->sums[type].objects ||
            !sxs_wildcard_matches(w->r->type, sxs_heap_type_name(w->r->s, w->a->g, type)))
            continue;
        if (n++ < w->r->top)
            write_type(w, type);
    }
    if (n > w->r->top)
        sxs_print_to(w->to, "\nand %u more types that match\n", n - (uint32_t)w->r->top);
    return n;
}

void sxs_heap_write_text(FILE *to, const struct sxs_heap_report *r)
{
    if (r->missing)
        sxs_missing_text(to, r->missing);
    write_head(to, r->s);
    for (size_t i = 0; i < r->s->n; i++) {
        struct text_writer w = {to, r, &r->all[i]};
        write_runtime(&w);
        if (r->type) {
            if (!write_matching(&w))
                sxs_print_to(to, "  no objects of a type that matches %s\n", r->type);
            continue;
        }
        write_generations(&w);
        write_types(&w);
        write_roots(&w);
        write_kept(&w);
    }
}
