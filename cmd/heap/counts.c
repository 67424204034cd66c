/* SPDX-License-Identifier: MIT */
#include "cmd/heap/counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output/json_values.h"
#include "cmd/output/must.h"
#include "cmd/output/processes.h"
#include "session/read/file_read.h"
#include "session/read/heap_read.h"

/* A type while objects are counted: its size may become known after its objects. */
struct type {
    uint64_t sized, sized_bytes; /* objects with a size of their own */
    uint64_t plain;              /* objects of the type's size */
    uint64_t size;
    uint32_t number, name;
    uint32_t variant_of; /* number of a type; 0: it is no variant */
};

struct runtime {
    uint32_t           number, version;
    uint64_t           last; /* address of the last object; an object can come in several parts */
    bool               ended, begun;
    struct sxs_numbers numbers; /* of types */
    struct type       *types;   /* by index of the number */
    size_t             n;
};

struct heap_counting {
    struct sxs_heap_counts *out;
    struct runtime         *all;
    size_t                  n, cap, out_cap;
    uint32_t                wanted;
};

static struct type *type_of(struct runtime *r, uint32_t number)
{
    uint32_t index = sxs_must_index(&r->numbers, number);
    r->types = sxs_must_reach(r->types, &r->n, index, sizeof(*r->types));
    r->types[index].number = number;
    return &r->types[index];
}

static void count_objects(struct runtime *r, struct sxs_heap_reader *reader)
{
    struct sxs_heap_object_item o;
    while (sxs_heap_take_object(reader, &o)) {
        if (r->begun && o.address == r->last)
            continue;
        struct type *t = type_of(r, o.type);
        r->last = o.address;
        r->begun = true;
        t->plain += !o.sized;
        t->sized += o.sized;
        t->sized_bytes += o.size;
    }
}

static void take_types(struct heap_counting *c, struct runtime *r, struct sxs_heap_reader *reader)
{
    struct sxs_heap_type_item i;
    while (sxs_heap_take_type(reader, &i)) {
        struct type *t = type_of(r, i.number);
        t->size = i.size;
        if (!(i.flags & SXS_HEAP_TYPE_UNNAMED))
            t->name = sxs_strings_add(&c->out->strings, i.name.at, i.name.size);
    }
}

static void take_variants(struct runtime *r, struct sxs_heap_reader *reader)
{
    struct sxs_heap_variant_item i;
    while (sxs_heap_take_variant(reader, &i))
        type_of(r, i.number)->variant_of = i.type;
}

/* Objects of a variant are objects of its type. */
static void join_variants(struct runtime *r)
{
    for (size_t i = 0; i < r->numbers.n; i++) {
        struct type variant = r->types[i];
        if (!variant.variant_of || variant.variant_of == variant.number)
            continue;
        struct type *t = type_of(r, variant.variant_of); /* the list may move */
        t->plain += variant.plain;
        t->sized += variant.sized;
        t->sized_bytes += variant.sized_bytes;
        r->types[i] = (struct type){0};
    }
}

static struct runtime *runtime_of(struct heap_counting *c, uint32_t number)
{
    for (size_t i = c->n; i-- > 0;)
        if (c->all[i].number == number)
            return &c->all[i];
    SXS_GROW(c->all, c->n, c->cap);
    c->all[c->n] = (struct runtime){.number = number};
    return &c->all[c->n++];
}

static void count_block(struct heap_counting *c, struct runtime *r, struct sxs_heap_reader *reader)
{
    struct sxs_heap_runtime_item runtime;
    struct sxs_heap_end_item     end;
    switch (reader->kind) {
    case SXS_HEAP_RUNTIME:
        if (sxs_heap_take_runtime(reader, &runtime))
            r->version =
                sxs_strings_add(&c->out->strings, runtime.version.at, runtime.version.size);
        break;
    case SXS_HEAP_TYPES: take_types(c, r, reader); break;
    case SXS_HEAP_VARIANTS: take_variants(r, reader); break;
    case SXS_HEAP_OBJECTS: count_objects(r, reader); break;
    case SXS_HEAP_END: r->ended |= sxs_heap_take_end(reader, &end); break;
    default: break;
    }
}

static int by_type(const void *a, const void *b)
{
    const struct sxs_heap_count *x = a, *y = b;
    if (x->runtime != y->runtime)
        return x->runtime < y->runtime ? -1 : 1;
    return (x->type > y->type) - (x->type < y->type);
}

static int by_bytes(const void *a, const void *b)
{
    const struct sxs_heap_count *x = a, *y = b;
    if (x->runtime != y->runtime)
        return x->runtime < y->runtime ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return by_type(a, b);
}

static void give_runtime(struct heap_counting *c, const struct runtime *r)
{
    struct sxs_heap_counts *out = c->out;
    char                    unnamed[64];
    for (size_t i = 0; i < r->numbers.n; i++) {
        const struct type *t = &r->types[i];
        uint32_t           name = t->name;
        if (!t->plain && !t->sized)
            continue;
        if (!name) {
            int len = snprintf(unnamed, sizeof(unnamed), "(type %u, name not known)", t->number);
            name = sxs_strings_add(&out->strings, unnamed, (size_t)len);
        }
        SXS_GROW(out->all, out->n, c->out_cap);
        out->all[out->n++] = (struct sxs_heap_count){
            r->number, r->version, name, t->plain + t->sized, t->sized_bytes + t->plain * t->size};
    }
    if (!r->ended)
        sxs_lines_add(&out->problems, &out->n_problems,
                      "runtime %u: incomplete, its end is missing", r->number);
}

/* Joins types of equal names, and sorts the rest. */
static void order(struct sxs_heap_counts *out)
{
    size_t kept = 0;
    if (!out->n)
        return;
    qsort(out->all, out->n, sizeof(*out->all), by_type);
    for (size_t i = 1; i < out->n; i++) {
        if (by_type(&out->all[kept], &out->all[i]) == 0) {
            out->all[kept].objects += out->all[i].objects;
            out->all[kept].bytes += out->all[i].bytes;
        } else {
            out->all[++kept] = out->all[i];
        }
    }
    out->n = kept + 1;
    qsort(out->all, out->n, sizeof(*out->all), by_bytes);
}

static void note_problems(struct sxs_heap_counts *out, struct sxs_heap_reader *r)
{
    const char *line;
    for (size_t i = 0; (line = sxs_heap_reader_problem(r, i)); i++)
        sxs_lines_add(&out->problems, &out->n_problems, "%s", line);
    if (r->head.error)
        sxs_lines_add(&out->problems, &out->n_problems, "incomplete: %s", strerror(r->head.error));
    else if (!r->head.ended_ns)
        sxs_lines_add(&out->problems, &out->n_problems,
                      "incomplete: it was not written to its end");
}

int sxs_heap_counts_load(int folder_fd, uint32_t number, uint32_t runtime,
                         struct sxs_heap_counts *out, char *why, size_t why_size)
{
    struct sxs_heap_reader r;
    struct heap_counting   c = {.out = out, .wanted = runtime};
    memset(out, 0, sizeof(*out));
    int err = sxs_heap_reader_open(&r, SXS_FILES_OF(folder_fd), number, why, why_size);
    if (err)
        return err;
    sxs_strings_add(&out->strings, "", 0);
    while (sxs_heap_reader_next(&r))
        if (!runtime || r.runtime == runtime)
            count_block(&c, runtime_of(&c, r.runtime), &r);
    for (size_t i = 0; i < c.n; i++) {
        join_variants(&c.all[i]);
        give_runtime(&c, &c.all[i]);
        sxs_numbers_free(&c.all[i].numbers);
        free(c.all[i].types);
    }
    order(out);
    note_problems(out, &r);
    sxs_heap_reader_close(&r);
    free(c.all);
    return 0;
}

void sxs_heap_counts_free(struct sxs_heap_counts *c)
{
    free(c->all);
    sxs_strings_free(&c->strings);
    sxs_lines_free(c->problems, c->n_problems);
    memset(c, 0, sizeof(*c));
}

/* ---- the newest snapshot of each process ---- */

static int load_newest(void *arg, const struct sxs_process_part *part)
{
    struct sxs_heap_newest        *h = arg;
    struct sxs_heap_newest_process one = {.pid = part->process->pid};
    uint32_t                       number = sxs_heap_newest_number(part->fd);
    char                           why[256];
    if (!number)
        return 0;
    int err = sxs_heap_counts_load(part->fd, number, h->runtime, &one.counts, why, sizeof(why));
    if (err)
        sxs_lines_add(&h->problems, &h->n_problems, "%s/" SXS_HEAP_FILE "%u: %s", part->folder,
                      number, why);
    for (size_t i = 0; i < one.counts.n_problems; i++)
        sxs_lines_add(&h->problems, &h->n_problems, "%s/" SXS_HEAP_FILE "%u: %s", part->folder,
                      number, one.counts.problems[i]);
    if (err)
        return 0;
    h->processes = sxs_must(reallocarray(h->processes, h->n + 1, sizeof(*h->processes)));
    h->processes[h->n++] = one;
    return 0;
}

struct sxs_opened_reader sxs_heap_newest_reader(uint32_t runtime, struct sxs_heap_newest *out)
{
    memset(out, 0, sizeof(*out));
    out->runtime = runtime;
    return (struct sxs_opened_reader){
        .take = load_newest, .arg = out, .files = sxs_session_file_bit(SXS_HEAP_FILE "1")};
}

void sxs_heap_newest_free(struct sxs_heap_newest *h)
{
    for (size_t i = 0; i < h->n; i++)
        sxs_heap_counts_free(&h->processes[i].counts);
    sxs_lines_free(h->problems, h->n_problems);
    free(h->processes);
    memset(h, 0, sizeof(*h));
}

int sxs_heap_newest_json(json_t *top, const struct sxs_heap_newest *h)
{
    json_t *rows = json_array();
    int     err = json_object_set_new(top, "heap", rows);
    for (size_t p = 0; p < h->n && !err; p++) {
        const struct sxs_heap_counts *c = &h->processes[p].counts;
        for (size_t i = 0; i < c->n && !err; i++) {
            json_t *row = json_object();
            err |= sxs_json_set_number(row, "runtime", c->all[i].runtime);
            err |= sxs_json_set_text(row, "type", sxs_strings_text(&c->strings, c->all[i].type));
            err |= sxs_json_set_number(row, "objects", c->all[i].objects);
            err |= sxs_json_set_number(row, "bytes", c->all[i].bytes);
            err |= sxs_json_set_number(row, "pid", h->processes[p].pid);
            err |= json_array_append_new(rows, row);
        }
    }
    return err;
}
