/* SPDX-License-Identifier: MIT */
#include "tools/heap/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "manager/module_info.h"
#include "values/declared.h"

#define SOME      64u   /* elements that are named by one call */
#define NAME_SIZE 4096u /* bytes */
#define MAX_DEPTH 64u   /* base classes that are searched for a finalizer */
#define FIELD_ROOM 512u  /* bytes of the name of a slot */

enum { TABLE_TYPEREF = 0x01, TABLE_TYPEDEF = 0x02 };

/* ---- what a class is ------------------------------------------------------------------------- */

static int has_finalizer(IMetaDataImport2 *imp, mdTypeDef type)
{
    static const uint8_t signature[] = {0x20, 0, 1}; /* instance void () */
    mdMethodDef          method = 0;
    return imp->vtbl->FindMethod(imp, type, u"Finalize", signature, sizeof(signature), &method) ==
           S_OK;
}

static int is_same(const WCHAR *a, const WCHAR *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Whether a type derives directly from System.ValueType or System.Enum. */
static int is_value(IMetaDataImport2 *imp, mdTypeDef type)
{
    WCHAR   name[64] = {0};
    ULONG   n = 0;
    DWORD   flags = 0;
    mdToken base = 0;
    HRESULT hr = imp->vtbl->GetTypeDefProps(imp, type, NULL, 0, &n, &flags, &base);
    if (FAILED(hr))
        return 0;
    if (base >> 24 == TABLE_TYPEREF)
        hr = imp->vtbl->GetTypeRefProps(imp, base, NULL, name, ARRAY_LEN(name), &n);
    else if (base >> 24 == TABLE_TYPEDEF)
        hr = imp->vtbl->GetTypeDefProps(imp, base, name, ARRAY_LEN(name), &n, &flags, NULL);
    name[ARRAY_LEN(name) - 1] = 0;
    return SUCCEEDED(hr) && (is_same(name, u"System.ValueType") || is_same(name, u"System.Enum"));
}

/* Whether objects of @cls are finalized: the class or a base class other than System.Object has a
 * finalizer. */
static int is_finalized(sxs_class cls)
{
    for (unsigned depth = 0; depth < MAX_DEPTH; depth++) {
        sxs_module        module = {0};
        sxs_class         parent = {0};
        mdTypeDef         token = 0;
        IMetaDataImport2 *imp;
        int               has;
        if (FAILED(
                sxs_info_GetClassIDInfo2(cls.rt, cls, &module, &token, &parent, 0, NULL, NULL)) ||
            !parent.id)
            return 0;
        imp = sxs_module_import(module);
        has = imp && has_finalizer(imp, token);
        if (imp)
            imp->vtbl->Release(imp);
        if (has)
            return 1;
        cls = parent;
    }
    return 0;
}

static uint32_t flags_of_class(sxs_class cls, sxs_module *module)
{
    uint32_t          flags = 0;
    mdTypeDef         token = 0;
    IMetaDataImport2 *imp;
    if (FAILED(sxs_info_GetClassIDInfo2(cls.rt, cls, module, &token, NULL, 0, NULL, NULL)))
        return 0;
    imp = sxs_module_import(*module);
    if (imp && is_value(imp, token))
        flags |= SXS_HEAP_TYPE_VALUE;
    else if (imp && is_finalized(cls))
        flags |= SXS_HEAP_TYPE_FINALIZABLE;
    if (imp)
        imp->vtbl->Release(imp);
    if (sxs_module_is_collectible(*module) == 1)
        flags |= SXS_HEAP_TYPE_COLLECTIBLE;
    return flags;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Returns the number of a type that has objects; 0: it has none. */
static uint32_t number_of_class(struct sxs_heap_sink *sink, ClassID id)
{
    size_t before = sink->n_classes;
    for (size_t i = 0; i < before; i++)
        if (sink->classes[i].id == id)
            return (uint32_t)i + 1;
    return 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Writes the name of a slot. @element: of an array: the type of its elements. */
static void name_slot(const struct sxs_heap_offsets *s, sxs_class cls, sxs_class element,
                      uint32_t data, uint32_t offset, char *out, size_t size)
{
    if (!s->step)
        sxs_field_path(cls, offset, 0, out, size);
    else if (s->n > 1 || s->step > sizeof(uint64_t) ||
             (sxs_types_find(cls.rt, element.id) &&
              sxs_types_find(cls.rt, element.id)->kind == SXS_TYPE_STRUCT))
        sxs_field_path(element, offset - data, 1, out, size);
}

/* Writes the fields of a type, unless its offsets contradicts what the runtime says of it. @rank: of
 * an array; 0: it is none. @stays: 0: the type may be unloaded. Then its fields get no names,
 * because values/layout.h keeps the layouts that it is asked for. */
static void write_fields(struct sxs_heap_sink *sink, size_t at, sxs_class element, unsigned rank,
                         int stays)
{
    const struct sxs_heap_class   *c = &sink->classes[at];
    const struct sxs_heap_offsets *s = c->offsets;
    sxs_class                      cls = {sink->rt, c->id};
    uint32_t                       data = 2 * sizeof(uint64_t) + (rank > 1 ? rank * 8 : 0);
    size_t                         room = s ? s->n * (size_t)FIELD_ROOM : 0;
    const char                   **names = s ? calloc(s->n, sizeof(*names)) : NULL;
    char                          *texts = s ? malloc(room) : NULL;
    struct sxs_heap_fields_record  fields = {.type = (uint32_t)at + 1, .names = names};
    if (texts && names && (rank != 0) == (s->step != 0) &&
        (!rank || (s->base == data + sizeof(uint64_t) && s->of_slot[0] >= data))) {
        for (uint32_t i = 0; i < s->n; i++) {
            names[i] = texts + i * (size_t)FIELD_ROOM;
            texts[i * (size_t)FIELD_ROOM] = '\0';
            if (stays && s->has_lead && !s->lead)
                name_slot(s, cls, element, data, s->of_slot[i], texts + i * (size_t)FIELD_ROOM,
                          FIELD_ROOM);
        }
        fields.base = rank ? s->base : 0;
        fields.step = s->step;
        fields.lead = s->lead;
        fields.n = s->n;
        sxs_heap_fields(sink->file, &fields);
    }
    free(texts);
    free(names);
}

static void write_type(struct sxs_heap_sink *sink, size_t at, struct sxs_namer *namer)
{
    const struct sxs_heap_class *c = &sink->classes[at];
    sxs_class                    cls = {sink->rt, c->id}, element = {0};
    sxs_module                   module = {0};
    CorElementType               kind = 0;
    ULONG                        rank = 0;
    char                         name[NAME_SIZE], file[NAME_SIZE] = "";
    struct sxs_heap_type_record  type = {
         .number = (uint32_t)at + 1, .size = c->size, .name = name, .module = file};
    if (c->variant_of) {
        sxs_heap_variant(sink->file, (uint32_t)at + 1, c->variant_of, c->mask);
        return;
    }
    sxs_namer_class(namer, cls, name, sizeof(name));
    if (sxs_info_IsArrayClass(sink->rt, cls, &kind, &element, &rank) == S_OK) {
        type.flags |= SXS_HEAP_TYPE_ARRAY | SXS_HEAP_TYPE_VARIES;
        type.element = element.id ? number_of_class(sink, element.id) : 0;
    } else {
        type.flags |= flags_of_class(cls, &module);
        if (module.id)
            sxs_namer_file(module, file, sizeof(file));
    }
    if (strcmp(name, "System.String") == 0)
        type.flags |= SXS_HEAP_TYPE_STRING;
    if (c->varies)
        type.flags |= SXS_HEAP_TYPE_VARIES;
    sxs_heap_type(sink->file, &type);
    sink->totals.types++;
    write_fields(sink, at, element, (unsigned)rank, !(type.flags & SXS_HEAP_TYPE_COLLECTIBLE));
}

static void write_name(struct sxs_heap_sink *sink, size_t at, struct sxs_namer *namer)
{
    const struct sxs_heap_named *n = &sink->names[at];
    char                         name[NAME_SIZE];
    size_t                       len;
    if (!n->field) {
        sxs_namer_function(namer, (sxs_function){sink->rt, n->id}, name, sizeof(name));
    } else {
        snprintf(name, sizeof(name), "?");
        if (n->cls)
            sxs_namer_class(namer, (sxs_class){sink->rt, n->cls}, name, sizeof(name));
        len = strlen(name);
        snprintf(name + len, sizeof(name) - len, ".%s", n->field);
        len = strlen(name);
        if (n->tid)
            snprintf(name + len, sizeof(name) - len, " (thread %u%s%s)", n->tid,
                     n->thread[0] ? " " : "", n->thread);
    }
    sxs_heap_name(sink->file, (uint32_t)at + 1, name);
}

/* The fields of structs are known only if their types are in the table of values/types.h. Types that
 * may be unloaded are left out: the table keeps what it has. */
static void add_value_types(struct sxs_heap_naming *at, struct sxs_runtime *rt)
{
    size_t                  n, leaving;
    struct sxs_heap_loaded *all = sxs_heap_classes_all(at->classes, &n, &leaving);
    if (all)
        sxs_heap_classes_add_values(rt, all, leaving);
    free(all);
}

int sxs_heap_name_some(struct sxs_heap_naming *at, struct sxs_heap_sink *sink,
                       struct sxs_namer *namer)
{
    if (!at->begun)
        add_value_types(at, sink->rt);
    at->begun = 1;
    for (unsigned i = 0; i < SOME; i++) {
        if (at->next_class < sink->n_classes)
            write_type(sink, at->next_class++, namer);
        else if (at->next_name < sink->n_names)
            write_name(sink, at->next_name++, namer);
        else
            return 0;
    }
    return 1;
}
