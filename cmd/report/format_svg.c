/* SPDX-License-Identifier: MIT */
/* Format svg: a picture of the flame graph, for documents and chats. Callers are above the functions that they
 * call; the first row is everything, the second one threads. Each box has a title with its name, its
 * weight and its share, which browsers show under the pointer. Boxes that would be narrower than a third of a
 * pixel are left out; the picture says how much weight they have. Nothing in it is a program. */
#include "cmd/report/format.h"

#include "cmd/output/must.h"
#include "cmd/output/text.h"
#include "cmd/report/data_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 1200,
    MARGIN = 8,
    ROW = 17,
    HEAD = 46,     /* height of the title and the line below it */
    LINE = 16,     /* height of a further line there */
    CHARACTER = 7, /* width of one, in pixels: of the widest of the usual fonts */
    MAX_DEPTH = 1000
};
#define NARROWEST 0.33 /* pixels */

struct picture {
    const struct sxs_model *m;
    uint64_t               *total; /* owned; by node */
    uint32_t *children; /* owned; nodes, the children of a node together, largest first */
    uint32_t *begin;    /* owned; by node: index in children; n_nodes + 1 entries */
    uint64_t  all, left_out;
    unsigned  depth; /* rows that are drawn */
    double    scale; /* pixels of a unit */
    char     *texts; /* owned; for one name */
};

#define NAME_SIZE 70000u /* a name has at most 65535 bytes */

/* ---- the tree -------------------------------------------------------------------------------- */

static int by_total(const void *a, const void *b, void *arg)
{
    const struct picture *p = arg;
    uint32_t              x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (p->total[x] != p->total[y])
        return p->total[x] > p->total[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void sum_up(struct picture *p)
{
    const struct sxs_model *m = p->m;
    uint32_t               *next = sxs_must_zeroed(m->n_nodes + 1, sizeof(*next));
    p->total = sxs_must_zeroed(m->n_nodes + 1, sizeof(*p->total));
    p->children = sxs_must_zeroed(m->n_nodes + 1, sizeof(*p->children));
    p->begin = sxs_must_zeroed(m->n_nodes + 2, sizeof(*p->begin));
    for (size_t i = m->n_nodes; i-- > 0;) { /* children are after their parents */
        const struct sxs_model_node *n = &m->nodes[i];
        p->total[i] += n->self_ns;
        if (n->parent == SXS_NO_NODE) {
            p->all += p->total[i];
            continue;
        }
        p->total[n->parent] += p->total[i];
        p->begin[n->parent + 1]++;
    }
    for (size_t i = 0; i < m->n_nodes; i++)
        p->begin[i + 1] += p->begin[i];
    for (size_t i = 0; i < m->n_nodes; i++) {
        uint32_t parent = m->nodes[i].parent;
        if (parent != SXS_NO_NODE)
            p->children[p->begin[parent] + next[parent]++] = (uint32_t)i;
    }
    for (size_t i = 0; i < m->n_nodes; i++)
        qsort_r(p->children + p->begin[i], p->begin[i + 1] - p->begin[i], sizeof(*p->children),
                by_total, p);
    free(next);
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Writes text of XML, at most @most bytes of it, and never half a character. */
static void put_text(const char *text, size_t most, FILE *to)
{
    for (size_t i = 0; i < most && text[i]; i++) {
        size_t rest = 0;
        while (((unsigned char)text[i + 1 + rest] & 0xc0) == 0x80)
            rest++;
        if (((unsigned char)text[i] & 0xc0) == 0xc0 && i + rest >= most)
            break;
        switch (text[i]) {
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '&': fputs("&amp;", to); break;
        default:
            if ((unsigned char)text[i] >= ' ' || text[i] == '\t')
                putc(text[i], to);
        }
    }
}

static const char *weight_text(const struct picture *p, uint64_t weight, char *buf, size_t size)
{
    switch (p->m->unit) {
    case SXS_UNIT_NS: return sxs_text_duration(weight, buf, size);
    case SXS_UNIT_BYTES: snprintf(buf, size, "%s", SXS_BYTES(weight)); return buf;
    default: snprintf(buf, size, "%llu", (unsigned long long)weight); return buf;
    }
}

/* Returns the fill colour of a node: what kind of code it is. Text on each has a contrast of 7 at least. */
static const char *colour_of(const struct sxs_model *m, const struct sxs_model_node *n)
{
    const struct sxs_model_frame *f = &m->frames[n->frame];
    if (n->parent == SXS_NO_NODE)
        return "#dcdfe4";
    if (n->flags & SXS_FRAME_OWN)
        return "#e2d4f0";
    if (n->flags & SXS_FRAME_GC)
        return "#f6c6c6";
    if (n->flags & SXS_FRAME_JIT)
        return "#f3d9b1";
    if (f->flags & (SXS_FRAME_TYPE | SXS_FRAME_WAIT))
        return "#f1ecc0";
    if (!f->runtime)
        return f->home ? "#d6dfe8" : "#cfe3f5";
    static const char *const managed[] = {"#bfe3c6", "#b9e0dd", "#d8e6b0", "#cfd8f7"};
    return managed[(f->runtime - 1) % 4];
}

static void put_box(const struct picture *p, const char *name, const char *fill, uint64_t weight,
                    double x, unsigned row, unsigned top, FILE *to)
{
    char   buf[64];
    double width = (double)weight * p->scale;
    size_t fits = (size_t)((width - 6) / CHARACTER);
    fprintf(to, "<g><title>");
    put_text(name, SIZE_MAX, to);
    fprintf(to,
            " - %s, %.2f %%</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" "
            "fill=\"%s\"/>",
            weight_text(p, weight, buf, sizeof(buf)),
            p->all ? 100.0 * (double)weight / (double)p->all : 0.0, x, top + row * ROW,
            width > 1 ? width - 0.5 : width, ROW - 1, fill);
    if (width > 6 + 3 * CHARACTER) {
        size_t len = strlen(name);
        fprintf(to, "<text x=\"%.2f\" y=\"%u\">", x + 3, top + row * ROW + 12);
        put_text(name, len <= fits ? len : fits - 1, to);
        fputs(len <= fits ? "</text>" : "…</text>", to);
    }
    fputs("</g>\n", to);
}

/* A node that is still to be drawn. */
struct pending {
    uint32_t node;
    unsigned row;
    double   x;
};

/* Draws all nodes, or with @to NULL measures how deep they are. The list of what is left to draw replaces
 * recursion. */
static void draw(struct picture *p, unsigned top, FILE *to)
{
    const struct sxs_model *m = p->m;
    struct pending         *todo = sxs_must_zeroed(m->n_nodes + 1, sizeof(*todo));
    size_t                  n = 0;
    double                  x = MARGIN;
    p->left_out = 0;
    for (size_t i = 0; i < m->n_nodes; i++)
        if (m->nodes[i].parent == SXS_NO_NODE && p->total[i]) {
            todo[n++] = (struct pending){(uint32_t)i, 1, x};
            x += (double)p->total[i] * p->scale;
        }
    while (n) {
        struct pending               at = todo[--n];
        const struct sxs_model_node *node = &m->nodes[at.node];
        if ((double)p->total[at.node] * p->scale < NARROWEST || at.row > MAX_DEPTH) {
            p->left_out += p->total[at.node];
            continue;
        }
        if (at.row + 1 > p->depth)
            p->depth = at.row + 1;
        if (to) {
            if (node->parent == SXS_NO_NODE)
                sxs_thread_text(m, node->thread, p->texts, NAME_SIZE);
            else
                sxs_frame_text(m, node->frame, SXS_STYLE_SHORT, p->texts, NAME_SIZE);
            put_box(p, p->texts, colour_of(m, node), p->total[at.node], at.x, at.row, top, to);
        }
        for (uint32_t i = p->begin[at.node]; i < p->begin[at.node + 1]; i++) {
            todo[n++] = (struct pending){p->children[i], at.row + 1, at.x};
            at.x += (double)p->total[p->children[i]] * p->scale;
        }
    }
    free(todo);
}

/* Writes the title of the picture, and the lines about what is missing. Returns their height. */
static unsigned put_head(const struct picture *p, const struct sxs_missing *missing, FILE *to)
{
    const struct sxs_data_kind *kind = sxs_data_kind(p->m->data);
    char                        buf[64];
    unsigned                    y = HEAD;
    fputs("<text class=\"title\" x=\"8\" y=\"19\">", to);
    put_text(sxs_model_title(p->m), 150, to);
    fprintf(to, "</text>\n<text x=\"8\" y=\"37\">%s%s%s: %s", kind->title, *kind->title ? " " : "",
            kind->many, weight_text(p, p->all, buf, sizeof(buf)));
    if (p->left_out)
        fprintf(to, "; boxes of together %s are too small to be drawn",
                weight_text(p, p->left_out, buf, sizeof(buf)));
    fputs("</text>\n", to);
    for (size_t i = 0; missing && i < missing->n; i++, y += LINE) {
        fprintf(to, "<text class=\"missing\" x=\"8\" y=\"%u\">", y + 7);
        put_text(missing->all[i].text, 180, to);
        fputs("</text>\n", to);
    }
    return y;
}

static int write_svg(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to)
{
    struct picture p = {.m = m, .depth = 1};
    p.texts = sxs_must_zeroed(1, NAME_SIZE);
    sum_up(&p);
    p.scale = p.all ? (WIDTH - 2.0 * MARGIN) / (double)p.all : 0;
    draw(&p, 0, NULL);
    unsigned lines = o->missing ? (unsigned)o->missing->n : 0;
    fprintf(
        to,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"%d\" "
        "height=\"%u\" viewBox=\"0 0 %d %u\">\n<style>text { font: 12px monospace; fill: #14181d } "
        ".title { "
        "font: bold 15px sans-serif } .missing { fill: #8a1c1c }</style>\n<rect width=\"100%%\" "
        "height=\"100%%\" fill=\"#ffffff\"/>\n",
        WIDTH, HEAD + lines * LINE + p.depth * ROW + MARGIN, WIDTH,
        HEAD + lines * LINE + p.depth * ROW + MARGIN);
    unsigned top = put_head(&p, o->missing, to);
    put_box(&p, "all", "#eceef1", p.all, MARGIN, 0, top, to);
    draw(&p, top, to);
    fputs("</svg>\n", to);
    free(p.total);
    free(p.children);
    free(p.begin);
    free(p.texts);
    return 0;
}

const struct sxs_profile_format sxs_format_svg = {"svg", 0, write_svg};
