/* SPDX-License-Identifier: MIT */
/* access.c - what runtimes let code use: they throw MethodAccessException and its like where it runs. */
#include "rewrite/resolve.h"

#include <string.h>
#include <strings.h>

#define NESTED_MAX 16
enum { MEMBER_MASK = 7, PRIVATE = 1, FAMILY_AND_ASSEMBLY = 2, ASSEMBLY = 3 };
enum {
    TYPE_MASK = 7,
    TYPE_NOT_PUBLIC = 0,
    TYPE_NESTED_PRIVATE = 3,
    TYPE_NESTED_ASSEMBLY = 5,
    TYPE_NESTED_FAMILY_AND_ASSEMBLY = 6,
};

/* ---- friends ---------------------------------------------------------------------------------- */

/* The name of the type of the attribute in @row. */
static const char *attribute_name(const struct sxs_metadata *md, uint32_t row)
{
    uint32_t ctor = sxs_md_cell(md, SXS_TABLE_CUSTOM_ATTRIBUTE, row, SXS_CUSTOM_ATTRIBUTE_TYPE);
    uint32_t type = ctor >> 24 == SXS_TABLE_MEMBER_REF
                        ? sxs_md_cell(md, SXS_TABLE_MEMBER_REF, ctor & 0xffffff,
                                      SXS_MEMBER_REF_PARENT)
                        : sxs_md_owner(md, ctor);
    if (type >> 24 == SXS_TABLE_TYPE_REF)
        return sxs_md_string(
            md, sxs_md_cell(md, SXS_TABLE_TYPE_REF, type & 0xffffff, SXS_TYPE_REF_NAME));
    return sxs_md_string(md,
                         sxs_md_cell(md, SXS_TABLE_TYPE_DEF, type & 0xffffff, SXS_TYPE_DEF_NAME));
}

/* Does an attribute @name of the assembly hold the text @friend, up to a comma? */
static int assembly_says(const struct sxs_metadata *md, const char *name, const char *friend)
{
    uint32_t n = sxs_md_rows(md, SXS_TABLE_CUSTOM_ATTRIBUTE);
    size_t   len = strlen(friend);
    for (uint32_t row = 1; row <= n; row++) {
        struct sxs_blob value;
        size_t          at;
        if (sxs_md_cell(md, SXS_TABLE_CUSTOM_ATTRIBUTE, row, SXS_CUSTOM_ATTRIBUTE_PARENT) !=
                sxs_token(SXS_TABLE_ASSEMBLY, 1) ||
            strcmp(attribute_name(md, row), name) != 0)
            continue;
        value = sxs_md_blob(
            md, sxs_md_cell(md, SXS_TABLE_CUSTOM_ATTRIBUTE, row, SXS_CUSTOM_ATTRIBUTE_VALUE));
        at = value.size > 2 && value.at[2] & 0x80 ? 4 : 3;
        if (value.size >= at + len && !strncasecmp((const char *)value.at + at, friend, len) &&
            (value.size <= at + len || strchr(", ", value.at[at + len]) || !value.at[at + len]))
            return 1;
    }
    return 0;
}

static int is_friend(struct sxs_resolver *r, const struct sxs_image *of)
{
    const struct sxs_image *own = sxs_images_own(&r->images);
    return assembly_says(&of->md, "InternalsVisibleToAttribute", r->m->tokens.own_name) ||
           (own &&
            assembly_says(&own->md, "IgnoresAccessChecksToAttribute", of->name));
}

/* ---- other assemblies ------------------------------------------------------------------------- */

static int is_internal_type(const struct sxs_metadata *md, uint32_t type, int *is_private)
{
    int internal = 0;
    for (unsigned i = 0; type && i < NESTED_MAX; i++) {
        uint32_t is =
            sxs_md_cell(md, SXS_TABLE_TYPE_DEF, type & 0xffffff, SXS_TYPE_DEF_FLAGS) & TYPE_MASK;
        *is_private |= is == TYPE_NESTED_PRIVATE;
        internal |= is == TYPE_NOT_PUBLIC || is == TYPE_NESTED_ASSEMBLY ||
                    is == TYPE_NESTED_FAMILY_AND_ASSEMBLY;
        type = sxs_md_enclosing(md, type);
    }
    return internal;
}

static int refuse_other(struct sxs_resolver *r, const struct sxs_resolved *what, const char *name,
                        struct sxs_il_text *why)
{
    const struct sxs_definition *d = &what->definition;
    unsigned                     access = what->is_member ? what->flags & MEMBER_MASK : 6;
    int                          is_private = 0;
    int internal = is_internal_type(&d->image->md, d->type, &is_private);
    if (is_private || access <= PRIVATE) {
        sxs_il_putf(why, "%s of %s is private", name, d->image->name);
        return 1;
    }
    if (!strcasecmp(d->image->name, r->m->tokens.own_name)) /* forwarded back */
        return 0;
    if ((internal || access == ASSEMBLY || access == FAMILY_AND_ASSEMBLY) &&
        !is_friend(r, d->image)) {
        sxs_il_putf(why, "%s of %s is internal: %s has no access", name, d->image->name,
                    r->m->tokens.own_name);
        return 1;
    }
    return 0;
}

/* ---- the module itself ------------------------------------------------------------------------ */

/* Is @inner the type @outer, or within it? */
static int is_within(IMetaDataImport2 *imp, mdToken inner, mdToken outer)
{
    for (unsigned i = 0; inner && i < NESTED_MAX; i++) {
        if (inner == outer)
            return 1;
        if (FAILED(imp->vtbl->GetNestedClassProps(imp, inner, &inner)))
            return 0;
    }
    return 0;
}

int sxs_access_refused(struct sxs_resolver *r, const struct sxs_resolved *what, const char *name,
                       struct sxs_il_text *why)
{
    if (!what->known)
        return 0;
    if (what->definition.image)
        return refuse_other(r, what, name, why);
    if (!what->is_member || (what->flags & MEMBER_MASK) > PRIVATE ||
        is_within(r->m->tokens.import, r->m->owner, what->definition.type))
        return 0;
    sxs_il_putf(why, "%s is private", name);
    return 1;
}
