/* SPDX-License-Identifier: MIT */
#include "tools/heap/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/object_size.h"
#include "base/text/buffer.h"
#include "sxs_info.h"

#define MAX_RANGES 65536u /* of generations */
#define FIELD_SIZE 1024u  /* bytes of a static field's name */
#define VARIANTS   64u    /* of a type */
#define RUNS       SXS_HEAP_PLACES_MAX

static uint32_t hash_of(uint64_t id)
{
    return (uint32_t)(sxs_hash_id(id) >> 32);
}

/* Makes room for one more element. Returns 0 or -1. */
static int reserve_element(void **array, size_t n, size_t *max, size_t size)
{
    size_t more = *max ? 2 * *max : 1024;
    void  *grown;
    if (n < *max)
        return 0;
    grown = realloc(*array, more * size);
    if (!grown)
        return -1;
    *array = grown;
    *max = more;
    return 0;
}

/* ---- types ----------------------------------------------------------------------------------- */

static struct sxs_heap_class *add_class(struct sxs_heap_sink *sink, ClassID cls)
{
    if (reserve_element((void **)&sink->classes, sink->n_classes, &sink->max_classes,
                        sizeof(*sink->classes)) != 0)
        return NULL;
    sink->classes[sink->n_classes] = (struct sxs_heap_class){.id = cls};
    return &sink->classes[sink->n_classes++];
}

uint32_t sxs_heap_sink_class(struct sxs_heap_sink *sink, ClassID cls)
{
    uint32_t hash = hash_of(cls), number;
    size_t   at = hash;
    if (sink->n_classes && sink->classes[sink->last_class].id == cls)
        return (uint32_t)sink->last_class + 1;
    if (sxs_index_reserve(&sink->class_index) != 0)
        goto no_memory;
    for (; (number = sxs_index_next(&sink->class_index, hash, &at)) != 0; at++) {
        if (sink->classes[number - 1].id == cls) {
            sink->last_class = number - 1;
            return number;
        }
    }
    if (!add_class(sink, cls))
        goto no_memory;
    sxs_index_put(&sink->class_index, at, hash, sink->n_classes - 1);
    sink->last_class = sink->n_classes - 1;
    return (uint32_t)sink->n_classes;
no_memory:
    sink->totals.lacking |= SXS_HEAP_SOME_OBJECTS;
    return 0;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Returns what the file has as the object's size: 0 if it is that of its type. */
static uint64_t own_size(struct sxs_heap_class *c, uint64_t size)
{
    if (!c->size)
        c->size = size;
    if (size == c->size)
        return 0;
    c->varies = 1;
    return size;
}

static struct sxs_heap_offsets *offsets_of(struct sxs_heap_class *c)
{
    if (!c->has_offsets)
        c->offsets = sxs_heap_offsets_read(c->id);
    c->has_offsets = 1;
    return c->offsets;
}

/* Returns the number of the variant of the type @type that has references in the slots of @mask; 0:
 * there are too many variants, or no memory. */
static uint32_t variant_of(struct sxs_heap_sink *sink, uint32_t type, uint64_t mask)
{
    struct sxs_heap_class *c = &sink->classes[type - 1];
    for (uint32_t at = c->next; at; at = sink->classes[at - 1].next)
        if (sink->classes[at - 1].mask == mask)
            return at;
    if (c->n_variants == VARIANTS || !add_class(sink, c->id))
        return 0;
    c = &sink->classes[type - 1]; /* the list may have moved */
    sink->classes[sink->n_classes - 1].variant_of = type;
    sink->classes[sink->n_classes - 1].mask = mask;
    sink->classes[sink->n_classes - 1].next = c->next;
    c->next = (uint32_t)sink->n_classes;
    c->n_variants++;
    return c->next;
}

/* ---- the slots of large objects and arrays ---- */

static void write_places(struct sxs_heap_sink *sink)
{
    if (sink->n_runs)
        sxs_heap_places(sink->file, sink->cursor.address, sink->runs, sink->n_runs);
    sink->n_runs = 0;
}

/* Ends the comparison. @known: 1 if the slot of each reference was found. */
static void end_cursor(struct sxs_heap_sink *sink, int known)
{
    if (known)
        write_places(sink);
    else
        sxs_heap_places(sink->file, sink->cursor.address, NULL, 0);
    sink->n_runs = 0;
    sink->cursor.offsets = NULL;
}

/* Returns 0 when the reference is in no slot. */
static int place_reference(struct sxs_heap_sink *sink, uint64_t ref)
{
    uint64_t skipped;
    if (sink->cursor.lead) {
        sink->cursor.lead--;
        return 1;
    }
    if (!sxs_heap_cursor_next(&sink->cursor, ref))
        return 0;
    skipped = sink->cursor.nulls;
    sink->cursor.nulls = 0;
    if (sink->n_runs && !skipped && sink->runs[sink->n_runs - 1] < UINT32_MAX) {
        sink->runs[sink->n_runs - 1]++;
        return 1;
    }
    if (sink->n_runs == RUNS)
        write_places(sink);
    sink->runs[sink->n_runs++] = (uint32_t)skipped;
    sink->runs[sink->n_runs++] = 1;
    return 1;
}

static void place_references(struct sxs_heap_sink *sink, const uint64_t *refs, size_t n)
{
    struct sxs_heap_cursor *c = &sink->cursor;
    for (size_t i = 0; i < n; i++)
        if (!place_reference(sink, refs[i])) {
            end_cursor(sink, 0);
            return;
        }
    if (!sxs_heap_cursor_ended(c))
        return; /* more references come, or else it ends when another object comes */
    if (sink->n_runs == 2 && !sink->runs[0] && sink->runs[1] == c->slots)
        sink->n_runs = 0; /* no slot is null: this needs not be said */
    end_cursor(sink, 1);
}

/* Begins with an object of which some references are null, or all if they come in parts. */
static void begin_cursor(struct sxs_heap_sink *sink, struct sxs_heap_offsets *s, uint64_t address,
                         uint64_t slots, const uint64_t *refs, size_t n)
{
    if (!sink->runs)
        sink->runs = malloc(RUNS * sizeof(*sink->runs));
    sink->cursor = (struct sxs_heap_cursor){.offsets = s, .address = address, .slots = slots};
    if (!sink->runs) {
        end_cursor(sink, 0);
        return;
    }
    if (!s->has_lead) {
        s->lead = !sxs_heap_cursor_next(&sink->cursor, refs[0]);
        s->has_lead = 1;
        sink->cursor.next = sink->cursor.nulls = 0;
    }
    sink->cursor.lead = s->lead;
    place_references(sink, refs, n);
}

/* Returns the number of the type, or of the variant of it, of an object; notes in which slots the
 * references are. */
static uint32_t place_object(struct sxs_heap_sink *sink, uint32_t type, uint64_t address,
                             uint64_t size, const uint64_t *refs, size_t n)
{
    struct sxs_heap_class   *c = &sink->classes[type - 1];
    struct sxs_heap_offsets *s = offsets_of(c);
    uint64_t                 slots, mask;
    uint32_t                 variant;
    if (sink->cursor.offsets) /* the one before is not complete */
        end_cursor(sink, 0);
    if (!s)
        return type;
    if (!sxs_heap_offsets_fits(s, c->id, address, size, &slots)) {
        sxs_heap_places(sink->file, address, NULL, 0);
        return type;
    }
    if (!s->step && sxs_heap_offsets_mask(s, address, refs, n, &mask)) {
        if (n - s->lead == slots)
            return type;
        variant = variant_of(sink, type, mask);
        if (variant)
            return variant;
    }
    begin_cursor(sink, s, address, slots, refs, n);
    return type;
}

static void write_object(struct sxs_heap_sink *sink, uint64_t address, uint32_t type,
                         uint32_t variant, uint64_t size, const uint64_t *refs, size_t n)
{
    size = sxs_object_padded(size);
    sxs_heap_object(sink->file, address, variant, own_size(&sink->classes[type - 1], size), refs,
                    n);
    sink->totals.references += n;
}

void sxs_heap_sink_more(struct sxs_heap_sink *sink, uint64_t address, ClassID cls, uint64_t size,
                        const uint64_t *refs, size_t n)
{
    uint32_t type = sxs_heap_sink_class(sink, cls);
    if (!type)
        return;
    if (sink->cursor.offsets && sink->cursor.address == address)
        place_references(sink, refs, n);
    write_object(sink, address, type, type, size, refs, n);
}

void sxs_heap_sink_object(struct sxs_heap_sink *sink, uint64_t address, ClassID cls, uint64_t size,
                          const uint64_t *refs, size_t n)
{
    uint32_t type = sxs_heap_sink_class(sink, cls), variant = type;
    if (type && n && sink->in_memory)
        variant = place_object(sink, type, address, size, refs, n);
    if (type)
        write_object(sink, address, type, variant, size, refs, n);
    sxs_heap_answers_see(sink->answers, address);
    sink->totals.objects++;
    sink->totals.bytes += sxs_object_padded(size);
}

void sxs_heap_sink_complete(struct sxs_heap_sink *sink)
{
    if (sink->cursor.offsets)
        end_cursor(sink, 0);
}

/* ---- roots ----------------------------------------------------------------------------------- */

/* Returns the number of a new name; 0: no memory. */
static uint32_t add_name(struct sxs_heap_sink *sink, uint64_t id, char *field)
{
    if (reserve_element((void **)&sink->names, sink->n_names, &sink->max_names,
                        sizeof(*sink->names)) != 0)
        return 0;
    sink->names[sink->n_names] = (struct sxs_heap_named){.id = id, .field = field};
    return (uint32_t)++sink->n_names;
}

static uint32_t number_of_function(struct sxs_heap_sink *sink, FunctionID function)
{
    uint32_t hash = hash_of(function), number;
    size_t   at = hash;
    if (sxs_index_reserve(&sink->name_index) != 0)
        return 0;
    for (; (number = sxs_index_next(&sink->name_index, hash, &at)) != 0; at++)
        if (sink->names[number - 1].id == function)
            return number;
    number = add_name(sink, function, NULL);
    if (number)
        sxs_index_put(&sink->name_index, at, hash, number - 1);
    return number;
}

static void write_root(struct sxs_heap_sink *sink, enum sxs_heap_root_kind kind, uint32_t flags,
                       uint64_t object, uint64_t id, uint32_t name)
{
    if (!object)
        return;
    sxs_heap_root(sink->file, kind, flags, object, id, name);
    sink->totals.roots++;
}

void sxs_heap_sink_root(struct sxs_heap_sink *sink, enum sxs_heap_root_kind kind, uint32_t flags,
                        uint64_t object, uint64_t id, FunctionID function)
{
    write_root(sink, kind, flags, object, id, function ? number_of_function(sink, function) : 0);
}

void sxs_heap_sink_static(struct sxs_heap_sink *sink, int of_thread, uint64_t object, ClassID type,
                          uint64_t id, const WCHAR *field, size_t n)
{
    char            bytes[FIELD_SIZE], *copy;
    struct sxs_text text = sxs_text_in(bytes, sizeof(bytes));
    uint32_t        number;
    if (!object)
        return;
    sxs_text_put_utf16(&text, field, n);
    copy = strdup(bytes);
    number = copy ? add_name(sink, id, copy) : 0;
    if (number) {
        sink->names[number - 1].object = object;
        sink->names[number - 1].type = type;
    } else {
        free(copy);
    }
    write_root(sink, of_thread ? SXS_HEAP_ROOT_THREAD_STATIC : SXS_HEAP_ROOT_STATIC, 0, object, id,
               number);
}

int sxs_heap_sink_slot(struct sxs_heap_sink *sink, uint64_t object, uint64_t id, ClassID cls,
                       char *field)
{
    uint32_t number = object ? add_name(sink, id, field) : 0;
    if (!number)
        return 0;
    sink->names[number - 1].cls = cls;
    write_root(sink, SXS_HEAP_ROOT_STATIC, 0, object, id, number);
    return 1;
}

void sxs_heap_sink_thread_slot(struct sxs_heap_sink *sink, uint64_t object, uint64_t id,
                               ClassID cls, const char *field, uint32_t tid, const char *thread)
{
    char    *copy = object ? strdup(field) : NULL;
    uint32_t number = copy ? add_name(sink, id, copy) : 0;
    if (!number) {
        free(copy);
        return;
    }
    sink->names[number - 1].cls = cls;
    sink->names[number - 1].tid = tid;
    snprintf(sink->names[number - 1].thread, sizeof(sink->names[0].thread), "%s", thread);
    write_root(sink, SXS_HEAP_ROOT_THREAD_STATIC, 0, object, id, number);
}

void sxs_heap_sink_dependent(struct sxs_heap_sink *sink, uint64_t primary, uint64_t secondary,
                             uint64_t id)
{
    if (!primary)
        return;
    sxs_heap_dependent(sink->file, primary, secondary, id);
    sink->totals.dependent++;
}

/* ---- generations ----------------------------------------------------------------------------- */

void sxs_heap_sink_bounds(struct sxs_heap_sink *sink)
{
    COR_PRF_GC_GENERATION_RANGE *ranges;
    ULONG                        n = 0;
    if (sink->bounds || FAILED(sxs_info_GetGenerationBounds(sink->rt, 0, &n, NULL)) || !n ||
        n > MAX_RANGES)
        return;
    ranges = calloc(n, sizeof(*ranges));
    if (ranges && SUCCEEDED(sxs_info_GetGenerationBounds(sink->rt, n, &n, ranges))) {
        for (ULONG i = 0; i < n; i++)
            sxs_heap_bounds(sink->file, (unsigned)ranges[i].generation, ranges[i].rangeStart,
                            ranges[i].rangeLength);
        sink->bounds = 1;
    }
    free(ranges);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

void sxs_heap_sink_begin(struct sxs_heap_sink *sink, struct sxs_heap_file *file,
                         struct sxs_runtime *rt, enum sxs_heap_how how)
{
    sink->file = file;
    sink->rt = rt;
    sink->in_memory = 1;
    sxs_heap_begin(file, sxs_runtime_number(rt), how, 2, sxs_runtime_version(rt),
                   sxs_runtime_path(rt));
}

void sxs_heap_sink_free(struct sxs_heap_sink *sink)
{
    for (size_t i = 0; i < sink->n_names; i++)
        free(sink->names[i].field);
    for (size_t i = 0; i < sink->n_classes; i++)
        sxs_heap_offsets_free(sink->classes[i].offsets);
    free(sink->runs);
    free(sink->names);
    free(sink->classes);
    sxs_index_free(&sink->class_index);
    sxs_index_free(&sink->name_index);
}
