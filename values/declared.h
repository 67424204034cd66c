/* SPDX-License-Identifier: MIT */
/** declared.h - the declared types and the names of fields. */
#ifndef SXS_VALUES_DECLARED_H
#define SXS_VALUES_DECLARED_H

#include "values/layout.h"
#include "values/types.h"

#define SXS_DECLARED_NAME 1024u /* bytes */

/** The declared type of a field. */
struct sxs_declared {
    struct sxs_type_desc desc;
    char                *owned; /* desc.name, if it must be freed by free() */
    mdToken              token; /* of a value type, in the module of the class; 0: another type */
    char                 name[SXS_DECLARED_NAME];
};

/** sxs_declared_read - read the signature of a field of the class @l, which declares it. Call it
 *  where sxs_layout_get() is allowed. */
void sxs_declared_read(const struct sxs_layout *l, const uint8_t *signature, size_t size,
                       struct sxs_declared *out);

/** sxs_field_plain_name - return the name by which a field is shown: that of the field of a
 *  property is the property's. @out: @size bytes, which may be used for it. */
const char *sxs_field_plain_name(const char *name, char *out, size_t size);

/**
 * sxs_field_path - write the name of the field of @cls that has the reference at @offset: "field",
 * or "outer.inner" if it is in a struct; "outer.?" if the fields of that struct are not known.
 * @offset: bytes from the object's address; of a value type with @unboxed, from its first byte.
 * Returns 0; or -1 and "": no field is known there, or several that overlap.
 * Call it where sxs_layout_get() is allowed; value types must have been added by sxs_types_add().
 */
int sxs_field_path(sxs_class cls, uint32_t offset, int unboxed, char *out, size_t size);

#endif
