/* SPDX-License-Identifier: MIT */
/* Compares two heap snapshots. */
#include "cmd/heap/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/heap/heap.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/report/format.h"

#define LEAST_PART 100 /* of the largest change: the text shows no smaller ones unless asked to */

/* Returns how well two runtimes fit: 3: same version and number, 2: version, 1: number. */
static int fit(const struct sxs_heap_counts *a, const struct sxs_heap_count *x,
               const struct sxs_heap_counts *b, const struct sxs_heap_count *y)
{
    bool version = strcmp(sxs_strings_text(&a->strings, x->version),
                          sxs_strings_text(&b->strings, y->version)) == 0;
    return version * 2 + (x->runtime == y->runtime);
}

/* Returns the number of the runtime of @now that is compared with that of @row in @before. */
static uint32_t partner(const struct sxs_heap_counts *before, const struct sxs_heap_count *row,
                        const struct sxs_heap_counts *now)
{
    uint32_t found = row->runtime;
    int      best = 0;
    for (size_t i = 0; i < now->n; i++) {
        if (i && now->all[i].runtime == now->all[i - 1].runtime)
            continue;
        int here = fit(before, row, now, &now->all[i]);
        if (here > best) {
            best = here;
            found = now->all[i].runtime;
        }
    }
    return found;
}

static int by_type(const void *a, const void *b)
{
    const struct sxs_heap_change *x = a, *y = b;
    if (x->runtime != y->runtime)
        return x->runtime < y->runtime ? -1 : 1;
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

/* Adds the types of one snapshot. @side: 0: before, 1: now. */
static void add(struct sxs_heap_change *all, size_t *n, const struct sxs_heap_counts *c,
                const struct sxs_heap_counts *now, int side)
{
    uint32_t of = 0, to = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct sxs_heap_count *row = &c->all[i];
        if (i == 0 || row->runtime != of)
            to = side ? row->runtime : partner(c, row, now);
        of = row->runtime;
        struct sxs_heap_change *change = &all[(*n)++];
        change->type = sxs_strings_text(&c->strings, row->type);
        change->runtime = to;
        change->objects[side] = row->objects;
        change->bytes[side] = row->bytes;
    }
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
    struct sxs_heap_changes c = {.sum = {.type = "all types"}};
    size_t                  n = 0;
    c.all = sxs_must_zeroed(before->n + now->n, sizeof(*c.all));
    add(c.all, &n, before, now, 0);
    add(c.all, &n, now, now, 1);
    if (n)
        qsort(c.all, n, sizeof(*c.all), by_type);
    for (size_t i = 0; i < n;) {
        struct sxs_heap_change type = c.all[i];
        for (i++; i < n && by_type(&type, &c.all[i]) == 0; i++)
            add_sides(&type, &c.all[i]);
        if (runtime && type.runtime != runtime)
            continue;
        add_sides(&c.sum, &type);
        if (is_change(&type))
            c.all[c.n++] = type;
        else
            c.n_unchanged++;
    }
    if (c.n)
        qsort(c.all, c.n, sizeof(*c.all), by_growth);
    return c;
}

void sxs_heap_changes_free(struct sxs_heap_changes *c)
{
    free(c->all);
    memset(c, 0, sizeof(*c));
}

/* ---- text and JSON ---- */

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
struct shown {
    size_t   n;
    uint64_t limit;    /* each whose bytes changed by more is shown */
    size_t   at_limit; /* and so many of those whose bytes changed by exactly so much */
};

static struct shown choose_shown(const struct sxs_heap_changes *c, size_t top, bool little)
{
    struct shown s = {.n = c->n < top ? c->n : top, .at_limit = SIZE_MAX};
    uint64_t    *sizes = sxs_must_zeroed(c->n, sizeof(*sizes));
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
    struct shown           shown = choose_shown(c, top, little);
    struct sxs_heap_change rest = {0};
    size_t                 n_rest = 0;
    sxs_missing_text_of(to, "before", &sides->missing[0]);
    sxs_missing_text_of(to, "now", &sides->missing[1]);
    write_side(to, "before:", sides->before, c, 0);
    write_side(to, "now:", sides->now, c, 1);
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
    fputs("{\n", to);
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
    fputs("\n]\n}\n", to);
}
