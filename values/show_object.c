/* SPDX-License-Identifier: MIT */
/* show_object.c - formats the objects that references refer to. */
#include <string.h>

#include "base/safe_read.h"
#include "values/show.h"

#define DIMENSIONS_MAX 8
/* Offsets in bytes. Those in method tables are the same in 8, 9 and 10. */
#define BOX            8u /* of the value in a boxed object, after the method table pointer */
#define PARENT_AT      16u /* of the parent in a method table */
#define BASE_SIZE_AT   4u  /* in a method table: of the objects' size without items, with HEADER */
#define LENGTH_AT      8u  /* of the length in an array */
#define BOUNDS_AT      16u /* in an array with several dimensions or a lower bound: lengths */
#define HEADER         8u  /* size of an object's header, which lies before the object's address */

static void show_string(struct sxs_line *line, const struct sxs_formatter *r, uintptr_t object)
{
    size_t         spare = line->n_spare;
    const uint8_t *head, *units;
    uint32_t       length;
    size_t         want;
    if (r->length_at + sizeof(length) > r->chars_at) {
        sxs_line_put(line, "<?: unreadable>");
        return;
    }
    head = sxs_show_copy(line, object, r->chars_at);
    if (head) {
        memcpy(&length, head + r->length_at, sizeof(length));
        line->n_spare = spare;
        want = length < SXS_SHOW_STRING ? length : SXS_SHOW_STRING;
        units = sxs_show_copy(line, object + r->chars_at, 2 * want);
        if (units)
            sxs_line_string(line, (const uint16_t *)(const void *)units, want, length);
    }
    line->n_spare = spare;
}

/* Not inlined, because reading takes some 200 bytes of stack. */
static __attribute__((noinline)) size_t read_at(void *to, uintptr_t from, size_t size)
{
    return sxs_safe_read(to, from, size);
}

int sxs_show_parent(ClassID id, ClassID *parent)
{
    return read_at(parent, id + PARENT_AT, sizeof(*parent)) == sizeof(*parent) ? 0 : -1;
}

/* Checks that the parent is System.Array: an address that is not that of a method table must not be
 * passed to the runtime. */
int sxs_is_array_class(const struct sxs_runtime *rt, ClassID id)
{
    ClassID                parent = 0;
    const struct sxs_type *t;
    if (sxs_show_parent(id, &parent) != 0)
        return 0;
    t = sxs_types_find(rt, parent);
    return t && strcmp(t->name, "System.Array") == 0;
}

/* Finds the lengths and the items of an array. Asks the runtime, which answers in hooks and refuses
 * elsewhere; then reads the object. A copy of an object is no object to the runtime. Returns 0 or
 * -1. */
static int ask_array(const struct sxs_line *line, struct sxs_runtime *rt, uintptr_t object,
                     ClassID id, ULONG rank, ULONG32 *lengths, uintptr_t *data)
{
    int      bounds[DIMENSIONS_MAX];
    BYTE    *items = NULL;
    uint32_t base = 0;
    if (!line->memory &&
        SUCCEEDED(sxs_info_GetArrayObjectInfo(rt, (sxs_object){rt, object}, rank, lengths, bounds,
                                              &items))) {
        *data = (uintptr_t)items;
        return 0;
    }
    if (read_at(&base, id + BASE_SIZE_AT, sizeof(base)) != sizeof(base) ||
        base < BOUNDS_AT + HEADER)
        return -1;
    *data = object + base - HEADER;
    if (*data == object + BOUNDS_AT)
        return rank == 1 && sxs_show_read(line, lengths, object + LENGTH_AT, 4) == 4 ? 0 : -1;
    return *data == object + BOUNDS_AT + 8 * rank &&
                   sxs_show_read(line, lengths, object + BOUNDS_AT, 4 * rank) == 4 * rank
               ? 0
               : -1;
}

/* Appends the name of an array's element type, which may be an array type itself. */
static void put_element_name(struct sxs_line *line, const struct sxs_formatter *r, ClassID id,
                             uint8_t element, unsigned depth)
{
    const struct sxs_type *t = id ? sxs_types_find(r->rt, id) : NULL;
    CorElementType         inner = ELEMENT_TYPE_END;
    sxs_class              base = {r->rt, 0};
    ULONG                  rank = 0;
    if (t) {
        sxs_line_put(line, t->name);
    } else if (!id || depth > 4 || !sxs_is_array_class(r->rt, id) ||
               sxs_info_IsArrayClass(r->rt, (sxs_class){r->rt, id}, &inner, &base, &rank) != S_OK) {
        sxs_line_put(line, sxs_element_name(element) ? sxs_element_name(element) : "?");
    } else {
        put_element_name(line, r, base.id, (uint8_t)inner, depth + 1);
        sxs_line_put(line, "[");
        for (ULONG i = 1; i < rank && i < DIMENSIONS_MAX; i++)
            sxs_line_put(line, ",");
        sxs_line_put(line, "]");
    }
}

int sxs_show_read_array(const struct sxs_line *line, const struct sxs_formatter *r,
                        uintptr_t object, ClassID id, struct sxs_array *out)
{
    struct sxs_runtime *rt = r->rt;
    CorElementType      element = ELEMENT_TYPE_END;
    sxs_class           base = {rt, 0};
    *out = (struct sxs_array){.n = 1, .item = {.rt = rt, .name = "type"}};
    if (sxs_info_IsArrayClass(rt, (sxs_class){rt, id}, &element, &base, &out->rank) != S_OK ||
        !out->rank || out->rank > DIMENSIONS_MAX ||
        ask_array(line, rt, object, id, out->rank, out->lengths, &out->data))
        return -1;
    for (ULONG i = 0; i < out->rank; i++)
        out->n *= out->lengths[i];
    out->item_class = base.id;
    out->of = base.id ? sxs_types_find(rt, base.id) : NULL;
    out->element = out->item.element = (uint8_t)element;
    if (element == ELEMENT_TYPE_VALUETYPE || (out->of && out->of->kind == SXS_TYPE_ENUM)) {
        out->item.element = SXS_ELEMENT_VALUETYPE;
        atomic_store(&out->item.type, out->of);
    } else if (!sxs_element_size(out->item.element) || element == ELEMENT_TYPE_CLASS) {
        out->item.element = SXS_ELEMENT_OBJECT;
    }
    return 0;
}

static void show_array(struct sxs_line *line, const struct sxs_formatter *r, uintptr_t object,
                       ClassID id, unsigned depth)
{
    struct sxs_array a;
    if (sxs_show_read_array(line, r, object, id, &a) != 0) {
        sxs_line_put(line, "<?: array>");
        return;
    }
    put_element_name(line, r, a.item_class, a.element, 0);
    sxs_line_put(line, "[");
    for (ULONG i = 0; i < a.rank; i++)
        sxs_line_putf(line, "%s%u", i ? "," : "", a.lengths[i]);
    sxs_line_put(line, "] ");
    sxs_show_items(line, r, &a.item, a.data, a.n, depth);
}

static void show_boxed(struct sxs_line *line, const struct sxs_formatter *r,
                       const struct sxs_type *t, uintptr_t object, unsigned depth)
{
    size_t           spare = line->n_spare;
    const uint8_t   *bytes;
    struct sxs_type_desc desc = {.element = SXS_ELEMENT_VALUETYPE, .rt = t->rt};
    if (!t->size || t->size > SXS_SHOW_VALUE) {
        sxs_line_put(line, t->name);
        return;
    }
    atomic_store(&desc.type, t);
    bytes = sxs_show_copy(line, object + BOX, t->size);
    if (bytes)
        sxs_show(line, r, &desc, bytes, depth);
    line->n_spare = spare;
}

static void show_message(struct sxs_line *line, const struct sxs_formatter *r, uintptr_t object)
{
    uintptr_t message = 0;
    if (!object || !r->message_at ||
        read_at(&message, object + r->message_at, sizeof(message)) != sizeof(message) || !message)
        return;
    sxs_line_put(line, ": ");
    sxs_show_object(line, r, message, 0);
}

void sxs_show_exception(struct sxs_line *line, const struct sxs_formatter *r, uintptr_t object)
{
    uint8_t spare[SXS_SHOW_SPARE] __attribute__((aligned(8)));
    line->spare = spare;
    line->n_spare = sizeof(spare);
    sxs_show_object(line, r, object, 0);
    show_message(line, r, object);
    line->n_spare = 0;
}

void sxs_show_object(struct sxs_line *line, const struct sxs_formatter *r, uintptr_t object,
                     unsigned depth)
{
    uintptr_t              id = 0;
    const struct sxs_type *t;
    if (!object) {
        sxs_line_put(line, "null");
        return;
    }
    if (sxs_show_read(line, &id, object, sizeof(id)) != sizeof(id)) {
        sxs_line_put(line, line->memory ? "..." : "<?: unreadable>");
        return;
    }
    id &= ~(uintptr_t)7; /* the garbage collector uses the low bits as marks */
    t = sxs_types_find(r->rt, id);
    if (t && t->kind == SXS_TYPE_STRING)
        show_string(line, r, object);
    else if (sxs_is_array_class(r->rt, id))
        show_array(line, r, object, id, depth);
    else if (!t)
        sxs_line_put(line, "<?: type not known>");
    else if (t->kind == SXS_TYPE_REFERENCE)
        sxs_line_put(line, t->name);
    else
        show_boxed(line, r, t, object, depth);
}
