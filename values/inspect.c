/* SPDX-License-Identifier: MIT */
#include "values/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager/module_info.h"
#include "values/declared.h"
#include "values/layout.h"
#include "values/show.h"

#define RAW_BYTES 64u
#define SHORT     2048u /* bytes of the text of a field */
#define BOX       8u    /* offset of the value in a boxed object */

/* ---- types of fields ------------------------------------------------------------------------- */

/* The struct whose fields get lines of their own; NULL: the value is one text. */
static const struct sxs_type *struct_of(struct sxs_type_desc *desc)
{
    const struct sxs_type *t =
        desc->element == SXS_ELEMENT_VALUETYPE ? sxs_type_desc_type(desc) : NULL;
    return t && t->kind == SXS_TYPE_STRUCT && t->form == SXS_FORM_FIELDS ? t : NULL;
}

static int is_reference(const struct sxs_type_desc *desc)
{
    return desc->element == SXS_ELEMENT_OBJECT || desc->element == SXS_ELEMENT_STRING;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int emit(struct sxs_inspection *in, const struct sxs_shown_value *value)
{
    static const struct sxs_shown_value last = {
        .name = "...", .owner = "", .type = "", .value = ""};
    struct sxs_shown_value cut = last;
    if (in->left == 0)
        return -1;
    if (--in->left == 0) { /* the last line says that there are more */
        cut.depth = value->depth;
        cut.offset = value->offset;
        value = &cut;
    }
    in->line(in->arg, value);
    return in->left ? 0 : -1;
}

static void emit_fields(struct sxs_inspection *in, ClassID id, uint64_t at, uint32_t offset,
                        unsigned depth);

/* Shows the bytes of a struct without fields, such as the data of an array's initial value. */
static void show_raw(struct sxs_inspection *in, uint64_t at, uint32_t size, char *text, size_t room)
{
    struct sxs_text out = sxs_text_in(text, room);
    unsigned char   byte;
    for (uint32_t i = 0; i < size && i < RAW_BYTES && sxs_memory_read(in->memory, &byte, at + i, 1);
         i++)
        sxs_text_putf(&out, "%s%02x", i ? " " : "", byte);
    if (size > RAW_BYTES)
        sxs_text_put(&out, " ...");
}

/* Shows the bytes at @at as one text. */
static void show_bytes(struct sxs_inspection *in, struct sxs_type_desc *desc, uint64_t at,
                       char *text, size_t size, uint64_t *object)
{
    unsigned char   bytes[SXS_SHOW_VALUE], spare[SXS_SHOW_SPARE] __attribute__((aligned(8)));
    struct sxs_line line = sxs_line_in(text, size);
    uint32_t        n = sxs_type_desc_size(desc);
    line.spare = spare;
    line.n_spare = sizeof(spare);
    line.memory = in->memory;
    if (desc->element && n > sizeof(bytes)) {
        sxs_line_putf(&line, "<?: %u bytes>", n);
    } else if (n && sxs_memory_read(in->memory, bytes, at, n) != n) {
        sxs_line_put(&line, "...");
    } else {
        memset(bytes + n, 0, sizeof(bytes) - n);
        sxs_show(&line, &in->format, desc, bytes, 0);
        if (is_reference(desc))
            memcpy(object, bytes, sizeof(*object));
    }
}

/* Writes one value: its line, and if it is a struct, those of its fields. @value: all but the size,
 * the object and the text is set. */
static void emit_value(struct sxs_inspection *in, struct sxs_shown_value *value,
                       struct sxs_type_desc *desc, uint64_t at)
{
    const struct sxs_type *t = struct_of(desc);
    int                    has_fields = t && t->n_members && value->depth < SXS_INSPECT_DEPTH;
    char                   text[SHORT] = "";
    value->size = sxs_type_desc_size(desc);
    value->value = text;
    if (t && t->n_members == 0)
        show_raw(in, at, t->size, text, sizeof(text));
    else if (!has_fields)
        show_bytes(in, desc, at, text, sizeof(text), &value->object);
    if (emit(in, value) == 0 && has_fields)
        emit_fields(in, t->id, at, value->offset, value->depth + 1);
    value->value = "";
}

/* Writes the fields of an object or a struct of the class @id. */
static void emit_fields(struct sxs_inspection *in, ClassID id, uint64_t at, uint32_t offset,
                        unsigned depth)
{
    const struct sxs_layout *l = sxs_layout_get((sxs_class){in->rt, id});
    for (uint32_t i = 0; l && i < l->n_fields && in->left; i++) {
        const struct sxs_field  *f = &l->fields[i];
        const struct sxs_layout *of = f->in == id ? l : sxs_layout_get((sxs_class){in->rt, f->in});
        char                     name[SXS_INSPECT_NAME];
        struct sxs_declared     *d = of ? malloc(sizeof(*d)) : NULL;
        struct sxs_shown_value   value = {.depth = depth, .offset = offset + f->offset};
        if (!d)
            continue;
        sxs_declared_read(of, f->signature, f->signature_size, d);
        value.name = sxs_field_plain_name(f->name, name, sizeof(name));
        value.owner = of == l ? "" : of->name;
        value.type = d->name;
        emit_value(in, &value, &d->desc, at + f->offset);
        free(d->owned);
        free(d);
    }
}

/* ---- objects --------------------------------------------------------------------------------- */

static void show_text(struct sxs_inspection *in, uint64_t address, struct sxs_line *line)
{
    uint16_t units[SXS_INSPECT_UNITS];
    uint32_t length = 0;
    size_t   n;
    if (sxs_memory_read(in->memory, &length, address + in->format.length_at, sizeof(length)) == 0)
        return;
    n = length < SXS_INSPECT_UNITS ? length : SXS_INSPECT_UNITS;
    if (n && !sxs_memory_read(in->memory, units, address + in->format.chars_at, 2 * n))
        sxs_line_put(line, "...");
    else
        sxs_line_string(line, units, n, length);
}

/* Writes the items of an array, which begin at @data. */
static void emit_items(struct sxs_inspection *in, const struct sxs_array *a, uint64_t address)
{
    struct sxs_type_desc desc = a->item;
    uint32_t             size = sxs_type_desc_size(&desc);
    const char          *type = a->of ? a->of->name : sxs_element_name(desc.element);
    for (uint64_t i = 0; size && i < a->n && i < SXS_INSPECT_ITEMS && in->left; i++) {
        char                   name[128];
        struct sxs_text        text = sxs_text_in(name, sizeof(name));
        uint64_t               rest = i, below = a->n;
        uint32_t               offset = (uint32_t)(a->data - address + i * size);
        struct sxs_shown_value value = {
            .depth = 1, .offset = offset, .name = name, .owner = "", .type = type ? type : ""};
        for (uint32_t dimension = 0; dimension < a->rank; dimension++) {
            below /= a->lengths[dimension];
            sxs_text_putf(&text, "%s%llu", dimension ? "," : "[",
                          (unsigned long long)(rest / below));
            rest %= below;
        }
        sxs_text_put(&text, "]");
        emit_value(in, &value, &desc, a->data + i * size);
    }
}

static void inspect_array(struct sxs_inspection *in, struct sxs_shown_value *head, uint64_t address,
                          ClassID id)
{
    struct sxs_line  none = {.memory = in->memory};
    struct sxs_array a;
    char             text[256] = "";
    struct sxs_text  value = sxs_text_in(text, sizeof(text));
    if (sxs_show_read_array(&none, &in->format, address, id, &a) != 0) {
        head->value = "<?: array>";
        emit(in, head);
        return;
    }
    for (uint32_t i = 0; i < a.rank; i++)
        sxs_text_putf(&value, "%s%u", i ? "," : "[", a.lengths[i]);
    sxs_text_put(&value, "]");
    if (a.n > SXS_INSPECT_ITEMS)
        sxs_text_putf(&value, ", the first %u:", SXS_INSPECT_ITEMS);
    head->value = text;
    if (emit(in, head) == 0)
        emit_items(in, &a, address);
}

static void inspect_boxed(struct sxs_inspection *in, struct sxs_shown_value *head, uint64_t address,
                          const struct sxs_type *t)
{
    struct sxs_type_desc desc = {.rt = in->rt};
    char                 text[SHORT] = "";
    sxs_type_desc_of_type(in->rt, t, &desc);
    head->value = text;
    if (!struct_of(&desc))
        show_bytes(in, &desc, address + BOX, text, sizeof(text), &head->object);
    if (emit(in, head) == 0 && struct_of(&desc))
        emit_fields(in, t->id, address + BOX, BOX, 1);
}

/* Adds the types that values/show.h looks up for an object of the class @id. */
static const struct sxs_type *add_types(struct sxs_runtime *rt, ClassID id)
{
    const struct sxs_type *t = sxs_types_add((sxs_class){rt, id});
    CorElementType         element = 0;
    sxs_class              of = {rt, 0}, parent = {rt, 0};
    ULONG                  rank = 0;
    if (sxs_info_IsArrayClass(rt, (sxs_class){rt, id}, &element, &of, &rank) != S_OK)
        return t;
    if (of.id)
        sxs_types_add(of);
    if (sxs_show_parent(id, &parent.id) == 0)
        sxs_types_add(parent); /* System.Array */
    return t;
}

/* Adds the types of all objects that were copied. */
static void add_all_types(struct sxs_inspection *in)
{
    uint64_t last = 0;
    for (size_t i = 0; i < in->memory->n; i++) {
        const struct sxs_memory_piece *piece = &in->memory->all[i];
        uint64_t                       id = 0;
        if (!piece->is_object)
            continue;
        memcpy(&id, piece->bytes, sizeof(id));
        if (id != last)
            add_types(in->rt, (ClassID)(id & ~UINT64_C(7)));
        last = id;
    }
}

void sxs_inspect_begin(struct sxs_inspection *in)
{
    ULONG length_at = 0, chars_at = 0;
    in->format = (struct sxs_formatter){.rt = in->rt};
    if (SUCCEEDED(sxs_info_GetStringLayout2(in->rt, &length_at, &chars_at))) {
        in->format.length_at = (uint32_t)length_at;
        in->format.chars_at = (uint32_t)chars_at;
    }
    add_all_types(in);
}

void sxs_inspect_object(struct sxs_inspection *in, uint64_t address)
{
    struct sxs_shown_value head = {.name = "", .owner = "", .value = ""};
    const struct sxs_type *t;
    char                   text[SXS_INSPECT_TEXT];
    struct sxs_line        line = sxs_line_in(text, sizeof(text));
    uint64_t               word = 0;
    ClassID                id;
    in->left = SXS_INSPECT_LINES;
    if (sxs_memory_read(in->memory, &word, address, sizeof(word)) != sizeof(word))
        return;
    id = (ClassID)(word & ~UINT64_C(7)); /* the collector uses the low bits as marks */
    t = add_types(in->rt, id);
    head.type = t ? t->name : "?";
    head.object = address;
    if (t && t->kind == SXS_TYPE_STRING) {
        show_text(in, address, &line);
        head.value = text;
        emit(in, &head);
    } else if (sxs_is_array_class(in->rt, id)) {
        inspect_array(in, &head, address, id);
    } else if (t && t->kind != SXS_TYPE_REFERENCE) {
        inspect_boxed(in, &head, address, t);
    } else if (emit(in, &head) == 0) {
        emit_fields(in, id, address, 0, 1);
    }
}

/* ---- static fields --------------------------------------------------------------------------- */

void sxs_inspect_static(struct sxs_inspection *in, struct sxs_static_field *field, uint64_t address)
{
    struct sxs_shown_value head = {.name = "", .owner = "", .type = field->type};
    in->left = SXS_INSPECT_LINES;
    emit_value(in, &head, &field->desc, address);
}

int sxs_static_read(sxs_class cls, mdFieldDef token, struct sxs_static_field *out)
{
    const struct sxs_layout *l = sxs_layout_get(cls);
    IMetaDataImport2        *imp = l ? sxs_module_import((sxs_module){cls.rt, l->module}) : NULL;
    struct sxs_declared     *d = malloc(sizeof(*d));
    PCCOR_SIGNATURE          bytes = NULL;
    ULONG                    size = 0;
    int                      err = -1;
    *out = (struct sxs_static_field){.cls = cls, .token = token};
    if (imp && d &&
        SUCCEEDED(imp->vtbl->GetFieldProps(imp, token, NULL, NULL, 0, NULL, NULL, &bytes, &size,
                                           NULL, NULL, NULL))) {
        sxs_declared_read(l, bytes, size, d);
        out->desc = d->desc;
        out->owned = d->owned;
        out->type = strdup(d->name);
        out->size = sxs_type_desc_size(&out->desc);
        err = out->type ? 0 : -1;
    }
    if (imp)
        imp->vtbl->Release(imp);
    free(d);
    return err;
}

void sxs_static_free(struct sxs_static_field *field)
{
    free(field->owned);
    free(field->type);
    *field = (struct sxs_static_field){.size = 0};
}

static size_t add_references(struct sxs_runtime *rt, struct sxs_type_desc *desc, uint32_t offset,
                             unsigned depth, uint32_t *offsets, size_t n, size_t max)
{
    const struct sxs_type   *t;
    const struct sxs_layout *l;
    if (is_reference(desc) && n < max)
        offsets[n++] = offset;
    t = desc->element == SXS_ELEMENT_VALUETYPE ? sxs_type_desc_type(desc) : NULL;
    l = t && depth < SXS_INSPECT_DEPTH ? sxs_layout_get((sxs_class){rt, t->id}) : NULL;
    for (uint32_t i = 0; l && i < l->n_fields && n < max; i++) {
        struct sxs_declared *d = malloc(sizeof(*d));
        if (!d)
            break;
        sxs_declared_read(l, l->fields[i].signature, l->fields[i].signature_size, d);
        n = add_references(rt, &d->desc, offset + l->fields[i].offset, depth + 1, offsets, n, max);
        free(d->owned);
        free(d);
    }
    return n;
}

size_t sxs_static_references(const struct sxs_static_field *field, uint32_t *offsets, size_t max)
{
    struct sxs_type_desc desc = field->desc;
    return add_references(field->cls.rt, &desc, 0, 0, offsets, 0, max);
}
