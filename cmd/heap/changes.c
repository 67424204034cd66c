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

struct sxs_heap_change *sxs_heap_changes(const struct sxs_heap_counts *before,
                                         const struct sxs_heap_counts *now, size_t *n)
{
    struct sxs_heap_change *all = sxs_must_zeroed(before->n + now->n, sizeof(*all));
    size_t                  kept = 0;
    *n = 0;
    add(all, n, before, now, 0);
    add(all, n, now, now, 1);
    if (!*n)
        return all;
    qsort(all, *n, sizeof(*all), by_type);
    for (size_t i = 1; i < *n; i++) {
        if (by_type(&all[kept], &all[i]) != 0) {
            all[++kept] = all[i];
            continue;
        }
        for (int side = 0; side < 2; side++) {
            all[kept].objects[side] += all[i].objects[side];
            all[kept].bytes[side] += all[i].bytes[side];
        }
    }
    *n = kept + 1;
    qsort(all, *n, sizeof(*all), by_growth);
    return all;
}

/* ---- text and JSON ---- */

static void write_change(FILE *to, const struct sxs_heap_change *c)
{
    char    buf[32];
    int64_t grown = (int64_t)(c->bytes[1] - c->bytes[0]);
    buf[0] = grown < 0 ? '-' : '+';
    sxs_text_bytes((double)(grown < 0 ? -grown : grown), buf + 1, sizeof(buf) - 1);
    char runtime[16] = "";
    if (c->runtime)
        snprintf(runtime, sizeof(runtime), "%u", c->runtime);
    sxs_print_to(to, "%11" PRIu64 " %11" PRIu64 " %+11" PRId64 " %13s  %7s  %s\n", c->objects[0],
                 c->objects[1], (int64_t)(c->objects[1] - c->objects[0]), buf, runtime, c->type);
}

static bool is_change(const struct sxs_heap_change *c)
{
    return c->bytes[0] != c->bytes[1] || c->objects[0] != c->objects[1];
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

/* Returns the bytes of which a type must have changed by more to be among the @top that changed
 * most. *at_limit: how many of those that changed by exactly so much are among them. */
static uint64_t limit_of(const struct sxs_heap_change *all, size_t n, size_t top, size_t *at_limit)
{
    uint64_t *sizes = sxs_must_zeroed(n, sizeof(*sizes)), limit = 0;
    size_t    changed = 0;
    *at_limit = SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        if (is_change(&all[i]))
            sizes[changed++] = size_of(&all[i]);
    if (changed > top) {
        qsort(sizes, changed, sizeof(*sizes), falling);
        limit = sizes[top];
        *at_limit = 0;
        for (size_t i = 0; i < top; i++)
            *at_limit += sizes[i] == limit;
    }
    free(sizes);
    return limit;
}

void sxs_heap_write_changes(FILE *to, const struct sxs_heap_sides *sides,
                            const struct sxs_heap_change *all, size_t n, size_t top)
{
    struct sxs_heap_change sum = {.type = "all types"};
    size_t                 left = 0, changed = 0, at_limit;
    uint64_t               limit = limit_of(all, n, top, &at_limit);
    for (size_t i = 0; i < n; i++) {
        changed += is_change(&all[i]);
        for (int side = 0; side < 2; side++) {
            sum.objects[side] += all[i].objects[side];
            sum.bytes[side] += all[i].bytes[side];
        }
    }
    sxs_missing_text_of(to, "before", &sides->missing[0]);
    sxs_missing_text_of(to, "now", &sides->missing[1]);
    sxs_print_to(to, "before: %s\nnow:    %s\n", sides->before, sides->now);
    fputs("    objects         now  difference         bytes  runtime  type\n", to);
    write_change(to, &sum);
    /* What grew most is at the beginning, what shrank most at the end. */
    for (size_t i = 0; i < n; i++) {
        if (!is_change(&all[i]))
            continue;
        uint64_t size = size_of(&all[i]);
        if (size > limit || (size == limit && at_limit)) {
            at_limit -= size == limit;
            write_change(to, &all[i]);
        } else if (!left++) {
            sxs_print_to(to, "  ... %zu types that changed less\n", changed - top);
        }
    }
    if (!changed)
        fputs("  no differences\n", to);
}

void sxs_heap_write_changes_json(FILE *to, const struct sxs_heap_sides *sides,
                                 const struct sxs_heap_change *all, size_t n)
{
    fputs("{\n", to);
    sxs_heap_write_missing_json(to, "\"missing_before\": ", &sides->missing[0], ",\n");
    sxs_heap_write_missing_json(to, "\"missing\": ", &sides->missing[1], ",\n");
    fputs("\"heap\": [", to);
    for (size_t i = 0; i < n; i++) {
        const struct sxs_heap_change *c = &all[i];
        sxs_print_to(to, "%s\n{\"runtime\": %u, \"type\": ", i ? "," : "", c->runtime);
        sxs_json_string(to, c->type);
        sxs_print_to(to,
                     ", \"objects_before\": %" PRIu64 ", \"objects\": %" PRIu64
                     ", \"bytes_before\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
                     c->objects[0], c->objects[1], c->bytes[0], c->bytes[1]);
    }
    fputs("\n]\n}\n", to);
}
