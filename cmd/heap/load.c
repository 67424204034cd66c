/* SPDX-License-Identifier: MIT */
/*
 * Loads a heap snapshot into graphs, by reading the file twice. The first time, the addresses of
 * the objects and the numbers of their references are noted, and everything that is small. Then
 * the addresses are sorted. The second time, references become numbers of objects at once.
 */
#include "cmd/heap/graph.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/heap/slots.h"
#include "cmd/output/must.h"
#include "session/read/file_read.h"

/* Of objects, and of references. */
#define MAX_COUNT 0x7fffffffu

/* A root or a dependent handle, with addresses in place of numbers. */
struct raw_root {
    uint64_t object, id;
    uint32_t name;
    uint8_t  kind, flags;
};
struct raw_pair {
    uint64_t primary, secondary;
};

/* What objects name by the number of a type. */
struct numbered_type {
    uint64_t size;  /* of each object, if all have the same size */
    uint32_t index; /* in g.types, + 1; 0: no type has this number */
};

/* A graph while it is loaded. */
struct graph_loading {
    struct sxs_heap_graph        g;
    uint32_t                    *references; /* number of them, by object */
    size_t                       n, cap;     /* objects */
    struct sxs_numbers           types, names; /* numbers of them */
    struct numbered_type        *type_of;      /* by index of the type's number */
    uint32_t                    *text_of; /* by index of the name's number: number of the string */
    size_t                       n_type_of, n_text_of;
    struct sxs_numbers           type_texts; /* numbers of strings, by index in g.types */
    size_t                       n_types, cap_types;
    struct raw_root             *roots;
    size_t                       n_roots, cap_roots;
    struct raw_pair             *pairs;
    size_t                       n_pairs, cap_pairs;
    struct sxs_heap_bounds_item *bounds;
    size_t                       n_bounds, cap_bounds;
    struct sxs_pages             pages;
    uint32_t                    *fill; /* by object: where its next reference goes in g.to */
    uint32_t                     last; /* the object that was filled in last */
};

struct all {
    struct sxs_heap_snapshot *s;
    struct graph_loading     *all;
    size_t                    n, cap;
    uint32_t                  runtime;
};

/* ---- first time ---- */

/* Returns the index of the type with the name @text, which is added when it is new. */
static uint32_t type_named(struct graph_loading *l, uint32_t text)
{
    uint32_t index = sxs_must_index(&l->type_texts, text);
    if (index == l->n_types) {
        SXS_GROW(l->g.types, l->n_types, l->cap_types);
        l->g.types[l->n_types++] = (struct sxs_heap_type){.name = text};
    }
    return index;
}

static void note_type(struct sxs_heap_snapshot *s, struct graph_loading *l,
                      const struct sxs_heap_type_item *t)
{
    char     unnamed[64];
    uint32_t text;
    bool     named = t->name.size && !(t->flags & SXS_HEAP_TYPE_UNNAMED);
    int      len = snprintf(unnamed, sizeof(unnamed), "(type %u, name not known)", t->number);
    text = named ? sxs_strings_add(&s->strings, t->name.at, t->name.size)
                 : sxs_strings_add(&s->strings, unnamed, (size_t)len);
    uint32_t              index = type_named(l, text);
    struct sxs_heap_type *type = &l->g.types[index];
    type->flags |= t->flags;
    type->module = sxs_strings_add(&s->strings, t->module.at, t->module.size);
    uint32_t at = sxs_must_index(&l->types, t->number);
    l->type_of = sxs_must_reach(l->type_of, &l->n_type_of, at, sizeof(*l->type_of));
    l->type_of[at] = (struct numbered_type){t->size, index + 1};
}

static void note_names(struct sxs_heap_snapshot *s, struct graph_loading *l,
                       struct sxs_heap_reader *r)
{
    struct sxs_heap_name_item name;
    while (sxs_heap_take_name(r, &name)) {
        uint32_t at = sxs_must_index(&l->names, name.number);
        l->text_of = sxs_must_reach(l->text_of, &l->n_text_of, at, sizeof(*l->text_of));
        l->text_of[at] = sxs_strings_add(&s->strings, name.text.at, name.text.size);
    }
}

static void note_objects(struct graph_loading *l, struct sxs_heap_reader *r)
{
    struct sxs_heap_object_item o;
    while (sxs_heap_take_object(r, &o) && l->n < MAX_COUNT) {
        if (l->n && l->g.address[l->n - 1] == o.address) { /* one more part of it */
            l->references[l->n - 1] += (uint32_t)o.references;
            continue;
        }
        if (l->n == l->cap) {
            l->cap = l->cap ? l->cap * 2 : 64;
            l->g.address = sxs_must(reallocarray(l->g.address, l->cap, sizeof(*l->g.address)));
            l->references = sxs_must(reallocarray(l->references, l->cap, sizeof(*l->references)));
        }
        l->g.address[l->n] = o.address;
        l->references[l->n++] = (uint32_t)o.references;
    }
}

static void note_runtime(struct sxs_heap_snapshot *s, struct graph_loading *l,
                         struct sxs_heap_reader *r)
{
    struct sxs_heap_runtime_item i;
    if (!sxs_heap_take_runtime(r, &i))
        return;
    l->g.how = i.how;
    l->g.server = i.server;
    l->g.version = sxs_strings_add(&s->strings, i.version.at, i.version.size);
}

static void note_roots(struct graph_loading *l, struct sxs_heap_reader *r)
{
    struct sxs_heap_root_item i;
    while (sxs_heap_take_root(r, &i)) {
        SXS_GROW(l->roots, l->n_roots, l->cap_roots);
        l->roots[l->n_roots++] = (struct raw_root){
            i.object, i.id, i.name, (uint8_t)(i.kind <= SXS_HEAP_ROOT_THREAD_STATIC ? i.kind : 0),
            (uint8_t)(i.flags & 15)};
    }
}

static void note_dependent(struct graph_loading *l, struct sxs_heap_reader *r)
{
    struct sxs_heap_dependent_item i;
    while (sxs_heap_take_dependent(r, &i)) {
        SXS_GROW(l->pairs, l->n_pairs, l->cap_pairs);
        l->pairs[l->n_pairs++] = (struct raw_pair){i.primary, i.secondary};
    }
}

static void note_bounds(struct graph_loading *l, struct sxs_heap_reader *r)
{
    struct sxs_heap_bounds_item i;
    while (sxs_heap_take_bounds(r, &i)) {
        SXS_GROW(l->bounds, l->n_bounds, l->cap_bounds);
        l->bounds[l->n_bounds++] = i;
    }
}

static void note_block(struct sxs_heap_snapshot *s, struct graph_loading *l,
                       struct sxs_heap_reader *r)
{
    struct sxs_heap_type_item type;
    switch (r->kind) {
    case SXS_HEAP_RUNTIME: note_runtime(s, l, r); break;
    case SXS_HEAP_TYPES:
        while (sxs_heap_take_type(r, &type))
            note_type(s, l, &type);
        break;
    case SXS_HEAP_OBJECTS: note_objects(l, r); break;
    case SXS_HEAP_ROOTS: note_roots(l, r); break;
    case SXS_HEAP_NAMES: note_names(s, l, r); break;
    case SXS_HEAP_DEPENDENT: note_dependent(l, r); break;
    case SXS_HEAP_BOUNDS: note_bounds(l, r); break;
    case SXS_HEAP_END: l->g.ended |= sxs_heap_take_end(r, &l->g.end); break;
    default: sxs_heap_fields_note(&l->g.fields, &s->strings, r); break;
    }
}

/* Returns the runtime of the block that was loaded last; NULL when it was not asked for. @add:
 * whether it may be a new one. */
static struct graph_loading *loading_of(struct all *a, const struct sxs_heap_reader *r, bool add)
{
    if (a->runtime && r->runtime != a->runtime)
        return NULL;
    for (size_t i = a->n; i-- > 0;)
        if (a->all[i].g.runtime == r->runtime)
            return &a->all[i];
    if (!add)
        return NULL;
    SXS_GROW(a->all, a->n, a->cap);
    a->all[a->n] = (struct graph_loading){.g = {.runtime = r->runtime}};
    return &a->all[a->n++];
}

/* ---- between ---- */

static int by_bounds(const void *a, const void *b)
{
    const struct sxs_heap_bounds_item *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Sets the generation of each object: both lists are ordered by address. */
static void set_generations(struct graph_loading *l)
{
    size_t at = 0;
    if (l->n_bounds)
        qsort(l->bounds, l->n_bounds, sizeof(*l->bounds), by_bounds);
    for (uint32_t i = 0; i < l->g.n; i++) {
        uint64_t address = l->g.address[i];
        while (at + 1 < l->n_bounds && l->bounds[at + 1].start <= address)
            at++;
        if (at < l->n_bounds && address - l->bounds[at].start < l->bounds[at].size)
            l->g.generation[i] = (uint8_t)l->bounds[at].generation;
    }
}

static int by_pair(const void *a, const void *b)
{
    const struct sxs_heap_pair *x = a, *y = b;
    if (x->primary != y->primary)
        return x->primary < y->primary ? -1 : 1;
    return (x->secondary > y->secondary) - (x->secondary < y->secondary);
}

static void place_pairs(struct graph_loading *l)
{
    struct sxs_heap_graph *g = &l->g;
    g->dependent = sxs_must_zeroed(l->n_pairs, sizeof(*g->dependent));
    for (size_t i = 0; i < l->n_pairs; i++) {
        uint32_t primary = sxs_pages_find(&l->pages, l->pairs[i].primary);
        uint32_t secondary = sxs_pages_find(&l->pages, l->pairs[i].secondary);
        if (primary == UINT32_MAX || secondary == UINT32_MAX || primary == secondary)
            continue;
        g->dependent[g->n_dependent++] = (struct sxs_heap_pair){primary, secondary};
        l->references[primary]++;
    }
    qsort(g->dependent, g->n_dependent, sizeof(*g->dependent), by_pair);
}

/* Reserves the places of all references. Returns false when there are too many. */
static bool place_references(struct graph_loading *l)
{
    struct sxs_heap_graph *g = &l->g;
    uint64_t               sum = 0;
    g->first = sxs_must_zeroed((size_t)g->n + 1, sizeof(*g->first));
    for (uint32_t i = 0; i < g->n; i++) {
        g->first[i] = (uint32_t)sum;
        sum += l->references[i];
        if (sum > MAX_COUNT)
            break;
    }
    bool few = sum <= MAX_COUNT;
    if (!few) {
        memset(g->first, 0, ((size_t)g->n + 1) * sizeof(*g->first));
        sum = 0;
    }
    g->first[g->n] = (uint32_t)sum;
    g->to = sxs_must_zeroed(sum, sizeof(*g->to));
    l->fill = l->references; /* of the same size, and not needed any more */
    memcpy(l->fill, g->first, (size_t)g->n * sizeof(*l->fill));
    l->references = NULL;
    return few;
}

static void place(struct sxs_heap_snapshot *s, struct graph_loading *l)
{
    struct sxs_heap_graph *g = &l->g;
    if (!l->n) { /* lists of no elements are no NULL pointers */
        g->address = sxs_must_zeroed(1, sizeof(*g->address));
        l->references = sxs_must_zeroed(1, sizeof(*l->references));
    }
    g->n = (uint32_t)sxs_addresses_sort(g->address, l->references, l->n);
    sxs_pages_build(&l->pages, g->address, g->n);
    place_pairs(l);
    g->size = sxs_must_zeroed(g->n, sizeof(*g->size));
    g->type = sxs_must_zeroed(g->n, sizeof(*g->type));
    g->generation = sxs_must_zeroed(g->n, sizeof(*g->generation));
    set_generations(l);
    if (!place_references(l))
        sxs_lines_add(&s->problems, &s->n_problems,
                      "runtime %u: more than %u references, which are left out", g->runtime,
                      MAX_COUNT);
    sxs_heap_fields_begin(g->fields, g->n, &l->pages);
    l->last = SXS_NO_OBJECT;
}

/* ---- second time ---- */

static uint32_t object_at(struct graph_loading *l, uint64_t address)
{
    const struct sxs_heap_graph *g = &l->g;
    if (l->last + 1 < g->n && g->address[l->last + 1] == address) /* as they mostly come */
        return l->last + 1;
    return sxs_pages_find(&l->pages, address);
}

static void add_reference(struct graph_loading *l, uint32_t from, uint32_t to)
{
    if (l->fill[from] < l->g.first[from + 1])
        l->g.to[l->fill[from]++] = to;
}

static void fill_objects(struct sxs_heap_snapshot *s, struct graph_loading *l,
                         struct sxs_heap_reader *r)
{
    static const char           unknown[] = "(type not known)";
    struct sxs_heap_graph      *g = &l->g;
    struct sxs_heap_object_item o;
    uint64_t                    address;
    while (sxs_heap_take_object(r, &o)) {
        uint64_t lost = 0;
        uint32_t i = object_at(l, o.address);
        if (i == SXS_NO_OBJECT)
            continue;
        struct numbered_type type = {0};
        uint32_t at = sxs_numbers_find(&l->types, sxs_heap_fields_type(g->fields, o.type));
        if (at != SXS_NUMBERS_NONE)
            type = l->type_of[at];
        if (!type.index)
            type.index = type_named(l, sxs_strings_add(&s->strings, unknown, strlen(unknown))) + 1;
        g->type[i] = type.index - 1;
        g->size[i] = o.sized ? o.size : type.size;
        sxs_heap_fields_object(g->fields, i, o.type);
        while (sxs_heap_take_reference(r, &address)) {
            uint32_t to = sxs_pages_find(&l->pages, address);
            if (to != SXS_NO_OBJECT)
                add_reference(l, i, to);
            else
                lost++;
        }
        g->unknown_references += lost;
        if (lost)
            sxs_heap_fields_lose(g->fields, i);
        l->last = i;
    }
}

/* Closes the gaps of references whose object is unknown. */
static void close_gaps(struct sxs_heap_graph *g, const uint32_t *fill)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t from = g->first[i], n = fill[i] - from;
        memmove(g->to + to, g->to + from, n * sizeof(*g->to));
        g->first[i] = to;
        to += n;
    }
    g->first[g->n] = to;
}

/* The order in which the roots of one object are shown: the most telling first. */
static unsigned root_rank(const struct sxs_heap_root *r)
{
    static const unsigned char ranks[] = {
        [SXS_HEAP_ROOT_STATIC] = 0, [SXS_HEAP_ROOT_THREAD_STATIC] = 1, [SXS_HEAP_ROOT_STACK] = 2,
        [SXS_HEAP_ROOT_HANDLE] = 3, [SXS_HEAP_ROOT_FINALIZER] = 4,     [SXS_HEAP_ROOT_OTHER] = 5};
    unsigned rank = r->kind < sizeof(ranks) ? ranks[r->kind] : 5;
    return rank + (sxs_heap_strong(r) ? 0 : 16);
}

static int by_root(const void *a, const void *b)
{
    const struct sxs_heap_root *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    unsigned rx = root_rank(x), ry = root_rank(y);
    if (rx != ry)
        return rx < ry ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Static fields are elements of arrays that the runtime keeps, thread-static ones of an array for each
 * thread. The reference from such an array is the field itself and must not count twice, so it
 * becomes one from the array to itself. */
static void drop_slot(struct sxs_heap_graph *g, uint64_t address, uint32_t to)
{
    uint32_t from = sxs_heap_find(g, address, true);
    for (uint32_t k = from == SXS_NO_OBJECT ? 0 : g->first[from];
         from != SXS_NO_OBJECT && k < g->first[from + 1]; k++)
        if (g->to[k] == to) {
            g->to[k] = from;
            return;
        }
}

static void place_roots(struct graph_loading *l)
{
    struct sxs_heap_graph *g = &l->g;
    g->roots = sxs_must_zeroed(l->n_roots, sizeof(*g->roots));
    for (size_t i = 0; i < l->n_roots && g->n_roots < UINT32_MAX; i++) {
        const struct raw_root *r = &l->roots[i];
        uint32_t               object = sxs_heap_find(g, r->object, true);
        if (object == SXS_NO_OBJECT) {
            g->unknown_roots++;
            continue;
        }
        if (r->kind == SXS_HEAP_ROOT_THREAD_STATIC || r->kind == SXS_HEAP_ROOT_STATIC)
            drop_slot(g, r->id, object);
        uint32_t name = sxs_numbers_find(&l->names, r->name);
        g->roots[g->n_roots++] = (struct sxs_heap_root){
            object, name != SXS_NUMBERS_NONE ? l->text_of[name] : 0, r->kind, r->flags};
    }
    qsort(g->roots, g->n_roots, sizeof(*g->roots), by_root);
}

static void finish(struct sxs_heap_snapshot *s, struct graph_loading *l)
{
    struct sxs_heap_graph *g = &l->g;
    for (uint32_t i = 0; i < g->n_dependent; i++)
        add_reference(l, g->dependent[i].primary, g->dependent[i].secondary);
    close_gaps(g, l->fill);
    sxs_heap_fields_end(g->fields);
    place_roots(l);
    g->n_types = (uint32_t)l->n_types;
    if (!g->ended)
        sxs_lines_add(&s->problems, &s->n_problems, "runtime %u: incomplete, its end is missing",
                      g->runtime);
    free(l->fill);
    free(l->type_of);
    free(l->text_of);
    sxs_numbers_free(&l->types);
    sxs_numbers_free(&l->names);
    sxs_numbers_free(&l->type_texts);
    free(l->roots);
    free(l->pairs);
    free(l->bounds);
    sxs_pages_free(&l->pages);
}

static int by_runtime(const void *a, const void *b)
{
    const struct sxs_heap_graph *x = a, *y = b;
    return (x->runtime > y->runtime) - (x->runtime < y->runtime);
}

static void load(struct all *a, struct sxs_heap_reader *r)
{
    struct sxs_heap_snapshot *s = a->s;
    struct graph_loading     *l;
    while (sxs_heap_reader_next(r))
        if ((l = loading_of(a, r, true)))
            note_block(s, l, r);
    for (size_t i = 0; i < a->n; i++)
        place(s, &a->all[i]);
    sxs_heap_reader_rewind(r);
    while (sxs_heap_reader_next(r))
        if (r->kind == SXS_HEAP_OBJECTS && (l = loading_of(a, r, false)))
            fill_objects(s, l, r);
    s->graphs = sxs_must_zeroed(a->n, sizeof(*s->graphs));
    for (size_t i = 0; i < a->n; i++) {
        finish(s, &a->all[i]);
        s->graphs[s->n++] = a->all[i].g;
    }
    qsort(s->graphs, s->n, sizeof(*s->graphs), by_runtime);
}

int sxs_heap_load(int folder_fd, uint32_t number, uint32_t runtime, struct sxs_heap_snapshot *out,
                  char *why, size_t why_size)
{
    struct sxs_heap_reader r;
    struct all             a = {.s = out, .runtime = runtime};
    const char            *line;
    memset(out, 0, sizeof(*out));
    int err = sxs_heap_reader_open(&r, SXS_FILES_OF(folder_fd), number, why, why_size);
    if (err)
        return err;
    out->head = r.head;
    sxs_strings_add(&out->strings, "", 0);
    load(&a, &r);
    for (size_t i = 0; (line = sxs_heap_reader_problem(&r, i)); i++)
        sxs_lines_add(&out->problems, &out->n_problems, "%s", line);
    if (out->head.error)
        sxs_lines_add(&out->problems, &out->n_problems, "incomplete: %s",
                      strerror(out->head.error));
    else if (!out->head.ended_ns)
        sxs_lines_add(&out->problems, &out->n_problems,
                      "incomplete: it is still being written, or the process ended before its end");
    sxs_heap_reader_close(&r);
    free(a.all);
    return 0;
}
