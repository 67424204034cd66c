/* SPDX-License-Identifier: MIT */
/** instr/metadata/attribute.h - read values of custom attributes (ECMA-335 II.23.3). Pure
 *  functions. */
#ifndef SXS_INSTR_METADATA_ATTRIBUTE_H
#define SXS_INSTR_METADATA_ATTRIBUTE_H

#include "instr/metadata/metadata.h"

/**
 * sxs_md_attribute_type - get the name of the type that is the attribute's first argument, given in
 * the source as `typeof(...)`.
 * @value: the value of the attribute.
 * @out: receives the name in the spelling of reflection, without the assembly and without
 * backslashes, zero-terminated. @room: size of @out in bytes.
 * Returns the length of the name; 0 when there is no such argument or the name does not fit.
 */
size_t sxs_md_attribute_type(struct sxs_blob value, char *out, size_t room);

/** sxs_md_attribute_is_type - is @name the whole name that sxs_md_attribute_type() would get? */
int sxs_md_attribute_is_type(struct sxs_blob value, const char *name);

#endif
