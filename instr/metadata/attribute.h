/* SPDX-License-Identifier: MIT */
/** attribute.h - values of custom attributes (ECMA-335 II.23.3). Pure functions. */
#ifndef SXS_INSTR_ATTRIBUTE_H
#define SXS_INSTR_ATTRIBUTE_H

#include "instr/metadata/metadata.h"

/** sxs_md_attribute_type - the type that the attribute's first argument is, `typeof(...)`: its name without the assembly,
 *  as reflection spells it but without backslashes, into @out of @room bytes, ended by a zero. Returns its length; 0:
 *  there is no such argument, or it does not fit. */
size_t sxs_md_attribute_type(struct sxs_blob value, char *out, size_t room);

/** sxs_md_attribute_is_type - nonzero when that name is @name, as a whole. */
int sxs_md_attribute_is_type(struct sxs_blob value, const char *name);

#endif
