/* SPDX-License-Identifier: MIT */
/* access.c - checks whether a method may use a type or member. Runtimes check the same when the
 * code runs, and throw MethodAccessException or FieldAccessException. */
#include "instr/weave/resolve.h"

#include <string.h>

#include "base/c_locale.h"

#define NESTED_MAX 16
#define BASES_MAX  64
enum {
    MEMBER_MASK = 7,
    PRIVATE = 1,
    FAMILY_AND_ASSEMBLY = 2,
    ASSEMBLY = 3,
    FAMILY = 4,
    FAMILY_OR_ASSEMBLY = 5,
    PUBLIC = 6,
};
enum {
    TYPE_MASK = 7,
    TYPE_NOT_PUBLIC = 0,
    TYPE_PUBLIC = 1,
    TYPE_NESTED_PUBLIC = 2,
    TYPE_NESTED_PRIVATE = 3,
    TYPE_NESTED_FAMILY = 4,
    TYPE_NESTED_ASSEMBLY = 5,
    TYPE_NESTED_FAMILY_AND_ASSEMBLY = 6,
    TYPE_NESTED_FAMILY_OR_ASSEMBLY = 7,
};

/* ---- friends ---------------------------------------------------------------------------------- */

/* Returns the name, without namespace, of the type of the attribute in @row. */
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

/* Whether an attribute @name of the assembly has the text @friend, up to a comma. */
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
    return assembly_says(&of->md, "InternalsVisibleToAttribute", r->m->tokens.own_name);
}

/* Whether the method's assembly has IgnoresAccessChecksTo for @of. Then runtimes check no access,
 * not even to private members. */
static int ignores_checks(struct sxs_resolver *r, const struct sxs_image *of)
{
    const struct sxs_image *own = sxs_images_own(&r->images);
    return own && assembly_says(&own->md, "IgnoresAccessChecksToAttribute", of->name);
}

/* Whether @inner is the type @outer, or nested in it. */
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

/* ---- derived types ---------------------------------------------------------------------------- */

static int is_type(const struct sxs_definition *a, const struct sxs_image *image, uint32_t type)
{
    return a->type == type && (a->image == image || sxs_same_text(a->image->name, image->name));
}

/* Whether the method's type, or a type around it, derives from @type of @image. Returns 1 also when
 * a base type cannot be read. */
static int is_heir(struct sxs_resolver *r, const struct sxs_image *image, uint32_t type)
{
    const struct sxs_image *own = sxs_images_own(&r->images);
    uint32_t                around = r->m->owner;
    if (!own)
        return 1;
    for (unsigned i = 0; around && i < NESTED_MAX; i++) {
        struct sxs_definition at = {own, around, 0, 0};
        enum sxs_found        found = SXS_FOUND;
        for (unsigned n = 0; n < BASES_MAX && found == SXS_FOUND; n++) {
            if (is_type(&at, image, type))
                return 1;
            found = sxs_definition_base(&r->images, &at);
        }
        if (found != SXS_FOUND_NOT)
            return 1;
        around = sxs_md_enclosing(&own->md, around);
    }
    return 0;
}

static int refuse_protected(struct sxs_resolver *r, const struct sxs_image *image, uint32_t type,
                            const char *name, struct sxs_text *why)
{
    if (is_heir(r, image, type))
        return 0;
    sxs_text_putf(why, "%s of %s is protected: the method's type does not derive from ", name,
                  image->name);
    sxs_definition_put_type(image, why, type);
    return 1;
}

/* Whether @image is the method's own assembly, or one that names the method's as a friend. */
static int is_close(struct sxs_resolver *r, const struct sxs_image *image)
{
    return sxs_same_text(image->name, r->m->tokens.own_name) || is_friend(r, image);
}

/* Refuses a nested type that is protected in a type from which the method's type does not
 * derive. */
static int refuse_nested(struct sxs_resolver *r, const struct sxs_image *image, uint32_t type,
                         const char *name, struct sxs_text *why)
{
    for (unsigned i = 0; type && i < NESTED_MAX; i++) {
        uint32_t outer = sxs_md_enclosing(&image->md, type);
        uint32_t is = sxs_md_cell(&image->md, SXS_TABLE_TYPE_DEF, type & 0xffffff,
                                  SXS_TYPE_DEF_FLAGS) &
                      TYPE_MASK;
        if ((is == TYPE_NESTED_FAMILY || is == TYPE_NESTED_FAMILY_AND_ASSEMBLY ||
             (is == TYPE_NESTED_FAMILY_OR_ASSEMBLY && !is_close(r, image))) &&
            refuse_protected(r, image, outer, name, why))
            return 1;
        type = outer;
    }
    return 0;
}

/* ---- other assemblies ------------------------------------------------------------------------- */

#define BIT(visibility) (1u << (visibility))

/* Returns the visibilities of the type and of all types around it, one bit each. */
static unsigned visibilities_of(const struct sxs_metadata *md, uint32_t type)
{
    unsigned all = 0;
    for (unsigned i = 0; type && i < NESTED_MAX; i++) {
        all |= BIT(sxs_md_cell(md, SXS_TABLE_TYPE_DEF, type & 0xffffff, SXS_TYPE_DEF_FLAGS) & TYPE_MASK);
        type = sxs_md_enclosing(md, type);
    }
    return all;
}

static int refuse_other(struct sxs_resolver *r, const struct sxs_resolved *what, const char *name,
                        struct sxs_text *why)
{
    const struct sxs_definition *d = &what->definition;
    unsigned                     access = what->is_member ? what->flags & MEMBER_MASK : PUBLIC;
    unsigned                     types = visibilities_of(&d->image->md, d->type);
    int      internal = (types & (BIT(TYPE_NOT_PUBLIC) | BIT(TYPE_NESTED_ASSEMBLY) |
                             BIT(TYPE_NESTED_FAMILY_AND_ASSEMBLY))) != 0;
    int      friend;
    if (!(types & ~(BIT(TYPE_PUBLIC) | BIT(TYPE_NESTED_PUBLIC))) && access == PUBLIC)
        return 0;
    r->depends = 1;
    if (ignores_checks(r, d->image))
        return 0;
    if (types & BIT(TYPE_NESTED_PRIVATE) || access <= PRIVATE) {
        sxs_text_putf(why, "%s of %s is private", name, d->image->name);
        return 1;
    }
    if (sxs_same_text(d->image->name, r->m->tokens.own_name)) /* a type forward led back to it */
        return 0;
    friend = is_friend(r, d->image);
    if (!friend && (internal || access == ASSEMBLY || access == FAMILY_AND_ASSEMBLY)) {
        sxs_text_putf(why, "%s of %s is internal: %s has no access", name, d->image->name,
                      r->m->tokens.own_name);
        return 1;
    }
    if (access == FAMILY || access == FAMILY_AND_ASSEMBLY ||
        (access == FAMILY_OR_ASSEMBLY && !friend))
        return refuse_protected(r, d->image, d->type, name, why);
    return refuse_nested(r, d->image, d->type, name, why);
}

/* ---- the module itself ------------------------------------------------------------------------ */

/* Whether @type, or a type around it, is nested private in a type that the method is not in. */
static int is_hidden(struct sxs_resolver *r, const struct sxs_image *own, uint32_t type)
{
    for (unsigned i = 0; type && i < NESTED_MAX; i++) {
        uint32_t outer = sxs_md_enclosing(&own->md, type);
        uint32_t is =
            sxs_md_cell(&own->md, SXS_TABLE_TYPE_DEF, type & 0xffffff, SXS_TYPE_DEF_FLAGS);
        if ((is & TYPE_MASK) == TYPE_NESTED_PRIVATE &&
            !is_within(r->m->tokens.import, r->m->owner, outer))
            return 1;
        type = outer;
    }
    return 0;
}

static int refuse_own(struct sxs_resolver *r, const struct sxs_resolved *what, const char *name,
                      struct sxs_text *why)
{
    const struct sxs_image *own;
    uint32_t                type = what->definition.type;
    unsigned                access = what->is_member ? what->flags & MEMBER_MASK : PUBLIC;
    if (type && (what->type_flags & TYPE_MASK) <= TYPE_PUBLIC &&
        (access == ASSEMBLY || access == FAMILY_OR_ASSEMBLY || access == PUBLIC))
        return 0; /* the whole module may use it */
    r->depends = 1;
    if (is_within(r->m->tokens.import, r->m->owner, type))
        return 0;
    own = sxs_images_own(&r->images);
    if (access <= PRIVATE || (own && is_hidden(r, own, type))) {
        sxs_text_putf(why, "%s is private", name);
        return 1;
    }
    if (!own || !type)
        return 0;
    if ((access == FAMILY || access == FAMILY_AND_ASSEMBLY) &&
        refuse_protected(r, own, type, name, why))
        return 1;
    return refuse_nested(r, own, type, name, why);
}

int sxs_access_refused(struct sxs_resolver *r, const struct sxs_resolved *what, const char *name,
                       struct sxs_text *why)
{
    if (!what->known) {
        r->depends = 1;
        return 0;
    }
    if (what->definition.image)
        return refuse_other(r, what, name, why);
    return refuse_own(r, what, name, why);
}
