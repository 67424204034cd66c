/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager/module_info.h"
#include "values/declared.h"

#define DEPTH_MAX 16u
#define NAME_CUT  500u
#define BOX       8u /* offset of the value in a boxed object */

enum { TABLE_TYPEDEF = 0x02 };

/* Returns the layout of the struct that a field has; NULL: not known. */
static const struct sxs_layout *struct_of(const struct sxs_layout *l, const struct sxs_field *f)
{
    const struct sxs_layout *in = f->in == l->id ? l : sxs_layout_get((sxs_class){l->rt, f->in});
    const struct sxs_type   *t = NULL;
    struct sxs_declared     *d;
    if (f->cls)
        return sxs_layout_get((sxs_class){l->rt, f->cls});
    d = in ? malloc(sizeof(*d)) : NULL;
    if (!d)
        return NULL;
    sxs_declared_read(in, f->signature, f->signature_size, d);
    /* Long names are cut, so that they may be those of several types. */
    if (d->desc.element == SXS_ELEMENT_VALUETYPE && strlen(d->name) < NAME_CUT)
        t = sxs_type_desc_type(&d->desc);
    if (t && (d->token >> 24 == TABLE_TYPEDEF) != (t->module == in->module))
        t = NULL; /* another type of that name */
    free(d->owned);
    free(d);
    return t ? sxs_layout_get((sxs_class){l->rt, t->id}) : NULL;
}

static int is_reference(const struct sxs_field *f)
{
    switch (f->type) {
    case ELEMENT_TYPE_STRING:
    case ELEMENT_TYPE_CLASS:
    case ELEMENT_TYPE_OBJECT:
    case ELEMENT_TYPE_ARRAY:
    case ELEMENT_TYPE_SZARRAY: return 1;
    default: return 0;
    }
}

/* Finds the one field that has a reference at @offset. *inner receives the layout of the struct that
 * it is in; NULL: none, or not known. */
static const struct sxs_field *find_field(const struct sxs_layout *l, uint32_t offset,
                                          const struct sxs_layout **inner)
{
    const struct sxs_field *found = NULL;
    for (uint32_t i = 0; i < l->n_fields && l->fields[i].offset <= offset; i++) {
        const struct sxs_field  *f = &l->fields[i];
        const struct sxs_layout *of = NULL;
        uint32_t                 into = offset - f->offset;
        if (is_reference(f) ? into != 0 : f->type != ELEMENT_TYPE_VALUETYPE)
            continue;
        if (f->type == ELEMENT_TYPE_VALUETYPE) {
            of = struct_of(l, f);
            if (into >= (of ? of->size : f->size))
                continue;
        }
        if (found)
            return NULL;
        found = f;
        *inner = of;
    }
    return found;
}

static int is_inline_array(const struct sxs_layout *l)
{
    IMetaDataImport2 *imp =
        l->is_value && l->n_fields == 1 ? sxs_module_import((sxs_module){l->rt, l->module}) : NULL;
    int is = imp && sxs_import_has_attribute(
                        imp, l->token, u"System.Runtime.CompilerServices.InlineArrayAttribute");
    if (imp)
        imp->vtbl->Release(imp);
    return is;
}

static int put_path(const struct sxs_layout *l, uint32_t offset, char *out, size_t size,
                    unsigned depth);

/* Puts the path of what is at @offset in a struct; "?": not known. @at: bytes of @out in use. */
static int put_inner(const struct sxs_layout *inner, uint32_t offset, char *out, size_t at,
                     size_t size, unsigned depth)
{
    if (at + sizeof(".?") > size)
        return -1;
    if (inner && put_path(inner, offset, out + at, size - at, depth + 1) == 0 && out[at] == '[')
        return 0;
    out[at] = '.';
    if (!inner || put_path(inner, offset, out + at + 1, size - at - 1, depth + 1) != 0)
        memcpy(out + at + 1, "?", sizeof("?"));
    return 0;
}

/* Puts "[3]" or "[3].field": all elements of an inline array are one field to the runtime. */
static int put_element(const struct sxs_layout *l, uint32_t offset, char *out, size_t size,
                       unsigned depth)
{
    const struct sxs_field  *f = &l->fields[0];
    const struct sxs_layout *inner = is_reference(f) ? NULL : struct_of(l, f);
    uint32_t                 step = is_reference(f) ? 8 : inner ? inner->size : 0;
    size_t                   n;
    if (!step || offset >= l->size)
        return -1;
    n = (size_t)snprintf(out, size, "[%u]", offset / step);
    if (n >= size || (!inner && offset % step))
        return -1;
    return inner ? put_inner(inner, offset % step, out, n, size, depth) : 0;
}

static int put_path(const struct sxs_layout *l, uint32_t offset, char *out, size_t size,
                    unsigned depth)
{
    const struct sxs_layout *inner = NULL;
    const struct sxs_field  *f;
    char                     name[SXS_DECLARED_NAME];
    size_t                   n;
    if (depth == DEPTH_MAX)
        return -1;
    if (is_inline_array(l))
        return put_element(l, offset, out, size, depth);
    f = find_field(l, offset, &inner);
    if (!f)
        return -1;
    n = (size_t)snprintf(out, size, "%s", sxs_field_plain_name(f->name, name, sizeof(name)));
    if (n >= size)
        return -1;
    return f->type == ELEMENT_TYPE_VALUETYPE
               ? put_inner(inner, offset - f->offset, out, n, size, depth)
               : 0;
}

int sxs_field_path(sxs_class cls, uint32_t offset, int unboxed, char *out, size_t size)
{
    const struct sxs_layout *l = sxs_layout_get(cls);
    int                      boxed = l && l->is_value && !unboxed;
    if (!l || (boxed && offset < BOX) ||
        put_path(l, boxed ? offset - BOX : offset, out, size, 0) != 0) {
        out[0] = '\0';
        return -1;
    }
    return 0;
}
