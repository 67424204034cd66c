/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values/declared.h"

#define DEPTH_MAX 16u
#define BOX       8u /* offset of the value in a boxed object */

/* Returns the layout of the struct that a field has; NULL: not known. */
static const struct sxs_layout *struct_of(const struct sxs_layout *l, const struct sxs_field *f)
{
    const struct sxs_layout *in = f->in == l->id ? l : sxs_layout_get((sxs_class){l->rt, f->in});
    const struct sxs_type   *t;
    struct sxs_declared     *d;
    if (f->cls)
        return sxs_layout_get((sxs_class){l->rt, f->cls});
    d = in ? malloc(sizeof(*d)) : NULL;
    if (!d)
        return NULL;
    sxs_declared_read(in, f->signature, f->signature_size, d);
    t = d->desc.element == SXS_ELEMENT_VALUETYPE ? sxs_type_desc_type(&d->desc) : NULL;
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

static int put_path(const struct sxs_layout *l, uint32_t offset, char *out, size_t size,
                    unsigned depth)
{
    const struct sxs_layout *inner = NULL;
    const struct sxs_field  *f = depth < DEPTH_MAX ? find_field(l, offset, &inner) : NULL;
    char                     name[SXS_DECLARED_NAME];
    size_t                   n;
    if (!f)
        return -1;
    n = (size_t)snprintf(out, size, "%s", sxs_field_plain_name(f->name, name, sizeof(name)));
    if (n + sizeof(".?") > size)
        return -1;
    if (f->type != ELEMENT_TYPE_VALUETYPE)
        return 0;
    out[n] = '.';
    if (!inner || put_path(inner, offset - f->offset, out + n + 1, size - n - 1, depth + 1) != 0)
        memcpy(out + n + 1, "?", sizeof("?"));
    return 0;
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
