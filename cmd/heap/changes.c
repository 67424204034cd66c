/* SPDX-License-Identifier: MIT */
/* Compares two heap snapshots. */
#include "cmd/heap/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/heap/heap.h"
#include "cmd/output/json_document.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/runtime_pairs.h"
#include "cmd/output/text.h"
#include "cmd/report/format.h"

#define LEAST_PART 100 /* of the largest change: the text shows no smaller ones unless asked to */

static int by_type(const void *a, const void *b)
{
    const struct sxs_heap_change *x = a, *y = b;
    if (x->runtime != y->runtime)
        return x->runtime < y->runtime ? -1 : 1;
    if (x->pair != y->pair)
        return x->pair < y->pair ? -1 : 1;
    return strcmp(x->type, y->type);
}

static int by_growth(const void *a, const void *b)
{
    const struct sxs_heap_change *x = a, *y = b;
    int64_t                       grown_x = (int64_t)(x->bytes[1] - x->bytes[0]);
    int64_t                       grown_y = (int64_t)(y->bytes[1] - y->bytes[0]);
    if (grown_x != grown_y)
        return grown_x < grown_y ? 1 : -1;
    return by_type(a, b);
}

static const char *version_of(const struct sxs_heap_counts *c, const struct sxs_heap_count *row)
{
    return sxs_strings_text(&c->strings, row->version);
}

static void add_runtimes(struct sxs_runtime_pairs *pairs, int side, const struct sxs_heap_counts *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (i == 0 || c->all[i].runtime != c->all[i - 1].runtime)
            sxs_runtime_pairs_add(pairs, side, version_of(c, &c->all[i]), c->all[i].runtime);
}

/* Adds the types of one snapshot. @side: 0: before, 1: now. */
static void add_types(struct sxs_heap_changes *to, size_t *n, const struct sxs_runtime_pairs *pairs,
                      int side, const struct sxs_heap_counts *c)
{
    uint32_t runtime = 0, pair = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct sxs_heap_count *row = &c->all[i];
        if (i == 0 || row->runtime != c->all[i - 1].runtime) {
            uint32_t at = sxs_runtime_pairs_find(pairs, side, version_of(c, row), row->runtime);
            uint32_t partner = pairs->of[side][at].partner;
            /* a pair has the place of its runtime of now; those of before alone come after all of now */
            pair = side ? at + 1 : partner ? partner : (uint32_t)pairs->n[1] + at + 1;
            runtime = !side && partner ? pairs->of[1][partner - 1].number : row->runtime;
        }
        struct sxs_heap_change *change = &to->all[(*n)++];
        change->type = sxs_strings_text(&c->strings, row->type);
        change->runtime = runtime;
        change->pair = pair;
        change->objects[side] = row->objects;
        change->bytes[side] = row->bytes;
    }
}

static int by_number(const void *a, const void *b)
{
    const struct sxs_heap_versions *x = a, *y = b;
    if (x->runtime != y->runtime)
        return x->runtime < y->runtime ? -1 : 1;
    return (y->version[1] != NULL) - (x->version[1] != NULL);
}

static bool has_number(const struct sxs_runtime_pairs *pairs, uint32_t number)
{
    for (size_t i = 0; i < pairs->n[1]; i++)
        if (pairs->of[1][i].number == number)
            return true;
    return false;
}

/* Returns whether --runtime @wanted selects a pair: the runtime of now that has this number, or, where
 * there is none, that of before. */
static bool is_wanted(const struct sxs_runtime_pairs *pairs, uint32_t pair, uint32_t number,
                      uint32_t wanted)
{
    return !wanted || (number == wanted && (pair <= pairs->n[1] || !has_number(pairs, number)));
}

static void list_versions(struct sxs_heap_changes *to, const struct sxs_runtime_pairs *pairs,
                          uint32_t wanted)
{
    to->versions = sxs_must_zeroed(pairs->n[0] + pairs->n[1], sizeof(*to->versions));
    for (uint32_t i = 0; i < pairs->n[1]; i++) {
        const struct sxs_paired_runtime *r = &pairs->of[1][i];
        if (is_wanted(pairs, i + 1, r->number, wanted))
            to->versions[to->n_versions++] = (struct sxs_heap_versions){
                r->number, {r->partner ? pairs->of[0][r->partner - 1].version : NULL, r->version}};
    }
    for (uint32_t i = 0; i < pairs->n[0]; i++) {
        const struct sxs_paired_runtime *r = &pairs->of[0][i];
        if (!r->partner && is_wanted(pairs, (uint32_t)pairs->n[1] + i + 1, r->number, wanted))
            to->versions[to->n_versions++] =
                (struct sxs_heap_versions){r->number, {r->version, NULL}};
    }
    if (to->n_versions)
        qsort(to->versions, to->n_versions, sizeof(*to->versions), by_number);
}

static bool is_change(const struct sxs_heap_change *c)
{
    return c->bytes[0] != c->bytes[1] || c->objects[0] != c->objects[1];
}

static void add_sides(struct sxs_heap_change *to, const struct sxs_heap_change *c)
{
    for (int side = 0; side < 2; side++) {
        to->objects[side] += c->objects[side];
        to->bytes[side] += c->bytes[side];
    }
}

struct sxs_heap_changes sxs_heap_changes(const struct sxs_heap_counts *before,
                                         const struct sxs_heap_counts *now, uint32_t runtime)
{
    struct sxs_heap_changes  c = {.sum = {.type = "all types"}};
    struct sxs_runtime_pairs pairs = {.n = {0}};
    size_t                   n = 0;
    add_runtimes(&pairs, 0, before);
    add_runtimes(&pairs, 1, now);
    sxs_runtime_pairs_match(&pairs);
    list_versions(&c, &pairs, runtime);
    c.all = sxs_must_zeroed(before->n + now->n, sizeof(*c.all));
    add_types(&c, &n, &pairs, 0, before);
    add_types(&c, &n, &pairs, 1, now);
    if (n)
        qsort(c.all, n, sizeof(*c.all), by_type);
    for (size_t i = 0; i < n;) {
        struct sxs_heap_change type = c.all[i];
        for (i++; i < n && by_type(&type, &c.all[i]) == 0; i++)
            add_sides(&type, &c.all[i]);
        if (!is_wanted(&pairs, type.pair, type.runtime, runtime))
            continue;
        add_sides(&c.sum, &type);
        if (is_change(&type))
            c.all[c.n++] = type;
        else
            c.n_unchanged++;
    }
    if (c.n)
        qsort(c.all, c.n, sizeof(*c.all), by_growth);
    sxs_runtime_pairs_free(&pairs);
    return c;
}

void sxs_heap_changes_free(struct sxs_heap_changes *c)
{
    free(c->all);
    free(c->versions);
    memset(c, 0, sizeof(*c));
}

/* ---- text and JSON ---- */

const char *sxs_heap_versions_text(const struct sxs_heap_versions *p, char *buf, size_t size)
{
    char        versions[1024];
    const char *alone = !p->version[0] ? ", not before" : !p->version[1] ? ", not now" : "";
    if (p->version[0] && p->version[1] && strcmp(p->version[0], p->version[1]) == 0)
        return NULL;
    sxs_runtime_pair_version(p->version[0], p->version[1], versions, sizeof(versions));
    snprintf(buf, size, "runtime %u: %s%s", p->runtime, versions, alone);
    return buf;
}

/* Returns "+1.50 KiB" or "-8 B" in @buf. */
static const char *grown_text(const struct sxs_heap_change *c, char *buf, size_t size)
{
    int64_t grown = (int64_t)(c->bytes[1] - c->bytes[0]);
    buf[0] = grown < 0 ? '-' : '+';
    sxs_text_bytes((double)(grown < 0 ? -grown : grown), buf + 1, size - 1);
    return buf;
}

static void write_change(FILE *to, const struct sxs_heap_change *c)
{
    char buf[32], runtime[16] = "";
    if (c->runtime)
        snprintf(runtime, sizeof(runtime), "%u", c->runtime);
    sxs_print_to(to, "%11" PRIu64 " %11" PRIu64 " %+11" PRId64 " %13s  %7s  %s\n", c->objects[0],
                 c->objects[1], (int64_t)(c->objects[1] - c->objects[0]),
                 grown_text(c, buf, sizeof(buf)), runtime, c->type);
}

static uint64_t size_of(const struct sxs_heap_change *c)
{
    return c->bytes[1] > c->bytes[0] ? c->bytes[1] - c->bytes[0] : c->bytes[0] - c->bytes[1];
}

static int falling(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* The types that the text shows. */
struct shown_changes {
    size_t   n;
    uint64_t limit;    /* each whose bytes changed by more is shown */
    size_t   at_limit; /* and so many of those whose bytes changed by exactly so much */
};

static struct shown_changes choose_shown(const struct sxs_heap_changes *c, size_t top, bool little)
{
    struct shown_changes s = {.n = c->n < top ? c->n : top, .at_limit = SIZE_MAX};
    uint64_t            *sizes = sxs_must_zeroed(c->n, sizeof(*sizes));
    for (size_t i = 0; i < c->n; i++)
        sizes[i] = size_of(&c->all[i]);
    if (c->n)
        qsort(sizes, c->n, sizeof(*sizes), falling);
    while (!little && s.n && sizes[s.n - 1] < sizes[0] / LEAST_PART)
        s.n--;
    if (s.n < c->n) {
        s.limit = sizes[s.n];
        s.at_limit = 0;
        for (size_t i = 0; i < s.n; i++)
            s.at_limit += sizes[i] == s.limit;
    }
    free(sizes);
    return s;
}

static void write_side(FILE *to, const char *when, const char *name,
                       const struct sxs_heap_changes *c, int side)
{
    sxs_print_to(to, "%-7s %s: %s, %s\n", when, name, SXS_COUNT(c->sum.objects[side], "object"),
                 SXS_BYTES(c->sum.bytes[side]));
}

void sxs_heap_write_changes(FILE *to, const struct sxs_heap_sides *sides,
                            const struct sxs_heap_changes *c, size_t top, bool little)
{
    struct shown_changes   shown = choose_shown(c, top, little);
    struct sxs_heap_change rest = {0};
    size_t                 n_rest = 0;
    char                   versions[1200];
    sxs_missing_text_of(to, "before", &sides->missing[0]);
    sxs_missing_text_of(to, "now", &sides->missing[1]);
    write_side(to, "before:", sides->before, c, 0);
    write_side(to, "now:", sides->now, c, 1);
    for (size_t i = 0; i < c->n_versions; i++)
        if (sxs_heap_versions_text(&c->versions[i], versions, sizeof(versions)))
            sxs_print_to(to, "%s\n", versions);
    sxs_print_to(to, "%s changed, %zu did not\n", SXS_COUNT(c->n, "type"), c->n_unchanged);
    if (!c->n)
        return;
    fputs("    objects         now  difference         bytes  runtime  type\n", to);
    write_change(to, &c->sum);
    for (size_t i = 0; i < c->n; i++) {
        uint64_t size = size_of(&c->all[i]);
        if (size > shown.limit || (size == shown.limit && shown.at_limit)) {
            shown.at_limit -= size == shown.limit;
            write_change(to, &c->all[i]);
        } else {
            add_sides(&rest, &c->all[i]);
            n_rest++;
        }
    }
    if (n_rest) {
        char type[64];
        snprintf(type, sizeof(type), "%s that changed less", SXS_COUNT(n_rest, "type"));
        rest.type = type;
        write_change(to, &rest);
    }
}

/* Writes the members of JSON for what a type has, or all types. */
static void write_sides_json(FILE *to, const struct sxs_heap_change *c)
{
    sxs_print_to(to,
                 "\"objects_before\": %" PRIu64 ", \"objects\": %" PRIu64
                 ", \"bytes_before\": %" PRIu64 ", \"bytes\": %" PRIu64,
                 c->objects[0], c->objects[1], c->bytes[0], c->bytes[1]);
}

void sxs_heap_write_changes_json(FILE *to, const struct sxs_heap_sides *sides,
                                 const struct sxs_heap_changes *c)
{
    sxs_json_document_begin(to, SXS_JSON_HEAP_DIFF);
    fputs(",\n", to);
    sxs_heap_write_missing_json(to, "\"missing_before\": ", &sides->missing[0], ",\n");
    sxs_heap_write_missing_json(to, "\"missing\": ", &sides->missing[1], ",\n");
    fputs("\"all_types\": {", to);
    write_sides_json(to, &c->sum);
    sxs_print_to(to, ", \"changed\": %zu, \"unchanged\": %zu},\n\"heap\": [", c->n, c->n_unchanged);
    for (size_t i = 0; i < c->n; i++) {
        sxs_print_to(to, "%s\n{\"runtime\": %u, \"type\": ", i ? "," : "", c->all[i].runtime);
        sxs_json_string(to, c->all[i].type);
        fputs(", ", to);
        write_sides_json(to, &c->all[i]);
        fputs("}", to);
    }
    fputs("\n],\n\"runtimes\": [", to);
    for (size_t i = 0; i < c->n_versions; i++) {
        const struct sxs_heap_versions *p = &c->versions[i];
        sxs_print_to(to, "%s\n{\"runtime\": %u", i ? "," : "", p->runtime);
        for (int side = 0; side < 2; side++) {
            fputs(side ? ", \"version\": " : ", \"version_before\": ", to);
            if (p->version[side])
                sxs_json_string(to, p->version[side]);
            else
                fputs("null", to);
        }
        fputs("}", to);
    }
    fputs("\n]\n}\n", to);
}
