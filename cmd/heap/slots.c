/* SPDX-License-Identifier: MIT */
#include "cmd/heap/slots.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/output/must.h"

#define LOST      UINT32_MAX /* in place of the number of a type */
#define LIST_BASE 24u        /* bytes of an array with one dimension without its elements */

/* The slots of a type, or of a variant of one. */
struct slots {
    uint32_t type; /* of which it is a variant; 0: it is a type */
    uint64_t mask; /* of a variant: bit i: slot i has a reference */
    uint32_t base, step, lead, n;
    uint32_t names; /* index of the first of n in `names` */
};

/* From the reference number @ref on, references are in the slots from @slot on. */
struct run {
    uint32_t ref, slot;
};

/* What PLACES say of an object. */
struct object_places {
    uint64_t address;
    uint32_t object, order;
    uint32_t first, n; /* of `runs`; n 0: not known in which slots its references are */
    uint32_t refs;     /* number of all references in slots */
};

struct sxs_heap_fields {
    struct sxs_numbers numbers; /* of types and variants */
    struct slots      *slots;   /* by index of the number */
    size_t             n_slots;
    uint32_t      *names; /* strings */
    size_t         n_names, cap_names;
    struct run    *runs; /* while PLACES are noted: null slots and references, not yet added up */
    size_t         n_runs, cap_runs;
    struct object_places *places; /* by object, when all is loaded */
    size_t                n_places, cap_places;
    uint32_t             *number; /* of the type, by object */
};

/* ---- blocks ---- */

static struct slots *slots_at(struct sxs_heap_fields *f, uint32_t number)
{
    uint32_t index = sxs_must_index(&f->numbers, number);
    f->slots = sxs_must_reach(f->slots, &f->n_slots, index, sizeof(*f->slots));
    return &f->slots[index];
}

/* Returns what is known of a type or variant; NULL: nothing. */
static const struct slots *slots_find(const struct sxs_heap_fields *f, uint32_t number)
{
    uint32_t index = f ? sxs_numbers_find(&f->numbers, number) : SXS_NUMBERS_NONE;
    return index == SXS_NUMBERS_NONE ? NULL : &f->slots[index];
}

static void note_fields(struct sxs_heap_fields *f, struct sxs_strings *strings,
                        struct sxs_heap_reader *r)
{
    struct sxs_heap_fields_item i;
    struct sxs_heap_text        name;
    while (sxs_heap_take_fields(r, &i)) {
        struct slots s = {.base = i.base, .step = i.step, .lead = i.lead};
        s.names = (uint32_t)f->n_names;
        while (sxs_heap_take_field(r, &name) && f->n_names < UINT32_MAX) {
            SXS_GROW(f->names, f->n_names, f->cap_names);
            f->names[f->n_names++] = sxs_strings_add(strings, name.at, name.size);
            s.n++;
        }
        if (s.n == i.n)
            *slots_at(f, i.type) = s;
    }
}

static void note_places(struct sxs_heap_fields *f, struct sxs_heap_reader *r)
{
    struct sxs_heap_places_item i;
    while (sxs_heap_take_places(r, &i)) {
        struct object_places p = {.address = i.address, .first = (uint32_t)f->n_runs};
        struct run           run;
        while (sxs_heap_take_place(r, &run.slot) && sxs_heap_take_place(r, &run.ref) &&
               f->n_runs < UINT32_MAX) {
            SXS_GROW(f->runs, f->n_runs, f->cap_runs);
            f->runs[f->n_runs++] = run;
            p.n++;
        }
        p.n = p.n * 2 == i.n ? p.n : 0;
        p.order = (uint32_t)f->n_places;
        if (f->n_places == UINT32_MAX)
            return;
        SXS_GROW(f->places, f->n_places, f->cap_places);
        f->places[f->n_places++] = p;
    }
}

void sxs_heap_fields_note(struct sxs_heap_fields **f, struct sxs_strings *strings,
                          struct sxs_heap_reader *r)
{
    struct sxs_heap_variant_item i;
    if (r->kind != SXS_HEAP_FIELDS && r->kind != SXS_HEAP_VARIANTS && r->kind != SXS_HEAP_PLACES)
        return;
    if (!*f)
        *f = sxs_must_zeroed(1, sizeof(**f));
    if (r->kind == SXS_HEAP_FIELDS)
        note_fields(*f, strings, r);
    else if (r->kind == SXS_HEAP_PLACES)
        note_places(*f, r);
    else
        while (sxs_heap_take_variant(r, &i))
            *slots_at(*f, i.number) = (struct slots){.type = i.type, .mask = i.mask};
}

uint32_t sxs_heap_fields_type(const struct sxs_heap_fields *f, uint32_t number)
{
    const struct slots *s = slots_find(f, number);
    return s && s->type ? s->type : number;
}

/* ---- objects ---- */

void sxs_heap_fields_begin(struct sxs_heap_fields *f, uint32_t n, const struct sxs_pages *pages)
{
    if (!f)
        return;
    f->number = sxs_must_zeroed(n, sizeof(*f->number));
    for (size_t i = 0; i < f->n_places; i++)
        f->places[i].object = sxs_pages_find(pages, f->places[i].address);
}

void sxs_heap_fields_object(struct sxs_heap_fields *f, uint32_t object, uint32_t number)
{
    if (f && f->number[object] != LOST)
        f->number[object] = number;
}

void sxs_heap_fields_lose(struct sxs_heap_fields *f, uint32_t object)
{
    if (f)
        f->number[object] = LOST;
}

static int by_object(const void *a, const void *b)
{
    const struct object_places *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Adds up the runs of an object: its items from @from to @to. */
static void add_up(struct sxs_heap_fields *f, size_t from, size_t to, struct run *runs, uint32_t *n,
                   struct object_places *out)
{
    uint64_t ref = 0, slot = 0;
    bool     known = true;
    *out = (struct object_places){.object = f->places[from].object, .first = *n};
    for (size_t i = from; i < to; i++) {
        known = known && f->places[i].n;
        for (uint32_t k = 0; k < f->places[i].n; k++) {
            const struct run *r = &f->runs[f->places[i].first + k];
            slot += r->slot;
            runs[(*n)++] = (struct run){(uint32_t)ref, (uint32_t)slot};
            ref += r->ref;
            slot += r->ref;
            known = known && r->ref && slot <= UINT32_MAX;
        }
    }
    out->n = known ? *n - out->first : 0;
    out->refs = known ? (uint32_t)ref : 0;
}

void sxs_heap_fields_end(struct sxs_heap_fields *f)
{
    struct run *runs;
    uint32_t    n = 0;
    size_t      kept = 0;
    if (!f || !f->n_places)
        return;
    qsort(f->places, f->n_places, sizeof(*f->places), by_object);
    runs = sxs_must_zeroed(f->n_runs, sizeof(*runs));
    for (size_t from = 0, to; from < f->n_places; from = to) {
        struct object_places p;
        for (to = from + 1; to < f->n_places && f->places[to].object == f->places[from].object;)
            to++;
        add_up(f, from, to, runs, &n, &p);
        f->places[kept++] = p;
    }
    f->n_places = kept;
    free(f->runs);
    f->runs = runs;
}

void sxs_heap_fields_free(struct sxs_heap_fields *f)
{
    if (!f)
        return;
    sxs_numbers_free(&f->numbers);
    free(f->slots);
    free(f->names);
    free(f->runs);
    free(f->places);
    free(f->number);
    free(f);
}

/* ---- questions ---- */

static const struct object_places *places_of(const struct sxs_heap_fields *f, uint32_t object)
{
    size_t low = 0, high = f->n_places;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->places[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->n_places && f->places[low].object == object ? &f->places[low] : NULL;
}

/* Returns the slot of reference number @ref of all that are in slots; UINT64_MAX: not known. */
static uint64_t slot_in_places(const struct sxs_heap_fields *f, const struct object_places *p,
                               uint32_t ref, uint32_t refs)
{
    uint32_t low = 0, high = p->n; /* the first run after @ref is in low..high */
    if (p->refs != refs)
        return UINT64_MAX;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->runs[p->first + middle].ref <= ref)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return UINT64_MAX;
    const struct run *r = &f->runs[p->first + low - 1];
    return (uint64_t)r->slot + (ref - r->ref);
}

static uint64_t slot_in_mask(uint64_t mask, uint32_t ref, uint32_t refs)
{
    if ((uint32_t)__builtin_popcountll(mask) != refs)
        return UINT64_MAX;
    for (; ref > 0; ref--)
        mask &= mask - 1;
    return (uint64_t)__builtin_ctzll(mask);
}

static uint64_t slots_of(const struct slots *s, uint64_t size)
{
    if (!s->step)
        return s->n;
    return size < s->base ? 0 : (size - s->base) / s->step * s->n;
}

struct sxs_heap_field sxs_heap_fields_find(const struct sxs_heap_fields *f, uint32_t object,
                                           uint32_t ref, uint32_t refs, uint64_t size)
{
    struct sxs_heap_field       out = {.index = SXS_HEAP_NO_INDEX};
    uint32_t                    number = f ? f->number[object] : 0;
    uint32_t                    type = sxs_heap_fields_type(f, number);
    const struct slots         *s = slots_find(f, type);
    const struct object_places *p;
    uint64_t                    slot, slots;
    if (!number || !s || s->type || !s->n)
        return out;
    if (ref < s->lead || ref >= refs)
        return out;
    ref -= s->lead;
    refs -= s->lead;
    slots = slots_of(s, size);
    p = places_of(f, object);
    if (number != type)
        slot = slot_in_mask(slots_find(f, number)->mask, ref, refs);
    else if (p)
        slot = slot_in_places(f, p, ref, refs);
    else
        slot = refs == slots ? ref : UINT64_MAX;
    if (slot >= slots)
        return out;
    out.name = f->names[s->names + slot % s->n];
    if (s->step) {
        out.kind = SXS_HEAP_FIELD_ELEMENT;
        if (s->base == LIST_BASE) /* of arrays with several dimensions the lengths are not known */
            out.index = (uint32_t)(slot / s->n);
    } else if (out.name) {
        out.kind = SXS_HEAP_FIELD_NAMED;
    }
    return out;
}

const char *sxs_heap_field_text(const struct sxs_strings *strings, struct sxs_heap_field field,
                                char *buf, size_t size)
{
    const char *name = sxs_strings_text(strings, field.name), *dot = field.name ? "." : "";
    if (field.kind == SXS_HEAP_FIELD_UNKNOWN)
        snprintf(buf, size, "%s", "");
    else if (field.kind == SXS_HEAP_FIELD_NAMED)
        snprintf(buf, size, ".%s", name);
    else if (field.index == SXS_HEAP_NO_INDEX)
        snprintf(buf, size, " [*]%s%s", dot, name);
    else
        snprintf(buf, size, " [%u]%s%s", field.index, dot, name);
    return buf;
}
